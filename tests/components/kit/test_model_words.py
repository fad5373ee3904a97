"""Words that follow the model: pairs of RoPE and the divisor of scores."""

import pytest

from components.kit import model_words


@pytest.mark.parametrize(
    ("pairing", "words", "third", "indices"),
    [
        ("halves", "i and i + 32", (3, 35), ("i", "i+32")),
        ("neighbours", "2i and 2i + 1", (6, 7), ("2i", "2i+1")),
    ],
)
def test_pairs_are_those_of_the_model(pairing, words, third, indices):
    assert model_words.pair_words(pairing, 32) == words
    assert model_words.pair_members(pairing, 32, 3) == third
    assert model_words.pair_latex(pairing, 32) == indices


def test_where_the_pairing_is_not_known_none_is_claimed():
    assert model_words.pair_words(None, 32) == ""
    assert model_words.pair_latex(None, 32) == ("i,1", "i,2")


@pytest.mark.parametrize(
    ("scale", "size", "end", "latex"),
    [
        (0.125, 64, "grows like √K, so the sums are divided by √K = √64 = 8.", r"\sqrt{K}"),
        # Gemma 2 27B: query_pre_attn_scalar 144 with heads of 128 numbers.
        (144**-0.5, 128, "this model divides them by √144 = 12.", r"\sqrt{144}"),
        (1.0, 64, "this model does not.", r"\sqrt{1}"),
        (1 / 128, 64, "this model divides them by √16384 = 128.", r"\sqrt{16384}"),
    ],
)
def test_the_divisor_is_that_of_the_model(scale, size, end, latex):
    assert model_words.scale_words(scale, size).endswith(end)
    assert model_words.divisor_latex(scale, size) == latex
