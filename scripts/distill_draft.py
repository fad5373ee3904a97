"""Train the distilled draft on the target's own texts, and measure it.

    python -m scripts.own_texts FOLDER       writes the texts
    python -m scripts.distill_draft FOLDER   trains, and writes the weights
    python -m scripts.distill_draft FOLDER --start WEIGHTS   takes the last pass only, from there

The block learns to give the same distribution as the target, wherever an answer is written: its
loss is the cross-entropy between the two. When it guesses several tokens ahead it reads its own
result instead of the target's state. It practises that in the last part of the training: there it
goes over each text twice, the second time with its first results for states (Zhang et al., "HASS",
2025).
The last pass minimises what counts in the end: how likely a guess is rejected, one minus the sum of
min(p, q), at the temperature that the app starts with.

The weights in this repository went through the epochs on 12 batches of texts, there at all places
and not only in answers, and then through last passes of 500, 2,500 and 1,500 steps, on 12, 17 and
22 batches.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from engine.model.model import load_model
from engine.speculative.distilled import WEIGHTS, DistilledBlock
from scripts.own_texts import Turns

MOST_USED = 8192
"""Tokens of the cut head: they make up almost all of what the target writes."""
ROWS = 4
LEARNING_RATE = 1e-3
WARM_UP = 50
HELD = 24
"""Texts that are kept back, to measure with."""
AHEAD = (1.0, 0.5)
"""The weight of the loss one and two guesses ahead."""
PRACTICE = 0.6
"""After this share of the steps it guesses two ahead; until then one, in half of the time."""
FINISH = 2000
"""Steps of the last pass, at a third of the learning rate."""
TEMPERATURE = 0.7


@dataclass
class Texts:
    """All texts: `ids` [N, T], `states` [N, T, width], float16, `answered` [N, T], bool."""

    ids: torch.Tensor
    states: torch.Tensor
    answered: torch.Tensor
    """Where the next token is one of an answer: what a draft will have to guess."""

    @classmethod
    def read(cls, files: list[Path], turns: Turns) -> Texts:
        """Read files of `scripts.own_texts`."""
        parts = [load_file(path) for path in files]
        ids = torch.cat([part["ids"] for part in parts]).long()
        states = torch.cat([part["states"] for part in parts])
        return cls(ids, states, torch.tensor([answered(row, turns) for row in ids.tolist()]))

    def __getitem__(self, rows: torch.Tensor | slice) -> Texts:
        """Return some of the texts."""
        return Texts(self.ids[rows], self.states[rows], self.answered[rows])


def answered(ids: list[int], turns: Turns) -> list[bool]:
    """Say for each token whether the next one is part of an answer; its end token is.

    A text that is no conversation is one long answer.
    """
    end, *opening = turns.to_assistant
    inside, found = end not in ids, list[bool]()
    for place, token in enumerate(ids):
        if token == end:
            inside = False
        elif ids[max(0, place + 1 - len(opening)) : place + 1] == opening:
            inside = True
        found.append(inside)
    return [*found[:-1], False]  # what follows the last token is not known


@dataclass
class Setting:
    """What the block leans on: the target's embedding and its head, cut to the most used tokens."""

    embedding: torch.Tensor
    vocabulary: torch.Tensor
    head: torch.Tensor

    @classmethod
    def of(cls, network: Any, texts: Texts) -> Setting:
        """Count the tokens of the answers and cut the head to the most used ones."""
        embedding = network.get_input_embeddings().weight.detach()
        tokens = texts.ids[:, 1:][texts.answered[:, :-1]]
        counts = torch.bincount(tokens, minlength=len(embedding))
        vocabulary = counts.argsort(descending=True, stable=True)[:MOST_USED].sort().values
        share = counts[vocabulary].sum() / counts.sum()
        print(f"the {MOST_USED} most used tokens are {share:.2%} of the answers", flush=True)
        head = network.get_output_embeddings().weight.detach()
        return cls(embedding, vocabulary, head[vocabulary].contiguous())


def begin(network: Any) -> DistilledBlock:
    """Return a block that starts as the target's last one.

    The state comes in at a tenth, which gives it about the size of an embedding: both are small
    beside what the block adds, and so the first steps count.
    """
    block = DistilledBlock(network)
    block.block.layers[0].load_state_dict(network.model.layers[-1].state_dict())
    block.block.norm.load_state_dict(network.model.norm.state_dict())
    width = network.config.hidden_size
    with torch.no_grad():
        block.block.embed_tokens.weight.zero_()
        nn.init.normal_(block.mix.weight, std=0.01, generator=torch.Generator().manual_seed(0))
        block.mix.weight[:, :width] += torch.eye(width)
        block.mix.weight[:, width:] += 0.1 * torch.eye(width)
    return block.train()


def take_up(block: DistilledBlock, path: Path) -> None:
    """Put trained weights into the block. The cut head is no part of it."""
    weights = load_file(path)
    del weights["vocabulary"]
    block.load_state_dict({name: value.float() for name, value in weights.items()})


