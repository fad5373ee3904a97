"""A GGUF file and the network that it was made from are the same model, bit for bit."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf import GGMLQuantizationType as Kind
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Tokenizer as Backend

from engine.basics.errors import ModelLoadError
from engine.model import gguf_convert
from engine.model.gguf_convert import convert
from tests.tiny import CHAT_TEMPLATE, tiny_backend, tiny_network

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def llama_cpp_permute(weight: np.ndarray, heads: int) -> np.ndarray:
    """`LlamaModel.permute` of llama.cpp's convert_hf_to_gguf.py."""
    return (
        weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:])
        .swapaxes(1, 2)
        .reshape(weight.shape)
    )


def write_gguf(path: Path, network, kind: Kind = Kind.F32) -> None:
    """Write a tiny Llama as llama.cpp's own converter would."""
    config, backend = network.config, tiny_backend()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_vocab_size(config.vocab_size)
    model = json.loads(backend.to_str())["model"]
    pieces = sorted(model["vocab"], key=model["vocab"].get)
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(pieces)
    writer.add_token_types([control if id < 3 else normal for id in range(len(pieces))])
    writer.add_token_merges([" ".join(merge) for merge in model["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(0)
    writer.add_chat_template(CHAT_TEMPLATE)
    for name, tensor in network.state_dict().items():
        if name != "lm_head.weight":
            add_tensor(writer, name, tensor.numpy(), config, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_tensor(writer, name: str, values: np.ndarray, config, kind: Kind) -> None:
    if "q_proj" in name:
        values = llama_cpp_permute(values, config.num_attention_heads)
    if "k_proj" in name:
        values = llama_cpp_permute(values, config.num_key_value_heads)
    stem = name.removesuffix(".weight")
    prefix = ""
    if stem.startswith("model.layers."):
        number, stem = stem.removeprefix("model.layers.").split(".", 1)
        prefix = f"blk.{number}."
    target = f"{prefix}{NAMES[stem]}.weight"
    if kind is Kind.F32 or values.ndim == 1:
        writer.add_tensor(target, values)
    else:
        writer.add_tensor(target, gguf.quantize(values, kind), raw_dtype=kind)


def test_converting_gives_the_network_back(tmp_path):
    network = tiny_network("llama")
    write_gguf(tmp_path / "tiny.gguf", network)
    steps = []
    convert(tmp_path / "tiny.gguf", tmp_path, lambda done, of: steps.append((done, of)))
    weights = load_file(tmp_path / "model.safetensors")
    expected = network.state_dict()
    assert set(expected) - set(weights) == {"lm_head.weight"}  # tied: stored once
    for name, values in weights.items():
        assert values.dtype == np.float32
        assert np.array_equal(values, expected[name].numpy()), name
    assert steps == [(n, len(weights)) for n in range(1, len(weights) + 1)]
    config = json.loads((tmp_path / "config.json").read_text())
    for field in (
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "hidden_size",
        "intermediate_size",
        "head_dim",
        "max_position_embeddings",
        "vocab_size",
        "tie_word_embeddings",
        "bos_token_id",
        "eos_token_id",
        "rope_parameters",
    ):
        assert config[field] == getattr(network.config, field), field
    assert config["rms_norm_eps"] == pytest.approx(network.config.rms_norm_eps)


def test_the_tokenizer_is_the_same(tmp_path):
    write_gguf(tmp_path / "tiny.gguf", tiny_network("llama"))
    convert(tmp_path / "tiny.gguf", tmp_path, lambda *_: None)
    backend = Backend.from_file(str(tmp_path / "tokenizer.json"))
    for text in ("The cat sat\n\n1. on 100 mats", "é🙂<|im_end|> tokens", "a<|im_start|>user\n"):
        assert backend.encode(text).ids == tiny_backend().encode(text).ids
    assert (tmp_path / "chat_template.jinja").read_text() == CHAT_TEMPLATE


def test_packed_weights_are_unpacked_to_exactly_what_they_stand_for(tmp_path):
    network = tiny_network("llama")
    write_gguf(tmp_path / "tiny.gguf", network, Kind.F16)
    convert(tmp_path / "tiny.gguf", tmp_path, lambda *_: None)
    weights = load_file(tmp_path / "model.safetensors")
    name = "model.layers.1.self_attn.k_proj.weight"
    expected = network.state_dict()[name].numpy().astype(np.float16).astype(np.float32)
    assert np.array_equal(weights[name], expected)


def test_what_it_cannot_convert_is_named(tmp_path):
    (tmp_path / "no.gguf").write_bytes(b"GGML" + bytes(60))
    with pytest.raises(ModelLoadError, match=r"“no\.gguf” cannot be read as a GGUF file"):
        convert(tmp_path / "no.gguf", tmp_path, lambda *_: None)
    writer = gguf.GGUFWriter(tmp_path / "other.gguf", "mamba")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(ModelLoadError, match=r"“other\.gguf” is a mamba model"):
        convert(tmp_path / "other.gguf", tmp_path, lambda *_: None)


def test_a_disk_that_fills_up_while_the_weights_are_written_is_the_systems_own_error(
    tmp_path, monkeypatch
):
    def full(*_, **__):
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    write_gguf(tmp_path / "tiny.gguf", tiny_network("llama"))
    monkeypatch.setattr(gguf_convert, "save_file", full)
    with pytest.raises(OSError, match="No space left") as caught:
        convert(tmp_path / "tiny.gguf", tmp_path, lambda *_: None)
    assert caught.value.errno == errno.ENOSPC
