"""Cells with their terms, kinds of heads on constructed patterns, small pictures, cache sizes."""

from types import SimpleNamespace

import numpy as np
import pytest

from engine.attention import patterns
from engine.basics.errors import EngineError
from engine.tracing.trace import trace
from tests.tiny import FAMILIES, tiny_model

IDS = [7, 300, 12, 12, 45, 99, 7, 300, 12, 200, 31, 8, 250, 7]


@pytest.fixture(scope="module", params=FAMILIES)
def traced(request):
    return trace(tiny_model(request.param), IDS)


def constructed(pattern, ids):
    """Return what looks like a trace of one layer with the given patterns `[H, T, S]`."""
    heads = len(pattern)
    return SimpleNamespace(
        ids=tuple(ids),
        architecture=SimpleNamespace(layers=1, heads=heads),
        pattern=lambda layer: np.asarray(pattern, dtype=np.float32),
    )


def test_the_terms_of_a_cell_sum_to_its_score(traced):
    a = traced.architecture
    for layer in range(a.layers):
        scores, pattern = traced.scores(layer), traced.pattern(layer)
        for head in range(a.heads):
            terms = patterns.score_terms(traced, layer, head, 11, 9)
            assert terms.kv_head == head // (a.heads // a.kv_heads)
            np.testing.assert_array_equal(terms.q, traced.q[layer, head, 11])
            np.testing.assert_array_equal(terms.k, traced.k[layer, terms.kv_head, 9])
            np.testing.assert_array_equal(terms.products, terms.q * terms.k)
            assert terms.dot == pytest.approx(terms.products.sum(), abs=1e-4)
            scaled = terms.dot * terms.scale
            if terms.softcap:
                scaled = terms.softcap * np.tanh(scaled / terms.softcap)
            assert terms.score == pytest.approx(scaled, abs=1e-4)
            assert terms.score == pytest.approx(scores[head, 11, 9], abs=1e-4)
            assert terms.probability == pytest.approx(pattern[head, 11, 9], abs=1e-5)
            assert not terms.masked
            sizes = np.abs(terms.products)[terms.order]
            assert (np.diff(sizes) <= 0).all()
            assert sorted(terms.order) == list(range(a.head_size))


def test_all_heads_are_ranked_by_how_much_one_token_reads_another(traced):
    a = traced.architecture
    found = patterns.readers(traced, -2, 4)
    assert (found.query, found.key) == (12, 4)
    for layer in range(a.layers):
        expected = traced.pattern(layer)[:, 12, 4]
        np.testing.assert_allclose(found.shares[layer], expected, atol=1e-6)
    ranked = [found.shares[divmod(int(place), a.heads)] for place in found.order]
    assert ranked == sorted(ranked, reverse=True)
    assert sorted(found.order) == list(range(a.layers * a.heads))
    assert not patterns.readers(traced, 3, 9).shares.any(), "the mask hides what comes later"
    with pytest.raises(EngineError, match="query position 99"):
        patterns.readers(traced, 99, 0)


def test_a_masked_cell_has_a_score_and_no_probability(traced):
    terms = patterns.score_terms(traced, 0, 1, 4, 5)
    assert terms.masked
    assert terms.probability == 0
    assert np.isfinite(terms.score)


def test_a_key_before_the_sliding_window_is_masked():
    traced = trace(tiny_model("mistral"), IDS)
    assert patterns.score_terms(traced, 0, 0, 13, 5).masked
    assert not patterns.score_terms(traced, 0, 0, 13, 6).masked
    assert traced.pattern(0)[0, 13, 5] == 0


def test_a_cell_that_does_not_exist_is_named():
    traced = trace(tiny_model("llama", layers=2), IDS)
    for place, message in (
        ((2, 0, 0, 0), "no layer 2: choose one from 0 to 1"),
        ((0, 6, 0, 0), "no head 6: choose one from 0 to 5"),
        ((0, 0, 14, 0), "no query position 14: choose one from 0 to 13"),
        ((0, 0, 0, 14), "no key position 14"),
    ):
        with pytest.raises(EngineError, match=message):
            patterns.score_terms(traced, *place)


