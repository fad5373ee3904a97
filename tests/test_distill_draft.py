"""The recipe of the distilled draft: where it practises, and what its last loss says."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from scripts.distill_draft import TEMPERATURE, answered, rejection

END, NEW_LINE, OPEN, ASSISTANT = 2, 3, 1, 9
TURNS = SimpleNamespace(to_assistant=[END, NEW_LINE, OPEN, ASSISTANT])


def test_only_answers_are_practised_each_with_its_end():
    question, answer = [50, 51], [60, 61]
    opening = [NEW_LINE, OPEN, ASSISTANT]
    ids = [OPEN, 8, *question, END, *opening, *answer, END, NEW_LINE, OPEN, 8, *question]
    following = [ids[i + 1] for i, practised in enumerate(answered(ids, TURNS)) if practised]
    assert following == [60, 61, END]


def test_the_last_token_has_no_next_one():
    ids = [50, END, NEW_LINE, OPEN, ASSISTANT, 60, 61]
    assert answered(ids, TURNS) == [False, False, False, False, True, True, False]


def test_a_plain_text_is_one_answer():
    assert answered([0, 50, 51, 52], TURNS) == [True, True, True, False]


def test_rejection_is_one_minus_what_both_share():
    p = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    q = torch.tensor([[0.2, 0.5, 0.3], [0.2, 0.2, 0.6]])
    logits, wanted = TEMPERATURE * q.log(), TEMPERATURE * p.log()
    # min(p, q): 0.2 + 0.3 + 0.1 in the first row, all in the second.
    assert float(rejection(logits, wanted)) == pytest.approx((0.4 + 0.0) / 2, abs=1e-6)
