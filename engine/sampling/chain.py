"""The sampling chain: the order in which logits [V] become probabilities, and the draw.

The chain runs small pure steps, each from logits to logits; a removed token has the logit -inf:

    logit bias -> repetition penalty -> presence and frequency penalty
    -> temperature -> top-k -> top-p -> min-p -> typical  (these five in any order)
    -> softmax -> draw

Each step gives what transformers' processor of the same name gives on the same float32 logits;
the steps themselves are in `engine.sampling.steps`. Importing loads numpy alone, so that a page can
show and check settings before torch is there.

**Ties.** What each step does with equal logits:
- temperature 0 takes the lowest id among the largest logits;
- top-k keeps everything that equals the k-th largest logit, so it can keep more than k;
- top-p keeps exactly as many tokens as it needs, and among equal ones those with the lowest ids
  (transformers keeps as many, but which ones is left to its sort);
- min-p and typical compare values only, so equal ones stay or go together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.basics.arrays import Array, Flags, Ids
from engine.basics.results import Result
from engine.sampling import steps
from engine.sampling.settings import (
    LLAMA_CPP_ORDER,
    ORDERS,
    TRANSFORMERS_ORDER,
    SamplingSettings,
    SettingsError,
)
from engine.sampling.steps import Change, listed, softmax

__all__ = [
    "LLAMA_CPP_ORDER",
    "ORDERS",
    "TRANSFORMERS_ORDER",
    "SamplingSettings",
    "SettingsError",
    "Stage",
    "draw",
    "final_probabilities",
    "run_chain",
    "softmax",
]


@dataclass(frozen=True, eq=False)
class Stage(Result):
    """One step of the chain: what came in, what went out and what was kept. Arrays are [V]."""

    name: str
    """"logits" (the model's own), a setting's step, or "softmax" (what is drawn from)."""
    active: bool
    """False for a step that is off and passes everything on unchanged."""
    logits_before: Array
    probabilities_before: Array
    logits: Array
    """float32; -inf where a token is removed."""
    probabilities: Array
    """float32; the softmax of `logits`, sums to 1."""
    kept: Flags
    """Which tokens are still in the race after this step."""
    survivors: int
    """How many are kept."""
    drawable: int
    """How many have a probability above 0 in float32: what is kept can round to 0."""
    mass_kept: float
    """The total probability, before this step, of the tokens that it kept; 1 if it removed none."""
    entropy_bits_before: float
    entropy_bits: float
    cutoff: float | None
    """What a token needed to stay. top_k: its logit; top_p, min_p: its probability; typical: how
    many bits its surprise may lie from the average. None for other steps."""
    note: str
    """A remark for the reader, such as a tie or a ban; usually empty."""


def run_chain(
    logits: npt.ArrayLike,
    settings: SamplingSettings,
    context_ids: Sequence[int] = (),
    *,
    prompt_tokens: int = 0,
    include_off: bool = False,
) -> list[Stage]:
    """Run the whole chain and keep every step.

    Args:
        logits: [V] the model's scores; they are converted to float32.
        settings: which steps are on, and their order.
        context_ids: the tokens so far, prompt included, that the penalties look at.
        prompt_tokens: how many of them, from the first on, are the prompt: presence and frequency
            don't count those unless `settings.count_prompt`. 0: all were generated.
        include_off: also return the steps that are off (`active` is False, arrays are shared), so
            that a page can show every card in its place.

    Returns:
        The stage "logits", then one stage per step, and last "softmax", whose probabilities are
        drawn from.

    Raises:
        SettingsError: an id is outside the vocabulary, the prompt is longer than the context, a
            logit is NaN or +inf, or nothing is left to draw from.
    """
    current = _checked_logits(logits).copy()  # the stages lock their arrays, not the caller's
    seen = _seen(context_ids, prompt_tokens, len(current), settings)
    stages = [_first_stage(current)]
    for name in _step_names(settings):
        active = _STEPS[name].is_on(settings)
        if active:
            change = _STEPS[name].apply(stages[-1].logits, settings, seen)
            stages.append(_next_stage(name, stages[-1], change))
        elif include_off:
            stages.append(_unchanged_stage(name, stages[-1], active=False, note="Off."))
    return [*stages, _unchanged_stage("softmax", stages[-1], active=True)]


def final_probabilities(
    logits: npt.ArrayLike,
    settings: SamplingSettings,
    context_ids: Sequence[int] = (),
    *,
    prompt_tokens: int = 0,
) -> Array:
    """Return the distribution that is drawn from, [V] float32, without keeping the stages.

    It runs the same steps as `run_chain`, takes the same arguments and raises the same errors; the
    loop that writes text uses it because it is faster.
    """
    current = _checked_logits(logits)
    seen = _seen(context_ids, prompt_tokens, len(current), settings)
    for name in _step_names(settings):
        if _STEPS[name].is_on(settings):
            current = _STEPS[name].apply(current, settings, seen).logits
    return softmax(current)


def draw(probabilities: npt.ArrayLike, u: float) -> int:
    """Pick the token at height `u` of the cumulative distribution, ids in order.

    Args:
        probabilities: [V], at least one of them above 0; they need not sum to exactly 1.
        u: uniform in [0, 1).

    Returns:
        The id whose share of [0, 1) contains u; never an id of probability 0.

    Raises:
        ValueError: u is not in [0, 1), or there is nothing to draw.
    """
    if not 0.0 <= u < 1.0:
        raise ValueError(f"u must be in [0, 1), but is {u!r}.")
    weights = np.asarray(probabilities, dtype=np.float64)
    drawable = np.flatnonzero(weights > 0.0)
    if len(drawable) == 0:
        raise ValueError("There is nothing to draw: no probability is above 0.")
    cumulative = weights[drawable].cumsum()
    place = int(np.searchsorted(cumulative, u * cumulative[-1], side="right"))
    # u times the total can round up to the total itself; the last drawable id is meant then.
    return int(drawable[min(place, len(drawable) - 1)])


# --- the order of work ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """The tokens that the penalties look at, inside their window."""

    ids: Ids
    """Of prompt and answer: what the repetition penalty weakens."""
    counted: Ids
    """What presence and frequency count: of the answer, or of both."""


@dataclass(frozen=True)
class _Step:
    """When a step is on, and how its settings reach its function."""

    is_on: Callable[[SamplingSettings], bool]
    apply: Callable[[Array, SamplingSettings, _Seen], Change]


_STEPS: Mapping[str, _Step] = {
    "logit_bias": _Step(lambda s: bool(s.bias), lambda x, s, _: steps.logit_bias(x, s.bias)),
    "repetition_penalty": _Step(
        lambda s: s.repetition_penalty != 1.0,
        lambda x, s, seen: steps.repetition_penalty(x, s.repetition_penalty, seen.ids),
    ),
    "count_penalties": _Step(
        lambda s: s.presence_penalty != 0.0 or s.frequency_penalty != 0.0,
        lambda x, s, seen: steps.count_penalties(
            x, s.presence_penalty, s.frequency_penalty, seen.counted
        ),
    ),
    "temperature": _Step(
        lambda s: s.temperature != 1.0, lambda x, s, _: steps.temperature(x, s.temperature)
    ),
    "top_k": _Step(lambda s: s.top_k > 0, lambda x, s, _: steps.top_k(x, s.top_k)),
    "top_p": _Step(lambda s: s.top_p < 1.0, lambda x, s, _: steps.top_p(x, s.top_p)),
    "min_p": _Step(lambda s: s.min_p > 0.0, lambda x, s, _: steps.min_p(x, s.min_p)),
    "typical": _Step(lambda s: s.typical_p < 1.0, lambda x, s, _: steps.typical(x, s.typical_p)),
}


def _step_names(settings: SamplingSettings) -> tuple[str, ...]:
    """Return the names of all steps between "logits" and "softmax", in the order of work.

    The bias comes before the penalties, as in transformers (`SequenceBiasLogitsProcessor` is the
    first of its list) and in llama.cpp: a raised token that was seen is weakened as a whole.
    """
    return ("logit_bias", "repetition_penalty", "count_penalties", *settings.order)


def _checked_logits(logits: npt.ArrayLike) -> Array:
    """Return [V] float32 logits from which something can be drawn."""
    checked = np.asarray(logits, dtype=np.float32)
    if checked.ndim != 1 or len(checked) == 0:
        raise SettingsError(f"Logits must be one row [V], but have the shape {checked.shape}.")
    top = checked.max()
    if np.isnan(top) or top == np.inf:
        where = int(np.flatnonzero(np.isnan(checked) | (checked == np.inf))[0])
        raise SettingsError(f"The logit of token {where} is {checked[where]}: not a number to use.")
    if top == -np.inf:
        raise SettingsError("Every logit is -inf, so there is no token to draw.")
    return steps.within_range(checked, checked)


def _seen(
    context_ids: Sequence[int], prompt_tokens: int, vocabulary: int, settings: SamplingSettings
) -> _Seen:
    """Return what the penalties look at: ids inside the vocabulary, the last ones of a window."""
    ids = np.asarray(context_ids, dtype=np.int64).reshape(-1)
    outside = ids[(ids < 0) | (ids >= vocabulary)]
    if len(outside):
        raise SettingsError(
            f"The context holds {listed(outside.tolist())}, but ids go from 0 to {vocabulary - 1}."
        )
    if not 0 <= prompt_tokens <= len(ids):
        raise SettingsError(
            f"The prompt can't have {prompt_tokens} tokens: the context holds {len(ids)}."
        )
    first = max(0, len(ids) - settings.penalty_window) if settings.penalty_window else 0
    answer = 0 if settings.count_prompt else prompt_tokens
    return _Seen(ids[first:], ids[max(first, answer) :])


def _first_stage(logits: Array) -> Stage:
    """Return the model's own logits and distribution as the stage that starts the chain."""
    state = (logits, *_distribution(logits))
    return _stage("logits", True, state, state)


def _next_stage(name: str, before: Stage, change: Change) -> Stage:
    """Return the stage in which a step turned `before` into `change`."""
    was = (before.logits, before.probabilities, before.entropy_bits)
    now = (change.logits, *_distribution(change.logits))
    return _stage(name, True, was, now, change.cutoff, change.note)


def _distribution(logits: Array) -> tuple[Array, float]:
    """Return softmax(logits), [V], and its entropy in bits.

    With p = exp(x - max) / Z the entropy -sum p ln p equals ln Z - sum p (x - max), which takes no
    logarithm of each p. Removed tokens are left out of the sums and arrays are changed in place,
    because this runs once per step while a slider moves.
    """
    kept = logits > -np.inf
    shifted = logits[kept]
    shifted -= shifted.max()
    shares = np.exp(shifted)
    total = shares.sum(dtype=np.float64)
    shares /= np.float32(total)
    bits = (np.log(total) - float(shares @ shifted)) / np.log(2.0)
    probabilities = np.zeros_like(logits)
    probabilities[kept] = shares
    return probabilities, max(0.0, float(bits))


def _unchanged_stage(name: str, before: Stage, *, active: bool, note: str = "") -> Stage:
    """Return a stage that passes `before` on as it is, sharing its arrays."""
    same = (before.logits, before.probabilities, before.entropy_bits)
    return _stage(name, active, same, same, None, note)


_State = tuple[Array, Array, float]


def _stage(
    name: str,
    active: bool,
    before: _State,
    after: _State,
    cutoff: float | None = None,
    note: str = "",
) -> Stage:
    """Put a stage together from (logits, probabilities, entropy) before and after it."""
    kept = after[0] > -np.inf
    survivors = int(np.count_nonzero(kept))
    removed = survivors < int(np.count_nonzero(before[0] > -np.inf))
    mass_kept = float(before[1] @ kept.astype(np.float32)) if removed else 1.0
    return Stage(
        name=name,
        active=active,
        logits_before=_read_only(before[0]),
        probabilities_before=_read_only(before[1]),
        logits=_read_only(after[0]),
        probabilities=_read_only(after[1]),
        kept=_read_only(kept),
        survivors=survivors,
        drawable=int(np.count_nonzero(after[1])),
        mass_kept=min(1.0, mass_kept),
        entropy_bits_before=before[2],
        entropy_bits=after[2],
        cutoff=cutoff,
        note=note,
    )


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array itself, locked."""
    array.flags.writeable = False
    return array
