"""The acceptance rule on a vocabulary of three tokens."""

import numpy as np
import pytest

from engine.generation.random_numbers import random_numbers
from engine.speculative.acceptance import acceptance, check, residual
from engine.speculative.drafts import Proposal
from tests.engine.runs import ROUNDS, P, Q, guesses


def test_the_known_case():
    assert acceptance(P, Q) == pytest.approx(0.6)
    np.testing.assert_allclose(residual(P, Q), [1, 0, 0], atol=1e-6)


def test_a_draft_that_is_the_target_is_always_accepted():
    uniform = random_numbers(2)
    for _ in range(500):
        assert check(guesses(P, uniform, 4), [P] * 5, uniform).accepted == 4


def test_a_certain_guess_is_accepted_as_often_as_the_target_would_say_it():
    certain = np.array([0, 1, 0], np.float32)
    uniform = random_numbers(3)
    kept = sum(check([Proposal(1, certain)], [P, P], uniform).accepted for _ in range(ROUNDS))
    assert kept / ROUNDS == pytest.approx(0.3, abs=0.015)
    np.testing.assert_allclose(residual(P, certain), [6 / 7, 0, 1 / 7], atol=1e-6)


def test_where_nothing_is_left_the_target_itself_is_drawn_from():
    np.testing.assert_array_equal(residual(P, P), P)
