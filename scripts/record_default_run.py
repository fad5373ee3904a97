"""Record the run that the overview shows until the model is there.

The engine writes a few tokens after the default prompt, and the facts of each step go to
`components/overview/default_run.json`. Run it again after a change to the facts or the model:

    .venv/bin/python scripts/record_default_run.py
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from components.overview.recorded import RECORDING, SEED, SETTINGS, TOKENS  # noqa: E402
from components.shell.example_prompts import DEFAULT_PROMPT  # noqa: E402
from engine.generation.random_numbers import uniforms  # noqa: E402
from engine.model.model import LanguageModel, load_model  # noqa: E402
from engine.overview.facts import Overview  # noqa: E402
from engine.overview.summary import summarise  # noqa: E402
from engine.tracing.trace import trace  # noqa: E402


def record(model: LanguageModel, prompt: str, tokens: int) -> list[Overview]:
    """Return the facts before the first token and after each one.

    Args:
        model: The model that writes.
        prompt: Plain text to go on from.
        tokens: How many tokens to append; fewer if the model ends its text.
    """
    ids = model.tokenizer.ids(prompt, add_bos=True)
    prompt_tokens = len(ids)
    steps: list[Overview] = []
    for u in uniforms(SEED, tokens + 1):
        passed = trace(model, ids)
        step = summarise(model, passed, SETTINGS, u, prompt_tokens=prompt_tokens)
        steps.append(step)
        if step.detokenizer.ends:
            break
        ids.append(step.sampling.drawn.id)
    return steps


def main() -> None:
    """Write the recording and say how large it is."""
    steps = record(load_model(), DEFAULT_PROMPT, TOKENS)
    recording = {
        "prompt": DEFAULT_PROMPT,
        "seed": SEED,
        "settings": asdict(SETTINGS),
        "steps": [step.to_json() for step in steps],
    }
    text = json.dumps(recording, ensure_ascii=False, separators=(",", ":"))
    RECORDING.write_text(text + "\n", encoding="utf-8")
    print(f"{RECORDING.relative_to(ROOT)}: {len(steps)} steps, {RECORDING.stat().st_size:,} bytes")
    print(repr(steps[-1].text + steps[-1].generated))


if __name__ == "__main__":
    main()
