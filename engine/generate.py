"""Output, generation: the loop that writes text, one token at a time.

    read the prompt (prefill) -> logits -> sampling chain -> draw -> bytes -> text
                                   ^                          |
                                   +---- read the new token <-+

The loop ends at a stop token, a stop string, the token budget, the end of the context, or when it
is cancelled. Every step says what was drawn, from what, and how long it took.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import torch

from engine.cached_pass import CachedPass
from engine.errors import EngineError
from engine.sampling import SamplingSettings, draw, final_probabilities, softmax
from engine.stop_strings import StopStrings

if TYPE_CHECKING:
    from engine.model import LanguageModel

Floats = npt.NDArray[np.float32]

StopReason = Literal["end token", "stop string", "token budget", "context limit", "cancelled"]

TOP = 10
"""How many of the likeliest tokens a step reports."""


@dataclass(frozen=True)
class TokenStep:
    """One turn of the loop: one token."""

    index: int
    """0 for the first token that is generated."""
    id: int
    data: bytes
    """The token's own bytes, perhaps a part of a character; for a control token its name."""
    text: str
    """What can be shown now, often of several tokens or of none: characters whose bytes are
    complete and that begin no stop string. The end token itself gives no text."""
    probability: float
    """In the distribution that was drawn from."""
    raw_probability: float
    """In the model's own distribution, before the sampling settings."""
    top_raw: tuple[tuple[int, float], ...]
    """The model's own likeliest tokens, (id, probability), at most 10, of equals the lower id
    first."""
    top_final: tuple[tuple[int, float], ...]
    """The same of the distribution that was drawn from; only tokens that can be drawn."""
    u: float
    """The uniform number in [0, 1) that chose the token."""
    milliseconds: float
    """Time for pass and draw, without waiting for other runs. The first step reads the prompt."""
    cache_tokens: int
    """Tokens that have been read: the prompt and all generated ones but this one."""
    cache_bytes: int
    """What their keys and values take (under a sliding window, those of the last tokens only)."""
    stop_reason: StopReason | None
    """Why the text ends with this step; None on every step but the last."""


def generate(
    model: LanguageModel,
    ids: Sequence[int],
    settings: SamplingSettings,
    *,
    max_new_tokens: int,
    seed: int,
    stop: Iterable[str] = (),
    numbers_used: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
) -> Generator[TokenStep, None, None]:
    """Continue a prompt, one token a step.

    Args:
        model: Its lock is held for one pass at a time: runs side by side take turns.
        ids: The prompt's tokens.
        settings: How each token is drawn.
        max_new_tokens: The token budget, at least 1.
        seed: Gives this run its own random numbers: the same ones as `uniforms(seed, …)`.
        stop: Strings before which the text ends.
        numbers_used: How many of the seed's numbers earlier steps have drawn with; the run goes on
            with the next one, as if it had never been interrupted.
        cancelled: Asked before the prompt is read, and after each token: true makes that token the
            last one. If it is true at the start there are no steps.

    Returns:
        The steps. `stop_reason` is set on the last one, whose text also holds what was held back.
        Closing the generator ends the run at once and frees the cache.

    Raises:
        EngineError: At once: no tokens, too many, an id that does not exist, a budget below 1, a
            seed that is not a whole number of 64 bits, an empty stop string.
        SettingsError: At once: a bias for an id outside the vocabulary, or for all of it -inf.
    """
    prompt = _checked_prompt(ids, model)
    if max_new_tokens < 1:
        raise EngineError(f"The token budget must be at least 1, but is {max_new_tokens}.")
    # Whether the settings suit this vocabulary does not depend on the logits.
    final_probabilities(np.zeros(model.architecture.vocabulary, np.float32), settings, prompt)
    generator = _generator(seed)
    for _ in range(numbers_used):
        _uniform(generator)
    run = _Run(model, prompt, settings, generator, StopStrings(stop))
    limit = model.architecture.context - len(prompt)
    return _steps(run, max_new_tokens, limit, cancelled)


def uniforms(seed: int, count: int) -> tuple[float, ...]:
    """Return the first `count` random numbers of a run with this seed, each in [0, 1).

    Step i of `generate` draws with number i, so a page can show the draw without running the model.

    Raises:
        EngineError: The seed is not a whole number of 64 bits.
    """
    generator = _generator(seed)
    return tuple(_uniform(generator) for _ in range(count))


