"""Let the default model write conversations with itself: the texts that the draft learns from.

    python -m scripts.own_texts FOLDER [--batches 24]

No data set is needed. After the words that open a user's turn an instruction model writes the
question too, and the answer after that (Xu et al., "Magpie", 2024). Half of the questions begin
with one of a few openers, so that they differ more, and each eighth batch is plain text. Beside
each token its last hidden state is kept: it is what the draft reads, and the target that it learns
is the LM head's answer to it. Each batch has its own seed, so a run can be taken up again.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import Cache, DynamicCache, DynamicLayer

from engine.model.model import LanguageModel, load_model
from engine.network.few_rows import use_stock_linear

ROWS, LENGTH = 128, 256
LONGEST_QUESTION = 80
CANDIDATES = 50
"""The likeliest tokens among which one is drawn; sorting all of them would cost a third more."""
TEMPERATURES = (0.0, 0.5, 0.7, 0.7, 1.0)
"""Of the answers, by row; questions are drawn at 1."""

QUESTIONS, PLAIN = (
    part.splitlines()
    for part in (Path(__file__).parent / "openers.txt").read_text(encoding="utf-8").split("\n\n")
)
"""How a user's turn begins, and how plain text does."""


class RoomyLayer(DynamicLayer):  # type: ignore[misc]
    """A cache layer with room for the whole text: a new token is written in, nothing is copied."""

    def begin(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Take the shared beginning `[1, heads, tokens, width]` into every row."""
        _, heads, self.filled, width = keys.shape
        self.room = [torch.empty(ROWS, heads, LENGTH, width) for _ in range(2)]
        for room, part in zip(self.room, (keys, values), strict=True):
            room[:, :, : self.filled] = part
        self.is_initialized = True
        self._show()

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write one token's keys and values and return all so far."""
        for room, part in zip(self.room, (key_states, value_states), strict=True):
            room[:, :, self.filled : self.filled + 1] = part
        self.filled += 1
        self._show()
        return self.keys, self.values

    def _show(self) -> None:
        self.keys, self.values = (room[:, :, : self.filled] for room in self.room)


class Row:
    """Whose turn it is in one conversation, and which tokens are given instead of drawn."""

    def __init__(self, given: list[int], temperature: float, turns: Turns | None) -> None:
        """Begin with a user's turn; without `turns` it is plain text."""
        self.given = list(given)
        self.answering = turns is None
        self.temperature = temperature
        self.length = 0
        self.turns = turns

    @property
    def heat(self) -> float:
        """The temperature for the next token."""
        return self.temperature if self.answering else 1.0

    def take(self, drawn: int, ends: frozenset[int]) -> int:
        """Return the next token: a given one, or the drawn one; after an end the other's turn."""
        if self.given:
            return self.given.pop(0)
        self.length += 1
        if self.turns is None:
            return drawn
        too_long = not self.answering and self.length > LONGEST_QUESTION
        if drawn not in ends and not too_long:
            return drawn
        end, *opening = self.turns.to_user if self.answering else self.turns.to_assistant
        self.answering, self.length = not self.answering, 0
        self.given = opening
        return end


class Turns:
    """The tokens between the turns of a conversation, as the chat template writes them."""

    def __init__(self, model: LanguageModel) -> None:
        """Read them off a conversation of two questions."""
        tokenizer = model.tokenizer
        mark = tokenizer.ids("x")
        ids = tokenizer.chat(
            [{"role": role, "content": "x"} for role in ("user", "assistant", "user")]
        )
        first, second, third = (i for i in range(len(ids)) if ids[i : i + len(mark)] == mark)
        size = len(mark)
        self.beginning = ids[:first]
        self.to_assistant = ids[first + size : second]
        self.to_user = ids[second + size : third]


def write_batch(model: LanguageModel, seed: int) -> dict[str, torch.Tensor]:
    """Return `ids` [rows, length] and `states` [rows, length, width], float16."""
    generator = torch.Generator().manual_seed(seed)
    turns = None if seed % 8 == 7 else Turns(model)
    beginning = [0] if turns is None else turns.beginning
    rows = [_row(model, turns, generator) for _ in range(ROWS)]
    start = DynamicCache()
    output = _read(model, torch.tensor([beginning]), start)
    cache = Cache(layers=[RoomyLayer() for _ in start.layers])
    for roomy, layer in zip(cache.layers, start.layers, strict=True):
        roomy.begin(layer.keys, layer.values)
    ids = torch.empty(ROWS, LENGTH, dtype=torch.int32)
    states = torch.empty(ROWS, LENGTH, model.architecture.width, dtype=torch.float16)
    read = len(beginning)
    ids[:, :read] = torch.tensor(beginning)
    states[:, :read] = output.hidden_states[-1]
    for place in range(read, LENGTH):
        last = output.hidden_states[-1][:, -1]
        logits = model.network.lm_head(last).expand(ROWS, -1)
        drawn = _draw(logits, torch.tensor([row.heat for row in rows]), generator)
        ids[:, place] = torch.tensor(
            [row.take(token, model.stop_ids) for row, token in zip(rows, drawn, strict=True)]
        )
        output = _read(model, ids[:, place : place + 1].long(), cache)
        states[:, place] = output.hidden_states[-1][:, 0]
    return {"ids": ids, "states": states}


def _row(model: LanguageModel, turns: Turns | None, generator: torch.Generator) -> Row:
    """Return a conversation that has not begun; half of them with an opener."""

    def one_of(choices: Any) -> Any:
        return choices[int(torch.randint(len(choices), (1,), generator=generator))]

    opener = one_of(PLAIN if turns is None else QUESTIONS)
    free = turns is not None and one_of((True, False))
    given = [] if free else model.tokenizer.ids(opener)
    return Row(given, one_of(TEMPERATURES), turns)


def _read(model: LanguageModel, ids: torch.Tensor, cache: Any) -> Any:
    return model.network(
        input_ids=ids,
        cache=cache,
        use_cache=True,
        output_hidden_states=True,
        logits_to_keep=1,
    )


def _draw(logits: torch.Tensor, heats: torch.Tensor, generator: torch.Generator) -> list[int]:
    """Draw one token per row among the likeliest; the likeliest itself at temperature 0."""
    best, tokens = logits.topk(CANDIDATES)
    shares = torch.softmax(best / heats.clamp(min=1e-4)[:, None], dim=-1)
    places = torch.multinomial(shares, 1, generator=generator)
    return [int(token) for token in tokens.gather(1, places)[:, 0]]


def write_file(folder: Path, seed: int) -> str:
    """Write one batch into its own file, on one thread, and say how fast it went."""
    target = folder / f"{seed:03}.safetensors"
    if target.exists():
        return f"{target.name} is there"
    start = time.perf_counter()
    model = load_model(threads=1)
    use_stock_linear(model.network)
    model.network.set_attn_implementation("sdpa")
    with torch.inference_mode():
        save_file(write_batch(model, seed), target)
    rate = ROWS * LENGTH / (time.perf_counter() - start)
    return f"{target.name}: {ROWS * LENGTH} tokens, {rate:.0f} a second"


def main() -> None:
    """Write batches into the folder, each core one of its own."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--batches", type=int, default=24)
    wanted = arguments.parse_args()
    wanted.folder.mkdir(parents=True, exist_ok=True)
    seeds = range(wanted.batches)
    with ProcessPoolExecutor(mp_context=get_context("spawn"), max_workers=os.cpu_count()) as pool:
        for line in pool.map(partial(write_file, wanted.folder), seeds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