def guesses(
    block: DistilledBlock, setting: Setting, texts: Texts, ahead: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield, for 1 to `ahead` guesses ahead, (logits, target's logits), each `[answered, cut]`."""
    embeddings, states = functional.embedding(texts.ids, setting.embedding), texts.states.float()
    read = states[:, :-1]  # the state before each token
    for first in range(1, 1 + ahead):
        guessed, known = block(embeddings[:, first:], read), states[:, first:]
        where = texts.answered[:, first:]
        yield guessed[where] @ setting.head.T, known[where] @ setting.head.T
        read = guessed[:, :-1]


Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def cross_entropy(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy with the target's distribution."""
    return -(wanted.softmax(-1) * logits.log_softmax(-1)).sum(-1).mean()


def rejection(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Return how likely a guess is rejected."""
    p, q = ((row / TEMPERATURE).softmax(-1) for row in (wanted, logits))
    return 1 - torch.minimum(p, q).sum(-1).mean()


def train(block: DistilledBlock, setting: Setting, texts: Texts, held: Texts, epochs: int) -> None:
    """Train in place by cross-entropy: one guess ahead, later two."""
    steps = epochs * (len(texts.ids) // ROWS)
    practice = int(PRACTICE * steps)
    _steps(
        block, setting, texts, held, cross_entropy, steps, lambda step: 1 + (step > practice), 1.0
    )


def finish(block: DistilledBlock, setting: Setting, texts: Texts, held: Texts, steps: int) -> None:
    """Train on, by what counts in the end: the chance of a rejection, at times two ahead."""
    _steps(block, setting, texts, held, rejection, steps, lambda step: 1 + (step % 3 == 0), 0.3)


def _steps(
    block: DistilledBlock,
    setting: Setting,
    texts: Texts,
    held: Texts,
    loss_of: Loss,
    steps: int,
    ahead: Callable[[int], int],
    speed: float,
) -> None:
    """Take so many steps, and say at times how likely a guess is accepted on the held-out texts."""
    optimizer = torch.optim.AdamW(block.parameters(), lr=LEARNING_RATE, weight_decay=0.01)
    begun = time.perf_counter()
    for step, rows in zip(range(steps), _batches(len(texts.ids)), strict=False):
        for group in optimizer.param_groups:
            group["lr"] = speed * LEARNING_RATE * rate(step, steps)
        found = guesses(block, setting, texts[rows], ahead(step))
        parts = [weight * loss_of(*pair) for weight, pair in zip(AHEAD, found, strict=False)]
        loss = torch.stack(parts).sum()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(block.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0 or step == steps - 1:
            took, value = time.perf_counter() - begun, float(loss.detach())
            share = accepted(block, setting, held)
            print(f"step {step} of {steps}, {took:.0f} s: loss {value:.3f}, {share}", flush=True)


def _batches(count: int) -> Iterator[torch.Tensor]:
    """Yield the numbers of `ROWS` texts, all texts in an order of chance, again and again."""
    generator = torch.Generator().manual_seed(0)
    while True:
        order = torch.randperm(count, generator=generator)
        yield from torch.split(order, ROWS)[: count // ROWS]


def rate(step: int, steps: int) -> float:
    """Return the share of the learning rate: up in the first steps, then down a cosine."""
    return min(1.0, (step + 1) / WARM_UP) * 0.5 * (1 + math.cos(math.pi * step / steps))


@torch.no_grad()
def accepted(block: DistilledBlock, setting: Setting, held: Texts) -> str:
    """Say how likely a guess is accepted: the mean of sum min(p, q)."""
    pairs = guesses(block, setting, held, len(AHEAD))
    one, two = (1 - float(rejection(*pair)) for pair in pairs)
    return f"accepted {one:.3f} one ahead and {two:.3f} two ahead"


def save(block: DistilledBlock, setting: Setting, path: Path) -> None:
    """Write the block in float16, with the tokens of the cut head."""
    weights = {name: value.detach().half() for name, value in block.state_dict().items()}
    weights = {name: value.contiguous() for name, value in weights.items()}
    save_file({**weights, "vocabulary": setting.vocabulary.int()}, path)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def main() -> None:
    """Train on all files of the folder but some rows of the last."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--epochs", type=int, default=5)
    arguments.add_argument("--finish", type=int, default=FINISH, help="steps of the last pass")
    arguments.add_argument("--start", type=Path, help="weights that went through the epochs")
    arguments.add_argument("--output", type=Path, default=WEIGHTS)
    arguments.add_argument("--threads", type=int, default=2)
    wanted = arguments.parse_args()
    model = load_model(threads=wanted.threads)
    texts = Texts.read(sorted(wanted.folder.glob("*.safetensors")), Turns(model))
    held, texts = texts[-HELD:], texts[:-HELD]
    setting = Setting.of(model.network, texts)
    block = begin(model.network)
    if wanted.start is None:
        train(block, setting, texts, held, wanted.epochs)
    else:
        take_up(block, wanted.start)
    finish(block, setting, texts, held, wanted.finish)
    save(block, setting, wanted.output)


if __name__ == "__main__":
    main()
