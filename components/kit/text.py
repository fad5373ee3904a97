"""Text that a user or a model wrote: made visible, and shown literally wherever it goes.

`visible` turns what can't be seen (blanks, line breaks, control characters, half characters) into
signs. `markdown`, `html` and `plotly` then escape for one target each, so that no prompt, stop
string or model output is ever read as markup.

The signs: `·` space, `⏎` line feed, `␍` carriage return, `⇥` tab, `⟨U+200B⟩` a character that has
no picture, `⟨F0 9F⟩` bytes that are no character (yet), `◌́` a mark that has nothing to sit on.
"""

from __future__ import annotations

import html as _html
import re
import unicodedata
from collections.abc import Iterator, Mapping

_BLANKS: Mapping[str, str] = {" ": "·", "\n": "⏎", "\r": "␍", "\t": "⇥"}

# Characters that draw nothing although their category is letter, mark or symbol.
_PICTURELESS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")

# Categories without a picture: control, format, surrogate, private, unassigned, separators.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})

_JOINERS = frozenset("\u200c\u200d")
_BLACK_FLAG = "\U0001f3f4"


def visible(value: str | bytes, *, limit: int | None = None) -> str:
    r"""Return `value` with everything that can't be seen turned into a sign.

    Letters, combining sequences, emoji (with their joiners, variation selectors and flags) and
    right-to-left text stay as they are; direction overrides don't.

    Args:
        value: text, or the bytes of a token, which may be a part of a character.
        limit: the most signs to return; a longer result ends in `…`. A sign or an emoji sequence
            is never cut in two.

    >>> visible(" the\n"), visible(b"\xf0\x9f"), visible("a\x04")
    ('·the⏎', '⟨F0 9F⟩', 'a⟨U+0004⟩')
    """
    units = _units(value, _BLANKS)
    if limit is None:
        return "".join(units)
    return "".join(_shortened(list(units), limit))


def quoted(value: str | bytes, *, limit: int = 14) -> str:
    """Return a token as it stands in a sentence: visible, shortened, in quotation marks."""
    return f"“{visible(value, limit=limit)}”"


def shorten(value: str, limit: int) -> str:
    """Return at most `limit` characters of ordinary text, ending in `…` where something is cut."""
    return "".join(_shortened(list(_units(value, {" ": " ", "\n": "\n", "\t": "\t"})), limit))


def readable(text: str) -> str:
    """Make text visible but keep the spaces between words, so that it reads as a sentence.

    Text of spaces alone gets its signs, since nothing else would show.
    """
    if not text.strip(" "):
        return visible(text)
    return " ".join(visible(word) for word in text.split(" "))


def excerpt(text: str, limit: int = 110) -> str:
    """Return readable text; of one longer than `limit` the beginning, the end and what is between.

    >>> excerpt("a" * 200)[-65:]
    '… (120 characters) … aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
    """
    if len(text) <= limit:
        return readable(text)
    first, last = 35, 45
    left_out = len(text) - first - last
    return f"{readable(text[:first])} … ({left_out:,} characters) … {readable(text[-last:])}"


