"""What a compilation leaves behind in the process."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys

import pytest

from xrelay.runtime.native import LIBRARIES_PER_LINKER

MEASURE = """
import ctypes, gc
import numpy as np
import xrelay
from xrelay import relay

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Info

def used():
    gc.collect()
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd

def compile_and_run():
    x = relay.var("x", shape=(8,))
    model = xrelay.compile(relay.Module.from_expr(relay.tanh(x)), cache=False, threads=1)
    model.run([np.ones(8, np.float32)])

for _ in range(WARM_UP):
    compile_and_run()
before = used()
for _ in range(TIMES):
    compile_and_run()
print((used() - before) // TIMES)
"""
WARM_UP = TIMES = LIBRARIES_PER_LINKER
"""A linker goes after so many libraries, so before and after its successor has linked equally many."""
ALLOWED = 12 << 10
"""Bytes for each compilation. LLVM keeps 1.5 KB of every pipeline; when whole pipelines stayed it was 120 KB."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc says how much memory is in use")
def test_compiling_again_and_again_does_not_grow():
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("this glibc is older than mallinfo2")
    program = MEASURE.replace("WARM_UP", str(WARM_UP)).replace("TIMES", str(TIMES))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < ALLOWED
