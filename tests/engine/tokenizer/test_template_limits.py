"""Chat templates that run away, and tokenizers that panic, end in a sentence."""

from __future__ import annotations

import sys
import time

import pytest
from tokenizers import Regex, pre_tokenizers
from tokenizers import Tokenizer as Backend

from engine.basics.errors import EngineError
from engine.tokenizer import template_limits
from engine.tokenizer.tokenizer import Tokenizer
from tests.tiny import CHAT_TEMPLATE, tiny_backend

TURN = [{"role": "user", "content": "Hi"}]
LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}BODY{% endfor %}{% endfor %}"
GROWING = (
    LOOP.replace("BODY", ""),
    LOOP.replace("BODY", "{{ messages[0].content }}"),
    "{{ 'a' * 2000000000 }}",
    "{{ 2000000000 * 'a' }}",
    "{{ 10 ** 1000000000 }}",
    "{{ '%2000000000d' % 1 }}",
    "{% set n = namespace(s='a') %}{% for i in range(31) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
    "{% macro f(s, n) %}{% if n %}{{ f(s ~ s, n - 1) }}{% endif %}{% endmacro %}{{ f('ab', 30) }}",
    "{{ 'a'.center(2000000000) }}",
    "{{ 'a'.ljust(1099511627776) }}",
    "{{ '1'|center(2000000000) }}",
    "{{ ('\\t' * 9999).expandtabs(999999) }}",
    "{{ ('a\n' * 9999)|indent(999999) }}",
    "{{ ('a' * 99999).replace('a', 'b' * 99999) }}",
    "{{ ('a' * 99999)|replace('a', 'b' * 99999) }}",
    "{{ ('b' * 99999).join(['a'] * 99999) }}",
    "{{ (['a' * 99999] * 99999)|join }}",
    "{{ '{:>2000000000}'.format(1) }}",
    "{{ '{:{}}'.format(1, 2000000000) }}",
    "{{ '%2000000000d'|format(1) }}",
    "{% set n = namespace(s='a') %}{% for i in range(31) %}{% set n.s = n.s + n.s %}{% endfor %}",
    "{% set s = 'a' * 900000 %}{% for i in range(99999) %}{{ s }}{% endfor %}",
)
PLAIN = (
    "{{ bos_token }}{{ messages | tojson }} {{ 7 % 4 * 2 ** 3 + 1 }} {{ 'a' + 'b' }}"
    "{{ 'a-b'.replace('-', '+') }}{{ ', '.join(['a', 'b']) }}{{ ['a', 1] | join('-') }}"
    "{{ '{} {}'.format(1, 'x') }}{{ 'a'|indent(2, true) }}{{ [1] + [2] }}{{ 'a'.center(5) }}"
)


@pytest.mark.parametrize("template", GROWING)
def test_a_template_that_runs_away_is_stopped_soon(template, monkeypatch):
    monkeypatch.setattr(template_limits, "SECONDS", 0.3)
    start = time.monotonic()
    with pytest.raises(EngineError, match="chat template refuses these turns: The model's chat"):
        Tokenizer(tiny_backend(), template).chat(TURN)
    assert time.monotonic() - start < 30, "a loaded machine is slow, but this would last for hours"


def test_a_template_that_refuses_says_its_reason_and_no_trace_function_stays():
    before = sys.gettrace()
    with pytest.raises(EngineError, match=r"refuses these turns: only one turn\. Use plain text"):
        Tokenizer(tiny_backend(), "{{ raise_exception('only one turn.') }}").chat(TURN)
    assert sys.gettrace() is before


def test_the_limits_change_nothing_of_what_transformers_renders():
    from transformers.utils.chat_template_utils import render_jinja_template

    turns = [*TURN, {"role": "assistant", "content": "<b>é</b>\n"}, *TURN]
    for template in (CHAT_TEMPLATE, PLAIN):
        expected, _ = render_jinja_template(
            conversations=[turns],
            chat_template=template,
            add_generation_prompt=True,
            bos_token="<s>",
        )
        tokenizer = Tokenizer(tiny_backend(), template, special_names={"bos_token": "<s>"})
        assert tokenizer.chat_text(turns) == expected[0]


def test_a_regular_expression_that_runs_away_is_a_sentence():
    backend = Backend.from_str(tiny_backend().to_str())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex("(a|a|aa)+$"), "isolated"), pre_tokenizers.ByteLevel()]
    )
    tokenizer = Tokenizer(backend)
    assert [token.data for token in tokenizer.encode("b")] == [b"b"]
    with pytest.raises(EngineError, match="tokenizer breaks down on this text"):
        tokenizer.encode("a" * 60 + "b")
