"""The lens reads the stream as the model reads its last vector."""

import numpy as np
import pytest
import torch

from engine.basics.distribution import entropy_bits, softmax, top
from engine.basics.errors import EngineError
from engine.interpret.lens import lens, lens_column, lens_grid, token_path
from engine.tracing.trace import trace
from tests.near import LOGITS, assert_ranking
from tests.tiny import FAMILIES, tiny_model, tiny_network

IDS = [7, 300, 12, 12, 45, 99, 31, 8, 250, 7]


@pytest.fixture(scope="module", params=FAMILIES)
def traced(request):
    return trace(tiny_model(request.param), IDS)


def test_the_last_layer_gives_the_models_own_logits(traced):
    layers = traced.architecture.layers
    with torch.inference_mode():
        own = tiny_network(traced.architecture.family)(input_ids=torch.tensor([IDS])).logits[0]
    for position in (0, 4, -1):
        reading = lens(traced, layers, position, top=384)
        expected = own[position].numpy()
        np.testing.assert_allclose(reading.logits, expected[reading.ids], atol=1e-4)
        np.testing.assert_allclose(reading.probabilities.sum(), 1, atol=1e-5)
        assert reading.entropy == pytest.approx(entropy_bits(softmax(expected)), abs=1e-4)
        assert reading.position == position % len(IDS)


def test_every_layer_is_read_with_the_final_norm_and_the_head(traced):
    network = tiny_network(traced.architecture.family)
    base, head = network.base_model, network.get_output_embeddings()
    norm = next(getattr(base, n) for n in ("norm", "ln_f", "final_layer_norm") if hasattr(base, n))
    for layer in range(traced.architecture.layers):
        with torch.inference_mode():
            logits = head(norm(torch.tensor(traced.resid_pre[layer][6]))).numpy()
        if traced.architecture.family == "gemma2":
            logits = 30 * np.tanh(logits / 30)
        expected, reading = top(logits, 5), lens(traced, layer, 6, top=5)
        np.testing.assert_allclose(reading.logits, expected.logits, atol=1e-4)
        np.testing.assert_allclose(reading.probabilities, expected.probabilities, atol=1e-5)
        assert reading.layer == layer


def test_a_grid_follows_the_answer_of_each_column(traced):
    grid = lens_grid(traced, [3, -1])
    for column, place in enumerate(grid.positions):
        path = token_path(traced, int(grid.ids[-1, column]), place)
        np.testing.assert_allclose(
            grid.answer_probabilities[:, column], path.probabilities, atol=1e-6
        )
    np.testing.assert_allclose(grid.answer_probabilities[-1], grid.probabilities[-1], atol=1e-6)


def test_a_column_and_a_grid_are_the_single_readings(traced):
    column = lens_column(traced, 3, top=2)
    grid = lens_grid(traced, [3, -1])
    whole = lens_grid(traced)
    assert grid.positions == (3, len(IDS) - 1)
    assert whole.positions == tuple(range(len(IDS)))
    assert whole.ids.shape == (traced.architecture.layers + 1, len(IDS))
    for layer in range(traced.architecture.layers + 1):
        single = lens(traced, layer, 3, top=2)
        # The column reads many rows at once and the single reading one: near ties may swap.
        logits = logits_of(lens(traced, layer, 3, top=384))
        for ids in (column[layer].ids, single.ids, grid.ids[layer, :1], whole.ids[layer, 3:4]):
            assert_ranking(ids, logits)
        assert (column[layer].layer, column[layer].position) == (layer, 3)
        assert grid.probabilities[layer, 0] == pytest.approx(single.probabilities[0], abs=1e-5)
        assert grid.entropies[layer, 0] == pytest.approx(single.entropy, abs=1e-4)
        for ids in (grid.ids[layer, 1:], whole.ids[layer, -1:]):
            assert_ranking(ids, logits_of(lens(traced, layer, -1, top=384)))


def logits_of(reading):
    """Return a reading of the whole vocabulary as logits in the order of the ids."""
    logits = np.empty(len(reading.ids), dtype=np.float32)
    logits[reading.ids] = reading.logits
    return logits


def test_a_tokens_path_is_its_rank_and_probability_in_each_reading(traced):
    found = token_path(traced, 12, 4)
    for layer in range(traced.architecture.layers + 1):
        whole = lens(traced, layer, 4, top=traced.architecture.vocabulary)
        place = list(whole.ids).index(12)
        # A rank is right if only near ties separate it from the token's place.
        apart = whole.logits[[found.ranks[layer] - 1, place]]
        assert np.ptp(apart) <= LOGITS
        np.testing.assert_allclose(
            found.probabilities[layer], whole.probabilities[place], rtol=1e-4
        )
        np.testing.assert_allclose(found.logits[layer], whole.logits[place], atol=1e-4)


def test_what_does_not_exist_is_named():
    traced = trace(tiny_model("llama", layers=2), IDS)
    with pytest.raises(EngineError, match="no layer 3: choose one from 0 to 2"):
        lens(traced, 3, 0)
    with pytest.raises(EngineError, match="no position 10: choose one from 0 to 9"):
        lens(traced, 0, 10)
    with pytest.raises(EngineError, match="no position -11"):
        lens_grid(traced, [-11])


@pytest.mark.real
def test_the_default_model_finds_paris_on_the_way(real_model):
    ids = [token.id for token in real_model.tokenizer.encode("The capital of France is")]
    traced = trace(real_model, ids)
    column = lens_column(traced, -1, top=1)
    paris = int(traced.logits.argmax())
    assert len(column) == 31
    assert_ranking(column[30].ids, traced.logits)
    assert column[30].logits[0] == pytest.approx(float(traced.logits.max()), abs=1e-4)
    assert column[0].ids[0] != paris
