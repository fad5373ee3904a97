"""Small tokenizers of the families that exist, trained in milliseconds on a few lines."""

from __future__ import annotations

import json
from functools import cache

from tokenizers import AddedToken, Regex, decoders, models, normalizers, processors, trainers
from tokenizers import Tokenizer as Backend
from tokenizers import pre_tokenizers as pre

from engine.tokenizer.spelling import BYTE_SYMBOLS
from engine.tokenizer.tokenizer import Tokenizer

CORPUS = [
    "The cat sat on the mat. The cat sat on the mat and the dog sat on the cat, 100 times.",
    "Why is the sky blue? Why is the sea blue? Because the light of the sun is spread.",
    "café naïve Straße Привет мир 你好世界 日本 🤗🤗 한국어 é é … —",
    "def add(a, b):\n    return a + b\n\n",
    "user assistant system tokenization tokenizer tokens token by token !? ... == -> \n\n1. a\n",
]

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CHATML_TRIMMED = CHATML.replace("message['content']", "message['content'] | trim")
LLAMA2_CHAT = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}"
    "[INST] {{ message['content'] | trim }} [/INST]{% else %} {{ message['content'] }} "
    "{{ eos_token }}{% endif %}{% endfor %}"
)
QWEN_CHAT = CHATML.replace(
    "{{ message['content'] }}",
    "{% if '</think>' in message['content'] and message['role'] == 'assistant' %}"
    "{{ message['content'].split('</think>')[-1] }}{% else %}{{ message['content'] }}{% endif %}",
)
CONTROLS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
LLAMA_NAMES = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
# The bytes that the default model's vocabulary lacks.
MISSING = (4, 6, 0x13, 0x14, 0x16, 0x1D, 0xC0, 0xC1, 0xF1, 0xF2, *range(0xF5, 0x100))


def _trained(backend: Backend, special: list[str], alphabet: list[str], size: int = 420) -> Backend:
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(CORPUS, trainer)
    return backend


def _byte_level(pre_tokenizer, missing=(), **model) -> Backend:
    backend = Backend(models.BPE(**model))
    backend.pre_tokenizer = pre_tokenizer
    backend.decoder = decoders.ByteLevel()
    alphabet = [s for byte, s in enumerate(BYTE_SYMBOLS) if byte not in missing]
    return _trained(backend, CONTROLS, alphabet)


def _sentencepiece(normalizer, pre_tokenizer, decoder, *, fallback: bool = True) -> Backend:
    """Train on characters, then put the byte pieces in front, as SentencePiece's converters do."""
    backend = Backend(models.BPE(unk_token="<unk>"))
    backend.normalizer = normalizer
    if pre_tokenizer is not None:
        backend.pre_tokenizer = pre_tokenizer
    else:  # merges across words would swallow whole lines of so small a corpus
        backend.pre_tokenizer = pre.Split(Regex("▁"), "merged_with_next")
    _trained(backend, ["<unk>", "<s>", "</s>"], ["▁", "\n"], size=260)
    model = json.loads(backend.model.__getstate__())
    pieces = sorted(model["vocab"], key=model["vocab"].get)
    if fallback:
        pieces[3:3] = [f"<0x{byte:02X}>" for byte in range(256)]
    backend = Backend(
        models.BPE(
            vocab={piece: i for i, piece in enumerate(pieces)},
            merges=[tuple(pair) for pair in model["merges"]],
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=fallback,
        )
    )
    backend.normalizer = normalizer
    backend.pre_tokenizer = pre_tokenizer
    backend.decoder = decoder
    backend.add_special_tokens(
        [AddedToken(t, normalized=False, special=True) for t in ("<unk>", "<s>", "</s>")]
    )
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", backend.token_to_id("<s>"))]
    )
    return backend


def _spaces_to_marks() -> normalizers.Normalizer:
    return normalizers.Replace(" ", "▁")


_FALLBACK_DECODER = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
_LLAMA2_DECODER = decoders.Sequence([*_FALLBACK_DECODER, decoders.Strip(" ", 1, 0)])
_WORDS = r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+"


def smollm() -> Tokenizer:
    """Byte-level, digits alone, 21 bytes missing: the default model's kind."""
    digits = pre.Digits(individual_digits=True)
    both = pre.Sequence([digits, pre.ByteLevel(add_prefix_space=False)])
    return Tokenizer(_byte_level(both, MISSING), CHATML)


