"""Where a guess stands: against the sorted list, with and without its leading space."""

import numpy as np
import pytest

from engine.basics.distribution import softmax
from engine.basics.errors import EngineError
from engine.lm_head.standing import LONGEST_GUESS, guess_standing, standing
from tests.tiny import tiny_model


@pytest.fixture
def tokenizer():
    return tiny_model("llama").tokenizer


@pytest.fixture
def logits():
    return np.random.default_rng(7).normal(size=384).astype(np.float32)


def test_the_rank_is_the_place_in_the_sorted_list(tokenizer, logits):
    order = list(np.argsort(-logits, kind="stable"))
    for token_id in (0, 17, 383, order[0], order[-1]):
        found = standing(tokenizer, logits, int(token_id))
        assert found.rank == order.index(token_id) + 1
        assert found.of == 384
        assert found.probability == pytest.approx(float(softmax(logits)[token_id]))
        assert found.data == tokenizer.bytes_of(int(token_id))


def test_a_guess_counts_with_its_leading_space_or_without_whichever_leads(tokenizer, logits):
    spaced, bare = (tokenizer.ids(text) for text in (" cat", "cat"))
    assert spaced != bare
    for ids in (spaced, bare):
        raised = logits.copy()
        raised[ids[0]] = 50.0
        for typed in ("cat", " cat", " cat  "):
            found = guess_standing(tokenizer, raised, typed)
            assert (found.token_id, found.rank, found.pieces) == (ids[0], 1, len(ids))


def test_a_word_of_several_tokens_stands_where_its_first_piece_does(tokenizer, logits):
    ids = tokenizer.ids(" zebra")
    assert len(ids) > 1
    logits[ids[0]] = 50.0
    found = guess_standing(tokenizer, logits, "zebra")
    assert (found.token_id, found.pieces) == (ids[0], len(ids))
    assert found.data == tokenizer.bytes_of(ids[0])


def test_nothing_guessed_stands_nowhere(tokenizer, logits):
    for typed in ("", "   "):
        assert guess_standing(tokenizer, logits, typed) is None


def test_the_name_of_a_control_token_is_text(tokenizer, logits):
    control = next(i for i in range(384) if tokenizer.is_special(i))
    logits[control] = 50.0
    name = tokenizer.bytes_of(control).decode()
    found = guess_standing(tokenizer, logits, name)
    assert found.token_id != control
    assert found.pieces > 1


def test_a_guess_that_is_too_long_is_refused(tokenizer, logits):
    assert guess_standing(tokenizer, logits, "a" * LONGEST_GUESS) is not None
    with pytest.raises(EngineError, match="41 characters"):
        guess_standing(tokenizer, logits, "a" * (LONGEST_GUESS + 1))
    with pytest.raises(EngineError, match="token id"):
        standing(tokenizer, logits, 384)


@pytest.mark.real
def test_guesses_after_the_default_prompt(real_model):
    from engine.tracing.trace import trace

    ids = real_model.tokenizer.ids("She poured herself a cup of", add_bos=True)
    logits = trace(real_model, ids).logits
    coffee = guess_standing(real_model.tokenizer, logits, "coffee")
    assert (coffee.data, coffee.rank, coffee.pieces) == (b" coffee", 1, 1)
    assert coffee.probability == pytest.approx(0.24, abs=0.01)
    currant = guess_standing(real_model.tokenizer, logits, "blackcurrant")
    assert (currant.data, currant.pieces) == (b" black", 3)
