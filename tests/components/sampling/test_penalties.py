"""The cards say what the penalties hit beside the text's own words."""

from itertools import product

import pytest

from components.sampling.penalties import Prompt, penalty_words
from engine.sampling.chain import SamplingSettings

START, END, BOS = "<|im_start|>", "<|im_end|>", "<s>"
CHAT = Prompt([START, None, None, END, None, START, None], frozenset({END}), chat=True)
PLAIN = Prompt([None] * 5, frozenset({END}), chat=False)
WITH_BOS = Prompt([BOS, None, None], frozenset({"</s>"}), chat=False)
GPT2 = Prompt(["<|endoftext|>", None], frozenset({"<|endoftext|>"}), chat=False)


def repetition(prompt, penalty=1.2, window=0):
    settings = SamplingSettings(repetition_penalty=penalty, penalty_window=window)
    return penalty_words("repetition_penalty", settings, prompt)


def test_a_chat_names_the_templates_tokens_and_the_end_token():
    assert repetition(CHAT) == (
        "The chat template's own tokens are lowered with the rest, <|im_start|>, <|im_end|> among "
        "them. <|im_end|> is the end token: the answer tends to run on."
    )
    assert "raised with the rest" in repetition(CHAT, 0.8)
    assert "the answer tends to end sooner" in repetition(CHAT, 0.8)


@pytest.mark.parametrize(
    ("window", "named", "end"),
    [(1, False, False), (2, True, False), (3, True, False), (4, True, True), (99, True, True)],
)
def test_only_what_lies_in_the_window_is_named(window, named, end):
    words = repetition(CHAT, window=window)
    assert bool(words) == named
    assert ("end token" in words) == end


def test_a_plain_prompt_has_nothing_to_name_but_its_control_tokens():
    assert repetition(PLAIN) == ""
    assert repetition(WITH_BOS) == (
        "The prompt's control tokens are lowered with the rest, <s> among them."
    )
    assert "<|endoftext|> is the end token" in repetition(GPT2)


def test_what_is_not_counted_is_said():
    settings = SamplingSettings(presence_penalty=1.0)
    for prompt in (CHAT, PLAIN):
        words = penalty_words("count_penalties", settings, prompt)
        assert words.startswith("The prompt is not counted")


@pytest.mark.parametrize(("presence", "frequency"), list(product([-1, 0, 1], [-1, 0, 1])))
def test_presence_and_frequency_say_which_way_they_move(presence, frequency):
    settings = SamplingSettings(
        presence_penalty=presence, frequency_penalty=frequency, count_prompt=True
    )
    words = penalty_words("count_penalties", settings, CHAT)
    if presence * frequency < 0:
        assert "are changed with the rest" in words
    elif presence + frequency:
        assert ("are lowered" in words) == (presence + frequency > 0)
        assert ("are raised" in words) == (presence + frequency < 0)
