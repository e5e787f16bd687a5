"""Runs compiled models on aarch64: exports them to C, cross-compiles them, and runs the program in QEMU."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from xrelay.api.model import CompiledModel

COMPILER = shutil.which("aarch64-linux-gnu-gcc")
EMULATOR = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
IS_THERE, NOT_THERE = bool(COMPILER and EMULATOR), "aarch64-linux-gnu-gcc and qemu-aarch64 are not installed"
needs_aarch64 = pytest.mark.skipif(not IS_THERE, reason=NOT_THERE)

_MAIN = """
#include "m.h"
static void *read_file(const char *path, size_t size) {
  void *data = aligned_alloc(64, size / 64 * 64 + 64);
  FILE *file = fopen(path, "rb");
  if (data == NULL || file == NULL || fread(data, 1, size, file) != size) exit(2);
  fclose(file);
  return data;
}
int main(void) {
  void *x = read_file("x.bin", %(size)d), *y = aligned_alloc(64, %(result)d / 64 * 64 + 64);
  int32_t status = m_run(x, y, M_WEIGHTS_SIZE ? m_load_weights("m.weights") : NULL, m_new_arena(), 1);
  FILE *file = fopen("y.bin", "wb");
  if (status != 0 || file == NULL || fwrite(y, 1, %(result)d, file) != %(result)d) return 3;
  return fclose(file);
}
"""


def run_on_aarch64(model: CompiledModel, x: NDArray[np.generic], folder: Path, cpu: str) -> NDArray[np.generic]:
    """Returns the output for `x` of a model for aarch64 with one input and one output, on QEMU's `cpu`."""
    (spec,) = model.artifact.metadata.outputs
    shape, dtype = [extent for extent in spec.shape if isinstance(extent, int)], np.dtype(spec.dtype)
    model.export(folder / "m.o", header=folder / "m.h")
    (folder / "x.bin").write_bytes(x.tobytes())
    sizes = {"size": x.nbytes, "result": int(np.prod(shape)) * dtype.itemsize}
    (folder / "main.c").write_text(_MAIN % sizes)
    build_and_run(folder, cpu)
    return np.frombuffer((folder / "y.bin").read_bytes(), dtype).reshape(shape)


def build_and_run(folder: Path, cpu: str) -> str:
    """Builds `main.c` with a model's `m.o` and `m.h` in a folder, runs it on QEMU's `cpu`, and returns its output."""
    build = [COMPILER or "", "-static", "main.c", "m.o", "-lm", "-o", "main"]
    subprocess.run(build, cwd=folder, check=True, timeout=60)
    run = [EMULATOR or "", "-cpu", cpu, str(folder / "main")]
    return subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True, timeout=60).stdout
