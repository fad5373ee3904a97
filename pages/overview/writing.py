"""What the model has written after the prompt on the overview page, kept for this session."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from pages.frame.kept import forget, keep, kept
from pages.frame.live import PROMPT_CAP, Live

KEY = "written"


def written(live: Live) -> tuple[int, ...]:
    """Return the ids written after this very prompt; none after the prompt or model changed."""
    ids: tuple[int, ...] = kept(KEY, _base(live), ())
    return ids


def append(live: Live, token_id: int) -> None:
    """Keep one more token."""
    keep(KEY, _base(live), (*written(live), token_id))


def start_over() -> None:
    """Forget what was written."""
    forget(KEY)


def room(live: Live) -> int:
    """Return how many more tokens the traced pages take."""
    return PROMPT_CAP - len(live.ids) - len(written(live))


def ended(live: Live) -> bool:
    """Say whether the last written token is one that ends an answer."""
    ids = written(live)
    return bool(ids) and ids[-1] in live.model.stop_ids


def next_number(live: Live) -> float:
    """Return the random number in [0, 1) that draws the next token."""
    from engine.generation.random_numbers import uniforms

    return uniforms(live.seed, len(written(live)) + 1)[-1]


def write(live: Live, count: int) -> Generator[int, None, None]:
    """Write up to `count` tokens and keep each one as it comes; yield their ids."""
    from engine.generation.loop import generate

    before = written(live)
    steps = generate(
        live.model,
        live.ids,
        live.settings,
        max_new_tokens=count,
        seed=live.seed,
        written=before,
    )
    with contextlib.closing(steps):
        for step in steps:
            append(live, step.id)
            yield step.id


def _base(live: Live) -> tuple[str, tuple[int, ...]]:
    return live.model.source, live.ids
