"""The parts of the speculative decoding page: fates, residual, two texts, law, and verdict."""

import json

import numpy as np
import pytest

from components.speculative.depth import tasks
from components.speculative.law_bars import DRAFTS, MODEL, law_bars, law_words
from components.speculative.pay import speed_lines, table, text_bars, texts_words, verdict
from components.speculative.recorded import Measured, Recording, recorded
from components.speculative.rounds import (
    residual_bars,
    round_words,
    rounds_html,
    same_words,
    told,
)
from components.speculative.two_texts import fast_passes, headline, plain_passes, ratio, seconds
from engine.generation.token_step import TokenStep
from engine.speculative.law import LawCheck, TextLaw
from engine.speculative.race import Lap, Pay, expected_tokens, predicted_speed_up
from engine.speculative.rounds import CheckedToken, DraftRound, ResidualRow

ACCEPTED = CheckedToken(1, b"<b>", p=0.5, q=0.25, u=0.9, fate="accepted")
REJECTED = CheckedToken(2, b" dog", p=0.1, q=0.5, u=0.4, fate="rejected")
UNSEEN = CheckedToken(3, b"\xf0\x9f", p=0.1, q=0.5, u=None, fate="not checked")
REDRAWN = CheckedToken(4, b" cat", p=0.75, q=0.0, u=0.3, fate="accepted")
ROUND = DraftRound(
    index=0,
    proposed=(ACCEPTED, REJECTED, UNSEEN),
    source="redrawn",
    last=REDRAWN,
    residual=(ResidualRow(4, 0.6, 0.2, 0.75), ResidualRow(2, 0.1, 0.5, 0.0)),
    ids=(1, 4),
    draft_milliseconds=20.0,
    check_milliseconds=80.0,
    stop_reason="token budget",
)


def step(index):
    return TokenStep(
        index=index,
        id=1,
        data=b"x",
        text="x",
        probability=1.0,
        raw_probability=1.0,
        alternatives=(),
        entropy_bits=0.0,
        u=0.5,
        forced=False,
        milliseconds=100.0,
        cache_tokens=1,
        cache_bytes=1,
        stop_reason=None,
    )


def paid(k, speed_up, **changes):
    values = {"acceptance": 0.5, "tokens_a_pass": 1.5, "draft_cost": 0.1, "check_cost": 1.1}
    return Pay(k=k, speed_up=speed_up, predicted=1.0, **values | changes)


def test_each_fate_is_told_with_its_numbers():
    assert told(ACCEPTED, "accepted") == "accepted: p = 50 %, q = 25 %, u = 0.900 < p/q = 2.000"
    assert told(REJECTED, "rejected") == "rejected: p = 10 %, q = 50 %, u = 0.400 ≥ p/q = 0.200"
    assert told(UNSEEN, "not checked").startswith("after a rejection, not looked at")
    assert told(REDRAWN, "redrawn").endswith("drawn with probability 75 %, u = 0.300")


def test_a_round_is_drawn_with_letters_and_without_markup():
    drawn = rounds_html([ROUND], selected=0)
    for letter in "AR–D":
        assert f">{letter}</b>" in drawn
    assert "&lt;b&gt;" in drawn
    assert "<b></b>" not in drawn
    assert "⟨F0 9F⟩" in drawn
    assert "\\<b\\>" in round_words(ROUND)


def test_the_residual_is_p_over_q():
    figure = residual_bars(ROUND, lambda token_id: b" x", key="k")
    assert "Instead of ·dog" in figure.layout.title.text
    assert list(figure.data[0].x) == pytest.approx([0.75, 0.0])
    assert list(figure.data[1].x) == pytest.approx([0.6, 0.1])


def test_two_texts_are_made_of_passes_and_the_headline_says_how_much_faster():
    laps = (Lap(ROUND, (step(0), step(1))), Lap(None, (step(2),)))
    assert fast_passes(laps) == [[(b"<b>", True), (b" cat", False)]]
    assert plain_passes(laps) == [[(b"x", False)]] * 3
    assert seconds(laps) == pytest.approx((0.1, 0.3))
    assert ratio(laps) == pytest.approx(2.0)
    assert headline(laps, same=True) == "1 pass instead of 3: the same text, 2.00 × as fast"
    slow = (Lap(ROUND, (step(0),)), Lap(ROUND, ()))
    assert headline(slow, same=False).startswith("2 passes instead of 1: 4 tokens of text, 2.00")


def test_a_recording_is_the_same_after_it_was_written_and_read():
    law = LawCheck(100, (60, 30, 10), (0.6, 0.3, 0.1), (1.0, 0.0, 0.0), 0.6, 0.6, 0.0, 1.0)
    laps = (Lap(ROUND, (step(0), step(1))), Lap(None, (step(2),)))
    whole = Recording("m", laps, (Measured("p", 3, {"Distilled": (paid(1, 1.5),)}),), {"far": law})
    assert Recording.from_json(json.loads(json.dumps(whole.to_json()))) == whole


