"""The parts of the generation page: stop strings as typed, pieces as drawn, the tree, the words."""

from dataclasses import replace

import numpy as np
import pytest

from components.generation.answer_text import LEVELS, answer_html, level, pieces
from components.generation.branch_tree import branch_name, branch_tree, chosen_branch, drawing_order
from components.generation.controls import parse_stops, progress, why_it_ended
from components.generation.detokenizer import reason, rows, summary
from components.generation.events import rows as event_rows
from components.generation.events import wire_text
from components.generation.surprise import bits_of, surprise, where_unsure
from components.kit.text import readable
from components.kv_cache.costs import cost_lanes, cost_lines, cost_words
from engine.generation.branches import Setup, Tree, Written
from engine.generation.releases import Ending, Release
from engine.generation.server_events import server_events
from engine.generation.token_step import TokenStep
from engine.kv_cache.step_costs import StepCost
from engine.sampling.chain import SamplingSettings

SETUP = Setup(SamplingSettings(), seed=0)
END = 2


def written(token_id, data=b" x", probability=0.5, reason=None, **changes):
    values = {
        "index": 0,
        "text": data.decode(errors="replace"),
        "alternatives": (),
        "entropy_bits": 1.0,
        "u": 0.5,
        "forced": False,
        "milliseconds": 100.0,
        "cache_tokens": 1,
        "cache_bytes": 8,
    }
    return Written(
        TokenStep(
            id=token_id,
            data=data,
            probability=probability,
            raw_probability=probability,
            stop_reason=reason,
            **values | changes,
        ),
        SETUP,
    )


def shown(data, *, waiting=b"", decoded=None, held="", text=None, found=None):
    whole = data.decode(errors="replace") if decoded is None else decoded
    return Release(data, waiting, whole, held, whole if text is None else text, found)


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("", ()),
        (" . ", (".",)),
        (r"\n\n | END", ("\n\n", "END")),
        (r"a\|b", ("a|b",)),
        (r"\\n", ("\\n",)),
        (r"a\\|b", ("a\\", "b")),
        ("a\\", ("a\\",)),
        ("a | a | b", ("a", "b")),
        ("|||", ()),
        (r"<b>|$x$|\t", ("<b>", "$x$", "\t")),
    ],
)
def test_stop_strings_as_they_are_typed(text, stops):
    assert parse_stops(text) == (stops, None)


def test_too_many_or_too_long_stop_strings_are_said():
    assert parse_stops("|".join("abcdefghij")) == (
        tuple("abcdefgh"),
        "There can be at most 8 stop strings; the rest is left out.",
    )
    assert parse_stops("x" * 61)[1] == ("A stop string has at most 60 characters; one is left out.")


def test_each_probability_has_its_level():
    found = [level(p) for p in (0.0, 0.049, 0.05, 0.3, 0.5, 0.9, 1.0)]
    assert found == [0, 0, 1, 2, 3, 4, 4]
    assert len(LEVELS) == 5


def test_a_part_of_a_character_shows_its_bytes_and_the_end_token_its_name():
    answer = [written(5, b"\xf0\x9f"), written(6, b"\x8e\x89"), written(END, b"<|im_end|>")]
    log = [
        shown(b"\xf0\x9f", decoded="", waiting=b"\xf0\x9f"),
        shown(b"\x8e\x89", decoded="🎉"),
        Release(b"", b"", "", "", "", None),
    ]
    first, second, last = pieces(answer, log, frozenset({END}))
    assert (first.text, first.partial) == ("⟨F0 9F⟩", True)
    assert (second.text, second.partial) == ("🎉", False)
    assert (last.text, last.end) == ("<|im_end|>", True)


def test_what_a_stop_string_cut_is_apart_from_the_text():
    answer = [written(5, b"one E"), written(6, b"ND two")]
    log = [
        shown(b"one E", held="E", text="one "),
        shown(b"ND two", text="", found="END"),
    ]
    first, second = pieces(answer, log, frozenset())
    assert (first.text, first.cut) == ("one ", "E")
    assert (second.text, second.cut) == ("", "ND two")


def test_text_reads_as_a_sentence_and_hides_nothing():
    assert readable(" the cat") == " the cat"
    assert readable("  ") == "··"
    assert readable("a\n") == "a⏎"
    assert readable("\u202eabc") == "⟨U+202E⟩abc"


def test_markup_in_an_answer_is_escaped():
    drawn = pieces([written(5, b"<script>")], [shown(b"<script>")], frozenset())
    assert "&lt;script&gt;" in answer_html("<b>", drawn)
    assert "<script>" not in answer_html("<b>", drawn)


def tree():
    """The first answer, two that leave it, and another from the prompt."""
    found = Tree()
    for parent, at, ids in ((None, 0, [1, 2, 3]), (0, 1, [7]), (None, 0, [4]), (1, 2, [8, 9])):
        found = found.with_branch(parent, at)
        for token_id in ids:
            found = found.with_token(len(found.branches) - 1, written(token_id, b"<b>"))
    return found


def test_a_branch_stands_beneath_the_one_that_it_leaves():
    assert drawing_order(tree()) == [0, 1, 3, 2]


