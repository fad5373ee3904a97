"""Rooms: who may do what, limits, and what each screen is told."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.classroom.records import (
    AWAY,
    IDLE,
    LONGEST_ANSWER,
    LONGEST_NAME,
    MOST_CHANGES,
    MOST_MEMBERS,
    MOST_ROOMS,
    PAUSE,
    NoRoomError,
    Place,
    Question,
    RefusedError,
    View,
)
from engine.classroom.registry import CODE_LENGTH, SIGNS, Rooms, tidy

WORD = Question("What comes next?", "She poured", place=Place("tiny", (1, 2), 3))
CHOICE = Question("Which?", options=("one", "two", "three"), right=1)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms(clock: Clock) -> Rooms:
    return Rooms(clock)


def test_codes_can_be_read_aloud_and_typed_in_any_case(rooms):
    code, teacher = rooms.open("t")
    assert len(code) == CODE_LENGTH
    assert set(code) <= set(SIGNS)
    assert not set(SIGNS) & set("0O1IL")
    assert tidy(f" {code.lower()[:2]} {code.lower()[2:]}\n") == code
    assert len(teacher) >= 32
    assert teacher not in repr(rooms.look(code, teacher))


def test_a_class_joins_with_or_without_a_name_and_leaves(rooms):
    code, teacher = rooms.open("t")
    ada = rooms.enter(code, "  Ada \n Lovelace ", "a")
    rooms.enter(code, "", "b")
    state = rooms.look(code, teacher)
    assert [(one.number, one.name) for one in state.members] == [(1, "Ada Lovelace"), (2, "")]
    assert (state.here, state.following) == (2, 2)
    rooms.follow(code, ada, False)
    assert rooms.look(code, teacher).following == 1
    seen = rooms.look(code, ada)
    assert seen.members == ()
    assert seen.name == "Ada Lovelace"
    rooms.leave(code, ada)
    assert rooms.look(code, teacher).here == 1
    with pytest.raises(NoRoomError, match="not in room"):
        rooms.look(code, ada)
    rooms.hide_name(code, teacher, 2)
    rooms.leave("NOONE", ada)


def test_a_wrong_code_is_named_and_a_closed_room_is_gone(rooms):
    with pytest.raises(NoRoomError, match="There is no room QQQQQ"):
        rooms.enter("QQQQQ", "", "a")
    code, teacher = rooms.open("t")
    ada = rooms.enter(code, "", "a")
    rooms.close(code, teacher)
    for call in (lambda: rooms.look(code, ada), lambda: rooms.answer(code, ada, "x")):
        with pytest.raises(NoRoomError):
            call()
    assert rooms.seats(code) == ()


def test_only_the_teachers_key_leads(rooms):
    code, _ = rooms.open("t")
    other_code, other_teacher = rooms.open("t2")
    ada = rooms.enter(code, "", "a")
    for key in (ada, other_teacher, "guess", "é"):
        for call in (
            lambda key=key: rooms.close(code, key),
            lambda key=key: rooms.ask(code, key, WORD),
            lambda key=key: rooms.reveal(code, key, None),
            lambda key=key: rooms.show(code, key, View("overview", (), "")),
            lambda key=key: rooms.asked(code, key),
            lambda key=key: rooms.hide(code, key, ["x"]),
        ):
            with pytest.raises(NoRoomError, match="Only the teacher"):
                call()
    assert rooms.look(other_code, other_teacher).here == 0


def test_two_rooms_know_nothing_of_each_other(rooms):
    first, teacher = rooms.open("t")
    second, other = rooms.open("u")
    ada, bob = rooms.enter(first, "Ada", "a"), rooms.enter(second, "Bob", "b")
    rooms.ask(first, teacher, WORD)
    rooms.answer(first, ada, "tea")
    with pytest.raises(RefusedError):
        rooms.answer(second, bob, "tea")
    with pytest.raises(NoRoomError):
        rooms.answer(second, ada, "tea")
    assert rooms.look(first, teacher).round.answered == 1
    assert rooms.look(second, other).round is None
    assert (rooms.seats(first), rooms.seats(second)) == (("a",), ("b",))


def test_nothing_but_the_count_is_told_before_the_reveal(rooms, clock):
    code, teacher = rooms.open("t")
    ada, bob = (rooms.enter(code, name, name) for name in ("Ada", "Bob"))
    rooms.ask(code, teacher, WORD)
    rooms.answer(code, ada, "  green   tea ")
    for key in (teacher, ada, bob):
        state = rooms.look(code, key)
        assert (state.screen, state.round.answered, state.round.answers) == ("round", 1, ())
        assert state.round.question.place is None
    assert rooms.look(code, ada).mine == "green tea"
    assert rooms.look(code, bob).mine is None
    assert rooms.asked(code, teacher) == (WORD, ("green tea",))
    rooms.reveal(code, teacher, None)
    shown = rooms.look(code, bob).round
    assert [(one.name, one.text) for one in shown.answers] == [("Ada", "green tea")]
    with pytest.raises(RefusedError, match="over"):
        rooms.answer(code, bob, "late")


def test_the_last_answer_counts_and_a_script_is_stopped(rooms, clock):
    code, teacher = rooms.open("t")
    ada, bob = rooms.enter(code, "", "a"), rooms.enter(code, "", "b")
    rooms.ask(code, teacher, WORD)
    refused = 0
    for number in range(1000):
        clock.now += 0.01
        try:
            rooms.answer(code, ada, f"word {number}")
        except RefusedError:
            refused += 1
    assert refused == 1000 - MOST_CHANGES
    rooms.answer(code, bob, "coffee")
    with pytest.raises(RefusedError, match="too fast"):
        rooms.answer(code, bob, "tea")
    clock.now += 2 * PAUSE
    rooms.answer(code, bob, "tea")
    _, texts = rooms.asked(code, teacher)
    assert len(texts) == 2
    assert texts[1] == "tea"
    assert rooms.look(code, teacher).round.answered == 2
    with pytest.raises(RefusedError, match="no answers"):
        rooms.answer(code, teacher, "x")


def test_lengths_are_capped_and_named(rooms):
    code, teacher = rooms.open("t")
    with pytest.raises(RefusedError, match=f"at most {LONGEST_NAME}"):
        rooms.enter(code, "x" * (LONGEST_NAME + 1), "a")
    ada = rooms.enter(code, "x" * LONGEST_NAME, "a")
    rooms.ask(code, teacher, WORD)
    with pytest.raises(RefusedError, match=f"at most {LONGEST_ANSWER}"):
        rooms.answer(code, ada, "y" * (LONGEST_ANSWER + 1))
    with pytest.raises(RefusedError, match="Type a word"):
        rooms.answer(code, ada, " \n ")
    for wrong in (
        Question(" "),
        Question("q" * 301),
        Question("q", options=("one",)),
        Question("q", options=("same", "same")),
        Question("q", options=("x" * 161, "y")),
        Question("q", options=tuple("abcdefghi")),
    ):
        with pytest.raises(RefusedError):
            rooms.ask(code, teacher, wrong)


def test_a_full_room_takes_a_place_only_from_whoever_has_gone(rooms, clock):
    code, teacher = rooms.open("t")
    first = rooms.enter(code, "first", "0")
    for number in range(1, MOST_MEMBERS):
        rooms.enter(code, "", str(number))
    with pytest.raises(RefusedError, match="is full"):
        rooms.enter(code, "late", "late")
    rooms.away(code, teacher, ["0"])
    assert rooms.look(code, teacher).here == MOST_MEMBERS - 1
    rooms.enter(code, "late", "late")
    with pytest.raises(NoRoomError):
        rooms.look(code, first)
    assert rooms.look(code, teacher).here == MOST_MEMBERS


def test_a_closed_tab_is_away_and_a_reloaded_one_keeps_its_place(rooms, clock):
    code, teacher = rooms.open("t")
    ada = rooms.enter(code, "Ada", "old")
    rooms.ask(code, teacher, WORD)
    rooms.answer(code, ada, "tea")
    clock.now += AWAY
    assert rooms.look(code, teacher).here == 0
    assert rooms.seats(code) == ()
    assert rooms.come_back(code, ada, "new").mine == "tea"
    assert rooms.seats(code) == ("new",)
    assert rooms.come_back(code, teacher, "t again").role == "teacher"
    with pytest.raises(NoRoomError):
        rooms.come_back(code, "wrong", "new")


def test_what_a_student_answered_goes_when_the_student_leaves_an_open_round(rooms):
    code, teacher = rooms.open("t")
    ada, bob = (rooms.enter(code, name, name) for name in ("Ada", "Bob"))
    rooms.ask(code, teacher, CHOICE)
    with pytest.raises(RefusedError, match="one of the options"):
        rooms.answer(code, ada, "four")
    rooms.answer(code, ada, "one")
    rooms.answer(code, bob, "two")
    rooms.leave(code, ada)
    assert rooms.asked(code, teacher)[1] == ("two",)
    rooms.reveal(code, teacher, None)
    rooms.leave(code, bob)
    assert [one.name for one in rooms.look(code, teacher).round.answers] == [""]


def test_a_hidden_wording_is_off_the_screen_and_does_not_count(rooms):
    code, teacher = rooms.open("t")
    for name, word in (("Ada", "rude"), ("Bob", "tea"), ("Eve", "rude")):
        rooms.ask(code, teacher, WORD) if name == "Ada" else None
        rooms.answer(code, rooms.enter(code, name, name), word)
    rooms.reveal(code, teacher, None)
    rooms.hide(code, teacher, ["rude"])
    shown = rooms.look(code, teacher).round
    assert [one.text for one in shown.answers] == ["tea"]
    assert (shown.answered, shown.hidden) == (3, 2)
    assert rooms.asked(code, teacher)[1] == ("tea",)
    rooms.hide_name(code, teacher, 2)
    assert [one.name for one in rooms.look(code, teacher).round.answers] == [""]


def test_the_view_has_a_version_and_the_screen_turns(rooms):
    code, teacher = rooms.open("t")
    ada = rooms.enter(code, "", "a")
    view = View("sampling", (("temperature", "0.5"),), "Hi")
    assert rooms.show(code, teacher, view)
    assert not rooms.show(code, teacher, View("sampling", (("temperature", "0.5"),), "Hi"))
    state = rooms.look(code, ada)
    assert (state.view, state.view_version, state.screen) == (view, 1, "code")
    with pytest.raises(RefusedError, match="Nothing is asked"):
        rooms.turn_to(code, teacher, "round")
    rooms.ask(code, teacher, WORD)
    rooms.turn_to(code, teacher, "page")
    assert rooms.look(code, ada).screen == "page"
    rooms.turn_to(code, teacher, "round")
    assert pickle.loads(pickle.dumps(rooms.look(code, ada))) == rooms.look(code, ada)


def test_rooms_are_limited_and_idle_ones_go(rooms, clock):
    codes = {rooms.open("t")[0] for _ in range(MOST_ROOMS)}
    assert len(codes) == MOST_ROOMS
    with pytest.raises(RefusedError, match="Close one"):
        rooms.open("t")
    clock.now += IDLE + 1
    assert rooms.open("t")[0]
    with pytest.raises(NoRoomError):
        rooms.enter(min(codes), "", "a")


def test_many_threads_at_once_lose_nothing(rooms):
    code, teacher = rooms.open("t")
    rooms.ask(code, teacher, WORD)

    def join_and_answer(number: int) -> None:
        rooms.answer(code, rooms.enter(code, "", str(number)), f"word{number}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(join_and_answer, range(100)))
    assert sorted(rooms.asked(code, teacher)[1]) == sorted(f"word{n}" for n in range(100))
