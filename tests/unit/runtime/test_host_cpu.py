"""The recorded description of the CPU, and processes that run models without LLVM."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

import xrelay
from xrelay.runtime import host_cpu as module
from xrelay.runtime import llvm
from xrelay.runtime.host_cpu import HostCpu, host_cpu

ADD = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""
FOUND = HostCpu("some-cpu", {"first": True, "second": False})
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the description of CPUs is Linux's")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XRELAY_CACHE", "1")
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path / "cache"))
    host_cpu.cache_clear()
    yield tmp_path / "cache"
    host_cpu.cache_clear()


def asked() -> tuple[HostCpu, int]:
    """Returns the CPU as a new process finds it, and the number of queries of LLVM."""
    host_cpu.cache_clear()
    with patch.object(llvm, "host_cpu", return_value=tuple(FOUND)) as query:
        return host_cpu(), query.call_count


@pytest.mark.usefixtures("cache")
def test_llvm_is_queried_once_for_a_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert [asked(), asked()] == [(FOUND, 1), (FOUND, 0)]
    description = tmp_path / "cpuinfo"
    description.write_text("processor\t: 0\nmodel name\t: Another\nflags\t\t: sse\ncpu MHz\t\t: 1\n\nprocessor\t: 1\n")
    monkeypatch.setattr(module, "_DESCRIPTION", str(description))
    assert [asked(), asked()] == [(FOUND, 1), (FOUND, 0)]
    description.write_text(description.read_text().replace("MHz\t\t: 1", "MHz\t\t: 2"))
    assert asked() == (FOUND, 0)
    description.write_text(description.read_text().replace("sse", "sse sse2"))
    assert asked() == (FOUND, 1)


def test_a_damaged_record_is_ignored(cache: Path):
    asked()
    record = cache / "cpus"
    record.write_text(record.read_text().replace("-second", "+second"))
    assert asked() == (FOUND, 1)
    assert asked() == (FOUND, 0)


@pytest.mark.usefixtures("cache")
def test_llvm_is_queried_if_the_system_does_not_describe_the_cpu(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_DESCRIPTION", "/no/such/file")
    assert [asked(), asked()] == [(FOUND, 1), (FOUND, 1)]


RUN = """
import sys
import numpy as np
import xrelay

model = {opened}
assert model.run([np.ones(4, np.float32)])[0].tolist() == [2] * 4
print(*{{"llvmlite", "xdsl", "onnx", "ml_dtypes"}} & sys.modules.keys())
"""


@pytest.mark.usefixtures("cache")
def test_processes_that_run_cached_models_do_not_import_llvm(tmp_path: Path):
    text, saved = tmp_path / "add.mlir", tmp_path / "add.xrelay"
    text.write_text(ADD)
    xrelay.compile(text).save(saved)
    for opened in (f"xrelay.compile({str(text)!r})", f"xrelay.load({str(saved)!r})"):
        run = [sys.executable, "-c", RUN.format(opened=opened)]
        _, second = (subprocess.run(run, capture_output=True, text=True, check=True).stdout for _ in range(2))
        assert second == "\n"
