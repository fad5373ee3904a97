"""Tiny random models of seven families and a tiny byte-level tokenizer, made in milliseconds.

They share the structure of the real ones (grouped-query attention, learned positions, parallel
blocks, norms after the sub-blocks, soft caps, sliding windows), so what holds on them holds by
construction and not by luck of one family. Tests never download.
"""

from __future__ import annotations

from functools import cache

import torch
import transformers
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers, trainers

from engine.model.model import LanguageModel
from engine.tokenizer.tokenizer import Tokenizer

torch.set_num_threads(1)

FAMILIES = ("llama", "gpt2", "qwen3", "gpt_neox", "gemma2", "mistral", "phi3")

SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

_CORPUS = [
    "The cat sat on the mat. The cat sat on the mat and the dog sat on the cat.",
    "Why is the sky blue? Why is the sea blue? Because the light of the sun is spread by the air.",
    "The capital of France is Paris. The capital of Australia is Canberra.",
    "Roses are red, violets are blue, sugar is sweet and so are you. 1234567890 100 200 2024",
    "user assistant system tokenization tokenizer tokens token by token",
]


@cache
def tiny_backend() -> Backend:
    """Train a byte-level BPE on a few lines: 256 bytes, 3 special tokens and some merges."""
    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=384,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator(_CORPUS, trainer)
    return backend


def tiny_tokenizer() -> Tokenizer:
    """Return the tiny tokenizer with a ChatML template."""
    return Tokenizer(tiny_backend(), chat_template=CHAT_TEMPLATE)


def tiny_network(family: str, *, seed: int = 0, layers: int | None = None):
    """Return a random transformers model of the family: float32, 2 to 4 layers, width 32 to 64."""
    config = _config(family, layers)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
        # The usual 0.02 makes every logit nearly equal; larger weights make attention and
        # logits uneven enough for a mistake to show.
        for name, parameter in network.named_parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=0.15)
            elif name.endswith("bias"):
                torch.nn.init.normal_(parameter, std=0.05)
            elif "norm" in name or "ln_" in name:
                # Norm weights away from 1 (Gemma: from 0), so that a forgotten norm shows.
                torch.nn.init.normal_(parameter, mean=float(parameter.detach().mean()), std=0.1)
    return network.eval()


def tiny_model(
    family: str, *, seed: int = 0, layers: int | None = None, fresh: bool = False
) -> LanguageModel:
    """Return a tiny random model with the tiny tokenizer, ready to be traced.

    Tests share one model of a kind: to build one takes longer than most tests. Who changes its
    weights or hangs hooks onto it asks for a `fresh` one.
    """
    return (_wrapped if fresh else _shared)(family, seed, layers)


def _wrapped(family: str, seed: int, layers: int | None) -> LanguageModel:
    network = tiny_network(family, seed=seed, layers=layers)
    return LanguageModel.wrap(network, tiny_tokenizer(), name=f"tiny-{family}")


_shared = cache(_wrapped)


def _config(family: str, layers: int | None):
    common = {
        "vocab_size": tiny_backend().get_vocab_size(),
        "bos_token_id": 0,
        "eos_token_id": 2,
        "pad_token_id": 0,
    }
    modern = common | {
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": layers or 3,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
    }
    if family == "llama":
        return transformers.LlamaConfig(**modern, tie_word_embeddings=True)
    if family == "mistral":
        return transformers.MistralConfig(**modern, sliding_window=8)
    if family == "phi3":
        return transformers.Phi3Config(**modern)
    if family == "qwen3":
        # Its heads together are wider than the residual stream, as in the real ones.
        return transformers.Qwen3Config(**modern, head_dim=16, tie_word_embeddings=True)
    if family == "gemma2":
        return transformers.Gemma2Config(
            **modern, head_dim=16, query_pre_attn_scalar=24, sliding_window=8
        )
    if family == "gpt2":
        return transformers.GPT2Config(
            **common, n_embd=32, n_layer=layers or 2, n_head=4, n_positions=512
        )
    if family == "gpt_neox":
        return transformers.GPTNeoXConfig(
            **common,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=layers or 3,
            num_attention_heads=4,
            max_position_embeddings=512,
        )
    if family == "cohere":  # not of the seven: asked for where RoPE's pairs are neighbours
        return transformers.CohereConfig(**modern)
    raise ValueError(f"No tiny model of the family {family!r}; there are {', '.join(FAMILIES)}.")
