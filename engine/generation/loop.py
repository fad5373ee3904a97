"""The loop that writes text, one token at a time.

    read the prompt (prefill) -> logits -> sampling chain -> draw -> bytes -> text
                                   ^                          |
                                   +---- read the new token <-+

The loop ends at a stop token, a stop string, the token budget, the end of the context, or when it
is cancelled. Every step reports which token was drawn, from which distribution, and how long it
took (`engine.generation.token_step`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.distribution import entropy_bits
from engine.basics.errors import EngineError, checked_ids, checked_prompt
from engine.generation.random_numbers import random_numbers
from engine.generation.stop_strings import StopStrings
from engine.generation.token_step import StopReason, TokenStep, alternatives
from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, draw, final_probabilities, softmax

if TYPE_CHECKING:
    from engine.model.model import LanguageModel


def generate(
    model: LanguageModel,
    ids: Sequence[int],
    settings: SamplingSettings,
    *,
    max_new_tokens: int,
    seed: int,
    stop: Iterable[str] = (),
    written: Sequence[int] = (),
    forced: Sequence[int] = (),
    cancelled: Callable[[], bool] = lambda: False,
) -> Generator[TokenStep, None, None]:
    """Continue a prompt, one token per step.

    Args:
        model: Its lock is held for one pass at a time: runs side by side take turns.
        ids: The prompt's tokens.
        settings: How each token is drawn.
        max_new_tokens: The token budget, at least 1.
        seed: Gives this run its own random numbers: the same ones as `uniforms(seed, …)`.
        stop: Strings before which the text ends.
        written: Tokens of this answer that were written by an earlier run. The run goes on after
            them with the next number of the seed, as if it had never been interrupted; their steps
            are not reported again, and no stop string is looked for in them. What that run had
            released at its very end can become part of a character or of a stop string now:
            `engine.generation.releases.one_text` gives the text of both.
        forced: Tokens to take first, whatever the draw gives ("what if it had said this?"). Their
            steps report the model's own probabilities of them.
        cancelled: Asked before the prompt is read and after each token; true makes that token the
            last one. If it is true at the start, there are no steps.

    Returns:
        The steps. `stop_reason` is set on the last one, whose text also holds what was held back.
        Closing the generator ends the run at once and frees the cache.

    Raises:
        EngineError: At once, before the first step: no tokens, too many, an id that does not
            exist, a budget below 1, a seed that is not a whole number of at most 64 bits, an empty
            stop string.
        SettingsError: At once: a bias names an id outside the vocabulary, or bans every token.
    """
    prompt = checked_prompt([*ids, *written], model.architecture, room=1)
    checked_ids(forced, model.architecture.vocabulary)
    if max_new_tokens < 1:
        raise EngineError(f"The token budget must be at least 1, but is {max_new_tokens}.")
    # Zeros will do: whether the settings suit this vocabulary does not depend on the logits.
    final_probabilities(np.zeros(model.architecture.vocabulary, np.float32), settings, prompt)
    uniform = random_numbers(seed)
    for _ in written:
        uniform()
    run = _Run(model, prompt, settings, uniform, StopStrings(stop), len(ids))
    run.read(written)
    limit = model.architecture.context - len(prompt)
    return _steps(run, min(max_new_tokens, limit), _Ends(max_new_tokens, limit, cancelled), forced)


class _Run:
    """What one run carries from token to token."""

    def __init__(
        self,
        model: LanguageModel,
        prompt: list[int],
        settings: SamplingSettings,
        uniform: Callable[[], float],
        stops: StopStrings,
        prompt_tokens: int,
    ) -> None:
        self.model = model
        self.settings = settings
        self.uniform = uniform
        self.stops = stops
        self.ids = prompt
        self.prompt_tokens = prompt_tokens
        self.first = 0
        self.unread = list(prompt)
        self.sequence = CachedPass(model)
        self.decoder = model.tokenizer.stream(continuing=True)

    def read(self, written: Sequence[int]) -> None:
        """Bring the detokenizer to its state after tokens that an earlier run has shown."""
        self.first = len(written)
        for token_id in written:
            if token_id not in self.model.stop_ids:
                self.stops.pass_over(self.decoder.push(token_id))

    def show(self, token_id: int) -> str:
        """Return the text that a token releases, up to a stop string."""
        if token_id in self.model.stop_ids:
            return ""
        return self.stops.push(self.decoder.push(token_id))

    def finish(self) -> str:
        """Return what is still held back: half a character, the beginning of a stop string."""
        rest = self.stops.push(self.decoder.flush())
        return rest + self.stops.flush()


@dataclass(frozen=True)
class _Ends:
    """What can end the loop besides the text itself."""

    budget: int
    limit: int
    """How many tokens fit into the context."""
    cancelled: Callable[[], bool]

    def reason(self, run: _Run, token_id: int, count: int) -> StopReason | None:
        """Say why the loop ends after `count` tokens, if it does; an end token comes first."""
        if token_id in run.model.stop_ids:
            return "end token"
        if run.stops.found is not None:
            return "stop string"
        if count == self.budget:
            return "token budget"
        if count == self.limit:
            return "context limit"
        return "cancelled" if self.cancelled() else None


def _steps(
    run: _Run, most: int, ends: _Ends, forced: Sequence[int]
) -> Generator[TokenStep, None, None]:
    """Run the loop for `most` tokens at most."""
    if ends.cancelled():
        return
    for index in range(most):
        # 1. The model reads what it has not read yet, and scores every token.
        logits = run.sequence.advance(run.unread)
        start = time.perf_counter()
        # 2. The sampling chain turns scores into probabilities, and u picks one token.
        raw = softmax(logits)
        final = final_probabilities(logits, run.settings, run.ids, prompt_tokens=run.prompt_tokens)
        u = run.uniform()
        token_id = int(forced[index]) if index < len(forced) else draw(final, u)
        # 3. The token becomes text, as far as it is complete.
        text = run.show(token_id)
        # 4. The loop ends here, or the token is read in turn.
        reason = ends.reason(run, token_id, index + 1)
        if reason is not None:
            text += run.finish()
            # The stand-in for half a character can complete a stop string, which then cuts.
            reason = reason if run.stops.found is None else "stop string"
        run.ids.append(token_id)
        run.unread = [token_id]
        yield TokenStep(
            index=run.first + index,
            id=token_id,
            data=run.model.tokenizer.bytes_of(token_id),
            text=text,
            probability=float(final[token_id]),
            raw_probability=float(raw[token_id]),
            alternatives=alternatives(raw, final, token_id),
            entropy_bits=entropy_bits(raw),
            u=u,
            forced=index < len(forced),
            milliseconds=run.sequence.milliseconds + (time.perf_counter() - start) * 1000,
            cache_tokens=run.sequence.tokens,
            cache_bytes=run.sequence.nbytes,
            stop_reason=reason,
            texts=run.sequence.texts,
        )
        if reason is not None:
            return
