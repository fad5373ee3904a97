"""Results that sessions share: worked out once, bounded by bytes, the seen ones kept longest."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

from components.link import keys
from components.shell.stages import stage
from engine.tracing.trace import trace
from pages.frame.shared import Looker, Store, size_of
from pages.frame.shared import store as results_store
from tests.app.hands import set_prompt
from tests.tiny import tiny_model

PAGES = ("tokenizer", "embedding", "attention", "feed_forward", "lm_head", "sampling", "overview")


@dataclass
class Two:
    first: np.ndarray
    second: list[np.ndarray]


def floats(count: int) -> np.ndarray:
    return np.zeros(count, np.float32)


def ask(store: Store, name: str, looker: Looker | None = None, count: int = 250) -> list[str]:
    """Ask for a result of 1,000 bytes; return its name in a list if it had to be worked out."""
    made: list[str] = []

    def work_out() -> np.ndarray:
        made.append(name)
        return floats(count)

    store.get((name, "model"), work_out, looker)
    return made


def test_the_longest_unasked_goes_first_when_the_bytes_are_used_up():
    store = Store(3_000)
    for name in "abc":
        assert ask(store, name) == [name]
    assert ask(store, "a") == []
    assert ask(store, "d") == ["d"]
    assert store.nbytes == 3_000
    assert ask(store, "a") == ask(store, "c") == ask(store, "d") == []
    assert ask(store, "b") == ["b"]


def test_what_a_session_looks_at_stays_longer_than_what_was_asked_for_later():
    store, session = Store(3_000), Looker()
    ask(store, "seen", session)
    for name in "abcdef":
        ask(store, name)
    assert ask(store, "seen") == []
    del session  # its tab is closed
    for name in "abcdef":
        ask(store, name)
    assert ask(store, "seen") == ["seen"]


def test_the_bound_holds_also_when_sessions_look_at_more():
    store, sessions = Store(3_000), [Looker() for _ in range(10)]
    for number, session in enumerate(sessions):
        ask(store, str(number), session)
        assert store.nbytes <= 3_000


def test_a_result_larger_than_all_that_may_be_kept_is_given_and_not_kept():
    store = Store(3_000)
    assert ask(store, "large", count=1_000) == ask(store, "large", count=1_000) == ["large"]
    assert store.nbytes == 0


def test_sessions_that_ask_for_the_same_at_once_share_one_run():
    store, runs = Store(3_000), []

    def slowly() -> np.ndarray:
        runs.append(1)
        time.sleep(0.05)
        return floats(1)

    threads = [threading.Thread(target=store.get, args=(("f", "m"), slowly)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 1


def test_an_error_is_passed_on_and_not_kept():
    store = Store(3_000)

    def fail() -> None:
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            store.get(("f", "m"), fail)
    assert ask(store, "f") == ["f"]


def test_a_model_that_goes_takes_its_results_along():
    store = Store(3_000)
    store.get(("f", "one"), lambda: floats(250))
    store.get(("f", "two"), lambda: floats(250))
    store.forget("one")
    assert store.nbytes == 1_000
    store.forget()
    assert store.nbytes == 0


def test_what_was_in_work_when_its_model_went_is_not_kept():
    store = Store(3_000)

    def while_the_model_goes() -> np.ndarray:
        store.forget("m")
        return floats(1)

    store.get(("f", "m"), while_the_model_goes)
    assert store.nbytes == 0


def test_sizes_count_each_array_once_and_never_the_model():
    both = floats(1_000)
    size = size_of({"x": Two(both, [both, floats(500)])})
    assert 6_000 <= size < 8_000
    model = tiny_model("llama")
    assert size_of(model) == 0
    found = trace(model, (1, 2, 3))
    assert size_of([found]) == pytest.approx(found.nbytes, abs=200)


def test_ten_prompts_side_by_side_need_no_second_pass(open_app, monkeypatch):
    """Sessions that take turns on all pages, and move a slider: every pass has run already."""
    sessions = []
    for number in range(10):
        at = open_app("tokenizer")
        set_prompt(at, f"Student {number} says that")
        for page in PAGES:
            at.switch_page(stage(page).page).run()
        sessions.append(at)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a pass was run again")

    monkeypatch.setattr("engine.tracing.trace.observed", refuse)
    for at in sessions:
        for page in ("attention", "feed_forward", "lm_head"):
            at.switch_page(stage(page).page).run()
            assert not at.exception
            assert not at.error
        before = results_store().nbytes
        at.slider(key=keys.TEMPERATURE).set_value(1.3).run()
        assert not at.exception
        assert results_store().nbytes == before, "a slider pushes out what took a pass"
