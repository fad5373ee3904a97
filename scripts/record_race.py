"""Record the races with which the page on speculative decoding opens.

First the race that prompt lookup wins, several times, of which the one with the middle speed-up is
kept; then every draft with k = 1 to 8, after a prompt that copies and after an open one; then the
counts of the law. Run it again after a change to the drafts, the rounds or the model, on a machine
that does nothing else:

    .venv/bin/python -m scripts.record_race
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from components.shell.example_prompts import DEFAULT_PROMPT
from components.speculative.law_bars import DRAFTS, MODEL, ROUNDS
from components.speculative.recorded import (
    COPYING,
    GUESSES,
    RECORDING,
    SETTINGS,
    TOKENS,
    Measured,
    Recording,
)
from engine.model.model import LanguageModel, load_model
from engine.speculative.distilled import DistilledDraft, load_parts
from engine.speculative.drafts import Draft, DraftKind, PromptLookup
from engine.speculative.early_exit import early_exit
from engine.speculative.law import check_law
from engine.speculative.model_draft import ModelDraft
from engine.speculative.race import Lap, Pay, pay, race

RACES = 5
"""How often the race is run. An odd number, so that one of them is the middle."""
MOST_GUESSES = 8

MakeDraft = Callable[[], Draft]


def drafts_of(model: LanguageModel) -> Mapping[str, MakeDraft]:
    """Return what makes each kind of draft, by the name that a legend gives it."""
    vocabulary, layers = model.architecture.vocabulary, model.architecture.layers // 3
    short, parts = early_exit(model, layers), load_parts(model)
    return {
        DraftKind.LOOKUP: lambda: PromptLookup(vocabulary, model.stop_ids),
        f"{DraftKind.EARLY_EXIT}, {layers} layers": lambda: ModelDraft(short, vocabulary),
        DraftKind.DISTILLED: lambda: DistilledDraft(model, parts),
    }


def run(model: LanguageModel, make: MakeDraft, prompt: str, k: int) -> tuple[Lap, ...]:
    """Race a new draft against plain decoding."""
    ids = [token.id for token in model.tokenizer.encode(prompt, add_bos=True)]
    laps = race(model, make(), ids, SETTINGS, k=k, max_new_tokens=TOKENS, seed=0)
    return tuple(laps)


def middle_race(model: LanguageModel, make: MakeDraft) -> tuple[Lap, ...]:
    """Run the race several times and return the one with the middle speed-up."""

    def speed_up(laps: tuple[Lap, ...]) -> float:
        found = pay(laps, GUESSES)
        return 0.0 if found is None else found.speed_up

    races = [run(model, make, COPYING, GUESSES) for _ in range(RACES)]
    return sorted(races, key=speed_up)[RACES // 2]


def measure(model: LanguageModel, prompt: str) -> Measured:
    """Race every draft with k = 1 to 8 after a prompt."""
    found: dict[str, tuple[Pay, ...]] = {}
    for name, make in drafts_of(model).items():
        rows = [pay(run(model, make, prompt, k), k) for k in range(1, MOST_GUESSES + 1)]
        found[str(name)] = tuple(row for row in rows if row is not None)
        best = max(found[str(name)], key=lambda row: row.speed_up)
        print(f"{name}: k = {best.k}, {best.speed_up:.2f} ×, {best.acceptance:.0%} accepted")
    return Measured(prompt, TOKENS, found)


def main() -> None:
    """Write the recording and say what it holds."""
    model = load_model()
    laps = middle_race(model, drafts_of(model)[DraftKind.LOOKUP])
    pays = tuple(measure(model, prompt) for prompt in (COPYING, DEFAULT_PROMPT))
    laws = {name: check_law(MODEL, q, rounds=ROUNDS, seed=0) for name, q in DRAFTS.items()}
    result = Recording(model.name, laps, pays, laws)
    text = json.dumps(result.to_json(), ensure_ascii=False, separators=(",", ":"))
    RECORDING.write_text(text + "\n", encoding="utf-8")
    found = pay(laps, GUESSES)
    speed = "" if found is None else f"{found.speed_up:.2f} × plain decoding"
    print(f"{RECORDING.name}: {len(laps)} laps, {speed}, {RECORDING.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
