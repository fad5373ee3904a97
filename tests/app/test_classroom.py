"""A class on one server, without a browser: each session is an AppTest of its own."""

from __future__ import annotations

import re

import pytest

from components.link import keys
from components.shell.stages import stage
from pages.frame import classroom, frame
from pages.frame.live import WRITTEN
from tests.app.conftest import kept
from tests.app.hands import html_of, prompt_of, question_of, set_prompt
from tests.app.test_frame import texts


@pytest.fixture(autouse=True)
def _no_rooms():
    classroom.rooms.clear()
    yield
    classroom.rooms.clear()


@pytest.fixture
def teacher(open_app):
    """Return a teacher's session with an open room that shows the page."""
    at = open_app(prompt="The cat sat on the")
    at.button(key="open_room").click().run()
    return at


def code_of(at) -> str:
    return at.session_state[classroom.SEAT].code


def join(open_app, code: str, name: str = ""):
    at = open_app(room=code)
    at.text_input(key="join_name").set_value(name)
    press(at, "Join")
    assert classroom.SEAT in at.session_state
    return at


def press(at, label: str):
    next(button for button in at.button if button.label == label).click().run()
    assert not at.exception
    return at


def send(at, word: str):
    field(at, "The next word, or a part of one").set_value(word)
    return press(at, "Send")


def field(at, label: str):
    return next(one for one in at.text_input if one.label == label)


def test_a_teacher_opens_a_room_and_a_student_joins_by_link_or_by_code(open_app, teacher):
    code = code_of(teacher)
    assert code in teacher.query_params[keys.ROOM]
    assert f"**{code}** · 0 here" in "\n".join(one.value for one in teacher.markdown)
    join(open_app, code, "Ada")
    typed = open_app("tokenizer")
    typed.text_input(key="room_code").set_value(f" {code.lower()} ")
    press(typed, "Join")
    typed.text_input(key="join_name").set_value("Bob <b>x</b>")
    typed.button(key="FormSubmitter:join-Join").click().run()
    assert "2 here, 2 follow" in texts(teacher.run())
    assert "Bob <b>x</b>" in texts(typed)


def test_the_key_of_the_teacher_is_in_no_address_and_on_no_screen(open_app, teacher):
    key = teacher.session_state[classroom.SEAT].key
    student = join(open_app, code_of(teacher))
    for at in (teacher, student):
        assert key not in str(dict(at.query_params))
        assert key not in texts(at)


def test_a_wrong_code_is_said_and_the_page_is_there(open_app):
    by_link = open_app(room="no*te")
    typed = open_app()
    typed.text_input(key="room_code").set_value("no*te")
    press(typed, "Join")
    for at in (by_link, typed):
        assert "There is no room NO*TE" in texts(at)
        assert question_of(at) == stage("overview").question
        assert keys.ROOM not in at.query_params


def test_who_does_not_want_to_join_sees_the_page(open_app, teacher):
    at = open_app(room=code_of(teacher))
    assert question_of(at) == ""
    press(at, "Look around without joining")
    assert question_of(at) == stage("overview").question
    assert "0 here" in texts(teacher.run())


def test_a_student_follows_moves_away_and_comes_back(open_app, teacher):
    press(teacher, "Back to the page")
    student = join(open_app, code_of(teacher))
    state = classroom.rooms().look(code_of(teacher), teacher.session_state[classroom.SEAT].key)
    assert dict(state.view.link)["prompt"] == "The cat sat on the"
    assert keys.ROOM not in dict(state.view.link)

    arrive(student, state.view, state.view_version)
    assert student.session_state[keys.PROMPT] == "The cat sat on the"
    assert keys.FOLLOWED not in student.query_params
    assert "You follow" in texts(student)

    set_prompt(student, "My own")
    student.run()
    assert "You explore alone" in texts(student)
    assert "1 here, 0 follow" in texts(teacher.run())

    press(student, "Follow the class")
    assert classroom.APPLIED not in student.session_state, "so the tab is sent to the view again"
    arrive(student, state.view, state.view_version)
    assert student.session_state[keys.PROMPT] == "The cat sat on the"


def test_the_tokens_that_the_teacher_adds_go_along_and_so_does_a_prompt_beyond_any_address(
    open_app, teacher
):
    long = "The cat sat on the mat and " * 12 + "ü" * 400
    press(teacher, "Back to the page")
    student = join(open_app, code_of(teacher))
    teacher.session_state[keys.PROMPT] = "The cat sat on the"
    press(teacher, "Next token")
    mine = teacher.session_state[classroom.SEAT]
    state = classroom.rooms().look(mine.code, mine.key)
    assert len(state.view.written) == 1
    arrive(student, state.view, state.view_version)
    assert kept(student, WRITTEN) == state.view.written == kept(teacher, WRITTEN)

    teacher.switch_page(stage("tokenizer").page).run()
    set_prompt(teacher, long)
    state = classroom.rooms().look(mine.code, mine.key)
    assert keys.PROMPT not in dict(state.view.link)
    arrive(student, state.view, state.view_version)
    assert prompt_of(student) == long