def test_the_tree_draws_each_branch_and_a_click_on_its_end_names_it():
    figure = branch_tree(tree(), current=3, key="k")
    *_, ends, names = figure.data
    assert list(ends.x) == [3, 2, 4, 1]
    assert list(ends.y) == [0, 1, 2, 3]
    assert "<b>" not in names.text[0]
    assert "&#60;b&#62;" in names.text[0]
    event = {"selection": {"points": [{"curve_number": len(figure.data) - 2, "point_index": 2}]}}
    assert chosen_branch(event, tree()) == 3
    picked = [list(trace.x) for trace in figure.data[1:-2:2]]
    assert picked == [[0, 1], [1, 1, 2], [2, 2, 4], []]
    assert branch_name(tree(), 1) == "2: after token 1: <b>"


def test_surprise_is_bits():
    steps = [written(1, probability=p).step for p in (0.5, 0.125, 1.0, 0.0)]
    assert bits_of(steps) == [1, 3, 0, 149]
    assert surprise(steps[:3], key="k").layout.title.text.startswith("4 bits in all")
    assert "4.0 bits of surprise, 1.33 per token" in where_unsure(steps[:3])


@pytest.mark.parametrize("count", [5, 60])
def test_words_and_axis_give_a_token_the_same_number(count):
    steps = [written(1, probability=0.9, index=i).step for i in range(count)]
    steps[3] = written(1, b" all", probability=0.01, index=3).step
    figure = surprise(steps, key="k")
    assert "“·all”, token 4" in figure.layout.title.text
    assert figure.data[0].x[int(np.argmax(figure.data[0].y))] == 4
    assert figure.data[0].hovertext[3].startswith("token 4: ")
    axis = figure.layout.xaxis
    shown = dict(zip(axis.tickvals, axis.ticktext, strict=True))
    assert shown[4] == "·all" if count <= 40 else all(str(k) == v for k, v in shown.items())
    assert axis.range[0] < 1 < count < axis.range[1]


@pytest.mark.parametrize(
    ("release", "words"),
    [
        (Release(b"", b"", "", "", "", None), "the end token is no text"),
        (shown(b"\xf0", decoded="", waiting=b"\xf0"), "more bytes must come"),
        (shown(b"\x89", decoded="🎉"), "completes the character that was waiting"),
        (shown(b"\xff", decoded="\ufffd"), "can never become a character"),
        (shown(b"E", held="E", text=""), "E is held back: a stop string may begin with it"),
        (shown(b"ND", text="", found="END"), "completes the stop string END"),
        (shown(b" the"), "the space belongs to the token"),
        (shown(b"o", text="ENo"), "no stop string after all"),
        (shown(b"the"), ""),
    ],
)
def test_why_a_token_did_what_it_did(release, words):
    assert words in reason(release)
    assert bool(reason(release)) == bool(words)


def test_the_table_says_nothing_yet_and_the_summary_the_cut():
    log = [shown(b"\xf0\x9f", decoded="", waiting=b"\xf0\x9f")]
    (row,) = rows(log, [b"\xf0\x9f"])
    assert row["bytes that wait"] == "F0 9F"
    assert row["text released"] == "nothing yet"
    assert "F0 9F never became whole" in summary(log, Ending(b"\xf0\x9f", "\ufffd"))


def test_costs_on_one_clock():
    costs = [
        StepCost(
            i,
            5 + i,
            with_cache=c,
            without_cache=w,
            cache_bytes=80,
            difference=1e-6,
            best_id=7,
            same_choice=True,
        )
        for i, (c, w) in enumerate([(200.0, 200.0), (100.0, 300.0), (100.0, 500.0)])
    ]
    figure = cost_lanes(costs, [b"a", b"b", b"c"], key="k")
    assert figure.layout.title.text == (
        "3 tokens: 0.4 s with the KV cache, 1.0 s without it, 2.5 × as long"
    )
    assert list(figure.data[0].x) == pytest.approx([0, 0.2, 0.3, 0.4])
    assert list(figure.data[1].x) == pytest.approx([0, 0.2, 0.5, 1.0])
    assert cost_lines(costs, key="k").layout.title.text == (
        "Prefill of 5 tokens: 200 ms, then 100 ms per token"
    )
    assert "3 of 3 steps" in cost_words(costs)


def test_events_say_what_they_carry():
    steps = [written(1, b"<b>\n").step, written(END, b"end", text="", reason="end token").step]
    events = server_events(steps, model="m", chat=True)
    assert [row["carries"] for row in event_rows(events)] == [
        "who speaks",
        "<b>⏎",
        "why it ended: stop",
        "the end of the stream",
    ]
    assert wire_text(events).endswith("data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("end token", "Ended by the model"),
        ("stop string", "Ended by a stop string"),
        ("token budget", "Ended by the token budget"),
        ("context limit", "Ended by the context limit"),
        (None, "Broken off"),
    ],
)
def test_each_end_has_its_sentence(reason, words):
    said = why_it_ended((written(END, b"*end*", reason=reason),), stopped=False)
    assert words in said
    assert "*end*" not in said


def test_an_answer_is_stopped_by_you_only_where_you_stopped_it():
    cut, whole = written(END, b"a", reason=None), written(END, b"a", reason="token budget")
    assert "Stopped by you" in why_it_ended((cut,), stopped=True)
    assert "Stopped by you" not in why_it_ended((whole,), stopped=True)
    assert "you" not in why_it_ended((cut,), stopped=False)


def test_progress_says_who_shared_the_last_pass():
    step = replace(written(5, b"x").step, milliseconds=81.6)
    assert progress(1, step) == "1 token, 82 ms for this one"
    shared = progress(12, replace(step, texts=18))
    assert shared == "12 tokens, 82 ms for this one, in one pass with 17 other texts"
