"""Total variation and the chi-square test against printed tables and small cases by hand."""

import numpy as np
import pytest

from engine.basics import statistics


def test_total_variation_is_half_of_all_differences():
    assert statistics.total_variation([0.5, 0.5, 0], [0.25, 0.25, 0.5]) == pytest.approx(0.5)
    assert statistics.total_variation([1, 0], [0, 1]) == pytest.approx(1)
    same = np.array([0.2, 0.8], dtype=np.float32)
    assert statistics.total_variation(same, same) == 0


@pytest.mark.parametrize(
    ("statistic", "degrees", "tail"),
    [
        # From printed tables of the distribution.
        (3.841, 1, 0.05),
        (5.991, 2, 0.05),
        (7.815, 3, 0.05),
        (16.919, 9, 0.05),
        (21.666, 9, 0.01),
        (4.168, 9, 0.90),
        (18.307, 10, 0.05),
        (0.0, 4, 1.0),
        (5.0, 0, 1.0),
    ],
)
def test_the_tail_of_chi_square(statistic, degrees, tail):
    assert statistics.chi_square_tail(statistic, degrees) == pytest.approx(tail, abs=2e-4)


def test_chi_square_of_a_small_table_by_hand():
    test = statistics.chi_square([44, 56], [50, 50])
    assert test.statistic == pytest.approx(1.44)
    assert test.degrees == 1
    assert test.p_value == pytest.approx(0.2301, abs=1e-4)


def test_chi_square_is_the_textbook_value():
    """For two degrees of freedom the p-value is exp(-x / 2)."""
    found = statistics.chi_square([10, 20, 30], [20, 20, 20]).p_value
    assert found == pytest.approx(float(np.exp(-5)), rel=1e-9)


def test_groups_are_the_likeliest_and_never_none():
    even = np.full(1000, 0.001, dtype=np.float32)
    assert statistics.groups_for_test(even, 1000).tolist() == [0]
    peaked = np.array([0.6, 0.3, 0.097, 0.003], dtype=np.float32)
    assert statistics.groups_for_test(peaked, 1000).tolist() == [0, 1, 2]


def test_ranks_agree_as_spearman_says_with_ties_at_their_mean():
    a = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert statistics.rank_correlation(a, [10, 20, 30, 40, 1000]) == pytest.approx(1)
    assert statistics.rank_correlation(a, [5, 4, 3, 2, 1]) == pytest.approx(-1)
    assert statistics.rank_correlation(a, [2, 2, 1, 3, 3]) == pytest.approx(
        0.6324555
    )  # ranks 2.5 2.5 1 4.5 4.5
    assert statistics.rank_correlation(a, [7, 7, 7, 7, 7]) == 0
