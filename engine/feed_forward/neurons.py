"""The neurons of feed-forward networks, and the lengths and directions of the residual stream.

Every token goes through the feed-forward network by itself. A matrix computes F numbers from its
vector, the activation function decides how much each of them counts (in gated networks it is then
multiplied by a second set of F numbers), and each of these F neurons adds its own fixed vector, a
row of the last matrix, to the residual stream, in proportion to its activation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from engine.basics.arrays import Array, Ids, frozen
from engine.basics.distribution import largest
from engine.basics.errors import check_index
from engine.basics.results import Result, Table
from engine.basics.vectors import cosines
from engine.network.architecture import output_rows
from engine.network.tensors import to_array
from engine.tracing import replay

if TYPE_CHECKING:
    from engine.model.model import LanguageModel
    from engine.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class TokenNeurons(Table):
    """One layer's neurons on one token, with the steps to them; all are `[F]` except `added`."""

    columns = ("gate", "activated", "neurons", "strength")
    axes = ("neuron",)

    layer: int
    position: int
    gate: Array
    """The input of the activation function."""
    activated: Array
    """Its output."""
    up: Array | None
    """What a gated network multiplies by; None if there is no gate (GPT-2)."""
    neurons: Array
    """`activated * up`, or `activated` without a gate: the input of the last matrix."""
    strength: Array
    """`|neuron| · ‖its row‖`: the length of the vector that the neuron adds."""
    added: Array
    """The sum of what all neurons add, with the bias, `[D]`; before the norm that follows in Gemma
    2."""


@dataclass(frozen=True, eq=False)
class NeuronTokens(Table):
    """The tokens whose scores a neuron's row raises and lowers most, by itself."""

    columns = ("up_ids", "up_scores", "down_ids", "down_scores")

    up_ids: Ids
    """`[n]`, raised when the neuron is positive, most first."""
    up_scores: Array
    """`[n]`, the row times the token's row of the LM head."""
    down_ids: Ids
    """`[n]`, lowered when the neuron is positive, most first."""
    down_scores: Array
    """`[n]`."""


@dataclass(frozen=True, eq=False)
class ResidualNorms(Result):
    """Lengths (L2 norms) of the residual stream and of what is added to it."""

    stream: Array
    """`[L+1, T]`; row l is after l blocks."""
    attn_out: Array
    """`[L, T]`."""
    mlp_out: Array
    """`[L, T]`."""


def token_neurons(trace: Trace, layer: int, position: int) -> TokenNeurons:
    """Return one layer's neurons on one token.

    A negative position counts from the end.

    Raises:
        EngineError: There is no such layer or position.
    """
    layer = trace.layer_index(layer)
    position = trace.position_index(position)
    site = trace.model.sites.layers[layer]
    stream = trace.resid_pre if site.parallel else trace.resid_mid
    run = replay.run_neurons(trace.model, layer, stream.at(position)[layer][None])
    rows_FD = to_array(output_rows(site.neurons))
    neurons = run.product[0]
    added = neurons @ rows_FD
    bias = getattr(site.neurons, "bias", None)
    return TokenNeurons(
        layer=layer,
        position=position,
        gate=frozen(run.before[0]),
        activated=frozen(run.activated[0]),
        up=None if run.up is None else frozen(run.up[0]),
        neurons=frozen(neurons),
        strength=frozen(np.abs(neurons) * np.linalg.norm(rows_FD, axis=1)),
        added=frozen(added if bias is None else added + to_array(bias)),
    )


def strongest(neurons: TokenNeurons, n: int) -> Ids:
    """Return the indices of the n neurons that add most to the residual stream, strongest first."""
    return largest(neurons.strength, n)


def neuron_tokens(model: LanguageModel, layer: int, neuron: int, n: int = 10) -> NeuronTokens:
    """Read a neuron's row through the LM head: which tokens does it raise and lower?

    The row is multiplied by the head directly. Later blocks and the final norm, which come between,
    are left out, so this says which way the neuron pushes and not by how much the logits change.
    Source: Geva et al., Transformer Feed-Forward Layers Build Predictions (2022).

    Args:
        model: The model.
        layer: The layer.
        neuron: The neuron.
        n: How many tokens in each direction.

    Raises:
        EngineError: There is no such layer or neuron.
    """
    return neurons_tokens(model, layer, [neuron], n)[0]


def neurons_tokens(
    model: LanguageModel, layer: int, neurons: Sequence[int], n: int = 10
) -> tuple[NeuronTokens, ...]:
    """Read the rows of several neurons of a layer at once, as `neuron_tokens` reads one.

    Args:
        model: The model.
        layer: The layer.
        neurons: The neurons.
        n: How many tokens in each direction.

    Raises:
        EngineError: There is no such layer or neuron.
    """
    layer = check_index("layer", layer, model.architecture.layers)
    asked = [check_index("neuron", i, model.architecture.ff_width) for i in neurons]
    rows_ND = output_rows(model.sites.layers[layer].neurons)[asked].contiguous()
    with torch.inference_mode():
        scores_NV = to_array(rows_ND @ model.network.get_output_embeddings().weight.T)
    found = []
    for scores in scores_NV:
        up, down = largest(scores, n), largest(-scores, n)
        found.append(NeuronTokens(up, frozen(scores[up]), down, frozen(scores[down])))
    return tuple(found)


def half_of_the_work(neurons: TokenNeurons) -> int:
    """Return how many of the strongest neurons hold half of all squared lengths."""
    squares = np.sort(neurons.strength.astype(np.float64) ** 2)[::-1]
    return int((np.cumsum(squares) < 0.5 * squares.sum()).sum()) + 1


def layer_cosines(trace: Trace, position: int) -> Array:
    """Return the cosine between one token's vectors at all layers, `[L+1, L+1]`.

    Args:
        trace: The traced pass.
        position: The token's position; negative counts from the end.

    Raises:
        EngineError: There is no such position.
    """
    position = trace.position_index(position)
    return cosines(trace.stream_at(position))


def residual_norms(trace: Trace) -> ResidualNorms:
    """Measure the residual stream and what each block adds, by layer and token."""
    stream = [np.linalg.norm(resid_pre, axis=-1) for resid_pre in trace.resid_pre]
    stream.append(np.linalg.norm(trace.resid_post[-1], axis=-1))
    return ResidualNorms(
        stream=frozen(np.stack(stream)),
        attn_out=frozen(np.linalg.norm(trace.attn_out, axis=-1)),
        mlp_out=frozen(np.linalg.norm(trace.mlp_out, axis=-1)),
    )
