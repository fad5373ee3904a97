"""The engine in a notebook: lazy names, text in, tables out."""

import ast
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import engine
from engine import EngineError, SamplingSettings, edits
from engine.basics.distribution import softmax
from engine.generation.loop import generate
from engine.generation.random_numbers import uniforms
from engine.interpret.lens import lens
from engine.library import Run, Workbench
from engine.sampling.chain import draw, final_probabilities
from engine.tracing.trace import trace
from tests.sources import ROOT
from tests.tiny import tiny_network, tiny_tokenizer

TEXT = "The cat sat on the"


@pytest.fixture(scope="module")
def model():
    return Workbench.wrap(tiny_network("llama"), tiny_tokenizer(), name="tiny")


def test_importing_the_engine_imports_nothing_heavy():
    heavy = {"torch", "transformers", "tokenizers", "numpy", "pandas"}
    script = (
        "import sys, engine, engine.sampling, engine.generation, engine.speculative\n"
        f"assert not {heavy!r} & set(sys.modules), {heavy!r} & set(sys.modules)\n"
        "engine.SamplingSettings(top_p=0.9), engine.edits.KnockOutHead, engine.EngineError\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


@pytest.mark.parametrize("package", ["engine", "sampling", "generation", "speculative"])
def test_every_name_is_what_the_type_checker_sees(package):
    """The names that load lazily are those that are imported for the type checker."""
    name = "engine" if package == "engine" else f"engine.{package}"
    module = __import__(name, fromlist=["_"])
    tree = ast.parse((ROOT / name.replace(".", "/") / "__init__.py").read_text("utf-8"))
    typed = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        for alias in node.names
    }
    assert dict(module.HOMES) == typed
    assert list(module.HOMES) == dir(module)
    for entry in module.HOMES:
        assert getattr(module, entry).__name__.split(".")[-1] == entry
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        _ = module.nothing_of_this_name


def test_the_names_of_the_public_surface_are_there():
    from engine import sampling

    assert engine.run_chain is sampling.run_chain
    assert engine.SamplingSettings is sampling.SamplingSettings
    assert engine.generate is generate
    assert engine.trace is trace
    assert engine.lens is lens


def test_a_trace_takes_text_or_ids(model):
    ids = [token.id for token in model.tokenizer.encode(TEXT, add_bos=True)]
    run, expected = model.trace(TEXT), trace(model, ids)
    assert isinstance(run, Run)
    assert run.ids == expected.ids == model.trace(np.array(ids)).ids
    np.testing.assert_allclose(run.logits, expected.logits, atol=1e-5)
    assert "".join(run.tokens) == TEXT
    assert repr(run) == f"Trace({len(ids)} tokens, 3 layers, llama)"
    table = pd.DataFrame(run.pattern(1)[2], index=run.tokens, columns=run.tokens)
    assert table.shape == (len(ids), len(ids))


def test_a_chat_turn_is_that_of_the_template(model):
    expected = model.tokenizer.chat([{"role": "user", "content": TEXT}])
    assert list(model.trace(TEXT, chat=True).ids) == expected


def test_edits_reach_the_pass(model):
    edit = edits.KnockOutHead(1, 2)
    run = model.trace(TEXT, edits=[edit])
    expected = trace(model, run.ids, edits=[edit])
    np.testing.assert_allclose(run.logits, expected.logits, atol=1e-5)
    assert np.abs(run.logits - model.trace(TEXT).logits).max() > 1e-3
    assert repr(run).endswith("llama, 1 edit)")


def test_the_lens_is_a_table_by_layer_and_rank(model):
    run = model.trace(TEXT)
    table = run.lens(top=3).to_pandas()
    assert table.index.names == ["layer", "rank"]
    assert list(table.columns) == ["id", "token", "probability", "bits"]
    assert len(table) == 4 * 3
    reading = lens(run, 2, -1, top=3)
    np.testing.assert_array_equal(table.loc[2, "id"], reading.ids)
    np.testing.assert_allclose(table.loc[2, "probability"], reading.probabilities, rtol=1e-5)
    np.testing.assert_allclose(2.0 ** -table["bits"], table["probability"], rtol=1e-5)
    last = softmax(run.logits)
    assert table.loc[(3, 1), "probability"] == pytest.approx(last.max(), rel=1e-4)


def test_a_chain_is_drawn_from_as_the_app_and_the_loop_do(model):
    settings = SamplingSettings(temperature=0.7, top_p=0.9)
    run = model.trace(TEXT)
    chain = run.sample(settings)
    expected = final_probabilities(run.logits, settings, run.ids)
    np.testing.assert_allclose(chain.probabilities, expected, atol=1e-6)
    for seed in range(20):
        drawn = chain.draw(seed)
        assert drawn.u == uniforms(seed, 1)[0]
        assert drawn.id == draw(chain.probabilities, drawn.u)
        first = next(model.generate(TEXT, settings, seed=seed, max_new_tokens=1))
        assert first.u == drawn.u
        # Cached and traced pass may differ in the last digits, so a draw at an edge may too.
        assert drawn.id == first.id or np.isclose(drawn.probability, 0, atol=1e-3)
    table = chain.to_pandas()
    assert list(table.index) == ["logits", "temperature", "top_p", "softmax"]
    assert table["tokens_left"].iloc[-1] == (expected > 0).sum()
    assert chain.top(5)["after"].is_monotonic_decreasing


def test_generate_is_the_loop(model):
    ids = model.ids(TEXT)
    steps = list(model.generate(TEXT, seed=3, max_new_tokens=8))
    expected = list(generate(model, ids, SamplingSettings(), max_new_tokens=8, seed=3))
    assert [step.id for step in steps] == [step.id for step in expected]
    table = engine.to_pandas(steps)
    assert list(table["id"]) == [step.id for step in steps]
    assert "alternatives" not in table


def test_a_part_of_a_character_is_shown_as_its_bytes(model):
    run = model.trace("é")
    assert list(run.tokens) in (["é"], ["<C3>", "<A9>"])


def test_what_is_no_result_is_no_row():
    with pytest.raises(EngineError, match="int"):
        engine.to_pandas([1])


def test_a_table_in_a_notebook_shows_text_literally(model):
    html = model.trace("<b>x</b>").tokens._repr_html_()
    assert "<b>" not in html
    assert "&lt;" in html
