"""Speculative decoding on the default model: greedy is plain greedy, 20 prompts x 64 tokens.

`python -m benchmarks.speculating` takes some minutes and prints one line a draft: how many of the
recorded texts came out the same, the acceptance, and the tokens for one pass of the target.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from engine.drafts import Draft, ModelDraft, PromptLookup
from engine.early_exit import early_exit
from engine.model import LanguageModel, load_model
from engine.sampling import SamplingSettings
from engine.speculative import speculate

RECORDED = Path(__file__).parent.parent / "tests" / "data" / "greedy.json"
GUESSES = 4


def drafts(model: LanguageModel) -> dict[str, Callable[[], Draft]]:
    """Return what makes a new draft, by name."""
    vocabulary, stops = model.architecture.vocabulary, model.stop_ids
    cut = {layers: early_exit(model, layers) for layers in (5, 15)}
    return {
        "prompt lookup": lambda: PromptLookup(vocabulary, stops),
        "first 5 layers": lambda: ModelDraft(cut[5], vocabulary),
        "first 15 layers": lambda: ModelDraft(cut[15], vocabulary),
    }


def main() -> int:
    """Compare every draft on every recorded prompt; return 1 if one text differs."""
    model = load_model()
    greedy = SamplingSettings(temperature=0)
    recorded = json.loads(RECORDED.read_text())
    wrong = 0
    for name, make in drafts(model).items():
        proposed = accepted = rounds = tokens = same = 0
        for entry in recorded:
            run = speculate(
                model, make(), entry["ids"], greedy, k=GUESSES, max_new_tokens=64, seed=0
            )
            written: list[int] = []
            for part in run:
                written += part.ids
                rounds += 1
                proposed += sum(token.fate != "not checked" for token in part.proposed)
                accepted += part.accepted
            same += written == entry["tokens"]
            tokens += len(written)
        wrong += len(recorded) - same
        print(
            f"{name}: {same} of {len(recorded)} texts the same, {accepted / max(proposed, 1):.2f} "
            f"accepted, {tokens / rounds:.2f} tokens a pass of the target",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
