"""Export an answer as JSON or CSV: every token with its bytes, probabilities and times.

Read the CSV with the line in `READ_CSV`: it keeps `09` a text, `null` a word and a tab a tab.
Bytes are in hex, since a token can be half a character. A text that a spreadsheet would take for a
formula has an apostrophe in front, which that line takes away again.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from engine.basics.distribution import surprisal_bits
from engine.generation.branches import Setup, Written

TEXTS = ("piece", "bytes_hex", "text")
"""The columns that hold text of a model, whatever it looks like."""

READ_CSV = (
    "pandas.read_csv('answer.csv', keep_default_na=False, "
    'converters={name: lambda cell: cell.removeprefix("\'") '
    f"for name in {TEXTS}}})"
)
"""The Python line that reads the CSV as it was meant."""

MARK = "\ufeff"
"""The byte order mark, by which spreadsheets know UTF-8."""

FORMULA_SIGNS = frozenset("=+-@＝＋－＠")
"""With one of these, perhaps after blanks, a spreadsheet begins a formula."""

COLUMNS = (
    "index",
    "id",
    "piece",
    "bytes_hex",
    "text",
    "probability",
    "raw_probability",
    "surprisal_bits",
    "entropy_bits",
    "u",
    "forced",
    "milliseconds",
    "cache_tokens",
    "cache_bytes",
    "stop_reason",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "typical_p",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "penalty_window",
    "count_prompt",
    "logit_bias",
    "order",
    "seed",
    "stop_strings",
    "token_budget",
)


def rows(answer: Sequence[Written], piece_of: Callable[[int], str]) -> list[dict[str, Any]]:
    """Return one row per token with the fields of `COLUMNS`.

    Args:
        answer: The tokens of one whole answer.
        piece_of: The tokenizer's raw form of an id.
    """
    return [_row(written, piece_of) for written in answer]


def to_csv(answer: Sequence[Written], piece_of: Callable[[int], str]) -> str:
    """Return the answer as CSV with a mark, a line of names, and every text in quotes."""
    target = io.StringIO()
    writer = csv.DictWriter(target, COLUMNS, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writeheader()
    for row in rows(answer, piece_of):
        writer.writerow(row | {name: _no_formula(row[name]) for name in TEXTS})
    return MARK + target.getvalue()


def _no_formula(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would run, and before one that is there."""
    begins = text.lstrip()[:1]
    unsafe = begins in FORMULA_SIGNS or text[:1] in {"'", "\t", "\r", "\n"}
    return f"'{text}" if text and unsafe else text


def to_json(
    answer: Sequence[Written],
    piece_of: Callable[[int], str],
    *,
    model: str,
    prompt: str,
    prompt_ids: Sequence[int],
) -> str:
    """Return the answer as one JSON object: model, prompt, runs with their settings, tokens.

    Each token names its run and lists its alternatives as [id, raw, final].
    """
    setups = list(dict.fromkeys(written.setup for written in answer))
    tokens = []
    for written, row in zip(answer, rows(answer, piece_of), strict=True):
        others = [[other.id, other.raw, other.final] for other in written.step.alternatives]
        tokens.append({**row, "run": setups.index(written.setup), "alternatives": others})
    return json.dumps(
        {
            "model": model,
            "prompt": prompt,
            "prompt_ids": list(prompt_ids),
            "runs": [_setup(setup) for setup in setups],
            "tokens": tokens,
        },
        ensure_ascii=True,  # a lone surrogate in a prompt has no UTF-8
        indent=1,
    )


def _setup(setup: Setup) -> dict[str, Any]:
    """Return a setup in JSON's own types; a ban, -inf, is written as text."""
    plain = asdict(setup)
    plain["settings"]["logit_bias"] = _bias(setup)
    return plain


def _bias(setup: Setup) -> list[list[Any]]:
    return [
        [token_id, value if math.isfinite(value) else "-inf"]
        for token_id, value in setup.settings.bias
    ]


def _row(written: Written, piece_of: Callable[[int], str]) -> dict[str, Any]:
    step, setup, settings = written.step, written.setup, written.setup.settings
    return {
        "index": step.index,
        "id": step.id,
        "piece": piece_of(step.id),
        "bytes_hex": step.data.hex(" "),
        "text": step.text,
        "probability": step.probability,
        "raw_probability": step.raw_probability,
        "surprisal_bits": surprisal_bits(step.raw_probability),
        "entropy_bits": step.entropy_bits,
        "u": step.u,
        "forced": int(step.forced),
        "milliseconds": step.milliseconds,
        "cache_tokens": step.cache_tokens,
        "cache_bytes": step.cache_bytes,
        "stop_reason": step.stop_reason or "",
        "temperature": settings.temperature,
        "top_k": settings.top_k,
        "top_p": settings.top_p,
        "min_p": settings.min_p,
        "typical_p": settings.typical_p,
        "repetition_penalty": settings.repetition_penalty,
        "presence_penalty": settings.presence_penalty,
        "frequency_penalty": settings.frequency_penalty,
        "penalty_window": settings.penalty_window,
        "count_prompt": int(settings.count_prompt),
        "logit_bias": json.dumps(_bias(setup)),
        "order": ", ".join(settings.order),
        "seed": setup.seed,
        "stop_strings": json.dumps(setup.stop),
        "token_budget": setup.budget,
    }
