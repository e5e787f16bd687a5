"""Compiles and runs C programs that use exported models; tests are skipped without a compiler."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
CXX_COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")

needs_cxx_compiler = pytest.mark.skipif(CXX_COMPILER is None, reason="no C++ compiler on this machine")


def check_syntax(source: Path, standard: str) -> None:
    """Checks that a C or C++ file compiles in a language standard without warnings."""
    compiler = CXX_COMPILER if "++" in standard else COMPILER
    assert compiler is not None
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    done = subprocess.run([compiler, *flags, str(source)], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def compile_and_run(folder: Path, sources: dict[str, str], *arguments: str) -> str:
    """Compiles C files with the model's `m.o` and `m.h` in a folder, runs the program, and returns its output."""
    assert COMPILER is not None
    for name, text in sources.items():
        (folder / name).write_text(text)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(folder)]
    files = [str(folder / name) for name in (*sources, "m.o")]
    subprocess.run([COMPILER, *flags, "-o", str(folder / "main"), *files, "-lm"], check=True, timeout=60)
    done = subprocess.run([str(folder / "main"), *arguments], check=True, capture_output=True, text=True, timeout=60)
    return done.stdout
