"""Sites are found by structure: the expected names are what a reader of each family picks."""

import pytest
import transformers

from engine.basics.errors import ModelLoadError
from engine.observe.hooks import install
from tests.tiny import FAMILIES, tiny_model, tiny_network

# attention, what adds attention's output, what adds the MLP's, the matrix that reads the neurons
EXPECTED = {
    "llama": ("self_attn", "self_attn", "mlp", "mlp.down_proj"),
    "gpt2": ("attn", "attn", "mlp", "mlp.c_proj"),
    "qwen3": ("self_attn", "self_attn", "mlp", "mlp.down_proj"),
    "gpt_neox": (
        "attention",
        "post_attention_dropout",
        "post_mlp_dropout",
        "mlp.dense_4h_to_h",
    ),
    "gemma2": (
        "self_attn",
        "post_attention_layernorm",
        "post_feedforward_layernorm",
        "mlp.down_proj",
    ),
    "mistral": ("self_attn", "self_attn", "mlp", "mlp.down_proj"),
    "phi3": ("self_attn", "resid_attn_dropout", "resid_mlp_dropout", "mlp.down_proj"),
}
FEED = {
    "gpt2": ["ln_2", "mlp"],
    "gemma2": ["pre_feedforward_layernorm", "mlp"],
}
FINAL_NORM = {"gpt2": "transformer.ln_f", "gpt_neox": "gpt_neox.final_layer_norm"}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_sites_of_every_family(family):
    model = tiny_model(family)
    network, sites = model.network, model.sites
    for site in sites.layers:
        names = {module: name for name, module in site.block.named_modules()}
        found = (site.attention, site.attn_out, site.mlp_out, site.neurons)
        assert tuple(names[module] for module in found) == EXPECTED[family]
        expected_feed = FEED.get(family, ["post_attention_layernorm", "mlp"])
        assert [names[module] for module in site.feed] == expected_feed
        assert site.parallel == (family == "gpt_neox")
    outside = {module: name for name, module in network.named_modules()}
    assert outside[sites.final_norm] == FINAL_NORM.get(family, "model.norm")


def test_a_module_that_serves_twice_is_no_site():
    # Phi hands both attention's and the MLP's output through one and the same dropout.
    config = transformers.PhiConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        bos_token_id=0,
        eos_token_id=1,
    )
    site = install(transformers.PhiForCausalLM(config)).layers[0]
    names = {module: name for name, module in site.block.named_modules()}
    assert (names[site.attn_out], names[site.mlp_out]) == ("self_attn", "mlp")
    assert site.parallel


def test_blocks_without_a_feed_forward_network_of_plain_matrices_are_refused():
    config = transformers.MixtralConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        num_local_experts=2,
        num_experts_per_tok=1,
        bos_token_id=0,
        eos_token_id=1,
    )
    with pytest.raises(ModelLoadError, match=r"“mixtral” cannot be looked into: .*plain matrices"):
        install(transformers.MixtralForCausalLM(config))


def test_a_family_with_an_attention_function_of_its_own_is_refused():
    config = transformers.BloomConfig(
        vocab_size=64, hidden_size=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=1
    )
    with pytest.raises(ModelLoadError, match="“bloom” cannot be looked into"):
        install(transformers.BloomForCausalLM(config))


def test_no_probe_hook_or_observer_remains():
    network = tiny_network("llama")
    network(input_ids=network.dummy_inputs["input_ids"])  # transformers hooks itself at first use
    before = [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in network.modules()]
    attributes = [set(vars(m)) for m in network.modules()]
    install(network)
    assert before == [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in network.modules()]
    added = [set(vars(m)) - old for m, old in zip(network.modules(), attributes, strict=True)]
    assert not any(added)
