"""Outputs and buffers with extents computed at run time: in Python, from files, in C, with threads, and on errors."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.c_programs import compile_and_run, needs_compiler
from support.heap import COUNTED, REASON, kept_bytes

from xrelay.api.compile import compile
from xrelay.api.graph_module import GraphModule
from xrelay.api.model import CompiledModel, load
from xrelay.errors import ArtifactError, ExecutionError, InputError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.runtime.metadata import ModelMetadata

# A loop appends x[i] to a buffer n times, with an error for n > 8; a branch yields one of two buffers.
TEXT = """
func.func private @append(%b: memref<?x2xf32> {loop.extents = array<i64: 0>}, %x: memref<8x2xf32>,
    %c: memref<?x2xf32> {loop.extents = array<i64: 1>}, %k: index, %m: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "j" %j to 2 {
    loop.for "i" %i to %k {
      %v = loop.load %b[%i, %j] : memref<?x2xf32>
      loop.store %v, %c[%i, %j] : memref<?x2xf32>
    }
    %w = loop.load %x[%k, %j] : memref<8x2xf32>
    loop.store %w, %c[%k, %j] : memref<?x2xf32>
  }
  func.return
}
func.func private @double(%x: memref<8x2xf32>, %y: memref<8x2xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 8 {
    loop.for "j" %j to 2 {
      %v = loop.load %x[%i, %j] : memref<8x2xf32>
      %w = arith.addf %v, %v : f32
      loop.store %w, %y[%i, %j] : memref<8x2xf32>
    }
  }
  func.return
}
func.func @main(%n: memref<i64> {relay.name = "n"}, %room: memref<i64> {relay.name = "room"},
      %x: memref<8x2xf32> {relay.name = "x"}, %y: memref<8x2xf32> {relay.name = "y"})
    -> (memref<?x2xf32> {relay.name = "rows", loop.dims = #relay.dims<k>, loop.place = 0 : i64}, index,
        memref<?x?xi32> {relay.name = "none", loop.dims = #relay.dims<2 * k, m>, loop.place = 2 : i64}, index, index)
    attributes {loop.num_outputs = 1 : i64} {
  %0 = memref.load %n[] : memref<i64>
  %times = arith.index_cast %0 : i64 to index
  %1 = memref.load %room[] : memref<i64>
  %m = arith.index_cast %1 : i64 to index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %most = arith.constant 8 : index
  %start = memref.alloc(%zero) : memref<?x2xf32>
  %r:2 = scf.while (%k = %zero, %b = %start) : (index, memref<?x2xf32>) -> (index, memref<?x2xf32>) {
    %more = arith.cmpi slt, %k, %times : index
    scf.condition(%more) %k, %b : index, memref<?x2xf32>
  } do {
  ^bb0(%k: index, %b: memref<?x2xf32>):
    %fits = arith.cmpi sge, %most, %k : index
    cf.assert %fits, "shape mismatch: 7 >= k" {relay.requires = #relay.requirements<8 >= k>, xrelay.sources = ["grow"]}
    %other = arith.cmpi ne, %k, %most : index
    cf.assert %other, "shape mismatch: too many" {xrelay.sources = ["grow"]}
    %next = arith.addi %k, %one : index
    %c = memref.alloc(%next) : memref<?x2xf32>
    func.call @append(%b, %x, %c, %k, %next)
      : (memref<?x2xf32>, memref<8x2xf32>, memref<?x2xf32>, index, index) -> ()
    memref.dealloc %b : memref<?x2xf32>
    scf.yield %next, %c : index, memref<?x2xf32>
  }
  %valid = arith.cmpi sge, %m, %zero : index
  cf.assert %valid, "shape mismatch: m >= 0" {relay.requires = #relay.requirements<m >= 0>, xrelay.sources = ["spare"]}
  %twice = arith.muli %r#0, %two : index
  %any = arith.cmpi ne, %m, %zero : index
  %some = scf.if %any -> (memref<?x?xi32>) {
    %s = memref.alloc(%twice, %m) {xrelay.sources = ["spare"]} : memref<?x?xi32>
    scf.yield %s : memref<?x?xi32>
  } else {
    %t = memref.alloc(%twice, %zero) : memref<?x?xi32>
    scf.yield %t : memref<?x?xi32>
  }
  func.call @double(%x, %y) : (memref<8x2xf32>, memref<8x2xf32>) -> ()
  func.return %r#1, %r#0, %some, %twice, %m : memref<?x2xf32>, index, memref<?x?xi32>, index, index
}
"""
X = np.arange(16, dtype=np.float32).reshape(8, 2)


@pytest.fixture(scope="module")
def model() -> CompiledModel:
    return compile(parse_module(full_context(), TEXT, "dynamic_buffers.mlir"), cache=False, threads=1)


def run(model: CompiledModel, n: int, m: int = 3) -> list[NDArray[np.float32]]:
    return model.run({"n": np.array(n), "room": np.array(m), "x": X})


def check(model: CompiledModel, n: int, m: int = 3) -> None:
    rows, y, none = run(model, n, m)
    np.testing.assert_array_equal(rows, X[:n])
    np.testing.assert_array_equal(y, 2 * X)
    assert (none.shape, none.dtype) == ((2 * n, m), np.int32)


def test_each_run_has_its_own_extents(model: CompiledModel) -> None:
    assert [str(spec) for spec in model.outputs] == ["float32[k, 2]", "float32[8, 2]", "int32[2 * k, m]"]
    for n in (3, 0, 1, 8, 5):
        for m in (0, 1, 70_000):
            check(model, n, m)


def test_outputs_live_on(model: CompiledModel) -> None:
    first = run(model, 4)[0]
    run(model, 8)
    np.testing.assert_array_equal(first, X[:4])
    first[...] = 0


def test_errors_tell_node_and_values_and_the_model_runs_on(model: CompiledModel) -> None:
    for n, m, message in [
        (9, 1, "^grow: shape mismatch: too many$"),
        (2, -1, "^spare: shape mismatch: m >= 0 is -1 >= 0$"),
        (2, 1 << 45, r"^spare: out of memory: a buffer of memref<\?x\?xi32>, \d+ bytes beside \d+ bytes of others$"),
        (8, 1 << 62, "^spare: out of memory: a buffer .*, whose bytes do not fit in 62 bits$"),
    ]:
        with pytest.raises(ExecutionError, match=message):
            run(model, n, m)
        check(model, 2)


@pytest.mark.skipif(not COUNTED, reason=REASON)
def test_nothing_leaks(model: CompiledModel) -> None:
    def runs() -> None:
        for n in range(75):
            run(model, n % 9, 2_000)
            with pytest.raises(ExecutionError, match="too many"):
                run(model, 9)
            with pytest.raises(ExecutionError, match="out of memory"):
                run(model, 7, 1 << 45)

    assert kept_bytes(runs) < 50_000


def test_a_limit_of_memory_counts_arena_and_dynamic_buffers(model: CompiledModel) -> None:
    model.memory_limit = 100_000
    try:
        check(model, 8, 1_000)
        for m in (1_600, 1 << 40):
            message = r"^spare: out of memory: the run needs (\d+) bytes, memory_limit is 100000$"
            with pytest.raises(ExecutionError, match=message) as caught:
                run(model, 8, m)
            needed = re.search(r"needs (\d+)", str(caught.value))
            assert needed is not None
            assert 64 * m < int(needed[1]) < 64 * m + 1_000
        model.memory_limit = 0
        with pytest.raises(ExecutionError, match=r"memory_limit is 0$"):
            run(model, 0, 0)
    finally:
        model.memory_limit = None
    check(model, 8, 1_600)


@pytest.mark.parametrize("limit", [-1, 1.5, True, "1"])
def test_what_is_no_limit(model: CompiledModel, limit: int) -> None:
    with pytest.raises(InputError, match="memory_limit is"):
        model.memory_limit = limit


def test_arrays_of_the_caller_are_refused(model: CompiledModel) -> None:
    with pytest.raises(InputError, match=r"^out= .*; help: run without"):
        model.run([np.array(1), np.array(1), X], out=[np.empty((1, 2), np.float32)] * 3)


def test_saved_models_say_what_a_run_makes(model: CompiledModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m.xrelay")
    check(load(tmp_path / "m.xrelay"), 6)
    metadata = model.artifact.metadata
    assert ModelMetadata.from_json(metadata.to_json()) == metadata
    assert (metadata.dynamic_buffers, [spec.name for spec in metadata.written]) == ((0, 2), ["y"])


@pytest.mark.parametrize("extent", ["2 * ", "k k", ""])
def test_a_damaged_extent_is_refused(model: CompiledModel, extent: str) -> None:
    metadata = model.artifact.metadata
    rows = (replace(metadata.outputs[0], shape=(extent, 2)), *metadata.outputs[1:])
    with pytest.raises(ArtifactError):
        ModelMetadata.from_json(replace(metadata, outputs=rows).to_json())


def test_threads_do_not_meet(model: CompiledModel) -> None:
    failed: list[BaseException] = []

    def work(n: int) -> None:
        try:
            for m in range(100):
                check(model, n, m)
                if m % 10 == 0:
                    with pytest.raises(ExecutionError):
                        run(model, 9)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in (0, 3, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failed


def test_graph_modules_give_them(model: CompiledModel) -> None:
    module = GraphModule(model)
    for n in (2, 5):
        module.run(n=np.array(n), room=np.array(1), x=X)
        np.testing.assert_array_equal(module.get_output(0), X[:n])


C_MAIN = """
#include "m.h"
static int64_t live, left = 1000;
static void *take(void *self, size_t alignment, size_t bytes) {
  if (self != &live || left-- == 0) return NULL;
  ++live;
  return aligned_alloc(alignment, bytes);
}
static void give(void *self, void *block) {
  --*(int64_t *)self;
  free(block);
}
int main(void) {
  float x[16], y[16];
  int64_t n, room = 3;
  m_results results;
  xrelay_allocator own = {take, give, &live};
  for (int i = 0; i < 16; ++i) x[i] = i;
  for (n = 0; n <= 8; ++n) {
    if (m_run(&n, &room, x, y, &results, NULL, NULL, 1) != 0) return 2;
    if (results.rows.extents[0] != n || results.none.extents[0] != 2 * n || results.none.extents[1] != 3) return 3;
    for (int i = 0; i < 2 * n; ++i) if (results.rows.data[i] != i) return 4;
    if (y[15] != 30) return 5;
    m_release(&results);
    m_release(&results);
  }
  if ((m_run(&n, &room, x, y, &results, NULL, NULL, 1) & 255) != 6) return 6;
  m_release(&results);
  n = 5;
  if (m_run_with(&n, &room, x, y, &results, NULL, NULL, 1, &own) != 0 || live != 2 || left >= 1000) return 7;
  m_release(&results);
  if (live != 0) return 8;
  left = 3;
  if ((m_run_with(&n, &room, x, y, &results, NULL, NULL, 1, &own) & 255) == 0 || live != 0) return 9;
  return 0;
}
"""


@needs_compiler
def test_a_c_program_gets_dynamic_buffers(model: CompiledModel, tmp_path: Path) -> None:
    model.export(tmp_path / "m.o", header=tmp_path / "m.h")
    compile_and_run(tmp_path, {"main.c": C_MAIN})
    header = (tmp_path / "m.h").read_text()
    assert "struct { float *data; int64_t extents[1]; } rows; /* float32[k, 2]: extents[0] = k */" in header
    assert "args[5]  results, to which the run writes addresses and extents: rows: float32[k, 2]; none" in header
