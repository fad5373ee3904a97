"""What it costs to watch: a traced pass beside a plain one, in time and in memory."""

from __future__ import annotations

import torch

from benchmarks.peer import some_ids, stock_network
from benchmarks.table import Row, compare
from engine.model.model import load_model
from engine.tracing.trace import trace

TOKENS = 64
LONG = 256


def measure() -> list[Row]:
    """Time the traced pass against transformers' own, and weigh a trace."""
    model = load_model()
    stock = stock_network()
    ids = some_ids(model.tokenizer.encode, TOKENS)
    input_ids = torch.tensor([ids])

    def plain() -> None:
        with torch.inference_mode():
            stock(input_ids=input_ids, use_cache=False, logits_to_keep=1)

    times = compare({"plain": plain, "traced": lambda: trace(model, ids)}, rounds=15)
    weight = trace(model, some_ids(model.tokenizer.encode, LONG)).nbytes / 1e6
    return [
        Row(
            f"traced pass vs plain forward, {TOKENS} tokens",
            times["traced"] / times["plain"],
            1.15,
            "× the time",
            note=f"{times['traced'] * 1e3:.0f} ms vs {times['plain'] * 1e3:.0f} ms",
        ),
        Row(f"a trace at {LONG} tokens", weight, 80, "MB"),
    ]
