"""How fast text is written: the decode loop beside transformers' `generate`, and few-row steps."""

from __future__ import annotations

import copy
from typing import Any

import torch
from transformers import DynamicCache

from benchmarks.peer import some_ids, stock_network
from benchmarks.table import Row, compare
from engine.generation.loop import generate
from engine.model.model import LanguageModel, load_model
from engine.sampling.chain import SamplingSettings

NEW_TOKENS = 40
PROMPT_TOKENS = 32


def measure() -> list[Row]:
    """Compare tokens per second, and cached steps over 1, 4 and 8 tokens."""
    model = load_model()
    stock = stock_network()
    return [_loop(model, stock), *_steps(model, stock)]


def _loop(model: LanguageModel, stock: Any) -> Row:
    """Greedy on both sides, to the same number of tokens."""
    ids = some_ids(model.tokenizer.encode, PROMPT_TOKENS)
    input_ids = torch.tensor([ids])
    greedy = SamplingSettings(temperature=0.0)

    def ours() -> None:
        steps = list(generate(model, ids, greedy, max_new_tokens=NEW_TOKENS, seed=0))
        assert len(steps) == NEW_TOKENS, "the run ended early: choose another prompt"

    def theirs() -> None:
        stock.generate(
            input_ids,
            attention_mask=torch.ones_like(input_ids),
            do_sample=False,
            min_new_tokens=NEW_TOKENS,
            max_new_tokens=NEW_TOKENS,
            pad_token_id=0,
        )

    times = compare({"ours": ours, "theirs": theirs}, rounds=5, warm_up=1)
    return Row(
        "decode loop vs transformers' generate, greedy",
        times["theirs"] / times["ours"],
        1.15,
        "× the tokens per second",
        at_least=True,
        note=f"{NEW_TOKENS / times['ours']:.1f} vs {NEW_TOKENS / times['theirs']:.1f} per second",
    )


def _steps(model: LanguageModel, stock: Any) -> list[Row]:
    """One cached step over several tokens, as checking a draft needs it, vs a stock step over 1."""
    ids = some_ids(model.tokenizer.encode, PROMPT_TOKENS + 8)
    prompt, following = ids[:PROMPT_TOKENS], ids[PROMPT_TOKENS:]
    cache = DynamicCache(config=stock.config)
    with torch.inference_mode():
        stock(input_ids=torch.tensor([prompt]), cache=cache, use_cache=True)

    def step(network: Any, rows: int) -> None:
        with torch.inference_mode():
            network(
                input_ids=torch.tensor([following[:rows]]),
                cache=copy.deepcopy(cache),
                use_cache=True,
            )

    times = compare(
        {
            "stock 1": lambda: step(stock, 1),
            "4": lambda: step(model.network, 4),
            "8": lambda: step(model.network, 8),
        },
        rounds=15,
    )
    return [
        Row(
            f"one cached step over {rows} tokens vs a stock step over 1",
            times[rows] / times["stock 1"],
            budget,
            "× the time",
            note=f"{times[rows] * 1e3:.0f} ms vs {times['stock 1'] * 1e3:.0f} ms",
        )
        for rows, budget in (("4", 1.3), ("8", 1.6))
    ]