def test_the_recorded_race_is_won_by_the_draft_with_the_same_text():
    found = recorded()
    fast = [data for tokens in fast_passes(found.laps) for data, _ in tokens]
    plain = [data for tokens in plain_passes(found.laps) for data, _ in tokens]
    assert fast == plain
    assert len(fast_passes(found.laps)) < len(plain)
    assert ratio(found.laps) > 1.2
    assert [len(measured.drafts) for measured in found.pays] == [3, 3]
    assert set(found.laws) == set(DRAFTS)


@pytest.mark.parametrize("name", DRAFTS)
def test_kept_and_redrawn_make_the_models_share(name):
    law = recorded().laws[name]
    assert law.expected == pytest.approx(MODEL)
    figure = law_bars(law, DRAFTS[name], key="k")
    _, kept, redrawn, outline, counted = figure.data
    assert list(kept.y) == pytest.approx(np.minimum(MODEL, DRAFTS[name]))
    assert list(redrawn.base) == pytest.approx(list(kept.y))
    assert list(kept.y + redrawn.y) == pytest.approx(MODEL)
    assert list(outline.y) == pytest.approx(MODEL)
    assert list(counted.y) == pytest.approx(MODEL, abs=0.02)


def test_the_verdict_says_where_it_does_not_pay():
    slow = {"Prompt lookup": [paid(1, 0.8), paid(2, 0.5)]}
    assert "It does not pay here" in verdict(slow)
    assert "prompt lookup with k = 1, takes 1.25 × as long" in verdict(slow)
    mixed = verdict({"Prompt lookup": [paid(1, 0.9), paid(2, 1.6)]})
    assert "prompt lookup with k = 2 is 1.60 × as fast" in mixed
    assert "With k = 1 it is slower" in mixed
    both = verdict({"org/Some*Model": [paid(1, 1.6)], "Early exit, 5 layers": [paid(1, 0.4)]})
    assert r"org\/Some\*Model with k = 1 is 1.60 × as fast" in both
    assert r"With no k does it pay for early exit\, 5 layers." in both


def test_each_draft_is_a_row_and_a_line():
    found = {"Distilled": [paid(1, 0.812), paid(2, 1.3)], "Prompt lookup": [paid(2, 0.9)]}
    rows = [(row["draft"], row["k"], row["speed-up"]) for row in table(found)]
    assert rows == [("Distilled", 1, 0.81), ("Distilled", 2, 1.3), ("Prompt lookup", 2, 0.9)]
    figure = speed_lines(found, key="k")
    assert figure.layout.title.text == "Distilled with k = 2: 1.30 × plain decoding"
    assert [(trace.name, trace.line.dash) for trace in figure.data] == [
        ("Distilled", "solid"),
        ("Distilled, by the formula", "dot"),
        ("Prompt lookup", "solid"),
        ("Prompt lookup, by the formula", "dot"),
    ]
    assert list(figure.data[0].y) == pytest.approx([0.812, 1.3])
    assert figure.data[0].line.color == figure.data[1].line.color != figure.data[2].line.color
    assert list(np.isnan(figure.data[2].y)) == [True, False]  # over in one round with k = 1


def test_texts_are_bars_beside_their_law():
    law = {(1, 2): 0.75, (3,): 0.25}
    found = TextLaw(100, {(1, 2): 70, (3,): 30}, law, 0.05, 0.035, 0.25)
    figure = text_bars(found, lambda token: {1: b"<b>", 2: b" cat", 3: b"x"}[token], key="k")
    assert list(figure.data[0].x) == pytest.approx([0.7, 0.3])
    assert list(figure.data[1].x) == pytest.approx([0.75, 0.25])
    assert "&#60;b&#62;·cat" in " ".join(figure.layout.yaxis.ticktext)
    assert "100 runs, 2 texts" in texts_words(found)
    assert "5.0 % of the runs would have to be moved" in texts_words(found)
    assert "by chance in 25 % of such experiments" in texts_words(found)


def test_the_formula_on_known_values():
    assert expected_tokens(0.5, 2) == 1.75
    assert expected_tokens(1.0, 3) == 4
    assert expected_tokens(0.0, 5) == 1
    assert predicted_speed_up(0.8, 4, 0.0, 1.0) == pytest.approx((1 - 0.8**5) / 0.2)
    assert predicted_speed_up(0.5, 2, 0.25, 1.25) == pytest.approx(1.0)


def test_the_law_in_words():
    found = LawCheck(100, (60, 30, 10), (0.6, 0.3, 0.1), (1.0, 0.0, 0.0), 0.6, 0.6, 0.0, 1.0)
    said = law_words(found)
    assert "came 60.0, 30.0 and 10.0 % of the time" in said
    assert "alone would give 60, 30 and 10" in said
    assert "by chance in 100 % of such experiments" in said


def test_same_text_is_claimed_only_in_greedy():
    assert "the same" in same_words(same=True, greedy=True)
    assert "may differ" in same_words(same=True, greedy=False)
    assert "stopped" in same_words(same=False, greedy=True)
    assert "part at token 7" in same_words(same=False, greedy=True, parts_at=7)


def test_tasks_are_checked():
    found = tasks([ROUND], paid(4, 1.7), greedy=True, same=True)
    assert [task.done for task in found] == [True, True, False]
    none = tasks([], None, greedy=True, same=True)
    assert not any(task.done for task in none)
