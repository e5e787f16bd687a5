"""Kernels that tests remember have the same code as without, and are found by everything that determines the code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support import remembered_kernels as remembered
from xdsl.dialects.builtin import ModuleOp

from xrelay.api.build_artifact import build_artifact
from xrelay.api.kernels.lowering import KernelLowering, LoweredKernel
from xrelay.api.kernels.stream import KernelStream
from xrelay.errors import XRelayError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.runtime.object_code.llvm_compiler import compile_many
from xrelay.target import Target

TEXT = """
func.func @main(%x: tensor<41x43xf32>) -> tensor<41x43xf32> {
  %r = relay.nn.relu(%x) : (tensor<41x43xf32>) -> tensor<41x43xf32>
  %s = relay.nn.softmax(%r) : (tensor<41x43xf32>) -> tensor<41x43xf32>
  func.return %s : tensor<41x43xf32>
}"""

kernels_are_remembered = remembered.remembered_kernels


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "OPTIMISED", 1)
    monkeypatch.setattr(remembered, "_codes", {})
    monkeypatch.setattr(remembered, "_lowered", {})
    monkeypatch.setattr(remembered, "_host_codes", {})


@pytest.fixture
def symbols(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns a list to which the symbol of each lowered kernel is appended."""
    found: list[str] = []
    lower = KernelLowering.lower

    def counted(self: KernelLowering, module: ModuleOp, symbol: str) -> LoweredKernel:
        found.append(symbol)
        return lower(self, module, symbol)

    monkeypatch.setattr(KernelLowering, "lower", counted)
    return found


def objects(text: str = TEXT, target: Target | None = None, level: int = 3, *, cache: bool = False) -> list[bytes]:
    module = parse_module(full_context(), text, "test.mlir")
    code = build_artifact(module, target or Target.host(), opt_level=level, cache=cache).artifact.objects
    return [bytes(each) for each in code]


def test_a_second_compilation_has_the_same_code_and_lowers_nothing(symbols: list[str]) -> None:
    first = objects()
    count = len(symbols)
    assert count > 0
    assert objects() == first
    assert len(symbols) == count


def test_code_outside_kernels_is_compiled_once_for_each_text_and_target(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counted(texts: Sequence[str], **options: Any) -> list[bytes]:
        compiled.extend(texts)
        return compile_many(texts, **options)

    monkeypatch.setattr(remembered, "compile_many", counted)
    first = objects()
    assert len(compiled) == 1
    assert objects() == first
    assert len(compiled) == 1
    objects(target=Target("cpu -mcpu=x86-64"))
    objects(TEXT.replace("43", "47"))
    assert len(compiled) == 3


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_what_is_lowered_serves_all_levels_of_llvm(level: int, symbols: list[str]) -> None:
    objects(level=3 if level < 3 else 0)
    count = len(symbols)
    found = objects(level=level)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remembered.stage_runner, "KernelStream", KernelStream)
        patch.setattr(remembered.build_artifact, "compile_many", compile_many)
        assert len(symbols) == count
        assert found == objects(level=level)


def test_most_kernels_that_no_cache_gets_are_compiled_at_level_0(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("XRELAY_CACHE", "1")
    optimised = objects()
    monkeypatch.setattr(remembered, "OPTIMISED", 1 << 32)
    assert objects() != optimised
    assert objects(cache=True) == optimised


def test_texts_and_targets_tell_kernels_apart(symbols: list[str]) -> None:
    objects()
    count = len(symbols)
    objects(TEXT.replace("43", "47"))
    assert len(symbols) == 2 * count
    objects(target=Target(f"cpu -mcpu={Target.host().mcpu} -num-cores=7"))
    assert len(symbols) == 3 * count
    assert len(set(symbols)) == 3 * count


def test_an_error_comes_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: KernelLowering, module: ModuleOp, symbol: str) -> LoweredKernel:
        raise XRelayError("no")

    monkeypatch.setattr(KernelLowering, "lower", failing)
    for _ in range(2):
        with pytest.raises(XRelayError, match="no"):
            objects()


def test_the_oldest_make_way(monkeypatch: pytest.MonkeyPatch, symbols: list[str]) -> None:
    monkeypatch.setattr(remembered, "LIMIT", 1)
    counts: list[int] = []
    for text in (TEXT, TEXT.replace("nn.softmax", "exp"), TEXT):
        objects(text)
        counts.append(len(symbols))
    assert counts[0] < counts[1] < counts[2]
