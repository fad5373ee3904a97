"""Bytes in, text out: what each token released, what waited, and what a stop string cut."""

import pytest

from engine.generation.loop import generate
from engine.generation.releases import releases
from engine.sampling.chain import SamplingSettings

END = 2


@pytest.fixture
def tokenizer(tiny_model):
    return tiny_model("llama").tokenizer


def ids_of(tokenizer, text):
    return [token.id for token in tokenizer.encode(text)]


def test_an_emoji_comes_with_its_last_byte(tokenizer):
    ids = ids_of(tokenizer, "🎉")
    log, ending = releases(tokenizer, ids)
    data = "🎉".encode()
    assert b"".join(entry.arrived for entry in log) == data
    assert [entry.shown for entry in log] == [""] * (len(ids) - 1) + ["🎉"]
    assert log[0].waiting == log[0].arrived
    assert log[-1].waiting == ending.waiting == b""


def test_a_cut_in_the_middle_of_a_character_is_said_in_bytes(tokenizer):
    log, ending = releases(tokenizer, ids_of(tokenizer, "a🎉")[:-1])
    assert ending.waiting == "🎉".encode()[:3]
    assert ending.shown == "\ufffd"
    assert "".join(entry.shown for entry in log) == "a"


def test_a_stop_string_across_tokens_is_held_back_and_found(tokenizer):
    parts = [ids_of(tokenizer, text) for text in ("x", "E", "N", "D", "y")]
    ids = [token_id for part in parts for token_id in part]
    log, ending = releases(tokenizer, ids, stop=("END",))
    assert [entry.held for entry in log] == ["", "E", "EN", "", ""]
    assert [entry.shown for entry in log] == ["x", "", "", "", ""]
    assert [entry.found for entry in log] == [None, None, None, "END", None]
    assert ending.shown == ""


def test_what_was_held_back_for_nothing_is_released(tokenizer):
    ids = [token_id for text in ("x", "E", "N", "o") for token_id in ids_of(tokenizer, text)]
    log, _ = releases(tokenizer, ids, stop=("END",))
    assert [entry.shown for entry in log] == ["x", "", "", "ENo"]


def test_the_end_token_is_no_text(tokenizer):
    log, ending = releases(tokenizer, [*ids_of(tokenizer, "a"), END], stop_ids={END})
    assert (log[-1].arrived, log[-1].shown, log[-1].decoded) == (b"", "", "")
    assert ending.shown == ""


def test_no_stop_string_is_looked_for_in_what_is_there_already(tokenizer):
    ids = [
        token_id for text in ("E", "N", "D", "E", "N", "D") for token_id in ids_of(tokenizer, text)
    ]
    log, _ = releases(tokenizer, ids, stop=("END",), written=3)
    assert "".join(entry.shown for entry in log) == "END"
    assert [entry.found for entry in log] == [None] * 5 + ["END"]


def test_a_stop_string_may_begin_before_the_branch(tokenizer):
    ids = [token_id for text in ("x", "E", "N", "D") for token_id in ids_of(tokenizer, text)]
    log, _ = releases(tokenizer, ids, stop=("END",), written=2)
    assert "".join(entry.shown for entry in log) == "x"


@pytest.mark.parametrize("stop", [(), ("e",), ("at", "th"), ("\n",)])
def test_the_text_is_what_the_loop_streamed(tiny_model, stop):
    model = tiny_model("llama")
    for seed in range(4):
        steps = list(
            generate(
                model,
                ids_of(model.tokenizer, "The cat"),
                SamplingSettings(temperature=1.5),
                max_new_tokens=20,
                seed=seed,
                stop=stop,
            )
        )
        log, ending = releases(
            model.tokenizer, [s.id for s in steps], stop=stop, stop_ids=model.stop_ids
        )
        assert [e.shown for e in log[:-1]] == [s.text for s in steps[:-1]]
        assert log[-1].shown + ending.shown == steps[-1].text
