"""Tokenizer page: small experiments that show where tokens and words part ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import counted, markdown, visible
from components.link import keys, widgets
from components.link.changes import change
from components.tokenizer.others import Cutting, ahead, character_row, token_row
from components.tokenizer.piece_table import piece_table
from components.tokenizer.signs import legend

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Token

Cuts = Sequence[tuple[str, Sequence[Cutting]]]
"""Each text with its cuts, the running model's first."""


@dataclass(frozen=True)
class Experiment:
    """Some texts to cut and what to look for."""

    key: str
    title: str
    texts: tuple[str, ...]
    """Empty where the user types one."""
    compare: bool
    """Whether the other vocabularies are shown too."""
    lesson: Callable[[Cuts], str]
    """What is seen, from the values, as Markdown."""


def experiment(title: str) -> Experiment:
    """Return the experiment with that title."""
    return next(entry for entry in EXPERIMENTS if entry.title == title)


def show(chosen: Experiment, cuts: Cuts) -> None:
    """Draw one experiment."""
    st.markdown(chosen.lesson(cuts))
    drawn: list[str] = []
    for number, (text, cuttings) in enumerate(cuts):
        front = ahead(cuttings)
        rows = [character_row(text, front=front)]
        for cutting in cuttings:
            count = len(cutting.tokens)
            note = counted(count, "token")
            if len(cuttings) == 1 and count <= 6:
                ids = " ".join(str(token.id) for token in cutting.tokens)
                note += f", {'id' if count == 1 else 'ids'} {ids}"
            row = token_row(cutting.name, cutting.tokens, last=len(text), note=note, front=front)
            rows.append(row)
        columns, name = front + len(text), visible(text)
        piece_table(rows, columns, key=f"experiment_{chosen.key}_{number}", label=name)
        drawn += [cell.text for row in rows for cell in row.cells]
    with st.container(horizontal=True, vertical_alignment="center"):
        first = cuts[0][0]
        st.button(
            f"Use {markdown(visible(first))} as the prompt",
            key="use_experiment",
            on_click=_use,
            args=(first,),
        )
        st.caption(legend(drawn))


def own_texts() -> tuple[str, ...]:
    """Draw the box for a word of one's own; return it alone, inside a sentence, in small letters.

    Without a word there is nothing to cut.
    """
    word = widgets.text("A name or any word", OWN_WORD, key=keys.OWN_WORD, width=300).strip()
    if not word:
        return ()
    return tuple(dict.fromkeys((word, f" {word}", word.lower())))


def _use(text: str) -> None:
    change(
        f"{visible(text)} is now the prompt, as plain text.",
        {keys.PROMPT: text, keys.CHAT: False},
    )


def _name(cuts: Cuts) -> str:
    said = [
        f"{counted(len(tokens), 'token')} {where} ({_pieces(tokens)})"
        for tokens, where in zip(
            _own(cuts),
            ("at the start of a text", "inside a sentence", "in small letters"),
            strict=False,
        )
    ]
    return (
        f"**{markdown(visible(cuts[0][0]))} is {'; '.join(said)}.** A name that stood often in the "
        "text from which the vocabulary was made is one piece; a rarer one falls apart."
    )


def _own(cuts: Cuts) -> list[Sequence[Token]]:
    """Return the running model's tokens of each text."""
    return [cuttings[0].tokens for _, cuttings in cuts]


def _pieces(tokens: Sequence[Token]) -> str:
    return " | ".join(markdown(visible(token.data)) for token in tokens).replace("|", r"\|")


def _others(cuts: Cuts) -> str:
    _, cuttings = cuts[0]
    return ", ".join(f"{len(other.tokens)} in {other.name}" for other in cuttings[1:])


def _year(cuts: Cuts) -> str:
    tokens = _own(cuts)[0]
    return (
        f"**A year is {counted(len(tokens), 'token')} here** ({_pieces(tokens)}); {_others(cuts)}. "
        "Whether digits come alone or in groups was decided before training, by the rule "
        "that splits text."
    )


def _space(cuts: Cuts) -> str:
    bare, spaced = _own(cuts)
    shared = len({token.id for token in bare} & {token.id for token in spaced})
    return (
        f"**A space in front changes the cut.** Without it: {_pieces(bare)}. With it: "
        f"{_pieces(spaced)}. {shared} of the ids are the same. The space belongs to the piece that "
        "follows, so a word at the start of a text is not the word inside a sentence."
    )


def _capital(cuts: Cuts) -> str:
    ids = [token.id for tokens in _own(cuts) for token in tokens]
    return (
        f"**One word for us, {len(set(ids))} ids for the model**: "
        f"{', '.join(f'{token_id:,}' for token_id in ids)}. Capitals and spaces make other "
        "tokens, with rows of their own in the table. That they mean the same had to be learned."
    )


def _letters(cuts: Cuts) -> str:
    bare, spaced = _own(cuts)
    text = cuts[0][0]
    return (
        f"**{text} has {len(text)} letters, {text.count('r')} of them r. The model gets "
        f"{counted(len(bare), 'token')}** ({_pieces(bare)}), or "
        f"{len(spaced)} inside a sentence ({_pieces(spaced)}). An id says nothing of the letters "
        "inside: a model that counts them has learned the spelling of the piece from text."
    )


def _sum(cuts: Cuts) -> str:
    tokens = _own(cuts)[0]
    return (
        f"**Arithmetic happens on tokens.** Here each digit is one ({len(tokens)} in all), so "
        f"digits of the same place can be matched; {_others(cuts)}. Groups of three, cut from the "
        "left, put the same place into other pieces in each number."
    )


def _languages(cuts: Cuts) -> str:
    lines = [
        f"- {markdown(text)} {counted(len(tokens), 'token')} for "
        f"{counted(len(text), 'character')}: **{len(tokens) / len(text):.2f} tokens per character**"
        for (text, _), tokens in zip(cuts, _own(cuts), strict=True)
    ]
    return (
        "**The same sentence does not cost the same.** Text that was rare when the vocabulary was "
        "made falls into small pieces, often parts of characters (×3): it fills the context faster "
        "and costs more.\n" + "\n".join(lines)
    )


def _blank(cuts: Cuts) -> str:
    tokens = _own(cuts)[1]
    return (
        f"**A space before digits is a token of its own here** ({_pieces(tokens)}), while a space "
        "before letters joins the word. A prompt that ends in a space, or has two of them, is "
        "another prompt to the model."
    )


OWN_WORD = "Siddharth"
"""What stands in the box for a word of one's own at first."""

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment("letters", "r in strawberry", ("strawberry", " strawberry"), False, _letters),
    Experiment("own", "Your own name", (), False, _name),
    Experiment("year", "2024", ("2024",), True, _year),
    Experiment("space", "A space in front", ("unbelievable", " unbelievable"), False, _space),
    Experiment("capital", "The, the, ·the", ("The", "the", " The", " the"), False, _capital),
    Experiment("sum", "Arithmetic", ("12345 + 678 = 13023",), True, _sum),
    Experiment(
        "languages",
        "Four languages",
        (
            "The weather is nice today.",
            "Das Wetter ist heute schön.",
            "今天天气很好。",
            "आज मौसम अच्छा है।",
        ),
        False,
        _languages,
    ),
    Experiment("blank", "Space before digits", ("in 2024", " 2024", "in  2024"), False, _blank),
)
RENAMED: Mapping[str, str] = {"The, the, · the": "The, the, ·the"}
"""Titles that links from before have, with the present ones."""
