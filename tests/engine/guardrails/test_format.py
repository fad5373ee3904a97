"""Grammar masks against a brute-force check, and samples against ordinary parsers."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pytest

from engine.basics.errors import EngineError
from engine.guardrails import format
from engine.guardrails.batch import write_rows
from engine.sampling.chain import SamplingSettings

DATES = [
    f"{year}-{month:02}-{day:02}"
    for year in range(1900, 2100)
    for month in range(1, 13)
    for day in range(1, 32)
    if not (month == 2 and day > 28) and not (month in (4, 6, 9, 11) and day > 30)
]


def prefixes(language):
    return {text[:n] for text in language for n in range(len(text) + 1)}


@pytest.mark.parametrize(
    ("wanted", "language", "texts"),
    [
        (
            format.yes_or_no(),
            ["Yes", "No", " Yes", " No"],
            ["", " ", "Y", "N", "Yes", "No", " Y", " No"],
        ),
        (format.date(), DATES, ["", "1", "19", "2024-", "2024-0", "2024-02-", "2024-02-2"]),
    ],
)
def test_the_mask_equals_a_look_at_every_token(tiny_model, wanted, language, texts):
    model = tiny_model("llama")
    constraint = format.Constraint(model, wanted)
    inside, complete = prefixes(language), set(language)
    for text in texts:
        allowed = constraint([token.id for token in model.tokenizer.encode(text)])
        for i in range(model.architecture.vocabulary):
            if i in model.stop_ids:
                right = text in complete
            elif model.tokenizer.is_special(i):
                right = False
            else:
                data = model.tokenizer.bytes_of(i)
                right = (text.encode() + data).decode(errors="replace") in inside
            assert allowed[i] == right, (text, model.tokenizer.bytes_of(i))
        assert constraint.complete([t.id for t in model.tokenizer.encode(text)]) == (
            text in complete
        )


def test_every_date_of_the_grammar_is_one():
    assert all(datetime.date.fromisoformat(text) for text in DATES)
    assert format.date().parses("2024-02-28")
    assert not format.date().parses("2024-02-31")
    assert not format.date().parses("20240228")


@pytest.mark.slow
@pytest.mark.parametrize(
    "wanted",
    [format.yes_or_no(), format.date(), format.json_object(['a "b"'], 3)],
    ids=["yes or no", "date", "json"],
)
def test_two_hundred_samples_all_parse(tiny_model, wanted):
    model = tiny_model("llama", layers=1)
    constraint = format.Constraint(model, wanted)
    settings = SamplingSettings(temperature=1.5)
    texts = []
    for first in range(0, 200, 10):
        rows: list[list] = [[] for _ in range(10)]
        for steps in write_rows(
            model,
            [70, 71],
            settings,
            seeds=range(first, first + 10),
            max_new_tokens=250,
            guard=constraint,
        ):
            for row, step in zip(rows, steps, strict=True):
                if step is not None:
                    row.append(step)
        assert all(row[-1].id in model.stop_ids for row in rows)
        texts += ["".join(step.text for step in row) for row in rows]
    assert len(texts) == 200
    assert all(wanted.parses(text) for text in texts)
    assert len(set(texts)) > 1


def test_a_json_mask_keeps_out_control_tokens_and_ends_only_when_complete(tiny_model):
    model = tiny_model("llama")
    constraint = format.Constraint(model, format.json_object(["cat"]))
    start = [token.id for token in model.tokenizer.encode('{"cat":"m')]
    allowed = constraint(start)
    assert not allowed[sorted(model.tokenizer.special_ids)].any()
    texts = {model.tokenizer.bytes_of(i) for i in np.flatnonzero(allowed)}
    assert {b"a", b'"', b" the"} <= texts
    assert b"\n" not in texts
    done = constraint([token.id for token in model.tokenizer.encode('{"cat":"m"}')])
    assert set(np.flatnonzero(done)) == model.stop_ids


def test_the_rule_that_is_shown_is_the_rule_that_is_enforced(tiny_model):
    model = tiny_model("llama")

    def taken(wanted, text):
        constraint, ids = format.Constraint(model, wanted), model.tokenizer.ids(text)
        inside = all(constraint(ids[:count])[ids[count]] for count in range(len(ids)))
        return inside and constraint.complete(ids)

    for keys in (["place"], ["place", "day"], ['a "b"', "ß", "c d"]):
        wanted = format.json_object(keys, 3)
        filled = wanted.rule.replace("…", "mat")
        assert wanted.parses(filled)
        assert taken(wanted, filled)
        # No blank but those that the rule shows, and no text but of the stated length.
        for place in (filled.find(":") + 1, 1, len(filled) - 1):
            assert not taken(wanted, filled[:place] + " " + filled[place:])
        assert "1 to 3 characters" in wanted.note
        for text in ("", "mats"):
            assert not taken(wanted, wanted.rule.replace("…", text))
            assert not wanted.parses(wanted.rule.replace("…", text))
    for wanted, texts in (
        (format.yes_or_no(), ["Yes", " Yes", "  Yes", "Yes ", "yes", " No", ""]),
        (format.date(), ["2024-02-28", "2024-02-29", " 2024-01-01", "1899-01-01"]),
    ):
        for text in texts:
            right = re.fullmatch(wanted.rule, text) is not None
            assert taken(wanted, text) == right, text
            assert wanted.parses(text) or not right, text


def test_a_cut_object_is_not_complete(tiny_model):
    model = tiny_model("llama")
    constraint = format.Constraint(model, format.json_object(["cat"], 9))
    settings = SamplingSettings()
    (rows,) = [
        list(write_rows(model, [70], settings, seeds=[1], max_new_tokens=4, guard=constraint))
    ]
    ids = [step.id for (step,) in rows]
    assert rows[-1][0].cut
    assert not any(step.cut for (step,) in rows[:-1])
    assert not constraint.complete(ids)


def test_what_is_no_format_is_refused(tiny_model):
    for keys in ([], [" "], ["a", "a"], list("abcdefg")):
        with pytest.raises(EngineError, match="1 to 6 different keys"):
            format.json_object(keys)
    constraint = format.Constraint(tiny_model("llama"), format.yes_or_no())
    with pytest.raises(EngineError, match="left the format"):
        constraint([70, 70])
