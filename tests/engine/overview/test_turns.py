"""A rendered chat as turns: roles and words, in the ways in which templates write them."""

import pytest

from engine.overview.facts import TurnFact
from engine.overview.turns import turns
from tests.tiny import tiny_model


class Pieces:
    """A tokenizer whose tokens are given texts; those in angle brackets are control tokens."""

    def __init__(self, *texts):
        self.texts = texts

    def is_special(self, token_id):
        return self.texts[token_id].startswith("<")

    def bytes_of(self, token_id):
        return self.texts[token_id].encode()


ROLE_FIRST = (
    "<|im_start|> system\nBe _kind <|im_end|> \n <|im_start|> user\nHi <|im_end|> \n <|im_start|> "
    "assistant\n Hel lo"
)
"""SmolLM, Qwen: the role, a line break, the words. Tokens are separated by spaces; `_` is one."""

ROLE_BETWEEN = (
    "<bos> <h> system </h> \n\nBe _kind <eot> <h> user </h> \n\nHi <eot> <h> assistant </h> \n\n "
    "Hello"
)
"""Llama 3: the role between two control tokens, then the words."""


@pytest.mark.parametrize("texts", [ROLE_FIRST, ROLE_BETWEEN])
def test_turns_come_out_alike_from_different_templates(texts):
    pieces = [piece.replace("_", " ") for piece in texts.replace("im_", "im-").split(" ")]
    assert turns(Pieces(*pieces), range(len(pieces))) == (
        TurnFact("system", "Be kind"),
        TurnFact("user", "Hi"),
        TurnFact("assistant", "Hello"),
    )


def test_the_models_turn_is_there_before_it_has_written():
    tokenizer = tiny_model("llama").tokenizer
    ids = tokenizer.chat([{"role": "user", "content": "system\nthe cat"}])
    assert turns(tokenizer, ids) == (TurnFact("user", "system\nthe cat"), TurnFact("assistant", ""))


def test_a_template_without_roles_gives_one_turn_with_everything():
    texts = ("<s>", "[INST] Hi [/INST]", " Hello", "</s>")
    assert turns(Pieces(*texts), range(4)) == (TurnFact("", "[INST] Hi [/INST] Hello"),)