def counted(count: int, name: str) -> str:
    """Write how many there are: “1 token”, “1,536 tokens”."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def clusters(text: str) -> Iterator[str]:
    """Split text into what a reader takes for one character each; joined they are the text.

    An emoji with its joiners is one, a letter with its marks, two letters that make a flag.
    """
    start = 0
    for index in range(1, len(text) + 1):
        if index == len(text) or not _continues(text, index):
            yield text[start:index]
            start = index


def _shortened(units: list[str], limit: int) -> list[str]:
    if len(units) <= max(limit, 1):
        return units
    return [*units[: max(limit, 1) - 1], "…"]


def _units(value: str | bytes, blanks: Mapping[str, str]) -> Iterator[str]:
    """Yield one string for every sign: a character with its marks, or a stand-in for it."""
    if isinstance(value, bytes):
        for part in _decoded(value):
            if isinstance(part, bytes):
                yield f"⟨{part.hex(' ').upper()}⟩"
            else:
                yield from _units(part, blanks)
        return
    unit = ""
    for index, char in enumerate(value):
        if unit and _continues(value, index):
            unit += char
            continue
        if unit:
            yield unit
        unit = _sign(char, blanks)
        if unit != char:
            # A stand-in takes no marks: they get a circle of their own.
            yield unit
            unit = ""
    if unit:
        yield unit


def _decoded(data: bytes) -> Iterator[str | bytes]:
    """Split bytes into text that is valid UTF-8 and runs of bytes that are not."""
    broken = b""
    while data:
        try:
            text, bad, data = data.decode(), b"", b""
        except UnicodeDecodeError as error:
            text, bad = data[: error.start].decode(), data[error.start : error.end]
            data = data[error.end :]
        if text:
            if broken:
                yield broken
            broken = b""
            yield text
        broken += bad
    if broken:
        yield broken


def _sign(char: str, blanks: Mapping[str, str]) -> str:
    if char in blanks:
        return blanks[char]
    category = unicodedata.category(char)
    if category in _HIDDEN_CATEGORIES or char in _PICTURELESS or _is_selector(char):
        return f"⟨U+{ord(char):04X}⟩"
    if category in {"Mn", "Mc", "Me"}:
        return "◌" + char
    return char


def _is_selector(char: str) -> bool:
    """Say whether this is a variation selector, which changes the look of the one before."""
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _continues(text: str, index: int) -> bool:
    """Say whether `text[index]` belongs to the sign before it and is visible through it."""
    char, before = text[index], text[index - 1]
    if _is_selector(char):
        return not _is_selector(before)
    if char in _PICTURELESS:
        return False
    if unicodedata.category(char) in {"Mn", "Mc", "Me"} or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    if char in _JOINERS:
        return index + 1 < len(text) and _joins(before, text[index + 1])
    if before == "\u200d":
        return True
    if "\U000e0020" <= char <= "\U000e007f":  # the letters of a region's flag
        return before == _BLACK_FLAG or "\U000e0020" <= before <= "\U000e007e"
    if _is_region(char):  # two of them make a flag
        start = index
        while start and _is_region(text[start - 1]):
            start -= 1
        return (index - start) % 2 == 1
    return False


def _is_region(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _joins(before: str, after: str) -> bool:
    """Say whether a joiner between these two does visible work, so that it may stay."""
    emoji = unicodedata.category(after) == "So" and (
        unicodedata.category(before) in {"So", "Sk"} or _is_selector(before)
    )
    # Arabic, the scripts of India and their neighbours spell with joiners.
    spelling = all("\u0600" <= char <= "\u1cff" for char in (before, after))
    return emoji or spelling


def _printable(text: str) -> str:
    """Make only the dangerous part visible: controls, overrides, surrogates; blanks stay."""
    return "".join(_units(text, {" ": " ", "\n": "\n", "\t": "\t"}))


# Streamlit and GFM rewrite these after Markdown is parsed, where a backslash no longer helps:
# emoji and icon names, links and addresses, arrows and dashes that stand alone.
_REWRITTEN = re.compile(
    r":(?=[\w+-]+:|//)|@|(?<=www)\.|(?:(?<=\s)|(?<=^))(?:<->|->|<-|--|>=|<=|~=)(?=\s|$)",
    re.IGNORECASE | re.ASCII,
)
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")


def markdown(text: str) -> str:
    """Escape text for `st.markdown`, captions, labels, metrics, tabs and help texts.

    Line breaks stay line breaks, and leading blanks don't make a code block. Options of select
    boxes, chart texts and `st.text` take plain text: give them `visible` instead.
    """
    lines = _printable(text).split("\n")
    return "  \n".join(_markdown_line(line) for line in lines)


def _markdown_line(line: str) -> str:
    if not line.strip():
        return "\u00a0" * len(line)
    body = line.lstrip(" \t")
    indent = "\u00a0" * len(line[: len(line) - len(body)].expandtabs(4))
    escaped, last = [], 0
    for match in _REWRITTEN.finditer(body):
        escaped.append(_backslashed(body[last : match.start()]))
        # A span of its own without a colour: it splits the text, so no pattern spans the cut.
        escaped.append(f":color[{_backslashed(match[0][0])}]{_backslashed(match[0][1:])}")
        last = match.end()
    escaped.append(_backslashed(body[last:]))
    return indent + "".join(escaped)


def _backslashed(text: str) -> str:
    return _PUNCTUATION.sub(r"\\\g<0>", text)


def html(text: str) -> str:
    """Escape text for `st.html`, as content or inside a quoted attribute."""
    return _html.escape(_printable(text), quote=True)


_PLOTLY_MARKUP = re.compile(r"[&<>$%#{}]")


def plotly(text: str, *, limit: int | None = None) -> str:
    """Escape text for Plotly: tick labels, titles, hover texts and hover templates.

    Plotly reads `<b>`, `&amp;`, `$x$` and `%{x}`; Streamlit also replaces colour names like
    `#000001` all over a figure. Numeric entities escape all of them.
    """
    text = _printable(text) if limit is None else shorten(text, limit)
    escaped = _PLOTLY_MARKUP.sub(lambda match: f"&#{ord(match[0])};", text)
    return escaped.replace("\t", "    ").replace("\n", "<br>")
