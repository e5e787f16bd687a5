"""A model's reported memory needs: a run succeeds within them, and their parts are correct."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray
from support.c_programs import compile_and_run, needs_compiler

import xrelay
from xrelay.api.model import CompiledModel
from xrelay.errors import ExecutionError, InputError
from xrelay.runtime.metadata import ModelMetadata

ROWS = """
func.func @main(%x: tensor<?x?xf32, #relay.dims<n, m>>) -> !relay.incomplete {
  %y = relay.nn.softmax(%x) : (tensor<?x?xf32, #relay.dims<n, m>>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""
FOUND = """
func.func @main(%x: tensor<?x4xf32, #relay.dims<n>>) -> !relay.incomplete {
  %i = relay.argwhere(%x) : (tensor<?x4xf32, #relay.dims<n>>) -> !relay.incomplete
  %f = relay.cast(%i) {dtype = f32} : (!relay.incomplete) -> !relay.incomplete
  %s = relay.nn.softmax(%f) : (!relay.incomplete) -> !relay.incomplete
  %c = relay.cumsum(%s) {axis = 0} : (!relay.incomplete) -> !relay.incomplete
  func.return %c : !relay.incomplete
}
"""
FIXED = FOUND.replace("tensor<?x4xf32, #relay.dims<n>>", "tensor<50x4xf32>")
FILLED = """
func.func @main(%x: tensor<f32>, %shape: tensor<2xi64>) -> !relay.incomplete {
  %y = relay.dyn.full(%x, %shape) : (tensor<f32>, tensor<2xi64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""
LISTED = """
func.func @main(%x: tensor<?xf32, #relay.dims<n>>) -> !relay.sequence<tensor<?xf32>> {
  %e = relay.sequence_empty() {of = tensor<?xf32>} : () -> !relay.sequence<tensor<?xf32>>
  %s = relay.sequence_insert(%e, %x) : (!relay.sequence<tensor<?xf32>>, tensor<?xf32, #relay.dims<n>>)
    -> !relay.sequence<tensor<?xf32>>
  func.return %s : !relay.sequence<tensor<?xf32>>
}
"""
# A function called from another function than @main has two live buffers at a time.
CALLED = """
func.func private @fill(%y: memref<4096xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4096 {
    %v = arith.constant 1.0 : f32
    loop.store %v, %y[%i] : memref<4096xf32>
  }
  func.return
}
func.func private @add(%a: memref<4096xf32>, %b: memref<4096xf32>, %y: memref<4096xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4096 {
    %u = loop.load %a[%i] : memref<4096xf32>
    %v = loop.load %b[%i] : memref<4096xf32>
    %w = arith.addf %u, %v : f32
    loop.store %w, %y[%i] : memref<4096xf32>
  }
  func.return
}
func.func private @two(%y: memref<4096xf32>) {
  %a = memref.alloc() : memref<4096xf32>
  %b = memref.alloc() : memref<4096xf32>
  func.call @fill(%a) : (memref<4096xf32>) -> ()
  func.call @fill(%b) : (memref<4096xf32>) -> ()
  func.call @add(%a, %b, %y) : (memref<4096xf32>, memref<4096xf32>, memref<4096xf32>) -> ()
  func.return
}
func.func private @twice(%y: memref<4096xf32>) {
  func.call @two(%y) : (memref<4096xf32>) -> ()
  func.call @two(%y) : (memref<4096xf32>) -> ()
  func.return
}
func.func @main(%y: memref<4096xf32> {relay.name = "y"}) attributes {loop.num_outputs = 1 : i64} {
  func.call @twice(%y) : (memref<4096xf32>) -> ()
  func.return
}
"""


def compiled(text: str, threads: int = 1) -> CompiledModel:
    return xrelay.compile(xrelay.parse(text), cache=False, threads=threads)


def runs_within(model: CompiledModel, limit: int, inputs: list[NDArray[np.generic]]) -> bool:
    model.memory_limit = limit
    try:
        model.run(inputs)
    except ExecutionError as error:
        return "out of memory: the run needs" not in str(error)
    finally:
        model.memory_limit = None
    return True


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_kernels_count_for_each_thread(threads: int) -> None:
    model = compiled(ROWS, threads)
    for n, m in ((0, 5), (1, 0), (1, 1), (4, 10_000), (3, 9_973)):
        needs, x = model.memory_needs({"n": n, "m": m}), np.ones((n, m), np.float32)
        assert (needs.dynamic_buffers, needs.threads, needs.not_counted) == (0, threads, ())
        # Compiled for one thread, the kernel has no parallel loop.
        each, other = (needs.kernels, needs.each_thread)[:: 1 if threads == 1 else -1]
        assert 4 * m < each <= 4 * m + 128
        assert other == 0
        assert model.memory({"n": n, "m": m}) == needs.peak == needs.arena + threads * each
        assert runs_within(model, needs.peak, [x])
    assert not runs_within(model, 4 * 9_973, [x])


@pytest.mark.parametrize("n", [0, 1, 7, 100])
def test_dynamic_buffers_count_with_the_most_that_there_can_be(n: int) -> None:
    model = compiled(FOUND)
    needs = model.memory_needs({"n": n})
    assert 2 * 2 * 4 * 4 * n <= needs.dynamic_buffers <= 3 * (2 * 4 * 4 * n + 128)
    assert not needs.not_counted
    full, none = np.ones((n, 4), np.float32), np.zeros((n, 4), np.float32)
    assert all(runs_within(model, needs.peak, [x]) for x in (full, none))
    assert n == 0 or not runs_within(model, needs.arena + 2 * 2 * 4 * 4 * n - 1, [full])


def test_frames_of_functions_beside_main_count() -> None:
    model = compiled(CALLED)
    needs = model.memory_needs()
    assert (needs.dynamic_buffers, needs.not_counted) == (2 * 4 * 4096 + 64, ())
    assert runs_within(model, needs.peak, [])
    assert not runs_within(model, needs.peak - 1, [])


def test_what_is_known_when_compiling_needs_no_sizes(tmp_path: Path) -> None:
    fixed, opened = compiled(FIXED), compiled(FOUND)
    assert fixed.memory_needs().dynamic_buffers == pytest.approx(
        opened.memory_needs({"n": 50}).dynamic_buffers, abs=256
    )
    assert runs_within(fixed, fixed.memory(), [np.ones((50, 4), np.float32)])
    metadata = fixed.artifact.metadata
    assert metadata.memory.dynamic_buffers == fixed.memory_needs().dynamic_buffers
    assert ModelMetadata.from_json(metadata.to_json()) == metadata
    for model, sizes in ((fixed, {}), (opened, {"n": 5})):
        model.save(tmp_path / "m.xrelay")
        assert xrelay.load(tmp_path / "m.xrelay", num_threads=1).memory_needs(sizes) == model.memory_needs(sizes)


def test_sizes_have_to_be_given() -> None:
    model = compiled(ROWS)
    with pytest.raises(InputError, match="the dimension n has no size") as raised:
        model.memory()
    assert raised.value.help == "pass the sizes of n, m"
    with pytest.raises(InputError, match="the size of n is 'a', not an integer"):
        model.memory({"n": cast(int, "a"), "m": 1})
    with pytest.raises(InputError, match=r"sizes is \[1\], not a dictionary of sizes; help: .*{'n': 8}"):
        model.memory(cast(Mapping[str, int], [1]))
    with pytest.raises(InputError, match="the model has no dimension 'n'") as raised:
        compiled(FIXED).memory({"n": 50})
    assert raised.value.help == "its sizes are constant: pass none"


@pytest.mark.parametrize(
    ("text", "sizes", "words"),
    [
        (FILLED, {}, r"a buffer of memref<\?x\?xf32>"),
        (LISTED, {"n": 3}, "sequences, optionals and closures"),
    ],
)
def test_what_nothing_bounds_is_named(text: str, sizes: Mapping[str, int], words: str) -> None:
    needs = compiled(text).memory_needs(sizes)
    assert any(re.match(words, each) for each in needs.not_counted)
    assert "not counted: " in str(needs)
    assert needs.dynamic_buffers == 0


def test_sizes_beyond_64_bits_are_cut_off() -> None:
    model = compiled("""
func.func @main(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
  %i = relay.argwhere(%x) : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  %j = relay.argwhere(%y) : (tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  %t = relay.transpose(%j) : (!relay.incomplete) -> !relay.incomplete
  %s = relay.add(%i, %t) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %s : !relay.incomplete
}
""")
    assert model.memory_needs({"n": 10, "m": 20}).dynamic_buffers >= 4 * 10 * 20
    huge = 1 << 46
    assert model.memory_needs({"n": huge, "m": huge}).dynamic_buffers == 1 << 61


PROGRAM = """
#include <stdio.h>
#include "m.h"
int main(void) {
  int64_t dims[] = {%s}, sizes[M_NUM_SIZES];
  int32_t status = m_plan(dims, sizes);
  for (int i = 0; i < M_NUM_SIZES; ++i) printf("%%lld ", (long long)sizes[i]);
  return status;
}
"""


@needs_compiler
def test_c_programs_get_the_same_figures(tmp_path: Path) -> None:
    model = compiled(ROWS)
    model.export(tmp_path / "m.o", header=tmp_path / "m.h")
    needs = model.memory_needs({"n": 3, "m": 1000})
    beside = needs.dynamic_buffers, needs.kernels, needs.each_thread
    printed = compile_and_run(tmp_path, {"main.c": PROGRAM % "3, 1000"})
    assert [int(each) for each in printed.split()] == [needs.arena, 3, 1000, *beside]
    assert "sizes[5] maximum bytes that each thread of a kernel allocates" in (tmp_path / "m.h").read_text()
    fixed = compiled(FIXED)
    fixed.export(tmp_path / "f.o", header=tmp_path / "f.h")
    assert f"#define F_DYNAMIC_BUFFERS_SIZE {fixed.memory_needs().dynamic_buffers}u" in (tmp_path / "f.h").read_text()
