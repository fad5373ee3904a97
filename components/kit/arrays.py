"""The array type of the components: numbers of any kind that are drawn, never changed."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
