"""Train a tiny transformer from random weights to write nursery rhymes, character by character.

It has about 100,000 parameters: two blocks of four heads, learned positions. Its architecture is
GPT-2's, so that every page can show its inside. Pre-training a real model is the same loop over a
million times more text with ten thousand times more weights.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers

from engine.basics.errors import EngineError
from engine.basics.results import Result
from engine.generation.loop import generate
from engine.model.model import LanguageModel
from engine.sampling.chain import SamplingSettings
from engine.tokenizer.tokenizer import Tokenizer

CONTEXT = 64
BATCH = 12
MOST_STEPS = 1000
LEARNING_RATE = 3e-3
WARM_UP = 20
SAMPLES_AT = (0, 10, 100, 1000)
"""After these steps the model is asked to write."""

RHYMES = Path(__file__).parent / "rhymes.txt"


@dataclass(frozen=True)
class TinyStep(Result):
    """The state of the training after a number of steps."""

    step: int
    """0 is before the first step."""
    loss: float
    """Mean of -ln p over this step's characters; ln(V) if the model finds all equally likely."""
    sample: str | None
    """What the model writes now, at the steps of `SAMPLES_AT` and the last one."""
    model: LanguageModel | None
    """A copy of the model at the same steps; later steps do not change it."""


def rhymes() -> str:
    """Return the text that is learned: English nursery rhymes, in the public domain."""
    return RHYMES.read_text(encoding="utf-8")


def train(text: str, *, steps: int = MOST_STEPS, seed: int = 0) -> Generator[TinyStep, None, None]:
    """Train a tiny transformer on a text.

    Args:
        text: At least `CONTEXT` + 2 characters.
        steps: Steps of AdamW, each over `BATCH` random pieces of `CONTEXT` characters.
        seed: Gives the run its own random numbers for the weights and the pieces.

    Returns:
        The state before the first step and after each one.

    Raises:
        EngineError: The text is too short, or the number of steps out of range.
    """
    if len(text) < CONTEXT + 2:
        raise EngineError(f"The text needs at least {CONTEXT + 2} characters, but has {len(text)}.")
    if not 1 <= steps <= MOST_STEPS:
        raise EngineError(f"The number of steps must be 1 to {MOST_STEPS}, but is {steps}.")
    tokenizer = character_tokenizer(text)
    generator = torch.Generator().manual_seed(seed)
    network = random_network(tokenizer.vocabulary, generator)
    ids = torch.tensor(tokenizer.ids(text))
    return _steps(network, tokenizer, ids, steps, generator)


def character_tokenizer(text: str) -> Tokenizer:
    """Return a tokenizer with one token per byte of a text; for ASCII these are its characters."""
    # Byte-pair encoding without a single merge.
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    symbols = sorted({char for piece, _ in cut.pre_tokenize_str(text) for char in piece})
    vocabulary = {symbol: number for number, symbol in enumerate(symbols)}
    backend = Backend(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = cut
    backend.decoder = decoders.ByteLevel()
    return Tokenizer(backend)


def random_network(vocabulary: int, generator: torch.Generator) -> Any:
    """Return the network with random weights (GPT-2's own rule: normal, standard deviation 0.02).

    Args:
        vocabulary: How many characters.
        generator: The source of the weights.
    """
    config = transformers.GPT2Config(
        vocab_size=vocabulary,
        n_positions=CONTEXT,
        n_embd=64,
        n_layer=2,
        n_head=4,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
    )
    with torch.random.fork_rng(
        devices=[]
    ):  # the start weights use the global generator: restore it
        network = transformers.AutoModelForCausalLM.from_config(config)
    for name, parameter in network.named_parameters():
        if parameter.dim() > 1:
            # Smaller for what is added to the residual stream, so that depth does not make it grow.
            deviation = 0.02 / math.sqrt(2 * config.n_layer) if "c_proj" in name else 0.02
            torch.nn.init.normal_(parameter, std=deviation, generator=generator)
    return network


def _steps(
    network: Any, tokenizer: Tokenizer, ids: torch.Tensor, steps: int, generator: torch.Generator
) -> Generator[TinyStep, None, None]:
    optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE)
    for step in range(steps + 1):
        if step:
            # The first steps are short, because AdamW's averages are still unreliable.
            for group in optimizer.param_groups:
                group["lr"] = LEARNING_RATE * min(1.0, step / WARM_UP)
            optimizer.step()
            optimizer.zero_grad()
        # 1. Random pieces of the text; the task at each character is the next one.
        starts_B = torch.randint(len(ids) - CONTEXT, (BATCH,), generator=generator)
        batch_BT = torch.stack([ids[start : start + CONTEXT + 1] for start in starts_B.tolist()])
        with torch.enable_grad():
            # 2. One pass gives a distribution at all positions at once.
            logits_BTV = network(input_ids=batch_BT[:, :-1], use_cache=False).logits
            loss = torch.nn.functional.cross_entropy(
                logits_BTV.flatten(0, 1), batch_BT[:, 1:].flatten()
            )
            # 3. The gradient of the mean loss, for every weight.
            loss.backward()  # type: ignore[no-untyped-call]
        shown = step in SAMPLES_AT or step == steps
        model = snapshot(network, tokenizer, step) if shown else None
        yield TinyStep(
            step=step,
            loss=float(loss.detach()),
            sample=None if model is None else sample(model, int(ids[0])),
            model=model,
        )


def snapshot(network: Any, tokenizer: Tokenizer, step: int) -> LanguageModel:
    """Return a copy of the network as a model that every page can show."""
    twin = copy.deepcopy(network)
    twin.zero_grad()
    return LanguageModel.wrap(
        twin, tokenizer, name=f"tiny transformer after {step} steps", source=f"tiny-{id(twin)}"
    )


def sample(model: LanguageModel, first: int, *, characters: int = 60, seed: int = 0) -> str:
    """Return a first character and what the model writes after it."""
    settings = SamplingSettings(temperature=0.8)
    budget = min(characters, CONTEXT - 1)
    steps = generate(model, [first], settings, max_new_tokens=budget, seed=seed)
    return model.tokenizer.decode([first]) + "".join(step.text for step in steps)
