"""Learn one sentence: the loss of every token, and a few steps of training on a private copy.

Pre-training has one task: give the next token a high probability. The loss of a token is its
surprisal, -log p; a step of training moves every weight a little against the gradient of the mean
loss. `learn` does that for one sentence on a copy of the last blocks (`engine.training.tail`). The
shared model never changes.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.basics.arrays import Array, frozen
from engine.basics.errors import EngineError
from engine.basics.results import Result
from engine.training.tail import BLOCKS, Tail, Trunk

if TYPE_CHECKING:
    from engine.model.model import LanguageModel

MOST_STEPS = 50
MOST_TOKENS = 256


@dataclass(frozen=True, eq=False)
class TokenLosses(Result):
    """The loss of each token of a text, given the tokens before it."""

    ids: tuple[int, ...]
    bits: Array
    """`[T-1]`, -log2 p of the tokens from the second on."""

    @property
    def mean_nats(self) -> float:
        """The loss that training lowers: the mean of -ln p."""
        return float(self.bits.mean(dtype="float64")) * math.log(2)

    @property
    def perplexity(self) -> float:
        """Return e to the mean loss: as unsure as between so many equally likely tokens."""
        return math.exp(self.mean_nats)


@dataclass(frozen=True)
class Fact(Result):
    """A text to be continued, and the token that should come next."""

    prompt: str
    prompt_ids: tuple[int, ...]
    answer_id: int


@dataclass(frozen=True)
class LearnStep(Result):
    """The state of the training after a number of steps."""

    step: int
    """0 is before the first step."""
    loss: float
    """Mean of -ln p over the sentence's tokens."""
    competing: tuple[float, ...]
    """The probability of each watched token after the prompt."""
    facts: tuple[float, ...]
    """The probability of each other fact's answer."""


def token_losses(model: LanguageModel, ids: Sequence[int]) -> TokenLosses:
    """Return the loss of each token of a text.

    Raises:
        EngineError: Fewer than two tokens, or more than `MOST_TOKENS`.
    """
    if not 2 <= len(ids) <= MOST_TOKENS:
        raise EngineError(
            f"A loss needs 2 to {MOST_TOKENS} tokens, but this text has {len(ids)}. "
            f"{'Type a few more words.' if len(ids) < 2 else 'Shorten it.'}"
        )
    row = torch.tensor([list(ids)], device=model.network.device)
    with model.lock, torch.inference_mode():
        logits_TV = model.network(
            input_ids=row, attention_mask=torch.ones_like(row), use_cache=False
        ).logits[0, :-1]
        losses_T = torch.nn.functional.cross_entropy(
            logits_TV.float(), row[0, 1:], reduction="none"
        )
    return TokenLosses(tuple(ids), frozen(losses_T.cpu().numpy() / math.log(2)))


def learn(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    answer_ids: Sequence[int],
    *,
    steps: int,
    learning_rate: float,
    watched: Sequence[int],
    facts: Sequence[Fact] = (),
    blocks: int = BLOCKS,
) -> Generator[LearnStep, None, None]:
    """Teach a copy of the last blocks one sentence: prompt and answer.

    Args:
        model: Its trunk is run once per text; it is never changed.
        prompt_ids: The sentence up to the answer.
        answer_ids: The rest of it.
        steps: Steps of AdamW (Loshchilov and Hutter, 2019), each over the whole sentence.
        learning_rate: The learning rate of AdamW.
        watched: Tokens whose probability after the prompt is reported.
        facts: Other prompts, to see how the steps change their answers.
        blocks: How many of the last blocks learn.

    Returns:
        The state before the first step and after each one. When the iterator is closed or
        forgotten, the copy is freed.

    Raises:
        EngineError: No prompt, no answer, or settings out of range.
    """
    check_settings(steps, learning_rate)
    if not prompt_ids or not answer_ids:
        raise EngineError(
            "There is nothing to learn: the sentence needs a beginning and an answer."
        )
    sentence = [*prompt_ids, *answer_ids]
    if len(sentence) > MOST_TOKENS:
        raise EngineError(f"The sentence has {len(sentence)} tokens; at most {MOST_TOKENS}.")
    return _learning(
        Tail(model, blocks), sentence, len(prompt_ids), steps, learning_rate, watched, facts
    )


def _learning(
    tail: Tail,
    sentence: Sequence[int],
    prompt_tokens: int,
    steps: int,
    learning_rate: float,
    watched: Sequence[int],
    facts: Sequence[Fact],
) -> Generator[LearnStep, None, None]:
    text = tail.trunk(sentence)
    others = [(tail.trunk(fact.prompt_ids), fact.answer_id) for fact in facts]
    optimizer = torch.optim.AdamW(tail.parameters(), lr=learning_rate)
    for step in range(steps + 1):
        if step:
            optimizer.step()
            optimizer.zero_grad()
        # 1. The loss of the sentence with the current weights.
        with torch.enable_grad():
            loss = -tail.answer_logprobs(text, 1).mean()
            if step < steps:
                # 2. The gradient: in which direction each weight would raise the loss.
                loss.backward()  # type: ignore[no-untyped-call]
        yield LearnStep(
            step=step,
            loss=float(loss.detach()),
            competing=tuple(_shares(tail, text, prompt_tokens, watched)),
            facts=tuple(_shares(tail, trunk, len(trunk.ids), [a])[0] for trunk, a in others),
        )


def _shares(tail: Tail, trunk: Trunk, tokens: int, ids: Sequence[int]) -> list[float]:
    """Return the probability of each id after the first `tokens` tokens."""
    with torch.no_grad():
        shares_V = tail.logits(trunk, tokens - 1, tokens)[0].softmax(-1)
    return [float(shares_V[token_id]) for token_id in ids]


def check_settings(steps: int, learning_rate: float) -> None:
    """Refuse settings that would run for long or break the copy's numbers.

    Raises:
        EngineError: With the value and its range.
    """
    if not 1 <= steps <= MOST_STEPS:
        raise EngineError(f"The number of steps must be 1 to {MOST_STEPS}, but is {steps}.")
    if not 0 < learning_rate <= 0.1:
        raise EngineError(
            f"The learning rate must be above 0 and at most 0.1, but is {learning_rate}."
        )
