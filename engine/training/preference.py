"""Learn from a preference by DPO (direct preference optimisation), the shortest form of RLHF.

Somebody prefers one answer to another. DPO raises the chosen answer's log-probability relative to
the rejected one's, each measured from its value at the start:

    loss = -ln σ(β · ((log π(c) - log π₀(c)) - (log π(r) - log π₀(r))))

β says how strongly moving away from the start is penalised. Source: Rafailov et al., "Direct
Preference Optimization: Your Language Model is Secretly a Reward Model" (2023), equation 7.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.basics.errors import EngineError
from engine.basics.results import Result
from engine.training.sentence import MOST_TOKENS, check_settings
from engine.training.tail import BLOCKS, Tail

if TYPE_CHECKING:
    from engine.model.model import LanguageModel


@dataclass(frozen=True)
class PreferenceStep(Result):
    """The state of the training after a number of steps."""

    step: int
    """0 is before the first step."""
    loss: float
    """ln 2 at the start, whatever the answers."""
    chosen: float
    """ln p of the whole chosen answer."""
    rejected: float
    """ln p of the whole rejected answer."""
    margin: float
    """β times how much more the chosen answer's ln p has risen than the rejected one's."""
    divergence: float
    """KL(now ‖ start) of the next token's distribution after the prompt, in nats."""
    watched: tuple[float, ...]
    """The probability of each watched token after the prompt."""


def preference_loss(
    chosen: torch.Tensor,
    rejected: torch.Tensor,
    chosen_start: torch.Tensor,
    rejected_start: torch.Tensor,
    beta: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (loss, margin) from the log-probabilities of two answers, now and at the start."""
    margin = beta * ((chosen - chosen_start) - (rejected - rejected_start))
    return -torch.nn.functional.logsigmoid(margin), margin


def prefer(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    chosen_ids: Sequence[int],
    rejected_ids: Sequence[int],
    *,
    steps: int,
    learning_rate: float,
    beta: float,
    watched: Sequence[int] = (),
    blocks: int = BLOCKS,
) -> Generator[PreferenceStep, None, None]:
    """Teach a copy of the last blocks to prefer one answer.

    Args:
        model: Never changed.
        prompt_ids: The tokens of the prompt.
        chosen_ids: The answer to prefer.
        rejected_ids: The other answer.
        steps: Steps of AdamW.
        learning_rate: The learning rate of AdamW.
        beta: How strongly moving away from the start is penalised, above 0.
        watched: Tokens whose probability after the prompt is reported.
        blocks: How many of the last blocks learn.

    Returns:
        The state before the first step and after each one.

    Raises:
        EngineError: An empty text, equal answers, or settings out of range.
    """
    check_settings(steps, learning_rate)
    if not 0 < beta <= 10:
        raise EngineError(f"β must be above 0 and at most 10, but is {beta}.")
    if not prompt_ids or not chosen_ids or not rejected_ids:
        raise EngineError("A preference needs a prompt and two answers. Fill in what is empty.")
    if tuple(chosen_ids) == tuple(rejected_ids):
        raise EngineError("Both answers are the same, so there is nothing to prefer.")
    if len(prompt_ids) + max(len(chosen_ids), len(rejected_ids)) > MOST_TOKENS:
        raise EngineError(
            f"Prompt and answer may have {MOST_TOKENS} tokens together. Shorten them."
        )
    texts = ([*prompt_ids, *chosen_ids], [*prompt_ids, *rejected_ids])
    return _preferring(
        Tail(model, blocks), texts, len(prompt_ids), steps, learning_rate, beta, watched
    )


def _preferring(
    tail: Tail,
    texts: tuple[list[int], list[int]],
    prompt_tokens: int,
    steps: int,
    learning_rate: float,
    beta: float,
    watched: Sequence[int],
) -> Generator[PreferenceStep, None, None]:
    trunks = [tail.trunk(text) for text in texts]
    optimizer = torch.optim.AdamW(tail.parameters(), lr=learning_rate)
    for step in range(steps + 1):
        if step:
            optimizer.step()
            optimizer.zero_grad()
        with torch.enable_grad():
            now = [tail.answer_logprobs(trunk, prompt_tokens).sum() for trunk in trunks]
            if step == 0:
                # The start is this very result and no second computation of it, which another
                # kernel could round differently: so the first margin is exactly 0.
                starts = [logprob.detach() for logprob in now]
            loss, margin = preference_loss(now[0], now[1], starts[0], starts[1], beta)
            if step < steps:
                loss.backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            after_V = tail.logits(trunks[0], prompt_tokens - 1, prompt_tokens)[0].log_softmax(-1)
            if step == 0:
                before_V = after_V
            divergence = (after_V.exp() * (after_V - before_V)).sum()
        yield PreferenceStep(
            step=step,
            loss=float(loss.detach()),
            chosen=float(now[0].detach()),
            rejected=float(now[1].detach()),
            margin=float(margin.detach()),
            divergence=max(0.0, float(divergence)),
            watched=tuple(float(after_V[token_id].exp()) for token_id in watched),
        )
