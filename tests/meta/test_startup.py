"""Tools start fast because they only import the modules that they use; several hundred lit tests depend on it."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("llvmlite", "onnx", "rich", "google.protobuf", "safetensors", "ml_dtypes", "xdsl.dialects.llvm")

UNUSED = ("xrelay.dialects.relay", "xrelay.dialects.topi", "xrelay.dialects.loop", "xrelay.runtime", "xrelay.frontend")


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('modules:', *sys.modules)"],
        input="builtin.module {}",
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.rpartition("modules:")[2].split())


def test_xrelay_opt_on_an_empty_module_imports_nothing_heavy() -> None:
    loaded = modules_after("from xrelay.tools.xrelay_opt import main\nassert main(['-p', 'canonicalize']) == 0")
    assert not loaded & set(HEAVY)
    assert not {name for name in loaded if name.startswith(UNUSED)}


def test_the_package_itself_imports_nothing_heavy() -> None:
    assert not modules_after("import xrelay") & {*HEAVY, "xdsl", "numpy"}


READS = """
from importlib.metadata import Distribution, distributions
reads, read = [], Distribution.entry_points.fget
Distribution.entry_points = property(lambda self: reads.append(self) or read(self))
from xrelay.tools.xrelay_opt import main
assert main(["-p", "canonicalize"]) == 0
assert reads
assert len(reads) <= 2 * len(list(distributions())), f"read {len(reads)} times"
"""


def test_xrelay_opt_asks_for_extensions_once_for_xdsl_and_once_for_itself() -> None:
    modules_after(READS)
