"""Numbers on the screen carry the digits that matter, and only what is whole is 100 %."""

import pytest

from components.numbers import percent, size


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (1.0, "100 %"),
        (0.9999, "99.99 %"),
        (0.99999, "99.99 %"),
        (0.774, "77 %"),
        (0.1, "10 %"),
        (0.0321, "3.2 %"),
        (0.00099, "0.099 %"),
        (0.00001, "< 0.01 %"),
        (0.0, "0 %"),
    ],
)
def test_shares(share, shown):
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [(46_080, "46 kB"), (276_480, "276 kB"), (1_382_400, "1.4 MB"), (2_500_000_000, "2,500.0 MB")],
)
def test_sizes(count, shown):
    assert size(count) == shown
