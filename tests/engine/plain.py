"""Looking into a plain transformers network by names and hooks of the tests' own."""

import torch

# By family, in each block: what adds attention's output, what adds the MLP's, attention's output
# projection, the MLP's last matrix.
LLAMA = ("self_attn", "mlp", "self_attn.o_proj", "mlp.down_proj")
NORMS = ("post_attention_layernorm", "post_feedforward_layernorm")
PARTS = {
    "llama": LLAMA,
    "qwen3": LLAMA,
    "mistral": LLAMA,
    "phi3": LLAMA,
    "gemma2": (*NORMS, *LLAMA[2:]),
    "gpt2": ("attn", "mlp", "attn.c_proj", "mlp.c_proj"),
    "gpt_neox": ("attention", "mlp", "attention.dense", "mlp.dense_4h_to_h"),
}


def hooked(network, ids, modules):
    """Return the output of some modules in a plain pass, by plain hooks of the test's own."""
    seen, handles = {}, []
    for name, module in modules.items():

        def note(_, args, output, name=name):
            seen[name] = (output[0] if isinstance(output, tuple) else output)[0].clone()

        handles.append(module.register_forward_hook(note))
    with torch.inference_mode():
        network(input_ids=torch.tensor([ids]))
    for handle in handles:
        handle.remove()
    return {name: tensor.numpy() for name, tensor in seen.items()}


def blocks_of(network):
    base = network.base_model
    return base.h if hasattr(base, "h") else base.layers
