"""All rooms of a server behind one lock: small methods that take and return plain values.

Codes are for everybody in the classroom and short enough to be typed. Keys are for one tab each,
cannot be guessed, and are what every method asks for.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from engine.classroom.records import (
    IDLE,
    MOST_ROOMS,
    NoRoomError,
    Question,
    RefusedError,
    RoomState,
    Screen,
    View,
)
from engine.classroom.room import Room

if TYPE_CHECKING:
    from engine.classroom.scoring import Score

SIGNS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""What codes are made of: no sign that is taken for another one on a board (0 O, 1 I L)."""
CODE_LENGTH = 5


def tidy(code: str) -> str:
    """Return a code as rooms spell it, from what a person typed."""
    return "".join(code.upper().split())[: 2 * CODE_LENGTH]


class Rooms:
    """Every open room. All methods may be called from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without rooms.

        Args:
            clock: Gives the time in seconds.
        """
        self._clock = clock
        self._rooms: dict[str, Room] = {}
        self._lock = threading.Lock()

    def open(self, seat: str) -> tuple[str, str]:
        """Open a room and return its code and the teacher's key.

        Args:
            seat: Id of the teacher's session.

        Raises:
            RefusedError: There are too many rooms.
        """
        with self._lock:
            self._forget_idle()
            if len(self._rooms) >= MOST_ROOMS:
                raise RefusedError(
                    f"{MOST_ROOMS} rooms are open on this server, and that is the most. Close one."
                )
            code = self._new_code()
            teacher = secrets.token_urlsafe(24)
            self._rooms[code] = Room(code, teacher, seat, self._clock)
            return code, teacher

    def exists(self, code: str) -> bool:
        """Return whether a room of this code is open."""
        with self._lock:
            self._forget_idle()
            return code in self._rooms

    def enter(self, code: str, name: str, seat: str) -> str:
        """Let a student into a room and return the student's key.

        Raises:
            NoRoomError: There is no such room.
            RefusedError: The room is full, or the name is too long.
        """
        with self._lock:
            room = self._room(code)
            key = secrets.token_urlsafe(24)
            room.enter(key, name, seat)
            return key

    def come_back(self, code: str, key: str, seat: str) -> RoomState:
        """Go on in a room after the tab was loaded anew, with the key that the tab has kept.

        Raises:
            NoRoomError: There is no such room, or the key is not one of it.
        """
        with self._lock:
            room = self._room(code)
            room.take_seat(key, seat)
            return room.state(key)

    def look(self, code: str, key: str) -> RoomState:
        """Return what a screen may know of its room; it is a sign of life too.

        Raises:
            NoRoomError: The room is closed, or the key is not one of it.
        """
        with self._lock:
            room = self._room(code)
            state = room.state(key)
            room.alive(key)
            return state

    def leave(self, code: str, key: str) -> None:
        """Leave a room, if it is still there."""
        with self._lock:
            if code in self._rooms:
                self._rooms[code].leave(key)

    def follow(self, code: str, key: str, follows: bool) -> None:
        """Note whether a student follows the teacher."""
        with self._lock:
            self._room(code).follow(key, follows)

    def answer(self, code: str, key: str, text: str) -> None:
        """Answer the open question; a later answer takes the place of an earlier one.

        Raises:
            NoRoomError: The room is closed, or the key is not a student's of it.
            RefusedError: The room does not take this answer.
        """
        with self._lock:
            room = self._room(code)
            if room.role(key) != "student":
                raise RefusedError("The teacher's own screen takes no answers.")
            room.alive(key)
            room.answer(key, text)

    def seats(self, code: str) -> tuple[str, ...]:
        """Return the sessions of the students who are in a room; none if it is closed."""
        with self._lock:
            room = self._rooms.get(code)
            return room.seats() if room is not None else ()

    # --- what only the teacher's key opens ---------------------------------------------------

    def close(self, code: str, key: str) -> None:
        """Close a room: everything in it is forgotten."""
        with self._lock:
            self._led(code, key)
            del self._rooms[code]

    def show(self, code: str, key: str, view: View) -> bool:
        """Take over what the teacher's page shows; return whether it is something new."""
        with self._lock:
            return self._led(code, key).show(view)

    def turn_to(self, code: str, key: str, screen: Screen) -> None:
        """Show the code, the round or the page on the screens that follow."""
        with self._lock:
            self._led(code, key).turn_to(screen)

    def away(self, code: str, key: str, seats: Collection[str]) -> None:
        """Note that the tabs in these sessions were closed."""
        with self._lock:
            self._led(code, key).away(frozenset(seats))

    def ask(self, code: str, key: str, question: Question) -> None:
        """Open a round.

        Raises:
            RefusedError: The question or its options are empty or too long.
        """
        with self._lock:
            self._led(code, key).ask(question)

    def asked(self, code: str, key: str) -> tuple[Question, tuple[str, ...]]:
        """Return the question with its place, and the answers that count."""
        with self._lock:
            room = self._led(code, key)
            return room.question(), room.texts()

    def reveal(self, code: str, key: str, score: Score | None) -> None:
        """Show the answers, with the score if a word was asked for."""
        with self._lock:
            self._led(code, key).reveal(score)

    def hide(self, code: str, key: str, texts: Collection[str]) -> None:
        """Take every answer of these wordings off the screens; score the round again after that."""
        with self._lock:
            self._led(code, key).hide(frozenset(texts))

    def hide_name(self, code: str, key: str, number: int) -> None:
        """Take one student's name off the screens."""
        with self._lock:
            self._led(code, key).hide_name(number)

    # -----------------------------------------------------------------------------------------

    def _led(self, code: str, key: str) -> Room:
        """Return a room that this key leads."""
        room = self._room(code)
        if not secrets.compare_digest(key.encode(), room.teacher.encode()):
            raise NoRoomError(f"Only the teacher of room {code} can do that.")
        room.alive(key)
        return room

    def _room(self, code: str) -> Room:
        self._forget_idle()
        room = self._rooms.get(code)
        if room is None:
            raise NoRoomError(
                f"There is no room {code[: 2 * CODE_LENGTH]} on this server. Look at the code once "
                "more; the room may also be closed."
            )
        return room

    def _forget_idle(self) -> None:
        now = self._clock()
        for code in [code for code, room in self._rooms.items() if now - room.used > IDLE]:
            del self._rooms[code]

    def _new_code(self) -> str:
        while True:
            code = "".join(secrets.choice(SIGNS) for _ in range(CODE_LENGTH))
            if code not in self._rooms:
                return code
