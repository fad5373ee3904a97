"""The hooks that watch and edit a forward pass: one attention function and a few module hooks.

transformers lets every decoder call an attention function by name. `observing_attention` computes
what the stock one computes. While an observer is attached, it also hands over the queries and keys
after position encoding, the values, the mask and the scale. Module hooks see what attention and the
feed-forward network add to the residual stream. Knock-outs act in the same two places.

`install` prepares a network once, when it is loaded. `observed` attaches a recorder for the passes
that run inside its context; the caller holds the model's lock meanwhile. Observers are attributes
of the network's own modules, never globals, and are always removed at the end of the context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from engine.basics.errors import ModelLoadError
from engine.network.attention_kernels import masked_attention, softcapped_attention
from engine.network.sites import OBSERVER, Sites, find_sites
from engine.network.tensors import first_tensor, probe_ids
from engine.observe.edits import Edit, KnockOutAttention, KnockOutHead, KnockOutMlp
from engine.observe.recording import AttentionInputs, Recorder, Recording

ATTENTION = "token_by_token"
"""The name under which transformers finds our attention function and its mask."""

UNSUPPORTED = ("position_bias", "s_aux", "head_mask")
"""Arguments that change the scores in a way that a trace could not show."""


def observing_attention(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    softcap: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attend as transformers' sdpa does, and let an observer see it and change the result.

    Args:
        module: The attention module that calls.
        query: `[B, H, T, K]`.
        key: `[B, G, S, K]`.
        value: `[B, G, S, K]`.
        attention_mask: True where a token may be read; None means causal.
        scaling: Factor on `q·k`; None means `1/√K`.
        dropout: Probability of training-time dropout.
        softcap: Bound of the scores, which sdpa cannot do, or None.
        kwargs: What else a family gives, handed on.

    Returns:
        The heads' outputs `[B, T, H, K]`, and None in place of the weights.

    Raises:
        ModelLoadError: The family changes its scores in a way that a trace could not show.
    """
    unsupported = [name for name in UNSUPPORTED if kwargs.get(name) is not None]
    mask = attention_mask
    if mask is not None and (mask.dtype != torch.bool or mask.shape[1] != 1):
        unsupported.append("a mask of numbers")  # ALiBi hides its distances there
    if unsupported:
        raise ModelLoadError(
            f"This model gives its attention “{unsupported[0]}”, which cannot be shown faithfully. "
            "Choose another model."
        )
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    observer = getattr(module, OBSERVER, None)
    if observer is not None:
        observer.saw(module, AttentionInputs(query, key, value, attention_mask, scale, softcap))
    if softcap is not None:
        output = softcapped_attention(query, key, value, mask, scale, softcap)
    elif mask is not None and mask.device.type == "cpu":
        output = masked_attention(query, key, value, mask, scale, dropout)
    else:
        output, _ = sdpa_attention_forward(
            module, query, key, value, mask, dropout=dropout, scaling=scale, **kwargs
        )
    return (output if observer is None else observer.edited(output)), None


def install(network: Any) -> Sites:
    """Make a network observable, with our attention function in, and return its sites.

    Raises:
        ModelLoadError: The network cannot be observed, or computes something else with our
            attention function than with its own.
    """
    # Registering the same function under the same name again changes nothing.
    AttentionInterface.register(ATTENTION, observing_attention)
    AttentionMaskInterface.register(ATTENTION, sdpa_mask)
    network.eval()
    network.set_attn_implementation("eager")
    expected = _probe_logits(network)
    network.set_attn_implementation(ATTENTION)
    sites = find_sites(network)
    # A recorded pass also checks that the parts sum up to the residual stream.
    with observed(sites, Recording(len(sites.layers))):
        difference = (_probe_logits(network) - expected).abs().max().item()
    # Half precision rounds the two ways to compute differently.
    tolerance = 1e-3 if expected.dtype == torch.float32 else 0.1
    if not difference <= tolerance * max(1.0, expected.abs().max().item()):
        raise ModelLoadError(
            f"The model family “{network.config.model_type}” gives other logits when it is "
            f"observed (off by {difference:.3g}), so what it shows could not be trusted. Choose "
            "another model."
        )
    return sites


