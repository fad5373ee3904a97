"""One block on one token: stream in, norm, attention, add, norm, feed-forward, add, stream out.

In a parallel block (GPT-NeoX) both parts read the same input and are added together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.basics.arrays import Array
from engine.basics.results import Result
from engine.tracing.norms import NormSteps, norm_steps

if TYPE_CHECKING:
    from engine.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class BlockRun(Result):
    """What one block does to one token; arrays are `[D]`."""

    layer: int
    position: int
    parallel: bool
    resid_pre: Array
    attention_norm: NormSteps | None
    """The norm before attention; None if attention reads the stream as it is."""
    attn_out: Array
    resid_mid: Array
    """`resid_pre + attn_out`; in a parallel block no part reads it."""
    mlp_norm: NormSteps | None
    """The norm before the feed-forward network; None if there is none."""
    mlp_out: Array
    resid_post: Array


def block_run(trace: Trace, layer: int, position: int) -> BlockRun:
    """Return every vector of one block on one token.

    A negative position counts from the end.

    Raises:
        EngineError: There is no such layer or position, or a norm is of an unknown kind.
    """
    layer = trace.layer_index(layer)
    position = trace.position_index(position)
    site = trace.model.sites.layers[layer]
    pre, mid = trace.resid_pre.at(position)[layer], trace.resid_mid.at(position)[layer]

    def steps(modules: tuple[Any, ...], vector: Array) -> NormSteps | None:
        return norm_steps(trace.model, modules[0], vector) if len(modules) == 1 else None

    return BlockRun(
        layer=layer,
        position=position,
        parallel=site.parallel,
        resid_pre=pre,
        attention_norm=steps(site.before_attention, pre),
        attn_out=trace.attn_out[layer, position],
        resid_mid=mid,
        mlp_norm=steps(site.feed[:-1], pre if site.parallel else mid),
        mlp_out=trace.mlp_out[layer, position],
        resid_post=trace.resid_post.at(position)[layer],
    )
