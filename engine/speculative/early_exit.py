"""Early exit: a model cut short to its first N blocks, then the final norm and the LM head.

It shares all weights, so as a draft for speculative decoding it needs no second model. It works for
any family, because no layer is written anew: each module on the way to the list of blocks is
replaced by a shallow copy, and the list in the last copy is shorter.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torch import nn

from engine.basics.errors import EngineError
from engine.network.architecture import decoder_layers_path

if TYPE_CHECKING:
    from engine.model.model import LanguageModel


def early_exit(model: LanguageModel, layers: int) -> LanguageModel:
    """Return the model that stops after its first `layers` blocks.

    It has the same parameters and the same lock; a change to a parameter is seen by both models.

    Raises:
        EngineError: `layers` is below 1 or above the number of blocks.
    """
    most = model.architecture.layers
    if not 1 <= layers <= most:
        raise EngineError(
            f"An early exit must keep 1 to {most} layers, but {layers} was asked for."
        )
    network = model.network
    names = decoder_layers_path(network).split(".")
    short = _copied(network, layers)
    module = short
    for name in names[:-1]:
        inner = _copied(module._modules[name], layers)
        module._modules[name] = inner
        module = inner
    blocks = module._modules[names[-1]]
    module._modules[names[-1]] = nn.ModuleList(list(blocks)[:layers])
    return replace(
        model,
        name=f"{model.name}, first {layers} of {most} layers",
        network=short.eval(),
        sites=replace(model.sites, layers=model.sites.layers[:layers]),
        architecture=replace(model.architecture, layers=layers),
    )


def _copied(module: Any, layers: int) -> Any:
    """Return a copy that shares parameters and children, with a config of fewer layers."""
    twin = copy.copy(module)
    twin._modules = dict(module._modules)
    if hasattr(module, "config"):
        twin.config = copy.deepcopy(module.config)
        twin.config.num_hidden_layers = layers
        if getattr(twin.config, "layer_types", None):
            twin.config.layer_types = list(twin.config.layer_types)[:layers]
    return twin