def arrive(student, view, version) -> None:
    """Do what the browser does: go to the address of the view."""
    student.query_params.clear()
    for name, value in (*view.link, (keys.FOLLOWED, str(version))):
        student.query_params[name] = value
    student.run()
    assert not student.exception


def test_a_round_shows_the_count_alone_and_then_the_class_beside_the_model(open_app, teacher):
    code = code_of(teacher)
    press(teacher, "Ask: what comes next?")
    students = [join(open_app, code, name) for name in ("Ada", "<i>Bob</i>", "")]
    for at, word in zip(students, ("mat", "Mat", "*dog* $x$"), strict=True):
        assert "The cat sat on the" in html_of(at)
        send(at, word)
        assert "until the reveal" in texts(at)
    teacher.run()
    said = html_of(teacher)
    assert re.search(r"3\s*of 3\s*have answered", said)
    assert "mat" not in said.replace("the mat", "")
    press(teacher, "Reveal")
    said = texts(teacher)
    assert "2 × mat / Mat" in said
    assert "1 × *dog*·$x$" in said
    assert "<i>Bob</i>" in said
    assert "came." in said
    assert "Surprise about it: the class" in said
    shown = students[0].run()
    assert "Your answer was “mat”" in texts(shown)
    assert not [one for one in shown.button if one.label == "Hide"]

    press(teacher, "Hide")  # the most frequent word stands first
    assert "2 × mat" not in texts(teacher)
    assert "2 answers hidden" in texts(teacher)

    press(teacher, "Next round: one token on")
    assert teacher.session_state[keys.PROMPT].startswith("The cat sat on the")
    assert len(teacher.session_state[keys.PROMPT]) > len("The cat sat on the")
    assert re.search(r"0\s*of 3\s*have answered", html_of(teacher))


def test_while_a_round_is_open_no_chip_gives_the_answer_away(open_app, teacher, monkeypatch):
    drawn = []
    draw = frame.pipeline_strip

    def watched(chips, **rest):
        drawn.append({chip.key: chip.fact for chip in chips})
        return draw(chips, **rest)

    monkeypatch.setattr(frame, "pipeline_strip", watched)
    press(teacher, "Ask: what comes next?")
    assert not any(drawn[-1].values())
    press(teacher, "Back to the page")
    assert drawn[-1]["lm_head"]


def test_a_question_with_options_is_counted_and_the_last_choice_stands(
    open_app, teacher, monkeypatch
):
    monkeypatch.setattr("engine.classroom.room.PAUSE", 0.0)
    field(teacher, "A question of your own").set_value("How many tokens?")
    teacher.text_area[-1].set_value("one\n two \n\nthree *x*")
    press(teacher, "Ask it")
    student = join(open_app, code_of(teacher))
    press(student, "one")
    press(student, "two")
    press(teacher.run(), "Reveal")
    said = html_of(teacher)
    assert re.search(r"two\s+1 \(100 %\)", said)
    assert re.search(r"one\s+0 \(0 %\)", said)


def test_what_stands_open_on_the_teachers_page_outlives_a_round(open_app, teacher):
    teacher.switch_page("pages/tokenizer/page.py").run()
    teacher.session_state[keys.TOKEN] = 1
    teacher.run()
    press(teacher, "Ask: what comes next?")
    press(teacher, "Back to the page")
    assert teacher.session_state[keys.TOKEN] == 1


def test_a_room_that_is_closed_lets_its_students_go_on_alone(open_app, teacher):
    student = join(open_app, code_of(teacher))
    teacher.button(key="close_room").click().run()
    assert classroom.SEAT not in teacher.session_state
    student.run()
    assert not student.exception
    assert "The room is closed" in texts(student)
    assert classroom.SEAT not in student.session_state


def test_two_rooms_at_once_stay_apart(open_app, teacher):
    other = open_app(prompt="Why is")
    other.button(key="open_room").click().run()
    assert code_of(other) != code_of(teacher)
    join(open_app, code_of(other))
    assert "1 here" in texts(other.run())
    assert "0 here" in texts(teacher.run())


def test_the_questions_of_the_pages_and_of_the_ten_guesses_can_be_put_to_the_class(
    open_app, teacher
):
    press(teacher, "Back to the page")
    teacher.button(key="guess_first").click().run()
    press(teacher, "Ask the class")
    student = join(open_app, code_of(teacher))
    choice = student.session_state[classroom.SEAT]
    options = classroom.rooms().look(choice.code, choice.key).round.question.options
    press(student, options[0])
    press(teacher.run(), "Reveal")
    assert f"{options[0]}\n" in html_of(teacher)
    assert html_of(teacher).count("right") == 1
    press(teacher, "Back to the page")
    press(teacher, "Show the picture without a guess")
    teacher.button(key="lesson_enter").click().run()
    press(teacher, "Ask the class")
    press(teacher, "Reveal")
    assert "0 (0 %)" in html_of(teacher)
