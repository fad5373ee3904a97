"""The words of the training page's figures, from plain values."""

from __future__ import annotations

import pytest

from components.training import depth, recorded, view
from engine.training.preference import PreferenceStep
from engine.training.sentence import LearnStep


def test_the_title_says_when_the_taught_answer_passes_the_best():
    steps = [
        LearnStep(0, 3.0, (0.34, 0.36), ()),
        LearnStep(1, 2.9, (0.35, 0.35), ()),
        LearnStep(2, 2.8, (0.60, 0.20), ()),
    ]
    title = view.learn_title(["·Canberra", "·Sydney"], steps)
    assert title == ("·Canberra 34 % → 60 % in 2 steps; passes ·Sydney at step 2")
    assert "passes" not in view.learn_title(["·Canberra", "·Sydney"], steps[:2])
    assert view.learn_title(["·Canberra", "·Sydney"], steps[:2]).endswith("in 1 step")


def test_the_preference_title_gives_the_gain():
    first = PreferenceStep(0, 0.69, -8.0, -9.0, 0.0, 0.0, ())
    last = PreferenceStep(3, 0.5, -7.0, -12.0, 0.4, 0.0284, ())
    assert view.preference_title([first, last]) == (
        "In 3 steps the preferred answer becomes 55 times as likely, measured against the other one"
    )
    assert view.times(0.5) == "1.6 times"
    assert view.times(7.3) == "1,480 times"
    assert view.times(800.0) == "over a million times"


def test_the_recorded_trainings_are_whole_and_make_their_points():
    tiny = recorded.recorded_tiny()
    assert list(tiny.samples) == [0, 10, 100, 1000]
    assert tiny.losses[0] == pytest.approx(tiny.chance, abs=0.2)
    assert tiny.losses[1000] < 1
    assert view.tiny_title(tiny.losses).startswith("From noise to rhymes")
    names, steps = recorded.recorded_sentence()
    assert names[0] == "·Canberra"
    assert "passes ·Sydney" in view.learn_title(names, steps)
    assert len(steps[0].facts) == len(depth.FACTS)
    assert depth.FACTS[0] == ("Canberra is the capital of", " Australia")
    _, pairs = recorded.recorded_preference()
    assert pairs[0].margin == 0 < pairs[-1].margin


def test_a_text_is_coloured_by_its_bits_and_shown_literally():
    shown = view.loss_text([b"<b>", b" a", b"\xf0"], [0.0, 14.0])
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "14.00 bits" in shown
    assert "⟨F0⟩" in shown
    with pytest.raises(ValueError, match="zip"):
        view.loss_text([b"a", b"b"], [])


def test_samples_keep_their_line_breaks_and_are_shown_literally():
    shown = view.samples_html({0: "a<b>\nc\t", 1000: "x"})
    assert "a&lt;b&gt;<br>c⇥" in shown
    assert "after 1,000 steps" in shown
