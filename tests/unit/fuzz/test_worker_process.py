"""A case that computes for too long is distinguished from a case that waits on a busy machine."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from fuzz.worker_process import kill_when_hung


@pytest.mark.parametrize(
    ("program", "limit", "hangs"),
    [
        ("while True: pass", 0.3, True),
        ("import time; time.sleep(3600)", 0.3, True),
        ("import time; time.sleep(0.4)", 10.0, False),
    ],
)
def test_a_case_that_computes_or_waits_too_long_is_ended(program: str, limit: float, hangs: bool) -> None:
    process = subprocess.Popen([sys.executable, "-S", "-c", program], text=True)
    answered, hung = threading.Event(), threading.Event()
    threading.Thread(target=lambda: (process.wait(), answered.set()), daemon=True).start()
    kill_when_hung(process, limit, answered, hung)
    assert hung.is_set() is hangs
    assert (process.wait() != 0) is hangs
