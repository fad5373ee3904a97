"""The distilled draft: one small block, trained to guess what the default model says next.

At each position it reads two things: the embedding of the token there, and the target's last hidden
state at the token before, from which the target predicts what comes. One transformer block mixes
them with earlier positions, and the target's own LM head, cut to the most used tokens, turns the
result into logits. To guess further it uses its own result in place of the state that the target
has not computed yet.

    read (embedding of x[t], state at t - 1)  ->  guess of the state at t  ->  guess of x[t + 1]

Embedding and LM head are the target's, frozen; `scripts/distill_draft.py` trained the rest on texts
that the target wrote. Source: Li et al., "EAGLE: speculative sampling requires rethinking
feature uncertainty" (2024); a cut head: Zhao et al., "FR-Spec" (2025).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file
from torch import nn
from transformers import DynamicCache, LlamaConfig, LlamaModel

from engine.basics.errors import EngineError
from engine.model.weights import DEFAULT
from engine.network.few_rows import use_few_rows
from engine.sampling.chain import SamplingSettings, draw, final_probabilities
from engine.speculative.drafts import NEVER, DraftKind, Proposal, Uniform

if TYPE_CHECKING:
    from engine.kv_cache.cached_pass import CachedPass
    from engine.model.model import LanguageModel

WEIGHTS = Path(__file__).parent / "distilled_draft.safetensors"


class DistilledBlock(nn.Module):
    """The trained part: a linear layer that mixes the two inputs, and one block with its norm."""

    def __init__(self, target: Any) -> None:
        """Make the block with random weights.

        Args:
            target: The target's network; the block has the shape of one of its own.
        """
        super().__init__()
        config = LlamaConfig(**target.config.to_diff_dict())
        config.num_hidden_layers = 1
        # The embedding is the target's, so the block's own holds one row that is never read.
        config.vocab_size, config.pad_token_id = 1, None
        config._attn_implementation = "sdpa"
        width = config.hidden_size
        self.mix = nn.Linear(2 * width, width, bias=False)
        self.block = LlamaModel(config)

    def forward(
        self, embeddings: torch.Tensor, states: torch.Tensor, cache: DynamicCache | None = None
    ) -> torch.Tensor:
        """Return guesses of the target's states, after its final norm.

        Args:
            embeddings: `[B, T, width]`, of the tokens at T positions.
            states: `[B, T, width]`, the target's last hidden states one position before each.
            cache: Keys and values of earlier positions; it grows by T.

        Returns:
            `[B, T, width]`, the guessed states at these positions.
        """
        mixed = self.mix(torch.cat([embeddings, states], dim=-1))
        output = self.block(inputs_embeds=mixed, cache=cache, use_cache=cache is not None)
        guessed: torch.Tensor = output.last_hidden_state
        return guessed


class DistilledParts:
    """The block, the target's embedding and the cut head, loaded; they may serve several runs."""

    def __init__(self, network: Any, weights: dict[str, torch.Tensor]) -> None:
        """Take the trained weights and the network of the target that they belong to."""
        self._vocabulary = weights.pop("vocabulary").long()
        block = DistilledBlock(network)
        block.load_state_dict({name: value.float() for name, value in weights.items()})
        self._embedding = network.get_input_embeddings().weight
        whole = network.get_output_embeddings().weight
        self._size = len(whole)
        self._block = block.to(whole).eval().requires_grad_(False)
        head = nn.Linear(whole.shape[1], len(self._vocabulary), bias=False)
        head.weight = nn.Parameter(whole[self._vocabulary.to(whole.device)], requires_grad=False)
        self._head = head
        use_few_rows(self._block)
        use_few_rows(self._head)

    def advance(
        self, ids: Sequence[int], states: torch.Tensor, cache: DynamicCache
    ) -> tuple[npt.NDArray[np.float32], torch.Tensor]:
        """Read tokens, each with the state before it.

        Returns:
            The logits `[V]` after the last token, `NEVER` outside the cut head, and the
            guessed state `[1, width]` there.
        """
        embeddings = self._embedding[torch.tensor(list(ids), device=states.device)]
        guessed = self._block(embeddings[None], states[None], cache)[0, -1:]
        logits = torch.full((self._size,), NEVER)
        logits[self._vocabulary] = self._head(guessed)[0].float().cpu()
        return logits.numpy(), guessed


class DistilledDraft:
    """The trained block as the draft of one run."""

    name = DraftKind.DISTILLED.value
    reads_states = True

    def __init__(self, target: LanguageModel, parts: DistilledParts) -> None:
        """Begin with nothing read. The parts may serve several runs."""
        self.milliseconds = 0.0
        self._parts = parts
        self._stop_ids = target.stop_ids
        self._lock = target.lock
        self._cache = DynamicCache()
        self._prompt_tokens: int | None = None
        self._sure = 0
        """How many positions were read with the target's own states."""

    def follow(self, target: CachedPass) -> None:
        """Read the target's states from this pass."""
        self._target = target

    def propose(
        self, context: Sequence[int], k: int, settings: SamplingSettings, uniform: Uniform
    ) -> list[Proposal]:
        """Draw up to k tokens, one pass of the block each; none before the target read the text."""
        self.milliseconds = 0.0
        if self._prompt_tokens is None:
            self._prompt_tokens = len(context)
        if self._target.tokens < len(context) - 1 or len(context) < 2:
            return []
        text, proposals = list(context), list[Proposal]()
        with self._lock, torch.inference_mode():
            start = time.perf_counter()
            # Positions read with guessed states are read again, now with the target's own.
            self._cache.crop(self._sure - self._cache.get_seq_length())
            states = self._target.states_from(self._sure)
            unread = text[self._sure + 1 :]
            self._sure = len(text) - 1
            while True:
                logits, states = self._parts.advance(unread, states, self._cache)
                q = final_probabilities(logits, settings, text, prompt_tokens=self._prompt_tokens)
                token_id = draw(q, uniform())
                proposals.append(Proposal(token_id, q))
                text.append(token_id)
                unread = [token_id]
                if len(proposals) == k or token_id in self._stop_ids:
                    break
            self.milliseconds = (time.perf_counter() - start) * 1000
        return proposals


def fits(target: LanguageModel) -> bool:
    """Say whether the block was trained for this model."""
    return target.source == DEFAULT and WEIGHTS.exists()


def load_parts(target: LanguageModel) -> DistilledParts:
    """Load the trained block.

    Raises:
        EngineError: It was trained for another model.
    """
    if not fits(target):
        raise EngineError(f"The distilled draft was trained for {DEFAULT}, not for {target.name}.")
    return DistilledParts(target.network, load_file(WEIGHTS))
