"""Run every guard over both scenarios and keep the counts for the guardrails page.

Run it again after a change to the guards, the scenarios or the default model (some minutes):

    .venv/bin/python -m scripts.record_guards
"""

from __future__ import annotations

import json
from dataclasses import asdict

from components.guardrails.recorded import BUDGET, RECORDING, SEEDS, SETTINGS
from engine.guardrails.comparison import compare
from engine.guardrails.scenario import SCENARIOS
from engine.model.model import load_model


def main() -> None:
    """Write the recording and say what it holds."""
    model = load_model()
    recording = {}
    for name, scenario in SCENARIOS.items():
        *_, last = compare(model, scenario, SETTINGS, seeds=SEEDS, max_new_tokens=BUDGET)
        recording[name] = {"word": scenario.word, "tallies": [asdict(tally) for tally in last]}
        for tally in last:
            print(f"{name}, {tally.guard}: {tally.leaks} say it, {tally.told} tell it")
    text = json.dumps(recording, ensure_ascii=False, indent=1)
    RECORDING.write_text(text + "\n", encoding="utf-8")
    print(f"{RECORDING.name}: {RECORDING.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
