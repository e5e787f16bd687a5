"""Kernels compiled to object code separately: the code equals the whole module's, and known kernels are reused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import registrations
from xrelay.api import build_artifact
from xrelay.api.codegen import Piece, llvm_texts
from xrelay.api.kernels import lowering as kernel_lowering
from xrelay.api.kernels.lowering import KernelLowering, LoweredKernel
from xrelay.api.kernels.stream import KernelStream, Report
from xrelay.errors import ExecutionError, LoweringError
from xrelay.lowering.kernel_units import KernelUnit
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.runtime.kernel_work import KERNEL_PREFIX
from xrelay.target import Target

TYPE, MADE = "tensor<?x6xf32, #relay.dims<n>>", "!relay.incomplete"
NAMED = f"""
func.func @main(%x: {TYPE}, %w: tensor<4x6xf32>) -> {MADE} {{
  %d = relay.nn.dense(%x, %w) : ({TYPE}, tensor<4x6xf32>) -> {MADE}
  %s = relay.nn.softmax(%d) : ({MADE}) -> {MADE}
  func.return %s : {MADE}
}}"""
PICKED = """
func.func @main(%x: tensor<9x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %r = relay.nn.relu(%x) : (tensor<9x4xf32>) -> tensor<9x4xf32>
  %s = relay.nn.softmax(%r) : (tensor<9x4xf32>) -> tensor<9x4xf32>
  %y = relay.take(%s, %i) {axis = 0 : i64, mode = "raise"} : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}"""
SOFTMAX = """
func.func @main(%z: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %r = relay.nn.softmax(%z) : (tensor<9x4xf32>) -> tensor<9x4xf32>
  func.return %r : tensor<9x4xf32>
}"""


def rows(*shapes: tuple[int, int]) -> str:
    """A program with a kernel for each shape: they differ in extents alone."""
    types = [f"tensor<{height}x{width}xf32>" for height, width in shapes]
    results = ", ".join(types)
    lines = [f"%y{k} = relay.nn.relu(%x{k}) : ({type}) -> {type}" for k, type in enumerate(types)]
    parameters = ", ".join(f"%x{k}: {type}" for k, type in enumerate(types))
    returned = ", ".join(f"%y{k}" for k in range(len(types)))
    body = "\n".join([*lines, f"%r = relay.tuple({returned}) : ({results}) -> tuple<{results}>"])
    return f"func.func @main({parameters}) -> tuple<{results}> {{\n{body}\nfunc.return %r : tuple<{results}>\n}}"


OF_ONE_SCHEDULE = rows((3, 32), (5, 32), (7, 32), (9, 32))
OF_SEVERAL = rows((3, 16), (5, 5), (7, 33), (9, 48))


def parsed(text: str) -> ModuleOp:
    return parse_module(full_context(), text, "test.mlir")


@pytest.fixture
def lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list of the symbols of lowered kernels; the cache is empty."""
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XRELAY_CACHE", "1")
    monkeypatch.setattr(registrations, "_modules", set[str]())
    symbols: list[str] = []
    lower = KernelLowering.lower

    def counted(self: KernelLowering, module: ModuleOp, symbol: str) -> LoweredKernel:
        symbols.append(symbol)
        return lower(self, module, symbol)

    monkeypatch.setattr(KernelLowering, "lower", counted)
    return symbols


class Texts:
    """The LLVM IR of a compilation, and the names of kernels by their symbols in object code."""

    def __init__(self, text: str, monkeypatch: pytest.MonkeyPatch, *, stream: bool):
        self.pieces: list[str] = []
        self.names: dict[str, str] = {}
        add = KernelStream.add

        def emitted(*arguments: object) -> list[Piece]:
            found = llvm_texts(*arguments)  # type: ignore[arg-type]
            self.pieces += (piece.text for piece in found)
            return found

        def added(kernels: KernelStream, units: Sequence[KernelUnit], report: Report) -> None:
            add(kernels, units, report)
            self.names.update({symbol: name for name, symbol in kernels.symbols.items()})

        with monkeypatch.context() as patch:
            patch.setattr(build_artifact, "llvm_texts", emitted)
            patch.setattr(kernel_lowering, "llvm_texts", emitted)
            patch.setattr(KernelStream, "add", added)
            build_artifact.build_artifact(parsed(text), Target.host(), cache=False, stream=stream)

    def functions(self) -> list[str]:
        """The functions, with local names numbered by first use and kernels under their own names."""
        return sorted(each for text in self.pieces for each in self._functions(text))

    def _functions(self, text: str) -> Iterator[str]:
        for symbol, name in self.names.items():
            text = text.replace(symbol, name)
        for function in re.split(r"(?m)^(?=define|declare)", text):
            known: dict[str, str] = {}
            local = re.sub(r"(?m)^([-\w$.]+):", r"%\1:", function)
            yield re.sub(r"%[-\w$.]+", lambda found, known=known: known.setdefault(found[0], f"%{len(known)}"), local)


