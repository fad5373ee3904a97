"""Machines without a torch are told so before anything is fetched."""

from __future__ import annotations

import platform
import re

import pytest

from scripts.supported import problem
from tests.sources import ROOT


@pytest.mark.parametrize(
    ("system", "machine", "libc"),
    [("Linux", "x86_64", "glibc"), ("Linux", "aarch64", "glibc"), ("Darwin", "arm64", "")],
)
def test_machines_with_a_torch_pass(system, machine, libc):
    assert problem(system, machine, 64, libc) is None


@pytest.mark.parametrize(
    ("system", "machine", "bits", "libc", "said"),
    [
        ("Darwin", "x86_64", 64, "", "Intel processor"),
        ("Linux", "i686", 32, "glibc", "32 bits"),
        ("Linux", "armv7l", 64, "glibc", "no torch for Linux on armv7l"),
        ("Linux", "x86_64", 64, "", "musl"),
        ("FreeBSD", "amd64", 64, "", "no torch for FreeBSD"),
    ],
)
def test_machines_without_one_are_told(system, machine, bits, libc, said):
    assert said in problem(system, machine, bits, libc)


def test_this_machine_passes():
    assert problem(platform.system(), platform.machine(), 64, platform.libc_ver()[0]) is None


def test_make_asks_before_it_installs_and_the_server_gets_makes_signals():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    base = text[text.index("$(BASE):") :]
    assert 0 < base.index("scripts/supported.py") < base.index("$(PIP) install")
    assert re.search(r"^\t@exec \$\(PY\) scripts/run\.py", text, re.MULTILINE)
