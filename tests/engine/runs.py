"""What tests of whole runs share: short runs, a small law, a network that says what it is told."""

import weakref
from types import SimpleNamespace

import numpy as np
import torch

from engine.generation.loop import generate
from engine.sampling.chain import SamplingSettings
from engine.speculative.drafts import Proposal

GREEDY = SamplingSettings(temperature=0)
WARM = SamplingSettings(temperature=1.2, top_k=50, top_p=0.95, repetition_penalty=1.1)
END = 2  # <|im_end|> of the tiny tokenizer

# A target's and a draft's distribution over three tokens, and how often to check one against the
# other: shares are then right to about 0.01.
P = np.array([0.6, 0.3, 0.1], np.float32)
Q = np.array([0.2, 0.5, 0.3], np.float32)
ROUNDS = 20_000


def ids_of(model, text):
    return [token.id for token in model.tokenizer.encode(text)]


def text_of(steps):
    return "".join(step.text for step in steps)


def ids_written(rounds):
    """Return the ids that the rounds of a speculative run wrote."""
    return [token_id for part in rounds for token_id in part.ids]


def guesses(q, uniform, k=1):
    """Return k guesses drawn from the same distribution."""
    cumulative = q.astype(np.float64).cumsum() / q.sum(dtype=np.float64)
    return [Proposal(int(np.searchsorted(cumulative, uniform(), "right")), q) for _ in range(k)]


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

    def modules(self):
        return iter(())

    def __call__(self, *, input_ids, cache, use_cache, logits_to_keep):
        self.read += input_ids.shape[1]
        self.caches.append(weakref.ref(cache))
        logits = torch.zeros(1, 1, self.vocabulary)
        logits[0, 0, self.tokens[self.read - self.prompt_length]] = 50.0
        return SimpleNamespace(logits=logits)