@pytest.mark.parametrize(
    "text", [NAMED, PICKED, OF_ONE_SCHEDULE, OF_SEVERAL], ids=["extents", "failing", "merged", "compared"]
)
def test_the_code_is_that_of_the_whole_module(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, streamed = (Texts(text, monkeypatch, stream=stream) for stream in (False, True))
    assert streamed.functions() == whole.functions()
    assert streamed.names
    assert all(symbol.startswith(KERNEL_PREFIX) for symbol in streamed.names)


def test_kernels_that_differ_in_extents_alone_are_compiled_once(lowered: list[str]) -> None:
    artifact = build_artifact.build_artifact(parsed(OF_ONE_SCHEDULE), Target.host()).artifact
    (kernel,) = artifact.metadata.kernels
    assert lowered == [kernel.code]
    assert kernel.extents == 1


@pytest.mark.parametrize("text", [OF_ONE_SCHEDULE, OF_SEVERAL], ids=["merged", "compared"])
def test_the_work_is_that_of_the_whole_module(text: str) -> None:
    whole, streamed = (
        build_artifact.build_artifact(parsed(text), Target.host(), cache=False, stream=stream).artifact
        for stream in (False, True)
    )
    assert [kernel.work for kernel in streamed.metadata.kernels] == [kernel.work for kernel in whole.metadata.kernels]


def test_known_kernels_are_not_lowered_again(lowered: list[str]) -> None:
    artifact = build_artifact.build_artifact(parsed(PICKED), Target.host()).artifact
    first = list(lowered)
    assert len(first) == len(set(first)) == len(artifact.metadata.kernels)
    again = build_artifact.build_artifact(parsed(PICKED), Target.host()).artifact
    assert lowered == first
    assert sorted(again.objects) == sorted(artifact.objects)


def test_another_model_shares_kernels(lowered: list[str]) -> None:
    build_artifact.build_artifact(parsed(SOFTMAX), Target.host())
    before = len(lowered)
    text = SOFTMAX.replace("%z", "%other").replace("%r", "%y")
    build_artifact.build_artifact(parsed(text), Target.host())
    assert len(lowered) == before == 1


def test_options_tell_kernels_apart(lowered: list[str]) -> None:
    for level in (3, 0):
        build_artifact.build_artifact(parsed(SOFTMAX), Target.host(), opt_level=level)
    assert len(set(lowered)) == 2


def test_damaged_records_and_lost_objects_are_made_anew(lowered: list[str], tmp_path: Path) -> None:
    build_artifact.build_artifact(parsed(SOFTMAX), Target.host())
    (record,) = (tmp_path / "cache" / "kernels").rglob("*.o")
    record.write_bytes(record.read_bytes()[:-1])
    build_artifact.build_artifact(parsed(SOFTMAX), Target.host())
    for file in (tmp_path / "cache" / "objects").rglob("*.o"):
        file.unlink()
    build_artifact.build_artifact(parsed(SOFTMAX), Target.host())
    assert len(lowered) == 3


def test_found_kernels_fail_as_compiled_ones_do(lowered: list[str]) -> None:
    found: list[str] = []
    for _ in range(2):
        model = xrelay.CompiledModel(build_artifact.build_artifact(parsed(PICKED), Target.host()).artifact)
        with pytest.raises(ExecutionError) as failure:
            model.run([np.ones((9, 4), np.float32), np.array([0, 9, 1])])
        found.append(str(failure.value))
    assert "index out of range: 9 is not in [-9, 9)" in found[0]
    assert found[0] == found[1]
    assert len(lowered) == len(set(lowered))


def test_a_failure_names_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> LoweredKernel:
        raise LoweringError("no way")

    monkeypatch.setattr(KernelLowering, "lower", fail)
    with pytest.raises(LoweringError, match="no way") as failure:
        build_artifact.build_artifact(parsed(SOFTMAX), Target.host(), cache=False)
    assert failure.value.__notes__ == ["in kernel @fused_nn_softmax"]


def test_names_of_values_do_not_tell_kernels_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def seen(_: KernelStream, units: Sequence[KernelUnit], _report: Report) -> None:
        texts.extend(print_module(unit.module) for unit in units)
        raise LoweringError("enough")

    monkeypatch.setattr(KernelStream, "add", seen)
    for text in (SOFTMAX, SOFTMAX.replace("%z", "%other").replace("%r", "%y")):
        with pytest.raises(LoweringError, match="enough"):
            build_artifact.build_artifact(parsed(text), Target.host(), cache=False)
    assert texts[0] == texts[1]
    assert "llvm.noalias" in texts[0]
    assert "@kernel(" in texts[0]
    assert "topi.strategies" not in texts[0], "a reason decides no code"


def test_timing_tells_what_was_done(lowered: list[str]) -> None:
    timings = [build_artifact.build_artifact(parsed(PICKED), Target.host()).timing for _ in range(2)]
    first, again = (timing.kernels for timing in timings)
    assert (first.compiled, first.found) == (len(lowered), 0)
    assert (again.compiled, again.found) == (0, len(lowered))
    assert timings[1].llvm == 0 < timings[0].llvm
    assert timings[0].python < timings[0].total
