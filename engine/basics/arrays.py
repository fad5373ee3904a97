"""The arrays that leave the engine: float32, int64 or bool, in C order, read-only."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def frozen(values: Any) -> Array:
    """Return values as a read-only float32 array, copied only where they are something else."""
    array = np.ascontiguousarray(values, dtype=np.float32)
    array.flags.writeable = False
    return array


def frozen_ids(values: Any) -> Ids:
    """Return token ids, or other whole numbers, as a read-only int64 array."""
    array = np.ascontiguousarray(values, dtype=np.int64)
    array.flags.writeable = False
    return array


def frozen_flags(values: Any) -> Flags:
    """Return yes-or-no values as a read-only bool array."""
    array = np.ascontiguousarray(values, dtype=np.bool_)
    array.flags.writeable = False
    return array
