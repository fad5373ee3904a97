"""How tests read a figure as the browser gets it, and click on it."""

from __future__ import annotations

import base64
import json

import numpy as np

NASTY = ["<b>x</b>", "$x$", "%{x}", "<br>", "2024-01-01", "17", "17", "", " ", "&lt;", "#000001"]
"""Texts that something between Python and the screen could take for markup, a number or a date."""


def event(curve: int, number: object) -> dict:
    return {"selection": {"points": [{"curve_number": curve, "point_index": number}]}}


def spec(figure) -> dict:
    return json.loads(figure.to_json(validate=False))


def array(packed: dict) -> np.ndarray:
    values = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])
    shape = [int(size) for size in str(packed.get("shape", len(values))).split(",")]
    return values.reshape(shape)
