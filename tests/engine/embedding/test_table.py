"""Rows, neighbours by cosine and the map, against plain numpy."""

import time

import numpy as np
import pytest

from engine.basics.errors import EngineError
from engine.embedding import table as embedding
from tests.near import assert_ranking
from tests.tiny import tiny_model


@pytest.fixture(scope="module", params=["llama", "gemma2"])
def model(request):
    return tiny_model(request.param)


@pytest.fixture(scope="module")
def table(model):
    return model.network.get_input_embeddings().weight.detach().numpy()


def cosine(a, b):
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def test_a_row_is_the_tables_own(model, table):
    np.testing.assert_array_equal(embedding.row(model, 77), table[77])


def test_the_nearest_are_those_of_a_full_search(model, table):
    every = [(cosine(table[77], table[i]), i) for i in range(len(table)) if i != 77]
    expected = sorted(every, reverse=True)[:12]
    found = embedding.nearest(model, 77, 12)
    by_id = np.array([cosine(table[77], row) for row in table])
    by_id[77] = -np.inf
    assert_ranking(found.ids, by_id, near=1e-5)
    np.testing.assert_allclose(found.cosines, [c for c, _ in expected], atol=1e-5)
    assert len(embedding.nearest(model, 0, 10_000).ids) == len(table) - 1


def test_the_cosine_matrix(model, table):
    ids = [5, 9, 5, 300]
    expected = [[cosine(table[i], table[j]) for j in ids] for i in ids]
    np.testing.assert_allclose(embedding.cosine_matrix(model, ids), expected, atol=1e-5)


def test_the_map_shows_the_two_largest_differences(model, table):
    ids = [5, 9, 5, 300, 17]
    found = embedding.pca_map(model, ids, neighbours=3)
    shown = found.ids.tolist()
    assert shown[:4] == [5, 9, 300, 17]
    assert found.asked.tolist() == [True] * 4 + [False] * (len(shown) - 4)
    assert len(set(shown)) == len(shown)
    for token in (5, 9, 300, 17):
        assert set(embedding.nearest(model, token, 3).ids) <= set(shown)
    centred = table[shown] - table[shown].mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    expected = left[:, :2] * sizes[:2]
    for axis in range(2):
        sign = np.sign(found.points[:, axis] @ expected[:, axis])
        np.testing.assert_allclose(found.points[:, axis], sign * expected[:, axis], atol=1e-4)
        assert found.points[np.abs(found.points[:, axis]).argmax(), axis] > 0
    np.testing.assert_allclose(found.explained, sizes[:2] ** 2 / (sizes**2).sum(), atol=1e-5)


def test_a_map_of_one_token_alone(model):
    found = embedding.pca_map(model, [3, 3], neighbours=0)
    assert found.ids.tolist() == [3]
    np.testing.assert_array_equal(found.points, [[0, 0]])
    np.testing.assert_array_equal(found.explained, [0, 0])


def test_a_row_of_zeros_is_near_to_nothing():
    model = tiny_model("phi3", fresh=True)
    model.network.get_input_embeddings().weight[4] = 0
    np.testing.assert_array_equal(embedding.nearest(model, 4, 3).cosines, 0)
    np.testing.assert_array_equal(embedding.cosine_matrix(model, [4, 5])[0], 0)


def test_a_token_that_does_not_exist_is_named(model):
    asks = (embedding.row, embedding.nearest)
    for ask in (*asks, lambda m, i: embedding.pca_map(m, [i])):
        with pytest.raises(EngineError, match="no token id 384: choose one from 0 to 383"):
            ask(model, 384)


@pytest.mark.real
def test_the_neighbours_of_a_country_are_countries_and_quick_to_find(real_model):
    france, germany = (real_model.tokenizer.encode(t)[0].id for t in (" France", " Germany"))
    embedding.nearest(real_model, france)
    start = time.thread_time()  # other processes on the machine don't count
    found = embedding.nearest(real_model, france, 30)
    assert time.thread_time() - start <= 0.3
    assert germany in found.ids
    assert found.cosines[0] < 0.999


def test_a_map_may_do_without_neighbours(model):
    flat = embedding.pca_map(model, [3, 5, 3, 9], neighbours=0)
    assert flat.ids.tolist() == [3, 5, 9]
    assert flat.asked.all()


def test_cosines_of_vectors():
    vectors = np.array([[1, 0], [0, 2], [3, 3], [0, 0]], dtype=np.float32)
    expected = [[1, 0, 0.5**0.5, 0], [0, 1, 0.5**0.5, 0], [0.5**0.5, 0.5**0.5, 1, 0], [0] * 4]
    np.testing.assert_allclose(embedding.cosines(vectors), expected, atol=1e-6)


def test_the_telling_token_has_the_most_other_words_near_it(monkeypatch, model):
    words = {1: " France", 2: "is", 3: " capital", 4: " Spain", 5: "Italy", 6: " capitals", 7: "fr"}
    near = {1: [4, 5, 7], 3: [6, 6, 2]}
    monkeypatch.setattr(
        type(model.tokenizer), "decode", lambda self, ids: words.get(int(ids[0]), "?")
    )
    monkeypatch.setattr(
        embedding, "_near", lambda model, ids, count: [n for i in ids for n in near[i]]
    )
    monkeypatch.setattr(
        embedding, "_cosines", lambda model, rows: np.full((len(rows), 8), 0.5, dtype=np.float32)
    )
    assert embedding.telling(model, [2, 3, 1, 2]) == 2
    assert embedding.telling(model, [2, 3, 2]) == 1
    assert embedding.telling(model, [2, 2]) == 1


def test_the_telling_token_of_any_prompt_is_one_of_it(model):
    rng = np.random.default_rng(0)
    for count in (1, 2, 40):
        ids = rng.integers(0, 200, count).tolist()
        assert 0 <= embedding.telling(model, ids) < count
