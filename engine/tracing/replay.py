"""Parts of the network run once more, on vectors that a trace recorded.

A trace keeps what cannot be recomputed cheaply. The rest comes from here, and always from the
network's own modules: the LM head on any vector of the residual stream (with whatever a family does
to its logits), the neurons of one layer, the queries and keys before position encoding. Each
function takes the model's lock for its short pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from engine.basics.results import Result
from engine.network.architecture import is_matrix
from engine.network.sites import LayerSites
from engine.network.tensors import first_tensor, to_array
from engine.observe.hooks import observe
from engine.observe.recording import AttentionInputs

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.model.model import LanguageModel


@dataclass(frozen=True, eq=False)
class NeuronRun(Result):
    """One layer's neurons over some tokens, with the steps that made them."""

    product: Array
    """The neurons: the input of the last matrix, `[T, F]`."""
    before: Array
    """The input of the activation function, `[T, F]`."""
    activated: Array
    """Its output, `[T, F]`."""
    up: Array | None
    """What a gated network multiplies the activated gate by, `[T, F]`; None without a gate."""


def run_lm_head(model: LanguageModel, hidden: Array) -> tuple[Array, Array]:
    """Read vectors of the residual stream as the model reads its last one.

    The network itself does it: every block hands through what it is given, and the last one gives
    `hidden`. So the final norm, the LM head and a family's softcap or scale are the model's own.

    Args:
        model: The model.
        hidden: `[N, D]`, each row a vector of the residual stream.

    Returns:
        The vectors after the final norm `[N, D]`, and the logits `[N, V]`.
    """
    sites = model.sites
    stream = _tensor(model, hidden)[None]
    normed: list[torch.Tensor] = []

    def keep(_: nn.Module, args: Any, output: torch.Tensor) -> None:
        normed.append(output)

    with model.lock, torch.inference_mode(), ExitStack() as stack:
        blocks = [layer.block for layer in sites.layers]
        stack.enter_context(handing_through(blocks[:-1]))
        stack.enter_context(handing_through(blocks[-1:], stream))
        stack.callback(sites.final_norm.register_forward_hook(keep).remove)
        logits = _pass(model, stream.shape[1], logits_to_keep=0)
    return to_array(normed[0][0]), to_array(logits[0])


def run_final_norm(model: LanguageModel, hidden: Array) -> Array:
    """Return vectors of the residual stream `[N, D]` after the final norm, `[N, D]`."""
    with model.lock, torch.inference_mode():
        return to_array(model.sites.final_norm(_tensor(model, hidden)))


def run_neurons(model: LanguageModel, layer: int, hidden: Array) -> NeuronRun:
    """Run one layer's feed-forward network up to its neurons.

    Args:
        model: The model.
        layer: The layer's number.
        hidden: `[T, D]`, what the layer's feed-forward network reads: `resid_mid`, or `resid_pre`
            where attention and feed-forward stand side by side.
    """
    site = model.sites.layers[layer]
    calls: list[tuple[nn.Module, torch.Tensor | None, torch.Tensor | None]] = []

    def note(module: nn.Module, args: Any, output: Any) -> None:
        calls.append((module, first_tensor(args), first_tensor(output)))

    inside = {part for module in site.feed for part in module.modules()}
    with model.lock, torch.inference_mode(), ExitStack() as stack:
        for module in inside:
            stack.callback(module.register_forward_hook(note).remove)
        stream = _tensor(model, hidden)[None]
        for module in site.feed:
            stream = module(stream)
    return _neuron_run(site, calls)


def run_unrotated(model: LanguageModel, layer: int, hidden: Array) -> tuple[Array, Array]:
    """Run one layer's attention with every token at position 0, where RoPE rotates by nothing.

    Args:
        model: The model.
        layer: The layer's number.
        hidden: `[T, D]`, the layer's `resid_pre`.

    Returns:
        The queries `[H, T, K]` and keys `[G, T, K]` before position encoding. A model without RoPE
        does nothing to them, so they are those of the trace.
    """
    sites = model.sites
    stream = _tensor(model, hidden)[None]
    taken = _TakeAttention()
    others = [other.block for number, other in enumerate(sites.layers) if number != layer]
    with model.lock, torch.inference_mode(), ExitStack() as stack:
        stack.enter_context(handing_through(others))
        stack.enter_context(given(sites.layers[layer].block, stream))
        observe(stack, sites.layers[layer].attention, taken)
        _pass(model, stream.shape[1], logits_to_keep=1)
    assert taken.inputs is not None, "the block calls its attention"
    return to_array(taken.inputs.query[0]), to_array(taken.inputs.key[0])


class _TakeAttention:
    """An observer that keeps what the attention function was given."""

    def __init__(self) -> None:
        self.inputs: AttentionInputs | None = None

    def saw(self, _: nn.Module, inputs: AttentionInputs) -> None:
        self.inputs = inputs

    def edited(self, output: torch.Tensor) -> torch.Tensor:
        return output


def _neuron_run(
    site: LayerSites,
    calls: list[tuple[nn.Module, torch.Tensor | None, torch.Tensor | None]],
) -> NeuronRun:
    """Tell gate, activation and up-projection apart among the calls of a feed-forward pass."""
    product = next(given for module, given, _ in calls if module is site.neurons)
    assert product is not None, "the probe pass has seen a tensor here"
    ff_width = product.shape[-1]
    # The activation function is the one module that keeps the width F and has no weights.
    before, activated = next(
        (given, made)
        for module, given, made in calls
        if given is not None
        and made is not None
        and given.shape[-1] == made.shape[-1] == ff_width
        and not any(True for _ in module.parameters())
        and not isinstance(module, nn.Dropout)
    )
    up = None
    for module, _, made in calls:
        if is_matrix(module) and module is not site.neurons and made is not None:
            for part in torch.split(
                made, ff_width, dim=-1
            ):  # Phi-3 makes gate and up in one matrix
                if not torch.equal(part, before):
                    up = part
    return NeuronRun(
        product=to_array(product[0]),
        before=to_array(before[0]),
        activated=to_array(activated[0]),
        up=None if up is None else to_array(up[0]),
    )


def _tensor(model: LanguageModel, hidden: Array) -> torch.Tensor:
    """Bring recorded vectors to where the network computes, in its own precision."""
    table = model.network.get_input_embeddings().weight
    return torch.tensor(hidden, device=table.device, dtype=table.dtype)


def _pass(model: LanguageModel, tokens: int, *, logits_to_keep: int) -> torch.Tensor:
    """Run the network over placeholder tokens, all at position 0, and return its logits."""
    ids = torch.zeros(1, tokens, dtype=torch.long, device=model.network.device)
    logits: torch.Tensor = model.network(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        position_ids=torch.zeros_like(ids),
        use_cache=False,
        logits_to_keep=logits_to_keep,
    ).logits
    return logits


@contextmanager
def handing_through(
    blocks: Iterable[nn.Module], given: torch.Tensor | None = None
) -> Iterator[None]:
    """Let blocks return their input, or `given`, without computing anything."""

    def forward(hidden_states: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        return hidden_states if given is None else given

    with ExitStack() as stack:
        for block in blocks:
            stack.callback(delattr, block, "forward")
            block.forward = forward
        yield


@contextmanager
def given(block: nn.Module, stream: torch.Tensor) -> Iterator[None]:
    """Let a block work on `stream` instead of what it is handed."""

    def hook(_: nn.Module, args: Any, kwargs: Any) -> Any:
        if args:
            return (stream, *args[1:]), kwargs
        return args, {**kwargs, "hidden_states": stream}

    handle = block.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()
