"""Say before anything is fetched if there is no torch for this machine.

It runs with any Python 3, before the environment exists, so it imports nothing but the standard
library. torch decides: its wheels are the narrowest of all that the project needs.
"""

import platform
import struct
import sys

WHEELS = {
    "Linux": ("x86_64", "aarch64"),
    "Darwin": ("arm64",),
    "Windows": ("AMD64", "ARM64"),
}
"""Systems and processors for which torch 2.13 is published."""


def problem(system: str, machine: str, bits: int, libc: str) -> "str | None":
    """Return a sentence if this machine can't run the app, else None.

    Args:
        system: as `platform.system()` names it.
        machine: as `platform.machine()` names the processor.
        bits: of the Python, 32 or 64.
        libc: as `platform.libc_ver()` names the C library; only Linux has a choice.
    """
    there = f"{system} on {machine}"
    if bits != 64:
        return f"This Python has {bits} bits, and torch needs 64. Install a 64-bit Python."
    if system == "Darwin" and machine == "x86_64":
        return (
            "There is no current torch for Macs with an Intel processor (the last one was 2.2). "
            "On a Mac with an Apple processor this is an Intel Python under Rosetta: install an "
            "arm64 one. On an Intel Mac use another computer, or Linux in a virtual machine."
        )
    if machine not in WHEELS.get(system, ()):
        return f"There is no torch for {there}: {', '.join(WHEELS.get(system, ())) or 'none'} only."
    if system == "Linux" and libc != "glibc":
        return "torch needs glibc, which Alpine and other musl systems lack. Use Debian or Ubuntu."
    return None


def main() -> int:
    """Print the problem, if there is one, and end with 1."""
    bits = 8 * struct.calcsize("P")
    found = problem(platform.system(), platform.machine(), bits, platform.libc_ver()[0])
    if found:
        print(found, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
