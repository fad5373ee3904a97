"""Take every head of the default model away once, on two prompts, and keep what the answers are.

Run it again after a change to the default model or the default prompt:

    .venv/bin/python -m scripts.record_sweeps
"""

from __future__ import annotations

import json

import numpy as np

from components.interpret.recorded_sweeps import RECORDING, Recorded
from components.shell.example_prompts import DEFAULT_PROMPT
from engine.interpret.knockout import sweep
from engine.model.model import LanguageModel, load_model
from engine.tracing.trace import trace

PROMPTS = (DEFAULT_PROMPT, "The capital of France is")


def record(model: LanguageModel, prompt: str) -> Recorded:
    """Sweep over all heads after one prompt, for its likeliest next token."""
    ids = tuple(model.tokenizer.ids(prompt, add_bos=True))
    run = trace(model, ids)
    token_id = int(run.logits.argmax())
    table = np.zeros((model.architecture.layers, model.architecture.heads))
    for step in sweep(run, token_id):
        table[step.layer] = step.probabilities
    rows = tuple(tuple(float(value) for value in row) for row in table)
    return Recorded(prompt, ids, token_id, rows)


def main() -> None:
    """Write the recording and say what it holds."""
    model = load_model()
    found = [record(model, prompt).to_json() for prompt in PROMPTS]
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    RECORDING.write_text(text + "\n", encoding="utf-8")
    print(f"{RECORDING.name}: {len(found)} prompts, {RECORDING.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