def test_heads_of_known_kinds_get_their_names():
    ids = [5, 6, 7, 5, 6, 7]
    previous, first, same, induction, even = (np.zeros((6, 6)) for _ in range(5))
    for t in range(6):
        previous[t, max(t - 1, 0)] = 1
        first[t, 0] = 1
        same[t, t - 3 if t >= 3 else t] = 1
        induction[t, t - 2 if t >= 3 else 0] = 1
        even[t, : t + 1] = 1 / (t + 1)
    found = patterns.head_scores(constructed([previous, first, same, induction, even], ids))
    later = np.mean([1 / (t + 1) for t in range(1, 6)])
    repeats = np.mean([1 / (t + 1) for t in (3, 4, 5)])
    # Query 1 reads token 0 as its previous and as its first; query 3 reads token 0 as the same.
    np.testing.assert_allclose(found.previous[0], [1, 0.2, 0, 0.2, later], atol=1e-6)
    np.testing.assert_allclose(found.first[0], [0.2, 1, 0.2, 0.4, later], atol=1e-6)
    np.testing.assert_allclose(found.same[0], [0, 1 / 3, 1, 0, repeats], atol=1e-6)
    np.testing.assert_allclose(found.induction[0], [0, 0, 0, 1, repeats], atol=1e-6)
    assert (found.repeats, found.followed) == (3, 3)


def test_a_token_twice_in_a_row_is_no_induction():
    scores = patterns.head_scores(constructed([np.eye(2)], [4, 4]))
    assert (scores.repeats, scores.followed) == (1, 0)
    assert scores.induction[0, 0] == 0


def test_without_repeats_and_with_one_token_there_is_nothing_to_score():
    scores = patterns.head_scores(constructed([np.ones((1, 1))], [4]))
    for array in (scores.previous, scores.first, scores.same, scores.induction):
        np.testing.assert_array_equal(array, 0)
    assert (scores.repeats, scores.followed) == (0, 0)


def test_the_first_tokens_share_is_a_mean_over_later_queries(traced):
    found = patterns.head_scores(traced).first
    for layer in range(traced.architecture.layers):
        expected = traced.pattern(layer)[:, 1:, 0].mean(axis=-1)
        np.testing.assert_allclose(found[layer], expected, atol=1e-6)


def test_without_the_first_token_the_rest_sums_to_one(traced):
    pattern = traced.pattern(1)
    rest = patterns.without_first_token(pattern)
    assert not rest[:, :, 0].any()
    assert not rest[:, 0].any()
    np.testing.assert_allclose(rest[:, 1:].sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(
        rest[:, 9, 1:], pattern[:, 9, 1:] / (1 - pattern[:, 9, :1]), atol=1e-5
    )


def test_a_row_that_reads_only_the_first_token_is_empty():
    rest = patterns.without_first_token(np.array([[1, 0], [1, 0]], dtype=np.float32))
    np.testing.assert_array_equal(rest, 0)


def test_short_prompts_are_shown_cell_by_cell(traced):
    small = patterns.overview(traced, size=32)
    assert small.maps.dtype == np.uint8
    assert small.edges.tolist() == list(range(len(IDS) + 1))
    for layer in range(traced.architecture.layers):
        np.testing.assert_allclose(small.maps[layer] / 255, traced.pattern(layer), atol=0.5 / 254)


def test_long_prompts_are_shrunk_and_every_row_stays_a_share():
    traced = trace(tiny_model("gpt2"), list(range(77)))
    small = patterns.overview(traced, size=10)
    assert small.maps.shape == (2, 4, 10, 10)
    edges, pattern = small.edges, traced.pattern(1)
    assert (edges[0], edges[-1]) == (0, 77)
    for i in range(10):
        for j in range(10):
            cells = pattern[2, edges[i] : edges[i + 1], edges[j] : edges[j + 1]]
            expected = cells.sum(axis=1).mean() * 255
            assert abs(int(small.maps[1, 2, i, j]) - expected) <= 0.51
    np.testing.assert_allclose(small.maps.sum(axis=-1, dtype=int), 255, atol=5)


def test_the_pictures_without_the_first_token(traced):
    small = patterns.overview(traced, size=32, without_first=True)
    expected = patterns.without_first_token(traced.pattern(1))
    np.testing.assert_allclose(small.maps[1] / 255, expected, atol=0.5 / 254)
    assert not small.maps[:, :, :, 0].any()


@pytest.mark.real
class TestOnTheDefaultModel:
    def test_heads_of_each_kind_exist(self, real_model):
        text = "The cat sat on the mat. The cat sat on the"
        ids = [token.id for token in real_model.tokenizer.encode(text)]
        scores = patterns.head_scores(trace(real_model, ids))
        assert scores.previous.max() > 0.7
        assert scores.induction.max() > 0.5
        assert scores.first.mean() > 0.4

    def test_terms_and_cells_agree(self, real_model):
        traced = trace(real_model, [4898, 314, 260, 6376, 4461, 47])
        for layer, head in ((0, 0), (12, 4), (29, 8)):
            terms = patterns.score_terms(traced, layer, head, -1, 2)
            assert terms.kv_head == head // 3
            assert terms.scale == pytest.approx(1 / 8)
            assert terms.products.sum() * terms.scale == pytest.approx(terms.score, abs=1e-4)
            cell = traced.pattern(layer)[head, 5, 2]
            assert terms.probability == pytest.approx(cell, abs=1e-5)
