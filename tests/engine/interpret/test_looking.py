"""What heads read beside what their removal changes."""

import numpy as np
import pytest

from engine.interpret.looking import compare


def test_the_changes_are_in_halvings_and_the_orders_are_compared():
    shares = np.array([[0.9, 0.1], [0.5, 0.3]], np.float32)
    found = compare(shares, np.array([[0.1, 0.4], [0.2, 0.8]], np.float32), plain=0.4)
    np.testing.assert_allclose(found.changes, [[-2, 0], [-1, 1]], atol=1e-6)
    assert found.agreement == pytest.approx(0.9486833, abs=1e-6)  # 0.9 / √0.9, a tie of two
    opposite = compare(shares, np.array([[0.4, 0.05], [0.3, 0.2]], np.float32), plain=0.4)
    assert opposite.agreement == pytest.approx(-1)


def test_a_probability_of_zero_has_a_change_too():
    found = compare(np.zeros((1, 2)), np.array([[0.0, 0.5]]), plain=0.5)
    assert np.isfinite(found.changes).all()
    assert found.agreement == 0
