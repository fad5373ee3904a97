"""A few hundred hostile values in links: no page breaks, and none hangs."""

import random

import pytest

from components.shell.stages import STAGES
from tests.hostile import hostile_link

KEYS = [entry.key for entry in STAGES]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("key", KEYS)
def test_a_hostile_link_breaks_no_page(open_app, key, seed):
    """`open_app` fails where a page shows an exception; here also where the page shows an error."""
    link = hostile_link(random.Random(f"{key} {seed}"))
    at = open_app(key, **link)
    broken = [one.value for one in at.error if "Traceback" in one.value]
    assert not broken, link
