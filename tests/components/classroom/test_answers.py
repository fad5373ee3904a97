"""Bars and sentences of a round: shares from the score, texts literal, the right words for one."""

import re

import pytest

from components.classroom import answers
from engine.classroom.records import Answer, Question, Round
from engine.classroom.scoring import Row, Score, Word

CAME = Row(5, b" <b>tea</b>", 2, 0.5, 0.25)
SCORE = Score(
    answers=4,
    vocabulary=1000,
    words=(
        Word(("<b>tea</b>",), 2, (5,), (b" <b>tea</b>",)),
        Word(("matcha", "Matcha"), 2, (7, 8), (b" mat", b"cha")),
    ),
    rows=(CAME, Row(7, b" mat", 2, 0.5, 0.01), Row(9, b"\n", 0, 0.0, 0.1)),
    came=CAME,
    class_bits=1.0,
    model_bits=2.0,
)
GIVEN = (Answer(1, "Ada", "matcha"), Answer(2, "", "Matcha"), Answer(3, "$x$", "<b>tea</b>"))


def test_bars_are_as_long_as_the_shares_and_texts_are_literal():
    html = answers.class_beside_model(SCORE)
    widths = [float(width) for width in re.findall(r"flex:([\d.]+) 0 2px", html)]
    assert widths == pytest.approx([answers.BAR, answers.BAR / 2, answers.BAR, 1.24, 12.4])
    assert "&lt;b&gt;tea&lt;/b&gt;" in html
    assert "<b>tea" not in html
    assert html.count(">came<") == 1
    assert "50 % (2)" in html
    assert "⏎" in html


def test_the_sentences_say_what_came_who_said_it_and_how_it_is_cut():
    assert answers.headline(SCORE) == (
        "“·<b>tea</b>” came. 2 of 4 said it (50 %); the model gave it 25 %."
    )
    assert answers.word_line(SCORE.words[0], GIVEN) == (
        "2 × <b>tea</b>: one token, ·<b>tea</b> ($x$)"
    )
    assert answers.word_line(SCORE.words[1], GIVEN) == (
        "2 × matcha / Matcha: 2 tokens, ·mat | cha (Ada and 1 more)"
    )
    assert answers.whole_and_cut(SCORE).startswith("1 word is one token; 1 takes several")
    assert "the class 1.0 bits, the model 2.0 bits" in answers.bits_line(SCORE)


def test_who_was_less_surprised_is_said_from_the_second_round_on():
    assert answers.standing_line([(1.0, 2.0)]) == ""
    assert answers.standing_line([(1.0, 2.0), (3.0, 3.0)]) == (
        "Over 2 rounds: the class 2.00 bits per token, the model 2.50: "
        "the class was less surprised."
    )
    assert answers.standing_line([(4.0, 2.0)] * 3).endswith("the model was less surprised.")
    assert answers.standing_line([(2.0, 2.0)] * 2).endswith("both alike.")


def test_options_are_counted_and_the_right_one_is_marked():
    question = Question("q", options=("a", "<i>b</i>"), right=1)
    given = (Answer(1, "", "a"), Answer(2, "", "<i>b</i>"), Answer(3, "", "<i>b</i>"))
    html = answers.option_bars(Round(1, question, True, 3, given))
    assert "1 (33 %)" in html
    assert "2 (67 %)" in html
    assert html.index(">right<") > html.index("&lt;i&gt;b&lt;/i&gt;")
    assert "0 (0 %)" in answers.option_bars(Round(1, question, True, 0))


def test_the_passage_ends_in_a_gap_or_in_what_came():
    assert "the next word" in answers.passage("a <b>\nc")
    assert "a &lt;b&gt;<br>c" in answers.passage("a <b>\nc")
    filled = answers.passage("x" * 500, b" <i>", limit=10)
    assert "…" + "x" * 10 in filled
    assert "·&lt;i&gt;" in filled
    assert "of 30" in answers.big_count(12, 30)
    assert "of 31" in answers.big_count(31, 30), "whoever left after answering still counts"
