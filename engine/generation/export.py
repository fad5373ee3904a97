"""Export an answer as JSON or CSV: every token with its bytes, probabilities and times.

Read the CSV with `pandas.read_csv(path, keep_default_na=False)`: without that flag pandas takes
pieces such as `null` for missing values. Bytes are in hex, since a token can be half a character.
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
    "seed",
)


def rows(answer: Sequence[Written], piece_of: Callable[[int], str]) -> list[dict[str, Any]]:
    """Return one row per token with the fields of `COLUMNS`.

    Args:
        answer: The tokens of one whole answer.
        piece_of: The tokenizer's raw form of an id.
    """
    return [_row(written, piece_of) for written in answer]


def to_csv(answer: Sequence[Written], piece_of: Callable[[int], str]) -> str:
    """Return the answer as CSV with a line of names, every text in quotes."""
    target = io.StringIO()
    writer = csv.DictWriter(target, COLUMNS, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(answer, piece_of))
    return target.getvalue()


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
    plain["settings"]["logit_bias"] = [
        [token_id, value if math.isfinite(value) else "-inf"]
        for token_id, value in setup.settings.bias
    ]
    return plain


def _row(written: Written, piece_of: Callable[[int], str]) -> dict[str, Any]:
    step, setup = written.step, written.setup
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
        "temperature": setup.settings.temperature,
        "seed": setup.seed,
    }
