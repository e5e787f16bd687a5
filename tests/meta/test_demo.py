"""The demo runs to its end and says that native code equals the interpreter (with a small model, to save time)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_demo_checks_itself(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "xrelay.tools.demo", "--model", "squeezenet", "--output", str(tmp_path / "demo")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checked   equals the interpreter" in done.stdout
    stages = sorted(path.name for path in (tmp_path / "demo" / "stages").iterdir())
    assert all(name in done.stdout for name in stages if name[0].isdigit())
    assert "from the cache" in done.stdout
