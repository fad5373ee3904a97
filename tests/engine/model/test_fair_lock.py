"""The model's lock serves in order, so that two generations take turns token by token."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import pytest

from engine.model.fair_lock import FairLock


def wait_until(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.001)


def test_waiters_are_served_in_the_order_in_which_they_came():
    lock, order, threads = FairLock(), [], []

    def work(number):
        with lock:
            order.append(number)

    lock.acquire()
    for number in range(5):
        thread = threading.Thread(target=work, args=(number,))
        thread.start()
        threads.append(thread)
        wait_until(lambda n=number: len(lock._queue) == n + 2)
    lock.release()
    for thread in threads:
        thread.join(5)
    assert order == [0, 1, 2, 3, 4]
    assert not lock.locked()


def test_two_loops_take_turns():
    lock, order = FairLock(), []
    start = threading.Barrier(2)

    def loop(name):
        start.wait(5)
        for _ in range(20):
            with lock:
                order.append(name)
                # Hold the lock until the other one waits, as a model's step of 70 ms would.
                wait_until(lambda: len(lock._queue) > 1 or order.count("a") + order.count("b") > 36)

    threads = [threading.Thread(target=loop, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert all(one != next_one for one, next_one in pairwise(order[:36]))


def test_an_error_inside_gives_the_lock_back():
    lock = FairLock()
    with pytest.raises(ValueError, match="inside"), lock:
        raise ValueError("inside")
    assert not lock.locked()
    with lock:
        assert lock.locked()


def test_releasing_a_free_lock_is_refused():
    with pytest.raises(RuntimeError, match="more often"):
        FairLock().release()


@pytest.mark.parametrize("given", [False, True])
def test_an_interrupted_waiter_passes_the_lock_on(monkeypatch, given):
    lock = FairLock()
    lock.acquire()

    def interrupted(event):
        if given:
            lock.release()  # the turn arrives just as the interrupt does
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Event, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lock.acquire()
    assert lock.locked() is not given
    assert len(lock._queue) == (0 if given else 1)


def test_the_queue_is_first_come_first_served_and_leaving_works_from_every_place():
    lock = FairLock()
    with lock.place() as first:
        with lock.place() as second, lock.place() as third:
            assert [lock.ahead(one) for one in (first, second, third)] == [0, 1, 2]
        with lock.place() as fourth:
            assert lock.ahead(fourth) == 1
        with pytest.raises(RuntimeError), lock.place():
            raise RuntimeError("closed in the middle")
        assert lock.ahead(first) == 0
    with lock.place() as alone:
        assert lock.ahead(alone) == 0
    assert not lock.locked()