def top(probabilities: Floats, count: int = TOP) -> tuple[tuple[int, float], ...]:
    """Return the likeliest tokens, (id, probability), of equals the lower id first; none of 0."""
    alive = np.flatnonzero(probabilities > 0)
    if len(alive) > count:
        # Everything down to the count-th largest, so that equals at the edge are sorted by id.
        smallest = np.partition(probabilities[alive], len(alive) - count)[len(alive) - count]
        alive = alive[probabilities[alive] >= smallest]
    order = np.argsort(-probabilities[alive], kind="stable")[:count]
    return tuple((int(i), float(probabilities[i])) for i in alive[order])


class _Run:
    """What one run carries from token to token."""

    def __init__(
        self,
        model: LanguageModel,
        prompt: list[int],
        settings: SamplingSettings,
        generator: torch.Generator,
        stops: StopStrings,
    ) -> None:
        self.model = model
        self.settings = settings
        self.generator = generator
        self.stops = stops
        self.ids = prompt
        self.unread = list(prompt)
        self.sequence = CachedPass(model)
        self.decoder = model.tokenizer.stream(continuing=True)

    def show(self, token_id: int) -> str:
        """Return the text that a token releases, up to a stop string."""
        if token_id in self.model.stop_ids:
            return ""
        return self.stops.push(self.decoder.push(token_id))

    def finish(self) -> str:
        """Return what is still held back: half a character, the beginning of a stop string."""
        rest = self.stops.push(self.decoder.flush())
        return rest + self.stops.flush()


def _steps(
    run: _Run, budget: int, limit: int, cancelled: Callable[[], bool]
) -> Generator[TokenStep, None, None]:
    """Run the loop. `limit` is how many tokens fit into the context."""
    if cancelled():
        return
    for index in range(min(budget, limit)):
        # 1. The model reads what it has not read yet, and scores every token.
        logits = run.sequence.advance(run.unread)
        start = time.perf_counter()
        # 2. The sampling chain turns scores into probabilities, and u picks one token.
        raw = softmax(logits)
        final = final_probabilities(logits, run.settings, run.ids)
        u = _uniform(run.generator)
        token_id = draw(final, u)
        # 3. The token becomes text, as far as it is complete.
        text = run.show(token_id)
        # 4. The loop ends here, or the token is read in turn.
        reason = _reason(run, token_id, index + 1, budget, limit, cancelled)
        if reason is not None:
            text += run.finish()
        run.ids.append(token_id)
        run.unread = [token_id]
        yield TokenStep(
            index=index,
            id=token_id,
            data=run.model.tokenizer.bytes_of(token_id),
            text=text,
            probability=float(final[token_id]),
            raw_probability=float(raw[token_id]),
            top_raw=top(raw),
            top_final=top(final),
            u=u,
            milliseconds=run.sequence.milliseconds + (time.perf_counter() - start) * 1000,
            cache_tokens=run.sequence.tokens,
            cache_bytes=run.sequence.nbytes,
            stop_reason=reason,
        )
        if reason is not None:
            return


def _reason(
    run: _Run, token_id: int, count: int, budget: int, limit: int, cancelled: Callable[[], bool]
) -> StopReason | None:
    """Say why the loop ends after `count` tokens, if it does. The model's own end comes first."""
    if token_id in run.model.stop_ids:
        return "end token"
    if run.stops.found is not None:
        return "stop string"
    if count == budget:
        return "token budget"
    if count == limit:
        return "context limit"
    return "cancelled" if cancelled() else None


def _generator(seed: int) -> torch.Generator:
    """Return a source of random numbers for one run."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not -(2**63) <= seed < 2**64:
        raise EngineError(f"The seed must be a whole number of at most 64 bits, but is {seed!r}.")
    return torch.Generator().manual_seed(seed)


def _uniform(generator: torch.Generator) -> float:
    """Return the next number in [0, 1): float64, so that even rare tokens can be hit."""
    return float(torch.rand((), dtype=torch.float64, generator=generator))


def _checked_prompt(ids: Sequence[int], model: LanguageModel) -> list[int]:
    """Return the prompt as plain ints for which there is room in the model."""
    prompt = [int(token_id) for token_id in ids]
    architecture = model.architecture
    if not prompt:
        raise EngineError("There are no tokens to continue: type at least one character.")
    if len(prompt) >= architecture.context:
        raise EngineError(
            f"The prompt has {len(prompt)} tokens, which leaves no room for an answer in this "
            f"model's context of {architecture.context}: shorten the text."
        )
    for token_id in prompt:
        if not 0 <= token_id < architecture.vocabulary:
            raise EngineError(
                f"The token id {token_id} does not exist: the vocabulary has ids 0 to "
                f"{architecture.vocabulary - 1}."
            )
    return prompt
