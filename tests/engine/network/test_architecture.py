"""The facts of each family, read from the network, are the ones that its config was made with."""

from __future__ import annotations

import pytest
import torch
import transformers

from engine.basics.errors import ModelLoadError
from engine.network.architecture import decoder_layers, read_architecture
from tests.tiny import FAMILIES, tiny_network

# family: positions, norm, gated, parallel, tied, kv_heads, head_size, ff_width, activation
EXPECTED = {
    "llama": ("rope", "RMSNorm", True, False, True, 2, 8, 96, "silu"),
    "gpt2": ("learned", "LayerNorm", False, False, True, 4, 8, 128, "gelu_new"),
    "qwen3": ("rope", "RMSNorm", True, False, True, 2, 16, 96, "silu"),
    "gpt_neox": ("rope", "LayerNorm", False, True, False, 4, 8, 64, "gelu"),
    "gemma2": ("rope", "RMSNorm", True, False, True, 2, 16, 96, "gelu_pytorch_tanh"),
    "mistral": ("rope", "RMSNorm", True, False, False, 2, 8, 96, "silu"),
    "phi3": ("rope", "RMSNorm", True, False, False, 2, 8, 96, "silu"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_facts_of_the_families(family):
    network = tiny_network(family)
    facts = read_architecture(network)
    assert facts.family == family
    assert (
        facts.positions,
        facts.norm,
        facts.gated,
        facts.parallel,
        facts.tied,
        facts.kv_heads,
        facts.head_size,
        facts.ff_width,
        facts.activation,
    ) == EXPECTED[family]
    assert facts.layers == len(decoder_layers(network))
    assert facts.rope_theta == (10_000.0 if facts.positions == "rope" else None)
    assert (facts.context, facts.vocabulary) == (512, network.config.vocab_size)
    assert facts.parameters == sum(p.numel() for p in network.parameters())


def from_config(config):
    return transformers.AutoModelForCausalLM.from_config(config)


def test_rope_theta_is_that_of_the_config():
    config = transformers.LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
        rope_parameters={"rope_type": "default", "rope_theta": 123_456.0},
    )
    assert read_architecture(from_config(config)).rope_theta == 123_456.0


def test_families_that_are_in_no_table():
    """OPT has learned positions with two rows more, Bloom ALiBi, GPT-J one norm a block."""
    opt = transformers.OPTConfig(
        vocab_size=32,
        hidden_size=16,
        ffn_dim=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
        word_embed_proj_dim=16,
    )
    facts = read_architecture(from_config(opt))
    assert (facts.positions, facts.ff_width, facts.gated, facts.context) == (
        "learned",
        24,
        False,
        64,
    )
    bloom = transformers.BloomConfig(vocab_size=32, hidden_size=16, n_layer=2, n_head=2)
    facts = read_architecture(from_config(bloom))
    assert (facts.positions, facts.rope_theta, facts.ff_width) == ("none", None, 64)
    gptj = transformers.GPTJConfig(
        vocab_size=32, n_embd=16, n_layer=2, n_head=2, n_positions=64, rotary_dim=4
    )
    assert read_architecture(from_config(gptj)).parallel


def test_what_is_no_stack_of_decoder_layers_is_refused():
    network = tiny_network("llama")
    network.model.layers = torch.nn.ModuleList(network.model.layers[:1])
    with pytest.raises(ModelLoadError, match="family “llama” is not a plain stack"):
        read_architecture(network)
