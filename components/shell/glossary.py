"""The signs on the screen and some thirty words of the field, each in one plain sentence.

`glossary` opens them in a dialog over any page; each word leads to the page where it can be seen.
`marked` underlines the words in a text, with their sentence on hover and focus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from components.kit.text import html, markdown
from components.shell.guide import OPEN
from components.shell.stages import stage


@dataclass(frozen=True)
class Word:
    """One word, in one sentence for somebody who has never met it."""

    name: str
    meaning: str
    stage: str
    """Key of the page where it is seen."""
    forms: tuple[str, ...] = ()
    """How it is written inside of a sentence, without the plural; the name if empty."""


SIGNS: tuple[tuple[str, str], ...] = (
    ("·", "a blank; “·tea” is the word with the blank before it, as most tokens have it"),
    ("⏎", "a line break"),
    ("⇥", "a tab"),
    ("Ġ", "a blank too, as the vocabulary's own file writes it: “Ġtea”"),
    ("×3", "the sign before it comes three times"),
    ("⟨F0 9F⟩", "bytes that are only a part of a character, in hexadecimal digits"),
    ("∅", "nothing: no text at all"),
    (
        "<|im_end|>",
        "a control token: it stands for no text and marks where something ends or begins",
    ),
)

WORDS: tuple[Word, ...] = (
    Word(
        "Token",
        "A piece of text that the model reads and writes as one: a word, a part, a sign.",
        "tokenizer",
    ),
    Word("Id", "The fixed number of a token in the vocabulary.", "tokenizer"),
    Word("Vocabulary", "The list of all tokens that a model knows.", "tokenizer"),
    Word(
        "Control token",
        "A token without text of its own, such as the one that ends an answer.",
        "tokenizer",
    ),
    Word("Vector", "A list of numbers; each token is one inside the model.", "embedding"),
    Word(
        "Dimension",
        "One place in that list; the width of the model is how many there are.",
        "embedding",
    ),
    Word("Embedding", "The learned vector with which a token starts.", "embedding"),
    Word(
        "Cosine",
        "How much two vectors point the same way: 1 the same, 0 unrelated, −1 opposite.",
        "embedding",
    ),
    Word(
        "Norm",
        "The length of a vector, and the step that brings vectors to a usual length.",
        "feed_forward",
    ),
    Word(
        "Layer",
        "One round of work on every token: attention, then feed-forward. The first is layer 0.",
        "feed_forward",
    ),
    Word(
        "Head",
        "One of the parts of attention; each looks back in its own way. The first is head 0.",
        "attention",
    ),
    Word("Query", "What a token looks for, as a vector.", "attention"),
    Word(
        "Key",
        "What a token can be found by, as a vector; a query is compared with it.",
        "attention",
    ),
    Word("Value", "What a token hands over to those that look at it, as a vector.", "attention"),
    Word(
        "KV cache",
        "The keys and values of the tokens so far, kept so that they need not be computed again.",
        "attention",
    ),
    Word("Prefill", "The first pass, over the whole prompt at once.", "generation"),
    Word(
        "Decode",
        "Every pass after that, over one new token with the help of the cache.",
        "generation",
    ),
    Word(
        "Residual stream",
        "The vector of a token on its way through the layers; each part adds to it.",
        "feed_forward",
    ),
    Word(
        "Neuron",
        "One number inside a feed-forward network; if it is large, it adds its own vector.",
        "feed_forward",
    ),
    Word(
        "Logit",
        "The score of a possible next token, before scores become probabilities.",
        "lm_head",
    ),
    Word(
        "Softmax",
        "The formula that turns scores into probabilities that add up to 100 %.",
        "lm_head",
    ),
    Word(
        "Bit",
        "A measure of surprise: one bit for each halving, so a token of 25 % has two.",
        "lm_head",
    ),
    Word(
        "Entropy",
        "How open the choice is, in bits: 3 bits are as open as 8 equal choices.",
        "lm_head",
    ),
    Word(
        "Perplexity",
        "The same as a number of equal choices: 3 bits are a perplexity of 8.",
        "training",
    ),
    Word(
        "KL divergence",
        "How far one list of probabilities is from another, in bits; 0 is the same list.",
        "lm_head",
    ),
    Word(
        "Temperature",
        "How much chance decides: low makes the likely likelier, high evens out.",
        "sampling",
    ),
    Word("Greedy", "Always taking the most probable token.", "sampling"),
    Word(
        "Nucleus (top-p)",
        "The most probable tokens that together reach a share such as 90 %; the rest is out.",
        "sampling",
        ("nucleus", "top-p"),
    ),
    Word(
        "Seed",
        "A number that starts the dice: same prompt, settings and seed, same text.",
        "sampling",
    ),
    Word("u", "The random number from 0 to 1 that picks the token.", "sampling"),
    Word(
        "Draft",
        "A fast helper that guesses tokens ahead, which the model then checks.",
        "speculative",
    ),
    Word("Acceptance", "The share of a draft's guesses that the model keeps.", "speculative"),
    Word(
        "Gradient",
        "How the error would change if a weight were moved a little; learning goes against it.",
        "training",
    ),
)


STYLE = f"<style>{Path(__file__).with_suffix('.css').read_text(encoding='utf-8')}</style>"
"""How an underlined word looks, inside of an element of the class `glossary`, under which its
sentence opens; with `near` too it opens under the word itself where there is room for it."""


def marked(text: str, *, but: frozenset[str] = frozenset()) -> tuple[str, frozenset[str]]:
    """Return a plain text as HTML in which each word of the glossary is underlined once.

    Args:
        text: of this project's own, without markup.
        but: names of words that were underlined before.

    Returns:
        The HTML, and the names of all words that are underlined by now.
    """
    seen = set(but)
    pieces, last = [], 0
    for match in _pattern().finditer(text):
        word = _by_form()[match[1].casefold()]
        if word.name in seen:
            continue
        seen.add(word.name)
        pieces += [html(text[last : match.start()]), _underlined(match[0], word)]
        last = match.end()
    return "".join((*pieces, html(text[last:]))), frozenset(seen)


def word_line(stage_key: str) -> None:
    """Draw the words that are at home on a page in one line, each with its sentence on hover."""
    words = [word for word in WORDS if word.stage == stage_key]
    if words:
        listed = " · ".join(_underlined(word.name, word) for word in words)
        st.html(
            f'{STYLE}<p class="glossary" style="font-size:0.9rem;margin:0">Words of this page: '
            f"{listed}</p>"
        )


def _underlined(shown: str, word: Word) -> str:
    return (
        f'<span class="glossary-word" tabindex="0" role="term" data-meaning="{html(word.meaning)}" '
        f'aria-description="{html(word.meaning)}">{html(shown)}</span>'
    )


@cache
def _by_form() -> dict[str, Word]:
    return {form.casefold(): word for word in WORDS for form in word.forms or (word.name,)}


@cache
def _pattern() -> re.Pattern[str]:
    """Return what finds a word as a whole, its plural too; the longest form that fits wins.

    A single letter such as u is left alone: as a word of the language it means something else.
    """
    forms = sorted((form for form in _by_form() if len(form) > 1), key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, forms))})s?\b", re.IGNORECASE)


@st.dialog("Signs and words", width="large")
def glossary() -> None:
    """Open the signs and words over the page."""
    if st.button("Teacher's guide", key="guide_from_words", icon=":material/menu_book:"):
        st.session_state[OPEN] = True
        st.rerun()
    st.table(
        {
            "sign": [markdown(sign) for sign, _ in SIGNS],
            "what it means": [markdown(meaning) for _, meaning in SIGNS],
        }
    )
    for word in WORDS:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{markdown(word.name)}** {markdown(word.meaning)}")
            page = stage(word.stage)
            st.page_link(page.page, label=page.short or page.title, width="content")
