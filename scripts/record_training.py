"""Record the trainings that the training page opens with.

Run it again after a change to the lessons or the default model (a few minutes):

    .venv/bin/python -m scripts.record_training
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from components.kit.text import visible
from components.link import keys
from components.training import depth
from components.training.recorded import RECORDING
from engine.basics.distribution import top
from engine.model.model import LanguageModel, load_model
from engine.tracing.trace import trace
from engine.training import from_nothing
from engine.training.preference import prefer
from engine.training.sentence import Fact, learn

EVERY = 10
"""Of the losses of the tiny transformer every tenth is kept."""


def tiny() -> dict[str, Any]:
    """Train the tiny transformer with seed 0."""
    text = from_nothing.rhymes()
    steps = list(from_nothing.train(text, seed=0))
    return {
        "losses": {step.step: round(step.loss, 4) for step in steps if step.step % EVERY == 0},
        "samples": {step.step: step.sample for step in steps if step.sample is not None},
        "chance": math.log(len(set(text))),
    }


def sentence(model: LanguageModel) -> dict[str, Any]:
    """Teach the default model the page's sentence."""
    ids = model.tokenizer.ids
    start, end = depth.SENTENCE
    prompt, answer = ids(start, add_bos=True), ids(" " + end)
    facts = [
        Fact(text, tuple(ids(text, add_bos=True)), ids(answer_)[0]) for text, answer_ in depth.FACTS
    ]
    watched = _watched(model, prompt, answer[:1], 4)
    steps = learn(
        model,
        prompt,
        answer,
        steps=int(keys.limit(keys.LEARN_STEPS).default),
        learning_rate=depth.RATE,
        watched=watched,
        facts=facts,
    )
    return {"names": _names(model, watched), "steps": [asdict(step) for step in steps]}


def preference(model: LanguageModel) -> dict[str, Any]:
    """Have the default model prefer the page's answer."""
    words, chosen, rejected = depth.PAIR
    prompt = model.tokenizer.chat([{"role": "user", "content": words}])
    answers = [model.tokenizer.ids(text) for text in (chosen, rejected)]
    watched = _watched(model, prompt, [answer[0] for answer in answers], 5)
    steps = prefer(
        model,
        prompt,
        answers[0],
        answers[1],
        beta=keys.limit(keys.DPO_BETA).default,
        steps=int(keys.limit(keys.DPO_STEPS).default),
        learning_rate=depth.RATE,
        watched=watched,
    )
    return {"names": _names(model, watched), "steps": [asdict(step) for step in steps]}


def _watched(model: LanguageModel, prompt: list[int], first: list[int], most: int) -> list[int]:
    best = top(trace(model, prompt).logits, 20).ids
    return list(dict.fromkeys([*first, *(int(token_id) for token_id in best)]))[:most]


def _names(model: LanguageModel, ids: list[int]) -> list[str]:
    return [visible(model.tokenizer.bytes_of(token_id), limit=16) for token_id in ids]


def main() -> None:
    """Write the recording and say what it holds."""
    model = load_model()
    recording = {"tiny": tiny(), "sentence": sentence(model), "preference": preference(model)}
    text = json.dumps(recording, ensure_ascii=False, indent=1)
    RECORDING.write_text(text + "\n", encoding="utf-8")
    print(f"{RECORDING.name}: {RECORDING.stat().st_size:,} bytes")
    for step, sample in recording["tiny"]["samples"].items():
        print(step, repr(sample))


if __name__ == "__main__":
    main()
