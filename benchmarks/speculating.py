"""Speculative decoding on the default model: what drafts gain, and that they change nothing.

`python -m benchmarks speculating` measures the budgets. `python -m benchmarks.speculating` takes
some minutes more: it writes the 20 recorded greedy texts of 64 tokens with every draft and prints
how many came out the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.table import Row
from engine.model.model import LanguageModel, load_model
from engine.sampling.chain import SamplingSettings
from engine.speculative.distilled import DistilledDraft, load_parts
from engine.speculative.drafts import Draft, PromptLookup
from engine.speculative.early_exit import early_exit
from engine.speculative.loop import speculate
from engine.speculative.model_draft import ModelDraft
from engine.speculative.race import Lap, Pay, pay, race

RECORDED = Path(__file__).parent.parent / "tests" / "data" / "greedy.json"
GREEDY = SamplingSettings(temperature=0)
USUAL = SamplingSettings(temperature=0.7, top_p=0.9)
"""What the app starts with."""
GUESSES = 1
"""Of the distilled draft: a second one is right too seldom to pay for its check."""
LONG = 128
"""Tokens of each chat over which guesses are counted: chance still moves the share by 0.015."""
COPYING = "red, green, blue, white, black, brown, " * 4
CHATS = (
    "Why do leaves change colour in autumn?",
    "Write a short note to thank a colleague for her help.",
    "What is the difference between a virus and a bacterium?",
    "Give me three ideas for a rainy afternoon with children.",
    "How does a bicycle stay upright?",
    "Tell me a story about a lighthouse keeper.",
    "Explain what a prime number is.",
    "What should I pack for a week in the mountains?",
    "Write a Python function that reverses a list.",
    "Who was Marie Curie?",
    "How do I keep houseplants alive?",
    "Describe the taste of a lemon.",
)
"""Questions that the training texts do not hold: the model made those up itself."""

Make = Callable[[], Draft]


def drafts(model: LanguageModel) -> dict[str, Make]:
    """Return what makes a new draft, by name."""
    vocabulary, stops = model.architecture.vocabulary, model.stop_ids
    cut = {layers: early_exit(model, layers) for layers in (5, 15)}
    parts = load_parts(model)
    return {
        "prompt lookup": lambda: PromptLookup(vocabulary, stops),
        "distilled": lambda: DistilledDraft(model, parts),
        "first 5 layers": lambda: ModelDraft(cut[5], vocabulary),
        "first 15 layers": lambda: ModelDraft(cut[15], vocabulary),
    }


def measure() -> list[Row]:
    """Race drafts against plain decoding, in turns."""
    model = load_model()
    making = drafts(model)
    copying = _summed(model, making["prompt lookup"], [_text(model, COPYING)], GREEDY, 4)
    chats = [_chat(model, question) for question in CHATS]
    warm = _summed(model, making["distilled"], chats, USUAL, GUESSES)
    cold = _summed(model, making["distilled"], chats, GREEDY, GUESSES)
    check = _summed(model, making["first 5 layers"], chats[:2], USUAL, 4)
    accepted, guesses = _counted(model, making["distilled"], chats)
    other = f"{cold.acceptance:.2f} and {cold.speed_up:.2f} × at temperature 0"
    return [
        Row(
            "prompt lookup on a copying prompt vs plain decoding",
            copying.speed_up,
            2,
            "× the tokens per second",
            at_least=True,
            note=f"{copying.tokens_a_pass:.1f} tokens per pass",
        ),
        Row(
            f"distilled draft, accepted guesses on {len(CHATS)} held-out chats, T = 0.7",
            accepted / guesses,
            0.4,
            "of those checked",
            at_least=True,
            note=f"{guesses} guesses; {other}",
        ),
        Row(
            "distilled draft on the same chats vs plain decoding",
            warm.speed_up,
            1.15,
            "× the tokens per second",
            at_least=True,
            note=f"a guess costs {warm.draft_cost:.2f}, a check {warm.check_cost:.2f} plain steps",
        ),
        Row("a check over 5 tokens vs a plain step", check.check_cost, 1.3, "× the time"),
    ]


def _counted(model: LanguageModel, make: Make, prompts: list[list[int]]) -> tuple[int, int]:
    """Return how many guesses are accepted over long answers, and how many are checked."""
    accepted = checked = 0
    for seed, ids in enumerate(prompts):
        run = speculate(model, make(), ids, USUAL, k=GUESSES, max_new_tokens=LONG, seed=seed)
        for part in run:
            accepted += part.accepted
            checked += part.checked
    return accepted, checked


def _text(model: LanguageModel, text: str) -> list[int]:
    return model.tokenizer.ids(text)


def _chat(model: LanguageModel, question: str) -> list[int]:
    return model.tokenizer.chat([{"role": "user", "content": question}])


def _summed(
    model: LanguageModel,
    make: Make,
    prompts: list[list[int]],
    settings: SamplingSettings,
    k: int,
) -> Pay:
    """Race on each prompt and sum all races up as one."""
    laps: list[Lap] = []
    for seed, ids in enumerate(prompts):
        racing = race(model, make(), ids, settings, k=k, max_new_tokens=32, seed=seed)
        # The first lap of each reads the prompt, so the first of all is kept for `pay` to skip.
        laps += list(racing)[1 if laps else 0 :]
    found = pay(laps, k)
    assert found is not None, "the races ended in their first round: choose other prompts"
    return found


def main() -> int:
    """Compare every draft on every recorded prompt; return 1 if one text differs."""
    model = load_model()
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    wrong = 0
    for name, make in drafts(model).items():
        same, a_pass = 0, []
        for entry in recorded:
            rounds = list(
                speculate(model, make(), entry["ids"], GREEDY, k=4, max_new_tokens=64, seed=0)
            )
            written = [token for part in rounds for token in part.ids]
            same += written == entry["tokens"]
            a_pass.append(len(written) / len(rounds))
        wrong += len(recorded) - same
        print(
            f"{name}: {same} of {len(recorded)} texts the same, "
            f"{median(a_pass):.2f} tokens per pass of the target",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