@contextmanager
def observed(sites: Sites, recorder: Recorder, edits: Iterable[Edit] = ()) -> Iterator[None]:
    """Watch and edit the passes that run inside. The caller holds the model's lock.

    Args:
        sites: Where to look, as `install` returned them.
        recorder: Takes the tensors.
        edits: Checked edits; only knock-outs act here, the others change the pass's inputs.
    """
    edits = tuple(edits)
    with ExitStack() as stack:
        for number, layer in enumerate(sites.layers):
            heads = tuple(
                e.head for e in edits if isinstance(e, KnockOutHead) and e.layer == number
            )
            observe(stack, layer.attention, _LayerObserver(number, recorder, heads))
            silent = KnockOutAttention(number) in edits
            _hook(stack, layer.attn_out, _adder(recorder, number, "attn_out", silent))
            silent = KnockOutMlp(number) in edits
            _hook(stack, layer.mlp_out, _adder(recorder, number, "mlp_out", silent))
        on_input(stack, sites.layers[0].block, recorder.embedded)
        on_input(stack, sites.final_norm, recorder.finished)
        yield


class _LayerObserver:
    """The observer of one layer's attention function."""

    def __init__(self, layer: int, recorder: Recorder, silent_heads: tuple[int, ...]) -> None:
        self.layer, self.recorder, self.silent_heads = layer, recorder, silent_heads

    def saw(self, _: nn.Module, inputs: AttentionInputs) -> None:
        """Hand the inputs over."""
        self.recorder.attention(self.layer, inputs)

    def edited(self, output: torch.Tensor) -> torch.Tensor:
        """Silence the knocked-out heads of `[B, T, H, K]`."""
        if not self.silent_heads:
            return output
        output = output.clone()
        output[:, :, list(self.silent_heads)] = 0.0
        return output


def observe(stack: ExitStack, attention: nn.Module, observer: Any) -> None:
    """Hang an observer on an attention module until the stack closes."""
    stack.callback(delattr, attention, OBSERVER)
    setattr(attention, OBSERVER, observer)


def on_input(stack: ExitStack, module: nn.Module, take: Callable[[torch.Tensor], None]) -> None:
    """Hand a module's input over until the stack closes."""

    def hook(_: nn.Module, args: Any, kwargs: Any) -> None:
        given = first_tensor(args)
        given = first_tensor(kwargs) if given is None else given
        assert given is not None, "the probe pass has seen a tensor here"
        take(given)

    stack.callback(module.register_forward_pre_hook(hook, with_kwargs=True).remove)


def _hook(stack: ExitStack, module: nn.Module, hook: Callable[..., Any]) -> None:
    """Put a forward hook on a module until the stack closes."""
    stack.callback(module.register_forward_hook(hook).remove)


def _adder(recorder: Recorder, layer: int, part: str, silent: bool) -> Callable[..., Any]:
    """Return the hook that records what a part adds, and silences it where an edit says so."""

    def hook(_: nn.Module, args: Any, output: Any) -> Any:
        tensor = first_tensor(output)
        assert tensor is not None, "the probe pass has seen a tensor here"
        if silent:
            tensor = torch.zeros_like(tensor)
            output = (tensor, *output[1:]) if isinstance(output, tuple) else tensor
        recorder.added(layer, part, tensor)
        return output if silent else None

    return hook


@torch.inference_mode()
def _probe_logits(network: Any) -> torch.Tensor:
    """Return the logits of a few arbitrary tokens, to compare two ways of attending."""
    ids = probe_ids(network)
    logits: torch.Tensor = network(
        input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False
    ).logits
    return logits
