"""What the tokenizer page shows: the chips and their merges, the template, experiments, others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import markdown, shorten, visible
from components.kit.token_strip import token_strip, token_views
from components.link import check, keys, widgets
from components.link.selection import pick
from components.tokenizer import card, chat, experiments, merges, others
from components.tokenizer.signs import legend

if TYPE_CHECKING:
    from components.tokenizer.card import Totals
    from engine.tokenizer.bpe import MergeSteps
    from engine.tokenizer.other_vocabularies import OtherVocabulary
    from engine.tokenizer.tokenizer import Token
    from pages.frame.live import Live

LONG = 60
"""Tokens beyond which the chips get a frame that scrolls."""


def pieces(live: Live, counted: Totals) -> None:
    """Show the chips and the chosen token, and beside them how its word was put together."""
    words = live.model.tokenizer.merges(live.request.prompt, only=-1)
    start = _token_at(live, words[merges.longest(words)].start) if words else 0
    last = len(live.tokens) - 1

    def name(index: int) -> str:
        return f"Token {index + 1:,} of {last + 1:,}: {visible(live.tokens[index].data)}"

    left, right = st.columns([1, 1.25], gap="large")
    with left:
        st.markdown(f"##### {card.headline(counted)}")
        index = pick(
            keys.Limit(keys.TOKEN, "Token", 0, last, start, 1, whole=True), name, width=260
        )
        with st.container(height=320 if last >= LONG else "content", border=False):
            token_strip(token_views(live.tokens), key="tokens", selected=index, on_select=_choose)
        with st.container(border=True, key="token_card"):
            card.show_token(live.tokens, index)
        card.show_totals(counted)
        st.caption(legend(text for token in live.tokens for text in _written(token)))
    with right:
        _steps(live, words, index)


def _written(token: Token) -> tuple[str, str]:
    return visible(token.data), visible(token.piece)


def _choose(index: int) -> None:
    """Choose a token on every page."""
    st.session_state[keys.TOKEN] = index


def _before(live: Live) -> int:
    """Return how many characters of the chat template stand before the user's own."""
    request = live.request
    return live.model.tokenizer.chat_span(request.prompt)[0] if request.chat else 0


def _token_at(live: Live, place: int) -> int:
    """Return the token that stands at this character of the user's words."""
    place += _before(live)
    # A template can cut blanks off a turn: what stood there has no token.
    after = (number for number, token in enumerate(live.tokens) if token.end > place)
    return next(after, len(live.tokens) - 1)


def _steps(live: Live, words: list[MergeSteps], index: int) -> None:
    """Show how the word (pre-token) of one token was put together."""
    if not words:
        st.info("Your turn is empty, so nothing was merged: all these tokens are the template's.")
        return
    tokenizer, prompt = live.model.tokenizer, live.request.prompt
    start = live.tokens[index].start - _before(live)
    chosen = next((n for n, word in enumerate(words) if word.start <= start < word.end), 0)
    word = tokenizer.merges(prompt, only=chosen)[chosen]
    merges.show_steps(
        word,
        lambda raw: (tokenizer.bytes_of_piece(raw), tokenizer.id_of_piece(raw)),
        name=prompt[word.start : word.end],
        number=chosen,
    )


def template(live: Live) -> None:
    """Show the prompt inside the chat template, and both readings of control-token text."""
    tokenizer, prompt = live.model.tokenizer, live.request.prompt
    if not tokenizer.has_chat:
        st.info("This model has no chat template: it was trained to continue plain text.")
        return
    turn = [{"role": "user", "content": prompt}]
    chat.show_turn(tokenizer.chat_tokens(turn), tokenizer.chat_span(prompt))
    own = any(token.special for token in tokenizer.encode(prompt, parse_special=True))
    if message := prompt if own else tokenizer.forged_turn("Hi", "Always answer in rhyme."):
        readings = [tokenizer.encode(message, parse_special=parse) for parse in (False, True)]
        chat.show_readings(message, *readings, forged=not own)


def words(live: Live) -> None:
    """Show one of the experiments with tokens and words."""
    check.renamed(keys.EXPERIMENT, experiments.RENAMED)
    title = widgets.choice(
        "Experiment",
        [entry.title for entry in experiments.EXPERIMENTS],
        key=keys.EXPERIMENT,
        draw=st.pills,
        label_visibility="collapsed",
    )
    chosen = experiments.experiment(title)
    texts = chosen.texts or experiments.own_texts()
    if not texts:
        st.info("Type a name or any other word.")
        return
    experiments.show(chosen, [(text, _cuttings(live, text, chosen.compare)) for text in texts])


def vocabularies(live: Live) -> None:
    """Show the text under other models' vocabularies; a telling one where all cut it alike."""
    from engine.tokenizer.other_vocabularies import disputed

    text = live.request.prompt
    found = _cuttings(live, text, True)
    if text and not disputed([cutting.tokens for cutting in found]):
        st.markdown(
            f"All {len(found)} vocabularies cut “{markdown(shorten(text, 60))}” at the same "
            "places: common words are whole pieces in each. Here is a text that they cut "
            "differently; a prompt of your own with a rare word or a number will do it too."
        )
        text = others.TELLING
        found = _cuttings(live, text, True)
    st.markdown(others.headline(text, found))
    marks = disputed([cutting.tokens for cutting in found])
    others.show_cuts(text, found, marks, key="vocabularies")
    others.show_counts(text, found)


def _cuttings(live: Live, text: str, compare: bool) -> list[others.Cutting]:
    """Cut a text with the model's vocabulary and, if asked, with the others."""
    from engine.tokenizer.other_vocabularies import OTHERS

    tokenizer = live.model.tokenizer
    kind = others.FAMILIES.get(tokenizer.spelling, "other")
    own = tokenizer.encode(text)
    found = [others.Cutting(live.model.name, kind, tokenizer.vocabulary, own)]
    for facts in OTHERS if compare else ():
        tokens = _vocabulary(facts.key).encode(text)
        found.append(others.Cutting(facts.name, facts.family, facts.size, tokens))
    return found


@st.cache_resource(max_entries=8, show_spinner="Loading another vocabulary …")
def _vocabulary(key: str) -> OtherVocabulary:
    """Load a vocabulary once for all sessions."""
    from engine.tokenizer.other_vocabularies import load

    return load(key)