def gpt2() -> Tokenizer:
    """Byte-level with a post-processor that trims offsets."""
    backend = _byte_level(pre.ByteLevel(add_prefix_space=False))
    backend.post_processor = processors.ByteLevel(trim_offsets=True)
    return Tokenizer(backend)


def gpt2_lead() -> Tokenizer:
    """Byte-level that puts a space before each text."""
    return Tokenizer(_byte_level(pre.ByteLevel(add_prefix_space=True)), CHATML)


def llama3() -> Tokenizer:
    """Byte-level that looks words up before it merges, and begins with a BOS."""
    split = pre.Split(Regex(_WORDS), "isolated")
    byte_level = pre.ByteLevel(add_prefix_space=False, use_regex=False)
    backend = _byte_level(pre.Sequence([split, byte_level]), ignore_merges=True)
    backend.post_processor = processors.TemplateProcessing(
        single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)]
    )
    return Tokenizer(backend, CHATML_TRIMMED)


def qwen() -> Tokenizer:
    """Byte-level after NFC, with tags that are control tokens though not marked special."""
    backend = _byte_level(pre.ByteLevel(add_prefix_space=False))
    backend.normalizer = normalizers.NFC()
    tags = [AddedToken(t, normalized=False, special=False) for t in ("<think>", "</think>")]
    backend.add_tokens(tags)
    return Tokenizer(backend, QWEN_CHAT)


def neox() -> Tokenizer:
    """Byte-level with runs of spaces among the added tokens."""
    backend = _byte_level(pre.ByteLevel(add_prefix_space=False))
    backend.normalizer = normalizers.NFC()
    backend.add_tokens([AddedToken(" " * n, normalized=True, special=False) for n in (4, 3, 2)])
    return Tokenizer(backend, CHATML)


def llama2() -> Tokenizer:
    """SentencePiece as converted long ago: a normaliser puts the space in front."""
    normalizer = normalizers.Sequence([normalizers.Prepend("▁"), _spaces_to_marks()])
    backend = _sentencepiece(normalizer, None, _LLAMA2_DECODER)
    return Tokenizer(backend, LLAMA2_CHAT, special_names=LLAMA_NAMES)


def mistral() -> Tokenizer:
    """SentencePiece as converted today: Metaspace puts the space before the text only."""
    metaspace = pre.Metaspace(prepend_scheme="first", split=False)
    backend = _sentencepiece(None, metaspace, _LLAMA2_DECODER)
    return Tokenizer(backend, LLAMA2_CHAT, special_names=LLAMA_NAMES)


def phi3() -> Tokenizer:
    """Metaspace before every section, and control tokens that swallow the space after them."""
    metaspace = pre.Metaspace(prepend_scheme="always", split=False)
    backend = _sentencepiece(None, metaspace, _LLAMA2_DECODER)
    for text in ("<|user|>", "<|end|>", "<|assistant|>"):
        backend.add_special_tokens([AddedToken(text, rstrip=True, normalized=False)])
    template = (
        "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}<|end|>\n{% endfor %}"
        "<|assistant|>\n"
    )
    return Tokenizer(backend, template, special_names=LLAMA_NAMES)


def gemma() -> Tokenizer:
    """SentencePiece without a space in front."""
    split = pre.Split(" ", "merged_with_previous")
    backend = _sentencepiece(_spaces_to_marks(), split, decoders.Sequence(_FALLBACK_DECODER))
    return Tokenizer(backend, LLAMA2_CHAT, special_names=LLAMA_NAMES)


def no_fallback() -> Tokenizer:
    """SentencePiece whose unknown characters become one token."""
    backend = _sentencepiece(_spaces_to_marks(), None, decoders.Replace("▁", " "), fallback=False)
    return Tokenizer(backend, special_names=LLAMA_NAMES)


_MAKERS = {
    maker.__name__: maker
    for maker in (
        smollm,
        gpt2,
        gpt2_lead,
        llama3,
        qwen,
        neox,
        llama2,
        mistral,
        phi3,
        gemma,
        no_fallback,
    )
}
BYTE_LEVEL = ("smollm", "gpt2", "gpt2_lead", "llama3", "qwen", "neox")
METASPACE = ("llama2", "mistral", "phi3", "gemma")
ALL = (*BYTE_LEVEL, *METASPACE, "no_fallback")


@cache
def family(name: str) -> Tokenizer:
    """Return the small tokenizer of a family."""
    return _MAKERS[name]()
