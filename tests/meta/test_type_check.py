"""The type checker uses the Python and the packages of the environment in which it runs.

numpy's stubs are written for the Python that the release of numpy requires: for an older Python, many types are
unknown.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_type_check_reads_stubs_as_the_running_python():
    checker = str(Path(sys.executable).parent / "basedpyright")
    command = [checker, "--pythonpath", sys.executable, "--verbose", "src/xrelay/version.py"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"Python version: {sys.version_info.major}.{sys.version_info.minor}." in said
    assert str(Path(sys.prefix) / "lib") in said
