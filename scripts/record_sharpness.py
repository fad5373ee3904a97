"""Measure sharpness and accuracy on the facts and keep the result for the sampling page.

Run it again after a change to the facts or the default model:

    .venv/bin/python -m scripts.record_sharpness
"""

from __future__ import annotations

import json

from components.sampling.sharpness import RECORDING
from engine.generation.sharpness import measure
from engine.model.model import load_model
from engine.sampling.sharpness import load_facts


def main() -> None:
    """Write the recording and say what it holds."""
    result = measure(load_model(), load_facts())
    text = json.dumps(result.to_json(), ensure_ascii=False, separators=(",", ":"))
    RECORDING.write_text(text + "\n", encoding="utf-8")
    print(
        f"{RECORDING.name}: {len(result.results)} facts, {RECORDING.stat().st_size:,} bytes; "
        f"greedy right {result.greedy_right:.1%}"
    )


if __name__ == "__main__":
    main()
