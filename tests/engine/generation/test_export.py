"""An answer as a file, read back by pandas and json."""

import io
import json
import math

import pandas as pd
import pytest

from engine.generation.branches import Setup, Written
from engine.generation.export import COLUMNS, to_csv, to_json
from engine.generation.loop import generate
from engine.sampling.chain import SamplingSettings


@pytest.fixture
def answer(tiny_model):
    model = tiny_model("llama")
    ids = [token.id for token in model.tokenizer.encode("The cat")]
    settings = SamplingSettings(temperature=1.3, top_k=40, logit_bias={5: -math.inf})
    steps = generate(model, ids, settings, max_new_tokens=30, seed=1)
    setup = Setup(settings, 1, ("|",), 30)
    return model, ids, tuple(Written(step, setup) for step in steps)


def test_pandas_reads_the_csv(answer):
    model, _, tokens = answer
    table = pd.read_csv(
        io.StringIO(to_csv(tokens, model.tokenizer.piece_of)), keep_default_na=False
    )
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
