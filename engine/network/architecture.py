"""The facts of a loaded network: how many layers, how wide, which position encoding, which norm.

They are read from its config where every family names a fact alike, and from the modules themselves
where the families differ. So a family that was never seen before gets right facts without an entry
in a table. Here too: where the stack of blocks is, and which modules are matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from engine.basics.errors import ModelLoadError
from engine.basics.results import Result

Positions = Literal["rope", "learned", "none"]


@dataclass(frozen=True)
class Architecture(Result):
    """The shape of one decoder-only transformer. Sizes count numbers, not bytes."""

    family: str
    """The family's name in transformers, such as "llama" or "gpt2"."""
    layers: int
    """L, how many blocks are stacked."""
    heads: int
    """H, query heads per layer."""
    kv_heads: int
    """G, key/value heads per layer; each serves H / G query heads, number `head // (H / G)`."""
    head_size: int
    """K, the length of one query, key or value vector."""
    width: int
    """D, the length of the vector that stands for one token in the residual stream."""
    ff_width: int
    """F, neurons per layer: the input of the feed-forward network's last matrix."""
    vocabulary: int
    """V, rows of the LM head. It can be padded beyond the tokenizer's own entries."""
    context: int
    """The longest sequence, in tokens, that the model was made for."""
    tied: bool
    """Whether the LM head is the embedding table, used a second time."""
    positions: Positions
    """"rope": queries and keys are rotated; "learned": each position has a vector that is added;
    "none": neither (ALiBi, for one, biases the scores and counts here)."""
    rope_theta: float | None
    """The base of the rotation speeds; None without RoPE."""
    norm: str
    """"RMSNorm" or "LayerNorm"."""
    activation: str
    """The feed-forward network's nonlinearity, as transformers names it."""
    gated: bool
    """Whether the feed-forward network multiplies two up-projections (SwiGLU and its kin)."""
    parallel: bool
    """Whether attention and feed-forward read the same input instead of one after the other."""
    parameters: int
    """How many numbers were learned; a tied table counts once."""


def read_architecture(network: Any) -> Architecture:
    """Read the facts of a transformers causal language model.

    Raises:
        ModelLoadError: The network is no decoder of the kind that this project can look into.
    """
    config = network.config.get_text_config()
    layer = decoder_layers(network)[0]
    width, heads = int(config.hidden_size), int(config.num_attention_heads)
    ff_width, gated = _feed_forward(layer, config)
    embeddings, lm_head = network.get_input_embeddings(), network.get_output_embeddings()
    positions = _positions(network, config)
    return Architecture(
        family=str(config.model_type),
        layers=int(config.num_hidden_layers),
        heads=heads,
        kv_heads=int(getattr(config, "num_key_value_heads", None) or heads),
        head_size=int(getattr(config, "head_dim", None) or width // heads),
        width=width,
        ff_width=ff_width,
        vocabulary=int(lm_head.weight.shape[0]),
        context=_context(config),
        tied=lm_head.weight is embeddings.weight,
        positions=positions,
        rope_theta=_rope_theta(config) if positions == "rope" else None,
        norm="RMSNorm"
        if any("RMS" in type(norm).__name__ for norm in _norms(layer))
        else "LayerNorm",
        activation=_activation(config),
        gated=gated,
        parallel=_is_parallel(layer, config),
        parameters=sum(parameter.numel() for parameter in network.parameters()),
    )


def check_layers(config: Any) -> None:
    """Refuse a model without layers.

    Raises:
        ModelLoadError: Its config says that it has none.
    """
    if getattr(config.get_text_config(), "num_hidden_layers", None) == 0:
        raise ModelLoadError(
            "This model has no layers (num_hidden_layers is 0 in its config.json), so there is "
            "nothing to look into. Choose another model."
        )


def decoder_layers(network: Any) -> nn.ModuleList:
    """Return the stack of blocks.

    Raises:
        ModelLoadError: There is no such list.
    """
    blocks: nn.ModuleList = network.get_submodule(decoder_layers_path(network))
    return blocks


def decoder_layers_path(network: Any) -> str:
    """Return the dotted name of the stack of blocks, such as "model.layers".

    It is the first `ModuleList` with `config.num_hidden_layers` entries.

    Raises:
        ModelLoadError: There is no such list.
    """
    check_layers(network.config)
    config = network.config.get_text_config()
    wanted = getattr(config, "num_hidden_layers", None)
    for name, module in network.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) == wanted:
            return str(name)
    raise ModelLoadError(
        f"The model family “{config.model_type}” is not a plain stack of decoder layers, so there "
        "is nothing to look into. Choose a decoder-only language model: Llama, GPT-2, Qwen, …"
    )


