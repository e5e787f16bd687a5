"""The commands that pip installs, interrupted while they import their modules."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from xrelay.tools.entry_points import {command}
sys.exit({command}())
"""


@pytest.mark.parametrize("module", ["xrelay.errors", "xrelay.tools.command_line"])
@pytest.mark.parametrize("command", ["xrelay", "xrelay_opt"])
def test_an_interrupt_during_imports_shows_no_traceback(command: str, module: str) -> None:
    script = SCRIPT.format(command=command, module=module)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
