"""What a room tells a screen, in plain values that can be pickled; and the limits of a room.

Nothing here holds a model or a session, so the rooms can live in another process than the pages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from engine.basics.errors import EngineError
from engine.basics.results import Result

if TYPE_CHECKING:
    from engine.classroom.scoring import Score

MOST_ROOMS = 50
"""Rooms that are open at once on one server."""
MOST_MEMBERS = 200
"""Students in one room."""
LONGEST_NAME = 24
LONGEST_ANSWER = 40
LONGEST_QUESTION = 300
LONGEST_OPTION = 160
MOST_OPTIONS = 8
MOST_CHANGES = 20
"""How often a student may answer in one round; the last answer counts."""
MOST_ROUNDS = 200
"""Scored rounds that a room remembers."""
PAUSE = 0.3
"""Seconds that have to lie between two answers of one student."""
AWAY = 60.0
"""Seconds without a sign of life after which a student no longer counts as being there."""
IDLE = 3 * 3600.0
"""Seconds without a sign of life from anybody after which a room is gone."""

Role = Literal["teacher", "student"]
Screen = Literal["page", "code", "round"]


class NoRoomError(EngineError):
    """There is no such room, or it is not open to whoever asks."""


class RefusedError(EngineError):
    """A room does not take what was sent; the sentence says why."""


@dataclass(frozen=True)
class View(Result):
    """What the teacher's page shows: its address, and the little that no address carries."""

    stage: str
    """Key of the page."""
    link: tuple[tuple[str, str], ...]
    """Names and values of the address."""
    prompt: str
    """The prompt, also where it is too long for an address."""
    source: str = ""
    """The model after whose reading of the prompt tokens were written."""
    ids: tuple[int, ...] = ()
    """The prompt's tokens."""
    written: tuple[int, ...] = ()
    """Tokens that were written after the prompt on the overview."""


@dataclass(frozen=True)
class Place(Result):
    """The place in a text whose next token is guessed."""

    source: str
    """The model."""
    ids: tuple[int, ...]
    """The tokens of the text so far."""
    drawn: int
    """The token that comes next."""


@dataclass(frozen=True)
class Question(Result):
    """What the class is asked: for the next word, or to choose."""

    text: str
    passage: str = ""
    """The text whose next word is asked for."""
    options: tuple[str, ...] = ()
    """What can be chosen; empty if a word is asked for."""
    right: int | None = None
    """Which option is right, if one is."""
    why: str = ""
    """What is told about it after the reveal."""
    place: Place | None = None


@dataclass(frozen=True)
class Answer(Result):
    """One student's last answer in a round."""

    member: int
    """The student's number in the room."""
    name: str
    text: str
    hidden: bool = False
    """Whether the teacher took it off the screen; then it does not count either."""


@dataclass(frozen=True)
class Round(Result):
    """One question and how far it is."""

    number: int
    question: Question
    revealed: bool
    answered: int
    answers: tuple[Answer, ...] = ()
    """What is shown of the answers: nothing before the reveal, and no hidden ones."""
    hidden: int = 0
    """How many answers the teacher has hidden."""
    score: Score | None = None
    """The class beside the model, where a word was asked for."""


@dataclass(frozen=True)
class Member(Result):
    """One student, as the teacher sees the list."""

    number: int
    name: str
    here: bool
    follows: bool


@dataclass(frozen=True)
class RoomState(Result):
    """All that one screen may know of its room now."""

    code: str
    role: Role
    screen: Screen
    """What stands in the place of the page for all who follow: the code, the round, or nothing."""
    view: View | None
    view_version: int
    """Grows with every change of the view."""
    round: Round | None
    here: int
    """Students who are there."""
    following: int
    """Those of them who follow."""
    name: str = ""
    """The student's own name."""
    mine: str | None = None
    """The student's own answer in this round."""
    bits: tuple[tuple[float, float], ...] = ()
    """For each round that was scored: how surprised class and model were, in bits."""
    members: tuple[Member, ...] = field(default=(), repr=False)
    """Everybody, for the teacher alone."""
