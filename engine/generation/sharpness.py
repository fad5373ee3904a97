"""Ask a model a set of facts at many temperatures: is it more often right when it is sharper?

The model reads each prompt once; every temperature is then worked out from the same logits. The
facts and the results are in `engine.sampling.sharpness`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from engine.kv_cache.cached_pass import CachedPass
from engine.sampling.chain import SamplingSettings, final_probabilities
from engine.sampling.sharpness import TEMPERATURES, Fact, FactResult, Sharpness

if TYPE_CHECKING:
    from engine.model.model import LanguageModel


def measure(
    model: LanguageModel,
    facts: Sequence[Fact],
    temperatures: Sequence[float] = TEMPERATURES,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Sharpness:
    """Let the model answer every fact at every temperature; one pass per fact.

    Args:
        model: its lock is held for one pass at a time.
        facts: what is asked.
        temperatures: 0 is argmax.
        progress: told how many of how many facts are done.
        cancelled: asked before each fact; true ends the measurement with the facts done so far.
    """
    results = []
    for done, fact in enumerate(facts):
        if cancelled():
            break
        results.append(_ask(model, fact, temperatures))
        progress(done + 1, len(facts))
    return Sharpness(model.name, tuple(temperatures), tuple(results))


def _ask(model: LanguageModel, fact: Fact, temperatures: Sequence[float]) -> FactResult:
    """Read one prompt once and work out the answers at every temperature from its logits."""
    tokenizer = model.tokenizer
    ids = tokenizer.ids(fact.prompt, add_bos=True)
    right = tokenizer.after(fact.prompt, fact.answer)[0].id
    logits = CachedPass(model).advance(ids)
    greedy = int(logits.argmax())
    rows = [final_probabilities(logits, SamplingSettings(temperature=t)) for t in temperatures]
    return FactResult(
        prompt=fact.prompt,
        right=tokenizer.bytes_of(right).decode(errors="replace"),
        greedy=tokenizer.bytes_of(greedy).decode(errors="replace"),
        is_right=greedy == right,
        top=tuple(round(float(row.max()), 6) for row in rows),
        right_probability=tuple(round(float(row[right]), 6) for row in rows),
    )
