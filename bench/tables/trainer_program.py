# SPDX-License-Identifier: Apache-2.0
"""The program, whose commands run in a folder as a user types them there."""

from __future__ import annotations

import subprocess
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "build" / "release" / "bin" / "trainer"


def run_program(program: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments],
        cwd=folder,
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def run(program: Path, folder: Path, *arguments: str) -> str:
    """What it prints; an error has the end of what it says."""
    done = run_program(program, folder, *arguments)
    if done.returncode != 0:
        said = "\n  ".join(done.stderr.strip().splitlines()[-5:])
        raise RuntimeError(f"status {done.returncode} from trainer {' '.join(arguments)}\n  {said}")
    return done.stdout
