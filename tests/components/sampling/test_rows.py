"""Which tokens a card shows, and what it says about those that it leaves out."""

from itertools import pairwise

import numpy as np
import pytest

from components.kit.numbers import percent
from components.sampling.cards import CARDS, facts, window_words
from components.sampling.cumulative_bar import segments
from components.sampling.step_bars import payload, step_rows
from engine.sampling.chain import SamplingSettings, draw, run_chain


def random_logits(seed=1, size=3000):
    return (np.random.default_rng(seed).standard_normal(size) * 3).astype(np.float32)


def rows_of(context=(), **settings):
    stage = run_chain(random_logits(), SamplingSettings(**settings), context)[1]
    return stage, step_rows(stage, lambda token_id: f"t{token_id}")


def tokens(rows):
    return [row for row in rows if row.kind == "token"]


@pytest.mark.parametrize(
    "settings", [{"top_k": 20}, {"top_p": 0.7}, {"min_p": 0.05}, {"typical_p": 0.3}]
)
def test_both_sides_of_the_cut_are_shown_with_the_cut_between(settings):
    stage, rows = rows_of(**settings)
    shown = tokens(rows)
    assert any(row.kept for row in shown)
    assert any(not row.kept for row in shown)
    assert all(row.kept == stage.kept[row.token_id] for row in shown)
    assert sum(row.kind == "cut" for row in rows) >= 1
    assert [row.before for row in shown] == sorted((row.before for row in shown), reverse=True)
    for row in shown:
        assert row.text == ("cut" if not row.kept else percent(row.after))


def test_nothing_is_left_out_without_being_counted():
    stage, rows = rows_of(top_k=20)
    counted = sum(int(row.text.split()[1].replace(",", "")) for row in rows if row.kind == "gap")
    assert counted + len(tokens(rows)) == len(stage.kept)
    assert rows[-1].text.endswith(
        percent(
            float(
                stage.probabilities_before[
                    stage.probabilities_before < tokens(rows)[-1].before
                ].sum()
            )
        )
    )


def test_a_penalty_shows_the_tokens_that_it_hits():
    stage, rows = rows_of([5, 9, 9, 2000], repetition_penalty=1.5)
    assert {row.token_id for row in rows} == {5, 9, 2000}
    assert all("→" in row.hover for row in rows)
    assert stage.survivors == 3000


def test_what_an_earlier_step_removed_is_not_shown_again():
    stages = run_chain(random_logits(), SamplingSettings(top_k=3, min_p=0.001))
    shown = tokens(step_rows(stages[-1], str))
    assert len(shown) == 3


def test_temperature_shows_the_likeliest_with_both_values():
    _, rows = rows_of(temperature=0.5)
    best = tokens(rows)[0]
    assert best.token_id == int(random_logits().argmax())
    assert best.after > best.before
    assert len(tokens(rows)) == 8


def test_the_payload_is_small_and_plain():
    _, rows = rows_of(top_p=0.9)
    data = payload(rows, formula="f", facts="facts", note="", active=True, alt="alt")
    assert len(str(data)) < 4000
    assert data["scale"] == max(max(row["before"], row["after"]) for row in data["rows"])


def test_facts_say_tokens_mass_and_entropy():
    stage, _ = rows_of(top_k=20)
    assert "3,000 → 20" in facts(stage)
    assert f"mass kept {percent(stage.mass_kept)}" in facts(stage)
    assert f"{stage.entropy_bits_before:.2f} → {stage.entropy_bits:.2f} bits" in facts(stage)


def test_every_step_has_a_card_with_a_formula():
    stages = run_chain(random_logits(), SamplingSettings(), include_off=True)
    assert [stage.name for stage in stages[1:]] == list(CARDS)
    for stage in stages[1:]:
        assert CARDS[stage.name].formula(SamplingSettings(), stage)
    assert window_words(0) == "the text so far"
    assert window_words(64) == "the last 64 tokens"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1, "100 %"),
        (0.9955, "99.55 %"),
        (0.99999, "99.99 %"),
        (0.77, "77 %"),
        (0.042, "4.2 %"),
        (0.0003, "0.03 %"),
        (1e-6, "< 0.01 %"),
        (0, "0 %"),
    ],
)
def test_percent_has_the_digits_that_matter(share, text):
    assert percent(share) == text


@pytest.mark.parametrize("u", [0.0, 0.3, 0.999])
@pytest.mark.parametrize("settings", [{}, {"top_k": 2}, {"temperature": 0}])
def test_the_line_is_full_and_u_lies_in_the_piece_of_what_is_drawn(u, settings):
    last = run_chain(random_logits(), SamplingSettings(**settings))[-1]
    picked = draw(last.probabilities, u)
    pieces = segments(last.probabilities, picked, str)
    assert pieces[0]["start"] == pytest.approx(0, abs=1e-5)
    assert pieces[-1]["end"] == pytest.approx(1, abs=1e-5)
    for left, right in pairwise(pieces):
        assert left["end"] == pytest.approx(right["start"], abs=2e-6)
    mine = next(piece for piece in pieces if piece["picked"])
    assert mine["label"] == str(picked)
    assert mine["start"] - 1e-9 <= u <= mine["end"] + 1e-9
