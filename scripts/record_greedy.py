"""Write tests/data/greedy.json: what transformers' `generate(do_sample=False)` says.

Twenty prompts, 64 tokens each, from the default model with the attention and the linear layers that
transformers itself uses, so that the recording owes nothing to this project's loop. Run it again
only if the default model changes:

    python -m scripts.record_greedy

With --check nothing is written: this project's loop writes every answer, token by token, and each
is compared with the recorded one (a few minutes):

    python -m scripts.record_greedy --check
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from engine.generation.loop import generate
from engine.model.model import LanguageModel, load_model
from engine.network.few_rows import use_stock_linear
from engine.sampling.chain import SamplingSettings

TARGET = Path(__file__).parents[1] / "tests" / "data" / "greedy.json"
TOKENS = 64

PROMPTS = [
    "The capital of France is",
    "The capital of Australia is",
    "The chemical symbol for gold is",
    "Roses are red, violets are",
    "The cat sat on the mat. The cat sat on the",
    "Once upon a time, in a village by the sea,",
    "def fibonacci(n):\n",
    "1, 2, 3, 4, 5,",
    "Ingredients:\n- 2 eggs\n-",
    "Il était une fois",
    "Dear Sir or Madam,\n\n",
    "The three laws of motion are",
    "In 1969, the first man",
    "Q: What is 7 times 8?\nA:",
    "<html>\n<head>",
    "The weather today is 😀",
]
CHATS = [
    "Why is the sky blue?",
    "Write a haiku about rain.",
    "List three animals.",
    "Explain a token to a child.",
]


def record() -> None:
    """Record every prompt and write the file."""
    model = load_model()
    use_stock_linear(model.network)
    model.network.set_attn_implementation("sdpa")
    encoded = [model.tokenizer.ids(text) for text in PROMPTS]
    encoded += [model.tokenizer.chat([{"role": "user", "content": text}]) for text in CHATS]
    runs = [
        {"prompt": text, "ids": ids, "tokens": greedy(model, ids)}
        for text, ids in zip(PROMPTS + CHATS, encoded, strict=True)
    ]
    lines = ",\n".join(json.dumps(run, ensure_ascii=False) for run in runs)
    TARGET.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(runs)} prompts written to {TARGET}")


def greedy(model: LanguageModel, ids: list[int]) -> list[int]:
    """Return what transformers' own loop writes after `ids`."""
    prompt = torch.tensor([ids])
    with torch.inference_mode():
        output = model.network.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            do_sample=False,
            max_new_tokens=TOKENS,
        )
    return [int(token_id) for token_id in output[0, len(ids) :]]


def check() -> int:
    """Compare this project's loop with the recording and return how many answers differ."""
    model = load_model()
    differing = 0
    for run in json.loads(TARGET.read_text(encoding="utf-8")):
        steps = generate(
            model, run["ids"], SamplingSettings(temperature=0), max_new_tokens=TOKENS, seed=0
        )
        same = [step.id for step in steps] == run["tokens"]
        differing += not same
        print("same     " if same else "DIFFERENT", repr(run["prompt"]), flush=True)
    return differing


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(min(1, check()))
    record()
