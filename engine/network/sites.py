"""The modules of a network at which a pass is watched and edited, found without knowing the family.

They are found by what modules do and not by what they are called. One small probe pass runs with a
hook on every module and notes which tensor went into which module and which came out:

- The attention is the module that calls the attention function.
- What attention adds to the residual stream is the output of the last direct child of the block
  that was handed exactly the attention's output (in Gemma 2 a norm, in Phi-3 a dropout).
- The neurons are read by the last matrix outside of attention that gives D numbers.

So no family needs an adapter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from engine.basics.errors import ModelLoadError
from engine.network.architecture import decoder_layers, is_matrix
from engine.network.tensors import first_tensor, probe_ids

OBSERVER = "_token_by_token_observer"
"""The attribute of an attention module through which the attention function finds its observer."""


@dataclass(frozen=True, eq=False)
class LayerSites:
    """The modules of one block at which the pass is watched and edited."""

    block: nn.Module
    attention: nn.Module
    """The module that calls the attention function."""
    mix: nn.Module
    """The matrix of the attention that reads all heads' outputs side by side (W_O)."""
    before_attention: tuple[nn.Module, ...]
    """Called one after the other they lead from the residual stream to attention: a norm."""
    attn_out: nn.Module
    """Its output is what attention adds to the residual stream."""
    mlp_out: nn.Module
    """Its output is what the feed-forward network adds to the residual stream."""
    feed: tuple[nn.Module, ...]
    """Called one after the other they lead from the residual stream to the neurons: norm, MLP."""
    neurons: nn.Module
    """The last matrix of the feed-forward network; its input is the neurons' values."""
    parallel: bool
    """Whether the feed-forward network reads `resid_pre`, beside attention, and not `resid_mid`."""


@dataclass(frozen=True, eq=False)
class Sites:
    """All sites of one network."""

    layers: tuple[LayerSites, ...]
    final_norm: nn.Module
    """It reads the residual stream after the last block."""


@dataclass(frozen=True, eq=False)
class _Call:
    """One module call of the probe pass. It holds the tensors, so that their identity lasts."""

    module: nn.Module
    given: torch.Tensor | None
    made: torch.Tensor | None


class _SeeAttention:
    """The probe's observer: it only notes which modules call the attention function."""

    def __init__(self) -> None:
        self.modules: list[nn.Module] = []

    def saw(self, module: nn.Module, *_: Any) -> None:
        """Note one call."""
        self.modules.append(module)

    def edited(self, output: torch.Tensor) -> torch.Tensor:
        """Change nothing."""
        return output


def find_sites(network: Any) -> Sites:
    """Find the sites of a causal language model whose attention function is already ours.

    Raises:
        ModelLoadError: The network's blocks are not attention and feed-forward, each added to one
            residual stream.
    """
    blocks = list(decoder_layers(network))
    ids = probe_ids(network)
    with _recorded_calls(network) as calls, _attention_seen(blocks) as seen, torch.inference_mode():
        network(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False)
    layers = tuple(_layer_sites(block, calls, seen.modules, network) for block in blocks)
    last = next(call for call in calls if call.module is blocks[-1])
    after = calls[calls.index(last) :]
    for call in after:
        if call.given is not None and call.given is last.made:
            return Sites(layers, call.module)
    raise _unknown(network, "nothing reads the residual stream after the last block")


def _layer_sites(
    block: nn.Module, calls: list[_Call], attentions: list[nn.Module], network: Any
) -> LayerSites:
    """Find the sites of one block."""
    inside, children = set(block.modules()), list(block.children())
    attention = [module for module in attentions if module in inside]
    if len(attention) != 1:
        raise _unknown(network, f"a block calls the attention function {len(attention)} times")
    steps = [call for call in calls if call.module in children]
    attended = _step_of(attention[0], steps)

    taken = set(steps[attended].module.modules())
    width = network.get_input_embeddings().weight.shape[1]
    matrices = [
        call.module
        for call in calls
        if call.module in inside
        and call.module not in taken
        and is_matrix(call.module)
        and call.made is not None
        and call.made.shape[-1] == width
    ]
    if not matrices:
        raise _unknown(network, "a block has no feed-forward network made of plain matrices")
    fed = _step_of(matrices[-1], steps)

    before, _ = _leading_to(steps, attended)
    feed, source = _leading_to(steps, fed)
    entered = next(call.given for call in calls if call.module is block)
    return LayerSites(
        block=block,
        attention=attention[0],
        mix=_mixer(attention[0], calls, network),
        before_attention=before,
        attn_out=_last_fed(steps, attended),
        mlp_out=_last_fed(steps, fed),
        feed=(*feed, steps[fed].module),
        neurons=matrices[-1],
        parallel=source is entered,
    )


def _mixer(attention: nn.Module, calls: list[_Call], network: Any) -> nn.Module:
    """Return the last matrix that runs inside an attention module."""
    inside = set(attention.modules())
    matrices = [call.module for call in calls if call.module in inside and is_matrix(call.module)]
    if not matrices:
        raise _unknown(network, "its attention has no matrix that mixes the heads")
    return matrices[-1]


def _step_of(module: nn.Module, steps: list[_Call]) -> int:
    """Return the number of the step (direct child) that is or contains a module."""
    return next(i for i, step in enumerate(steps) if module in set(step.module.modules()))


def _leading_to(steps: list[_Call], end: int) -> tuple[tuple[nn.Module, ...], torch.Tensor | None]:
    """Return the modules that a step's input came through, and what went into the first of them."""
    modules: tuple[nn.Module, ...] = ()
    source = steps[end].given
    for step in reversed(steps[:end]):
        if step.made is not None and step.made is source:
            modules = (step.module, *modules)
            source = step.given
    return modules, source


def _last_fed(steps: list[_Call], start: int) -> nn.Module:
    """Follow a tensor from step to step as long as it is handed on unchanged.

    A module that serves twice in one block (Phi's dropout) is passed over: a hook on it could not
    tell its two calls apart.
    """
    reached = steps[start]
    for step in steps[start + 1 :]:
        once = sum(other.module is step.module for other in steps) == 1
        if once and step.given is not None and step.given is reached.made:
            reached = step
    return reached.module


@contextmanager
def _recorded_calls(network: nn.Module) -> Iterator[list[_Call]]:
    """Record every module call, in the order in which the calls end."""
    calls: list[_Call] = []

    def note(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        given = first_tensor(args)
        calls.append(
            _Call(
                module, given if given is not None else first_tensor(kwargs), first_tensor(output)
            )
        )

    handles = [module.register_forward_hook(note, with_kwargs=True) for module in network.modules()]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _attention_seen(blocks: list[nn.Module]) -> Iterator[_SeeAttention]:
    """Let every module of the blocks carry an observer: whichever calls attention is noted."""
    observer = _SeeAttention()
    modules = [module for block in blocks for module in block.modules()]
    try:
        for module in modules:
            setattr(module, OBSERVER, observer)
        yield observer
    finally:
        for module in modules:
            if hasattr(module, OBSERVER):
                delattr(module, OBSERVER)


def _unknown(network: Any, reason: str) -> ModelLoadError:
    """Say that a family cannot be looked into."""
    family = network.config.get_text_config().model_type
    return ModelLoadError(
        f"The model family “{family}” cannot be looked into: {reason}. Choose a plain decoder-only "
        "model such as Llama, GPT-2, Qwen, Gemma or Phi."
    )
