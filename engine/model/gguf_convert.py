"""Turn the default model's GGUF file into the files that load in a second.

A GGUF keeps its weights packed (Q4_1: blocks of 32 numbers of 4 bits with a scale and an offset)
and its tokenizer as lists in the header, which take seconds to parse. Here both are unpacked once:
the weights to float32 safetensors, with exactly the values that the packed blocks stand for
(rounded to bfloat16 they would be off by 0.13 in the logits), the tokenizer to `tokenizer.json`. It
knows the Llama architecture and a byte-level BPE tokenizer, which is what the default model is; any
other `.gguf` file goes through transformers' own, slower loader.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, TokenType, dequantize
from safetensors import SafetensorError
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from engine.basics.errors import ModelLoadError
from engine.tokenizer.gguf_pre_tokenizer import repair_pre_tokenizer

WEIGHTS, CONFIG, TOKENIZER = "model.safetensors", "config.json", "tokenizer.json"
CHAT_TEMPLATE = "chat_template.jinja"

_NAMES: Mapping[str, str] = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""llama.cpp's names of the tensors, and transformers'."""


def convert(gguf_file: Path, folder: Path, step: Callable[[int, int], None]) -> None:
    """Write weights, config, tokenizer and chat template of a Llama GGUF file into a folder.

    Args:
        gguf_file: The packed file.
        folder: Where the new files go.
        step: Called with how many tensors are unpacked, and of how many.

    Raises:
        ModelLoadError: The file is of another architecture, or is no GGUF file.
        OSError: The disk is full.
    """
    try:
        reader = GGUFReader(gguf_file)
    except (ValueError, IndexError, KeyError) as error:
        raise ModelLoadError(f"“{gguf_file.name}” cannot be read as a GGUF file.") from error
    architecture = _value(reader, "general.architecture")
    if architecture != "llama":
        raise ModelLoadError(f"“{gguf_file.name}” is a {architecture} model, not Llama.")
    config = _config(reader)
    _write_json(folder / CONFIG, config)
    (folder / CHAT_TEMPLATE).write_text(_value(reader, "tokenizer.chat_template"), encoding="utf-8")
    _tokenizer(reader).save(str(folder / TOKENIZER))
    try:
        save_file(_weights(reader, config, step), folder / WEIGHTS, metadata={"format": "pt"})
    except SafetensorError as error:
        # It speaks of a full disk in its own type, with the system's number in the text.
        found = re.search(r"os error (\d+)", str(error))
        if found is None:
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1]))) from error


def _value(reader: Any, key: str, default: Any = None) -> Any:
    """Return one entry of the header as plain Python values."""
    entry = reader.fields.get(key)
    return default if entry is None else entry.contents()


def _config(reader: Any) -> dict[str, Any]:
    """Return the header's facts under transformers' names."""
    heads = _value(reader, "llama.attention.head_count")
    width = _value(reader, "llama.embedding_length")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "float32",
        "hidden_act": "silu",
        "hidden_size": width,
        "head_dim": _value(reader, "llama.rope.dimension_count", width // heads),
        "intermediate_size": _value(reader, "llama.feed_forward_length"),
        "max_position_embeddings": _value(reader, "llama.context_length"),
        "num_attention_heads": heads,
        "num_hidden_layers": _value(reader, "llama.block_count"),
        "num_key_value_heads": _value(reader, "llama.attention.head_count_kv", heads),
        "rms_norm_eps": _value(reader, "llama.attention.layer_norm_rms_epsilon"),
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": _value(reader, "llama.rope.freq_base", 10_000.0),
        },
        # A head of its own would be a tensor of its own.
        "tie_word_embeddings": all(tensor.name != "output.weight" for tensor in reader.tensors),
        "vocab_size": len(reader.fields["tokenizer.ggml.tokens"].data),
        "bos_token_id": _value(reader, "tokenizer.ggml.bos_token_id"),
        "eos_token_id": _value(reader, "tokenizer.ggml.eos_token_id"),
        "pad_token_id": _value(reader, "tokenizer.ggml.padding_token_id"),
    }


def _weights(
    reader: Any, config: dict[str, Any], step: Callable[[int, int], None]
) -> dict[str, np.ndarray]:
    """Return every tensor in float32 under transformers' name; a tied LM head is not repeated."""
    tensors = {}
    for packed in reader.tensors:
        values = np.asarray(dequantize(packed.data, packed.tensor_type), dtype=np.float32)
        if ".attn_q." in packed.name:
            values = _halves_from_pairs(values, config["num_attention_heads"])
        elif ".attn_k." in packed.name:
            values = _halves_from_pairs(values, config["num_key_value_heads"])
        tensors[_transformers_name(packed.name)] = np.ascontiguousarray(values)
        step(len(tensors), len(reader.tensors))
    return tensors


def _halves_from_pairs(weight: np.ndarray, heads: int) -> np.ndarray:
    """Undo llama.cpp's reordering of the rows of a query or key matrix.

    RoPE turns pairs of numbers. llama.cpp keeps the two of a pair side by side, (2i, 2i + 1);
    transformers keeps them half a head apart, (i, i + K/2), as the model was trained.
    """
    rows, width = weight.shape
    pairs = weight.reshape(heads, rows // heads // 2, 2, width)
    return pairs.swapaxes(1, 2).reshape(rows, width)


def _transformers_name(name: str) -> str:
    """Translate "blk.3.attn_q.weight" to "model.layers.3.self_attn.q_proj.weight"."""
    if name == "output.weight":
        return "lm_head.weight"
    block = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", name)
    if block:
        return f"model.layers.{block[1]}.{_NAMES[block[2]]}.weight"
    return f"{_NAMES[name.removesuffix('.weight')]}.weight"


def _tokenizer(reader: Any) -> Tokenizer:
    """Build the byte-level BPE tokenizer that the header describes."""
    pieces = _value(reader, "tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in _value(reader, "tokenizer.ggml.merges")]
    vocabulary = {piece: id for id, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    repair_pre_tokenizer(tokenizer, _value(reader, "tokenizer.ggml.pre", ""))
    tokenizer.decoder = decoders.ByteLevel()
    kinds = _value(reader, "tokenizer.ggml.token_type")
    tokenizer.add_special_tokens(
        [
            AddedToken(piece, special=True, normalized=False)
            for piece, kind in zip(pieces, kinds, strict=True)
            if kind == TokenType.CONTROL
        ]
    )
    return tokenizer


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
