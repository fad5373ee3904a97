"""Links as nobody means them: every parameter with values that a hostile hand would try."""

from __future__ import annotations

import random

from components.link import keys

_OF_THE_SESSION = {"SHOWN_STAGE", "NARROW"}
NAMES = sorted(
    value
    for name, value in vars(keys).items()
    if name.isupper() and isinstance(value, str) and name not in {*_OF_THE_SESSION, "MODEL"}
)
"""All parameters of a link but the model: another one is another test."""

VALUES = (
    "",
    " ",
    "0",
    "-1",
    "1e400",
    "9" * 300,
    "-inf",
    "nan",
    "0x10",
    "٣",
    "1,5",
    "1_000",
    "2.5",
    "true",
    "None",
    "[]",
    '{"a": 1}',
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "**bold** $x^2$ :red[x] `code`",
    "../../etc/passwd",
    "'; DROP TABLE tokens; --",
    "{{ 7 * 7 }}",
    "\x00\x07\x1b[31m",
    "\ufffd\u202e\u200b",
    "🎉" * 40,
    "é" * 500,
    "a" * 5_000,
    "5:1,5:2,99999999:3,-1:4,x:y",
    "|".join(["<|im_end|>"] * 50),
    "In depth",
    "zero:attn:0,head:99:99,neuron:0:-1",
)
"""Numbers out of every range, markup, other alphabets, control characters, long texts, code."""


def hostile_link(rng: random.Random, parameters: int = 15) -> dict[str, str]:
    """Return a link with some parameters, each with a value that does not fit."""
    return {name: rng.choice(VALUES) for name in rng.sample(NAMES, parameters)}