def is_matrix(module: nn.Module) -> bool:
    """Tell whether this is a linear layer, GPT-2's transposed `Conv1D` included."""
    return isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"


def output_rows(matrix: Any) -> torch.Tensor:
    """Return a linear layer's weight as `[inputs, outputs]`: one row per number that it reads."""
    weight: torch.Tensor = matrix.weight
    return weight.T if isinstance(matrix, nn.Linear) else weight


def _feed_forward(layer: nn.Module, config: Any) -> tuple[int, bool]:
    """Return the feed-forward width F and whether it is gated.

    The matrices outside of attention are the feed-forward network's, and the last of them reads the
    neurons. A gated network makes 2 F numbers before it, a plain one F.
    """
    shapes = [
        _in_and_out(module)
        for name, module in layer.named_modules()
        if "attn" not in name and "attention" not in name and is_matrix(module)
    ]
    if not shapes:  # a mixture of experts keeps its matrices in one big parameter
        return int(config.intermediate_size), True
    ff_width = shapes[-1][0]
    return ff_width, sum(outputs for _, outputs in shapes[:-1]) >= 2 * ff_width


def _in_and_out(module: Any) -> tuple[int, int]:
    """Return how many numbers a linear layer reads and writes."""
    rows, columns = module.weight.shape
    return (columns, rows) if isinstance(module, nn.Linear) else (rows, columns)


def _norms(layer: nn.Module) -> list[nn.Module]:
    """Return the norms that stand in the block itself, not those inside attention (Qwen 3)."""
    return [module for module in layer.children() if "Norm" in type(module).__name__]


def _is_parallel(layer: nn.Module, config: Any) -> bool:
    """Tell whether attention and feed-forward read the same input.

    Two families say so by a flag; the others that do it (GPT-J, Phi, Cohere) have a single norm in
    the block, whose output both read.
    """
    for flag in ("use_parallel_residual", "parallel_attn"):
        value = getattr(config, flag, None)
        if value is not None:
            return bool(value)
    return len(_norms(layer)) == 1


def _positions(network: nn.Module, config: Any) -> Positions:
    """Tell how the model knows the order of its tokens."""
    if any("Rotary" in type(module).__name__ for module in network.modules()):
        return "rope"
    tables = [module for module in network.modules() if isinstance(module, nn.Embedding)]
    # OPT keeps two rows more than it has positions, so the table is looked up by its least size.
    has_table = any(
        table is not network.get_input_embeddings()  # type: ignore[operator]
        and table.num_embeddings >= _context(config)
        for table in tables
    )
    return "learned" if has_table else "none"


def _context(config: Any) -> int:
    """Return the longest sequence that the model was made for; 2048 where it names no limit."""
    for field in ("max_position_embeddings", "max_sequence_length", "max_seq_len", "seq_length"):
        value = getattr(config, field, None)
        if value:
            return int(value)
    return 2048


def _rope_theta(config: Any) -> float | None:
    """Return the base of RoPE's speeds; that of full attention where layers differ (Gemma 3)."""
    parameters = getattr(config, "rope_parameters", None) or {}
    if "rope_theta" not in parameters:
        parameters = parameters.get("full_attention", {})
    theta = parameters.get("rope_theta") if isinstance(parameters, Mapping) else None
    return None if theta is None else float(theta)


def _activation(config: Any) -> str:
    """Return the nonlinearity's name; the families spell the field in three ways."""
    for field in ("hidden_activation", "hidden_act", "activation_function"):
        value = getattr(config, field, None)
        if value:
            return str(value)
    return "unknown"
