"""One room: its students, what the teacher shows, the question that is open, and the score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.classroom.records import (
    AWAY,
    LONGEST_ANSWER,
    LONGEST_NAME,
    LONGEST_OPTION,
    LONGEST_QUESTION,
    MOST_CHANGES,
    MOST_MEMBERS,
    MOST_OPTIONS,
    MOST_ROUNDS,
    PAUSE,
    Answer,
    Member,
    NoRoomError,
    Question,
    RefusedError,
    Role,
    RoomState,
    Round,
    Screen,
    View,
)

if TYPE_CHECKING:
    from engine.classroom.scoring import Score


@dataclass
class Student:
    """What a room keeps of one student."""

    number: int
    name: str
    seat: str
    """Where the student's screen is: the id of a session."""
    seen: float
    """When the last sign of life came."""
    follows: bool = True


@dataclass
class _Given:
    """What one student answered in the open round."""

    text: str
    changes: int
    at: float


@dataclass
class _Asked:
    """The round that is open or revealed."""

    number: int
    question: Question
    revealed: bool = False
    given: dict[str, _Given] = field(default_factory=dict)
    """By the student's key."""
    hidden: set[str] = field(default_factory=set)
    """Texts that the teacher took off the screen."""
    score: Score | None = None


class Room:
    """One room. It is not thread-safe by itself: `engine.classroom.registry` holds the lock."""

    def __init__(self, code: str, teacher: str, seat: str, clock: Callable[[], float]) -> None:
        self.code = code
        self.teacher = teacher
        self.teacher_seat = seat
        self.used = clock()
        self._clock = clock
        self._students: dict[str, Student] = {}
        self._numbers = 0
        self._rounds = 0
        self._view: View | None = None
        self._version = 0
        self._screen: Screen = "code"
        self._asked: _Asked | None = None
        self._bits: dict[int, tuple[float, float]] = {}

    def role(self, key: str) -> Role:
        """Return whose key this is.

        Raises:
            NoRoomError: It is nobody's.
        """
        if key == self.teacher:
            return "teacher"
        if key in self._students:
            return "student"
        raise NoRoomError(f"You are not in room {self.code} any more: enter its code again.")

    def enter(self, key: str, name: str, seat: str) -> None:
        """Let a student in.

        Raises:
            RefusedError: The name is too long, or the room is full.
        """
        name = _one_line(name)
        if len(name) > LONGEST_NAME:
            raise RefusedError(
                f"The name has {len(name)} characters; at most {LONGEST_NAME} are taken. "
                "Shorten it, or leave it out."
            )
        if len(self._students) >= MOST_MEMBERS:
            self._make_place()
        self._numbers += 1
        self._students[key] = Student(self._numbers, name, seat, self._clock())

    def _make_place(self) -> None:
        """Let the student go who has been away longest."""
        key, longest = min(self._students.items(), key=lambda pair: pair[1].seen)
        if self._here(longest):
            raise RefusedError(
                f"Room {self.code} is full: {MOST_MEMBERS} students are in it. Ask the teacher for "
                "a second room."
            )
        del self._students[key]

    def take_seat(self, key: str, seat: str) -> None:
        """Note that a tab was loaded anew: the screen of a key is in another session now."""
        if self.role(key) == "teacher":
            self.teacher_seat = seat
        else:
            self._students[key].seat = seat
            self.alive(key)

    def leave(self, key: str) -> None:
        """Forget a student and what the student answered in a round that is open."""
        self._students.pop(key, None)
        if self._asked is not None and not self._asked.revealed:
            self._asked.given.pop(key, None)

    def alive(self, key: str) -> None:
        """Note a sign of life."""
        self.used = self._clock()
        if key in self._students:
            self._students[key].seen = self._clock()

    def away(self, seats: frozenset[str]) -> None:
        """Note that the tabs in these sessions were closed; whoever comes back is here again."""
        for student in self._students.values():
            if student.seat in seats:
                student.seen = min(student.seen, self._clock() - AWAY)

    def seats(self) -> tuple[str, ...]:
        """Return the sessions of the students who are here."""
        return tuple(one.seat for one in self._students.values() if self._here(one))

    def follow(self, key: str, follows: bool) -> None:
        """Note whether a student follows the teacher's page."""
        if key in self._students:
            self._students[key].follows = follows

    def hide_name(self, number: int) -> None:
        """Take a student's name off every screen."""
        for student in self._students.values():
            if student.number == number:
                student.name = ""

    def show(self, view: View) -> bool:
        """Take over what the teacher's page shows; return whether it is something new."""
        if view == self._view:
            return False
        self._view = view
        self._version += 1
        return True

    def turn_to(self, screen: Screen) -> None:
        """Show the code, the round or the page; a round stays as it is meanwhile.

        Raises:
            RefusedError: There is no round to show.
        """
        if screen == "round":
            self.question()
        self._screen = screen

    def ask(self, question: Question) -> None:
        """Open a round in the place of the last one.

        Raises:
            RefusedError: The question is empty or too long, or its options are.
        """
        if not question.text.strip() or len(question.text) > LONGEST_QUESTION:
            raise RefusedError(f"A question has 1 to {LONGEST_QUESTION} characters.")
        if question.options and not 2 <= len(question.options) <= MOST_OPTIONS:
            raise RefusedError(f"A question has 2 to {MOST_OPTIONS} options, one per line.")
        if len(set(question.options)) < len(question.options):
            raise RefusedError("Two options are the same: change one of them.")
        if any(not one.strip() or len(one) > LONGEST_OPTION for one in question.options):
            raise RefusedError(f"An option has 1 to {LONGEST_OPTION} characters.")
        self._rounds += 1
        self._asked = _Asked(self._rounds, question)
        self._screen = "round"

    def answer(self, key: str, text: str) -> None:
        """Take a student's answer; a later one takes its place.

        Raises:
            RefusedError: Nothing is asked, it is no answer to it, or there were too many.
        """
        asked = self._asked
        if asked is None or asked.revealed:
            raise RefusedError("The round is over: answers are taken until the reveal.")
        text = _one_line(text)
        if not text:
            raise RefusedError("Type a word first.")
        if len(text) > LONGEST_ANSWER and not asked.question.options:
            raise RefusedError(
                f"The answer has {len(text)} characters; at most {LONGEST_ANSWER} are taken: one "
                "word is enough."
            )
        if asked.question.options:
            meant = [one for one in asked.question.options if _one_line(one) == text]
            if not meant:
                raise RefusedError("Choose one of the options.")
            text = meant[0]
        before = asked.given.get(key)
        changes = before.changes + 1 if before else 1
        if changes > MOST_CHANGES:
            raise RefusedError(f"You have answered {MOST_CHANGES} times; the last answer counts.")
        if before and self._clock() - before.at < PAUSE:
            raise RefusedError("That was too fast: wait a moment, then answer again.")
        asked.given[key] = _Given(text, changes, self._clock())

    def texts(self) -> tuple[str, ...]:
        """Return the answers that count, for the score."""
        return tuple(answer.text for answer in self._answers() if not answer.hidden)

    def question(self) -> Question:
        """Return what is asked.

        Raises:
            RefusedError: Nothing is.
        """
        if self._asked is None:
            raise RefusedError("Nothing is asked now.")
        return self._asked.question

    def reveal(self, score: Score | None) -> None:
        """Show the answers, or put another score in its place after an answer was hidden."""
        self.question()
        if self._asked is not None:
            self._asked.revealed = True
            self._asked.score = score
            self._bits.pop(self._asked.number, None)
            if score is not None and score.class_bits is not None:
                self._bits[self._asked.number] = (score.class_bits, score.model_bits)
                self._bits = dict(list(self._bits.items())[-MOST_ROUNDS:])

    def hide(self, texts: frozenset[str]) -> None:
        """Take every answer of these wordings off all screens and out of the score."""
        self.question()
        if self._asked is not None:
            self._asked.hidden |= texts

    def state(self, key: str) -> RoomState:
        """Return what the screen of this key may know."""
        role = self.role(key)
        here = [one for one in self._students.values() if self._here(one)]
        student = self._students.get(key)
        given = self._asked.given.get(key) if self._asked else None
        return RoomState(
            code=self.code,
            role=role,
            screen=self._screen,
            view=self._view,
            view_version=self._version,
            round=self._round(),
            here=len(here),
            following=sum(one.follows for one in here),
            name=student.name if student else "",
            mine=given.text if given else None,
            bits=tuple(self._bits[number] for number in sorted(self._bits)),
            members=self._members() if role == "teacher" else (),
        )

    def _members(self) -> tuple[Member, ...]:
        return tuple(
            Member(one.number, one.name, self._here(one), one.follows)
            for one in self._students.values()
        )

    def _round(self) -> Round | None:
        asked = self._asked
        if asked is None:
            return None
        answers = self._answers()
        hidden = sum(answer.hidden for answer in answers)
        shown = tuple(answer for answer in answers if not answer.hidden)
        return Round(
            number=asked.number,
            question=replace(asked.question, place=None),
            revealed=asked.revealed,
            answered=len(answers),
            answers=shown if asked.revealed else (),
            hidden=hidden,
            score=asked.score if asked.revealed else None,
        )

    def _answers(self) -> list[Answer]:
        if self._asked is None:
            return []
        answers = []
        for key, given in self._asked.given.items():
            student = self._students.get(key)
            name, number = (student.name, student.number) if student else ("", 0)
            answers.append(Answer(number, name, given.text, given.text in self._asked.hidden))
        return answers

    def _here(self, student: Student) -> bool:
        return self._clock() - student.seen < AWAY


def _one_line(text: str) -> str:
    """Return text with every run of blanks as one space, and none at its ends."""
    return " ".join(text.split())
