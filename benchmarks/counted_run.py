"""The app's server, with a counter of what its model computes: `AppServer` starts it as a script.

Every decoder layer that runs adds one to the number in the file that `COUNTER` names, so the
benchmark reads from outside how much of the model an action has run: a whole pass of a model of
thirty layers adds thirty, a replay of its upper ten adds ten. A reading through the LM head alone
adds nothing, and neither does the compiled pass in which answers are written.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from engine.model.model import LanguageModel
from scripts import run

COUNTER = "TOKEN_BY_TOKEN_COUNTER"
NUMBER = struct.Struct("<q")


def read_counter(path: Path) -> int:
    """Return how many layers have run so far."""
    return int(NUMBER.unpack(path.read_bytes())[0])


def count_layers(path: Path) -> None:
    """Let every layer of every model that is loaded from now on add one when it runs."""
    path.write_bytes(NUMBER.pack(0))
    with path.open("r+b") as file:
        number = mmap.mmap(file.fileno(), NUMBER.size)

    def one_more(*_: Any) -> None:
        NUMBER.pack_into(number, 0, NUMBER.unpack_from(number, 0)[0] + 1)

    wrap = LanguageModel.wrap

    def wrap_counted(*given: Any, **named: Any) -> LanguageModel:
        model = wrap(*given, **named)
        for layer in model.sites.layers:
            layer.mlp_out.register_forward_pre_hook(one_more)
        return model

    LanguageModel.wrap = wrap_counted  # type: ignore[method-assign]


if __name__ == "__main__":
    count_layers(Path(os.environ[COUNTER]))
    sys.exit(run.main())
