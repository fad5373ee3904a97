"""An answer as a file, read back by pandas and json."""

import csv
import io
import json
import math
import tempfile
from dataclasses import fields, replace
from pathlib import Path

import pandas as pd
import pytest

from engine.generation.branches import Setup, Written
from engine.generation.export import COLUMNS, READ_CSV, to_csv, to_json
from engine.generation.loop import generate
from engine.sampling.chain import LLAMA_CPP_ORDER, SamplingSettings


@pytest.fixture
def answer(tiny_model):
    model = tiny_model("llama")
    ids = [token.id for token in model.tokenizer.encode("The cat")]
    settings = SamplingSettings(temperature=1.3, top_k=40, logit_bias={5: -math.inf})
    steps = generate(model, ids, settings, max_new_tokens=30, seed=1)
    setup = Setup(settings, 1, ("|",), 30)
    return model, ids, tuple(Written(step, setup) for step in steps)


def read(text):
    """Read a file with the line that the page prints."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.chdir(folder)
        Path("answer.csv").write_bytes(text.encode())
        return eval(READ_CSV, {"pandas": pd})


def test_pandas_reads_the_csv(answer):
    model, _, tokens = answer
    table = read(to_csv(tokens, model.tokenizer.piece_of))
    assert tuple(table.columns) == COLUMNS
    assert table["id"].tolist() == [part.step.id for part in tokens]
    assert [bytes.fromhex(text) for text in table["bytes_hex"]] == [p.step.data for p in tokens]
    assert table["piece"].tolist() == [model.tokenizer.piece_of(p.step.id) for p in tokens]
    assert table["text"].tolist() == [part.step.text for part in tokens]
    for column in ("probability", "raw_probability", "milliseconds", "u"):
        assert table[column].tolist() == [getattr(part.step, column) for part in tokens]
    expected = [-math.log2(part.step.raw_probability) for part in tokens]
    assert table["surprisal_bits"].tolist() == pytest.approx(expected)


def test_the_json_holds_the_whole_run(answer):
    model, ids, tokens = answer
    text = to_json(tokens, model.tokenizer.piece_of, model="tiny", prompt="a\ud800", prompt_ids=ids)
    data = json.loads(text)
    assert data["prompt"] == "a\ud800"
    assert data["prompt_ids"] == ids
    assert [token["id"] for token in data["tokens"]] == [part.step.id for part in tokens]
    assert data["runs"][0]["settings"]["temperature"] == 1.3
    assert data["runs"][0]["settings"]["logit_bias"] == [[5, "-inf"]]
    first = tokens[0].step
    assert data["tokens"][0]["alternatives"][0] == [
        first.alternatives[0].id,
        first.alternatives[0].raw,
        first.alternatives[0].final,
    ]
    assert pd.DataFrame(data["tokens"])["probability"].tolist() == [
        part.step.probability for part in tokens
    ]


NUMBERS = ("09", "007", "1e5", "-0", "+1", "1,5", "true", "null", "NaN", "", "inf", "0x1F", "1/2")
BLANKS = ("\t", " ", "\n", "\r", "\r\n", "\t=1", " =1+1", "\ufeff")
SIGNS = ("=SUM(A1)", "@cmd", "-2+3", "＝1", "＠x", "'", "'quoted'", "''", 'say "it"', "a,b")
LETTERS = ("é", "Ġthe", "▁the", "日本", "🎉", "नमस्ते")
ODD = NUMBERS + BLANKS + SIGNS + LETTERS


def odd_answer(answer):
    """Return an answer whose steps have the given texts."""
    _, _, tokens = answer
    return [
        replace(tokens[0], step=replace(tokens[0].step, id=i, text=text, data=text.encode()))
        for i, text in enumerate(ODD)
    ]


@pytest.mark.parametrize("alone", [False, True])
def test_every_text_comes_back_as_it_was(answer, alone):
    """Also where a column has nothing else, so that pandas could take it for numbers."""
    odd = odd_answer(answer)
    for part in [[token] for token in odd] if alone else [odd]:
        table = read(to_csv(part, ODD.__getitem__))
        expected = [ODD[token.step.id] for token in part]
        assert table["text"].tolist() == table["piece"].tolist() == expected
        assert [bytes.fromhex(data).decode() for data in table["bytes_hex"]] == expected


def test_no_cell_becomes_a_formula(answer):
    text = to_csv(odd_answer(answer), ODD.__getitem__)
    assert text.encode().startswith(b"\xef\xbb\xbf")
    for row in csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")):
        for name in ("piece", "text", "order", "stop_strings", "logit_bias"):
            assert row[name].lstrip()[:1] not in set("=+-@＝＋－＠") or not row[name]
            assert not row[name].startswith(("\t", "\r", "\n"))


def test_every_setting_stands_beside_each_token(answer):
    model, _, tokens = answer
    settings = SamplingSettings(
        temperature=0.3,
        top_k=7,
        top_p=0.9,
        min_p=0.01,
        typical_p=0.8,
        repetition_penalty=1.2,
        presence_penalty=-0.5,
        frequency_penalty=0.25,
        penalty_window=64,
        count_prompt=True,
        logit_bias={5: 4.0, 9: -math.inf},
        order=LLAMA_CPP_ORDER,
    )
    setup = Setup(settings, 2**63, ("=", "\n", "é"), 12)
    row = read(to_csv([replace(tokens[0], setup=setup)], model.tokenizer.piece_of)).iloc[0]
    assert {field.name for field in fields(settings)} < set(row.index)
    for name in ("temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty"):
        assert row[name] == getattr(settings, name)
    for name in ("presence_penalty", "frequency_penalty", "penalty_window", "count_prompt"):
        assert row[name] == getattr(settings, name)
    assert json.loads(row["logit_bias"]) == [[5, 4.0], [9, "-inf"]]
    assert tuple(row["order"].split(", ")) == LLAMA_CPP_ORDER
    assert tuple(json.loads(row["stop_strings"])) == setup.stop
    assert (row["seed"], row["token_budget"]) == (2**63, 12)
