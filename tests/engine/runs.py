"""What the tests of the loop share: short runs, and a network that says what it is told."""

import weakref
from types import SimpleNamespace

import torch

from engine.generation.loop import generate
from engine.sampling.chain import SamplingSettings

GREEDY = SamplingSettings(temperature=0)
WARM = SamplingSettings(temperature=1.2, top_k=50, top_p=0.95, repetition_penalty=1.1)
END = 2  # <|im_end|> of the tiny tokenizer


def ids_of(model, text):
    return [token.id for token in model.tokenizer.encode(text)]


def text_of(steps):
    return "".join(step.text for step in steps)


def run(model, ids, settings=GREEDY, *, max_new_tokens=20, seed=0, **kwargs):
    return list(generate(model, ids, settings, max_new_tokens=max_new_tokens, seed=seed, **kwargs))


class Scripted:
    """A stand-in for a network: it wants to write the given tokens, one after the other."""

    def __init__(self, model, tokens, prompt_length):
        self.config, self.device = model.network.config, model.network.device
        self.vocabulary = model.architecture.vocabulary
        self.tokens, self.prompt_length = tokens, prompt_length
        self.read = 0
        self.caches = []

    def __call__(self, *, input_ids, cache, use_cache, logits_to_keep):
        self.read += input_ids.shape[1]
        self.caches.append(weakref.ref(cache))
        logits = torch.zeros(1, 1, self.vocabulary)
        logits[0, 0, self.tokens[self.read - self.prompt_length]] = 50.0
        return SimpleNamespace(logits=logits)
