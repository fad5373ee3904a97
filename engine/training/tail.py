"""A private copy of a model's last blocks that can learn, on top of the shared frozen rest.

The last blocks and the final norm are copied; embedding, the blocks before (the trunk) and the LM
head are the shared model's own and stay frozen. The trunk is run once per text and its result is
kept, because nothing that learns can change it. So two blocks of the default model with AdamW take
about 115 MB, and the shared weights cannot change.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from engine.basics.errors import EngineError
from engine.basics.results import Result
from engine.network.tensors import first_tensor

if TYPE_CHECKING:
    from engine.model.model import LanguageModel

BLOCKS = 2
"""How many blocks learn."""

BYTES_A_NUMBER = 16
"""A float32 weight, its gradient and the two averages that AdamW keeps."""


@dataclass(frozen=True, eq=False)
class Trunk(Result):
    """The result of the frozen blocks for one text."""

    ids: tuple[int, ...]
    hidden: torch.Tensor
    """`[1, T, D]`, the input of the first copied block."""
    arguments: tuple[dict[str, Any], ...]
    """The other arguments of each copied block (mask, rotation)."""


class Tail:
    """The copied blocks and final norm, for one training session in one thread."""

    def __init__(self, model: LanguageModel, blocks: int = BLOCKS) -> None:
        """Copy the last blocks.

        Raises:
            EngineError: The model has fewer blocks, or something unknown after its last block, so
                that the copy does not give the model's own logits.
        """
        layers = model.architecture.layers
        if not 1 <= blocks <= layers:
            raise EngineError(f"1 to {layers} blocks can learn, but {blocks} were asked for.")
        sites = model.sites
        self._model = model
        self._sources = [site.block for site in sites.layers[-blocks:]]
        # While the lock is held no hook is attached to the modules, so none is copied.
        with model.lock:
            self.blocks = nn.ModuleList(copy.deepcopy(block) for block in self._sources)
            self.norm = copy.deepcopy(sites.final_norm)
        for parameter in self.parameters():
            parameter.requires_grad_(True)
        text_config = model.network.config.get_text_config()
        self._softcap = getattr(text_config, "final_logit_softcapping", None)
        self._check()

    def parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters that learn."""
        yield from self.blocks.parameters()
        yield from self.norm.parameters()

    @property
    def nbytes(self) -> int:
        """Bytes of weights, gradients and AdamW's averages."""
        return sum(parameter.numel() for parameter in self.parameters()) * BYTES_A_NUMBER

    def trunk(self, ids: Sequence[int]) -> Trunk:
        """Run the shared model over a text and keep the inputs of its last blocks."""
        given: list[tuple[torch.Tensor, dict[str, Any]]] = []

        def keep(_: nn.Module, args: Any, kwargs: Any) -> None:
            hidden = first_tensor(args)
            assert hidden is not None, "a block is given the residual stream first"
            given.append((hidden.clone(), dict(kwargs)))

        row = torch.tensor([list(ids)], device=self._model.network.device)
        # no_grad, not inference_mode: what is kept here takes part in gradients later.
        with self._model.lock, torch.no_grad(), ExitStack() as stack:
            for block in self._sources:
                hook = block.register_forward_pre_hook(keep, with_kwargs=True)
                stack.callback(hook.remove)
            self._model.network(
                input_ids=row,
                attention_mask=torch.ones_like(row),
                use_cache=False,
                logits_to_keep=1,
            )
        return Trunk(tuple(ids), given[0][0], tuple(kwargs for _, kwargs in given))

    def logits(self, trunk: Trunk, start: int, end: int | None = None) -> torch.Tensor:
        """Return the logits `[n, V]` at the positions from `start` up to before `end`.

        Gradients flow to the copies only. Negative numbers count from the end.
        """
        hidden_BTD = trunk.hidden
        for block, arguments in zip(self.blocks, trunk.arguments, strict=True):
            output = first_tensor(block(hidden_BTD, **arguments))
            assert output is not None, "a block gives the residual stream back"
            hidden_BTD = output
        wanted_ND = self.norm(hidden_BTD[0, start:end])
        logits_NV: torch.Tensor = self._model.network.get_output_embeddings()(wanted_ND)
        if self._softcap is not None:
            logits_NV = torch.tanh(logits_NV / self._softcap) * self._softcap
        return logits_NV

    def answer_logprobs(self, trunk: Trunk, prompt_tokens: int) -> torch.Tensor:
        """Return the log-probability `[n]` of each token after the first `prompt_tokens`."""
        logits_NV = self.logits(trunk, prompt_tokens - 1, -1)
        targets_N = torch.tensor(trunk.ids[prompt_tokens:], device=logits_NV.device)
        return logits_NV.log_softmax(-1).gather(1, targets_N[:, None])[:, 0]

    def _check(self) -> None:
        """Make sure that the untrained copy gives the model's own logits."""
        ids = [token % self._model.architecture.vocabulary for token in range(4)]
        row = torch.tensor([ids], device=self._model.network.device)
        with torch.no_grad():
            ours = self.logits(self.trunk(ids), 0)
            with self._model.lock:
                theirs = self._model.network(
                    input_ids=row, attention_mask=torch.ones_like(row), use_cache=False
                ).logits[0]
        if not torch.allclose(ours, theirs, atol=1e-2, rtol=1e-3):
            raise EngineError(
                f"The model {self._model.name} does something after its last block that this page "
                "does not know, so it can't be trained here. Choose another model."
            )


def learned(model: LanguageModel, blocks: int = BLOCKS) -> tuple[int, int]:
    """Return how many parameters a `Tail` learns and its bytes, without making one."""
    sites = model.sites
    modules = [*(site.block for site in sites.layers[-blocks:]), sites.final_norm]
    count = sum(parameter.numel() for module in modules for parameter in module.parameters())
    return count, count * BYTES_A_NUMBER
