"""A short soak on a tiny model: nothing breaks, and nothing grows without end."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.soak import soak
from benchmarks.visitor import Visitor
from tests.app.conftest import save_tiny
from tests.browser.harness.server import AppServer
from tests.tiny import tiny_network

pytestmark = pytest.mark.slow

KEPT_SESSIONS = 128
"""Streamlit keeps so many sessions that were left, for those who come back within minutes."""
HANDLES = 3
"""A session's event loop: one to wait on and a pair of sockets to be woken by."""


def in_a_loop_of_its_own(work):
    """Run a coroutine on another thread: a browser test may have left a loop on this one."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, work).result()


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    folder = save_tiny(tmp_path_factory.mktemp("models") / "tiny-llama", tiny_network("llama"))
    return {"TOKEN_BY_TOKEN_MODELS": str(folder)}


def test_random_walks_over_all_pages_break_nothing(env):
    with ThreadPoolExecutor(1) as other:
        found = other.submit(soak, 40 / 60, 4, seed=1, env=env).result()
    assert not found.errors
    assert found.sessions >= 4
    assert found.actions > 0
    assert found.samples[-1].handles <= 60 + HANDLES * min(found.sessions, KEPT_SESSIONS)
    assert found.samples[-1].threads <= 40
    assert found.samples[-1].megabytes < 2_500
    assert found.table().count("\n") > 5


def test_sessions_that_were_left_hold_a_bounded_number_of_handles(env, tmp_path):
    async def visit(port):
        async with Visitor(port, prompt="The cat") as visitor:
            await visitor.open("sampling")
        assert not visitor.exceptions

    async def visits(port, count):
        for _ in range(count // 16):
            await asyncio.gather(*(visit(port) for _ in range(16)))

    def handles(server):
        return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))

    with AppServer(tmp_path / "server.log", env=env) as server:
        in_a_loop_of_its_own(visits(server.port, 16))
        assert handles(server) <= 30 + HANDLES * 16
        in_a_loop_of_its_own(visits(server.port, 128))
        assert handles(server) <= 30 + HANDLES * KEPT_SESSIONS
        in_a_loop_of_its_own(visits(server.port, 32))
        assert handles(server) <= 30 + HANDLES * KEPT_SESSIONS
