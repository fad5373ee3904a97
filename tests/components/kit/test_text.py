"""What can't be seen becomes visible; what is markup stays text."""

from __future__ import annotations

import html as stdlib_html
import re

import pytest

from components.kit import text

FAMILY = "👨‍👩‍👧‍👦"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("", ""),
        (" the", "·the"),
        ("a\n\tb\r\n", "a⏎⇥b␍⏎"),
        ("\x00\x04\x7f\x85", "⟨U+0000⟩⟨U+0004⟩⟨U+007F⟩⟨U+0085⟩"),
        ("\ufeffa\u200bb\u00adc", "⟨U+FEFF⟩a⟨U+200B⟩b⟨U+00AD⟩c"),
        ("\u202eabc\u2069", "⟨U+202E⟩abc⟨U+2069⟩"),
        ("a\u00a0b\u3000c\u2028", "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2028⟩"),
        ("\ud83d", "⟨U+D83D⟩"),
        ("\U0010ffff\ue000", "⟨U+10FFFF⟩⟨U+E000⟩"),
        ("\u3164\u2800", "⟨U+3164⟩⟨U+2800⟩"),
        ("e\u0301\u0323", "e\u0301\u0323"),
        ("\u0301", "◌\u0301"),
        (" \u0301", "·◌\u0301"),
        ("नमस्ते", "नमस्ते"),
        ("क्\u200dष", "क्\u200dष"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("שלום, مرحبا", "שלום,·مرحبا"),
        (FAMILY, FAMILY),
        ("👍🏽 ❤️ 🇫🇷🇩🇪", "👍🏽·❤️·🇫🇷🇩🇪"),
        (SCOTLAND, SCOTLAND),
        ("\ufe0f\u200d", "⟨U+FE0F⟩⟨U+200D⟩"),
        ("中文字", "中文字"),
        ("\ufffd", "\ufffd"),
        (b" caf\xc3\xa9", "·café"),
        (b"\xf0\x9f", "⟨F0 9F⟩"),
        (b"\x98\x80", "⟨98 80⟩"),
        (b"a\xffb\x80\x81", "a⟨FF⟩b⟨80 81⟩"),
        (b"\x04", "⟨U+0004⟩"),
        (b"\xed\xa0\xbd", "⟨ED A0 BD⟩"),
    ],
)
def test_visible(value, shown):
    assert text.visible(value) == shown


def test_every_character_of_the_first_planes_is_visible():
    """No single character draws nothing, and what comes out can be sent to a browser."""
    hidden = [
        code
        for code in range(0x20000)
        if not text.visible(chr(code)).encode() or text.visible(chr(code)).isspace()
    ]
    assert hidden == []


def test_limit_cuts_whole_signs():
    assert text.visible(" the capital", limit=5) == "·the…"
    assert text.visible(" the", limit=4) == "·the"
    assert text.visible(FAMILY + "ab", limit=2) == FAMILY + "…"
    assert text.visible(b"\xf0\x9fabc", limit=2) == "⟨F0 9F⟩…"
    assert text.visible("e\u0301e\u0301e\u0301", limit=2) == "e\u0301…"
    assert text.shorten("a long sentence", 6) == "a lon…"


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("plain words", "plain words"),
        ("*a* _b_ `c`", r"\*a\* \_b\_ \`c\`"),
        ("[x](http)", r"\[x\]\(http\)"),
        ("<b>&amp;", r"\<b\>\&amp\;"),
        ("$x$", r"\$x\$"),
        ("1. a", r"1\. a"),
        (":red[x]", r"\:red\[x\]"),
        (":smile:", r":color[\:]smile\:"),
        (":material/home:", r"\:material\/home\:"),
        ("->", r":color[\-]\>"),
        ("a -- b->c", r"a :color[\-]\- b\-\>c"),
        ("https://a.b", r"https:color[\:]\/\/a\.b"),
        ("www.a.b x@y.z", r"www:color[\.]a\.b x:color[\@]y\.z"),
        ("a\nb", "a  \nb"),
        ("    code", "\u00a0" * 4 + "code"),
        ("a\n\n\tb", "a  \n  \n" + "\u00a0" * 4 + "b"),
        ("\x00\u202e", r"⟨U\+0000⟩⟨U\+202E⟩"),
    ],
)
def test_markdown(raw, escaped):
    assert text.markdown(raw) == escaped


def test_html():
    assert text.html("<script>\"'&\x00") == "&lt;script&gt;&quot;&#x27;&amp;⟨U+0000⟩"


@pytest.mark.parametrize(
    "raw",
    ["<b>x</b>", "<br>", "$x$", "%{x}", "%{y:.2f}", "&lt;", "#000001 #000015", "{a}", "2024-01-01"],
)
def test_plotly_leaves_no_markup_and_reads_back(raw):
    escaped = text.plotly(raw)
    assert not set(re.sub(r"&#\d+;", "", escaped)) & set("<>$%&{}#")
    assert stdlib_html.unescape(escaped) == raw


def test_plotly_breaks_lines_and_shortens():
    assert text.plotly("a\nb") == "a<br>b"
    assert text.plotly("<b>bold</b>", limit=3) == "&#60;b…"
