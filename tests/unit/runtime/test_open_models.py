"""A compiled model whose inputs have named dimensions: one compilation, many sizes."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from support.c_programs import compile_and_run, needs_compiler

from xrelay.api.compile import compile
from xrelay.api.graph_module import GraphModule
from xrelay.api.model import CompiledModel, load
from xrelay.errors import ArtifactError, ExecutionError, InputError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.runtime import executable as runtime_executable
from xrelay.runtime.metadata import ModelMetadata

KERNEL = """
func.func private @double(%a: memref<?x8xf32> {loop.extents = array<i64: 0>},
    %b: memref<?x8xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %n {
    loop.for "j" %j to 8 {
      %v = loop.load %a[%i, %j] : memref<?x8xf32>
      %w = arith.addf %v, %v : f32
      loop.store %w, %b[%i, %j] : memref<?x8xf32>
    }
  }
  func.return
}
"""
MAIN = """
func.func @main(%x: memref<?x8xf32> {relay.name = "x", loop.dims = #relay.dims<n>},
    %z: memref<?xf32> {relay.name = "z", loop.dims = #relay.dims<2 * n + 1>},
    %y: memref<?x8xf32> {relay.name = "y", loop.dims = #relay.dims<n>}, %n: index {xrelay.dim = "n"})
    attributes {loop.num_outputs = 1 : i64} {
  %most = arith.constant 50 : index
  %ok = arith.cmpi sge, %most, %n : index
  cf.assert %ok, "[relay.double C1] rows: 50 >= n" {
    relay.requires = #relay.requirements<50 >= n "C1 rows">, xrelay.sources = ["dbl"]}
  %s = memref.alloc(%n) : memref<?x8xf32>
  %t = memref.alloc(%n) : memref<?x8xf32>
  func.call @double(%x, %s, %n) : (memref<?x8xf32>, memref<?x8xf32>, index) -> ()
  func.call @double(%s, %t, %n) : (memref<?x8xf32>, memref<?x8xf32>, index) -> ()
  func.call @double(%t, %y, %n) : (memref<?x8xf32>, memref<?x8xf32>, index) -> ()
  func.return
}
"""


@pytest.fixture(scope="module")
def model() -> CompiledModel:
    return compile(parse_module(full_context(), KERNEL + MAIN, "open.mlir"), cache=False)


def inputs(n: int) -> list[np.ndarray]:
    return [np.random.default_rng(n).random((n, 8), np.float32), np.zeros(2 * n + 1, np.float32)]


def test_one_compilation_runs_at_every_size(model: CompiledModel) -> None:
    for n in (0, 1, 3, 50, 3):
        (y,) = model.run(inputs(n))
        np.testing.assert_array_equal(y, 8 * inputs(n)[0])


def test_tables_show_names(model: CompiledModel) -> None:
    assert [spec.shape for spec in (*model.inputs, *model.outputs)] == [("n", 8), ("2 * n + 1",), ("n", 8)]
    assert str(model.outputs[0]) == "float32[n, 8]"
    metadata = model.artifact.metadata
    assert ModelMetadata.from_json(metadata.to_json()) == metadata
    assert (metadata.dims, metadata.arena_size) == (("n",), 0)


def test_a_failed_check_names_node_and_values(model: CompiledModel) -> None:
    for _ in range(2):
        with pytest.raises(ExecutionError, match=r"^dbl: \[relay.double C1\] rows: 50 >= n is 50 >= 51 \(n = 51\)$"):
            model.run(inputs(51))
        model.run(inputs(50))


def test_memory_grows_with_the_sizes(model: CompiledModel) -> None:
    assert [model.memory({"n": n}) for n in (0, 1, 50)] == [0, 4096, 4096]
    with pytest.raises(InputError, match="the dimension n has no size"):
        model.memory()
    with pytest.raises(ExecutionError, match="50 >= 60"):
        model.memory({"n": 60})


def test_an_arena_within_the_limit(model: CompiledModel) -> None:
    model.memory_limit = 4095
    try:
        model.run(inputs(0))
        with pytest.raises(
            ExecutionError, match=r"^model: out of memory: the run needs 4096 bytes, memory_limit is 4095$"
        ):
            model.run(inputs(1))
    finally:
        model.memory_limit = None
    model.run(inputs(1))


def test_a_model_keeps_few_plans(model: CompiledModel) -> None:
    for n in range(2 * runtime_executable.MAX_PLANS):
        model.run(inputs(n))
    executable = model._executable  # pyright: ignore[reportPrivateUsage]
    assert executable is not None
    kept = [executable.plan_at({"n": n}) for n in range(runtime_executable.MAX_PLANS, 2 * runtime_executable.MAX_PLANS)]
    assert all(executable.plan_at({"n": n}) is each for n, each in enumerate(kept, runtime_executable.MAX_PLANS))


def test_outputs_of_the_caller(model: CompiledModel) -> None:
    out = np.empty((4, 8), np.float32)
    (y,) = model.run(inputs(4), out=[out])
    assert y is out
    np.testing.assert_array_equal(out, 8 * inputs(4)[0])
    x, z = inputs(4)
    for bad, message in [
        ([], "out has 0 arrays, the model has 1 outputs"),
        ([np.empty((5, 8), np.float32)], r"output 'y': expected float32\[4, 8\], got float32\[5, 8\]"),
        ([np.empty((4, 8))], r"got float64\[4, 8\]"),
        ([np.empty((8, 4), np.float32).T], "non-contiguous"),
        ([x], "overlaps an input"),
        (np.empty((4, 8), np.float32), "out takes a list of arrays, got ndarray"),
        (3, "out takes a list of arrays, got int"),
        ({"y": np.empty((4, 8), np.float32)}, "out takes a list of arrays, got dict"),
    ]:
        with pytest.raises(InputError, match=message):
            model.run([x, z], out=cast(Any, bad))


def test_saved_models_carry_names(model: CompiledModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m.xrelay")
    loaded = load(tmp_path / "m.xrelay")
    np.testing.assert_array_equal(loaded.run(inputs(7))[0], 8 * inputs(7)[0])
    with pytest.raises(ExecutionError, match="50 >= 51"):
        loaded.run(inputs(51))


def test_a_name_that_no_input_tells_is_refused(model: CompiledModel) -> None:
    metadata = replace(model.artifact.metadata, dims=("n", "m"))
    with pytest.raises(ArtifactError, match=r"input .* size of 'm'"):
        ModelMetadata.from_json(metadata.to_json())


def test_calls_of_several_sizes_run_side_by_side(model: CompiledModel) -> None:
    wrong: list[int] = []

    def work(n: int) -> None:
        for _ in range(50):
            if not (model.run(inputs(n))[0] == 8 * inputs(n)[0]).all():
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(10, 14)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong


def test_graph_modules_take_each_size(model: CompiledModel) -> None:
    module = GraphModule(model)
    assert module.get_input_info()[0] == {"x": ("n", 8), "z": ("2 * n + 1",)}
    for n in (2, 5):
        x, z = inputs(n)
        module.run(x=x, z=z)
        np.testing.assert_array_equal(module.get_output(0), 8 * x)


C_MAIN = """
#include "m.h"
int main(void) {
  const int64_t dims[M_NUM_DIMS] = {3}, many[M_NUM_DIMS] = {51};
  int64_t sizes[M_NUM_SIZES];
  float x[24], z[7], y[24];
  void *arena;
  if (m_plan(many, sizes) == 0 || m_plan(dims, sizes) != 0 || sizes[1] != 3) return 2;
  arena = m_new_arena(sizes[0]);
  for (int i = 0; i < 24; ++i) x[i] = i;
  if (arena == NULL || m_run(x, z, y, NULL, arena, dims, 1) != 0) return 3;
  for (int i = 0; i < 24; ++i) if (y[i] != 8 * i) return 4;
  free(arena);
  return 0;
}
"""


@needs_compiler
def test_a_c_program_asks_the_plan(model: CompiledModel, tmp_path: Path) -> None:
    model.export(tmp_path / "m.o", header=tmp_path / "m.h")
    compile_and_run(tmp_path, {"main.c": C_MAIN})
    header = (tmp_path / "m.h").read_text()
    assert "dims: dims[0] = n" in header
    assert "sizes[1] y: n" in header


def test_a_view_of_one_number_that_stands_for_more_than_memory_holds(model: CompiledModel) -> None:
    huge = [np.broadcast_to(np.float32(0), shape) for shape in ((1 << 40, 8), (2 * (1 << 40) + 1,))]
    with pytest.raises(InputError, match=r"input 'x'.*got float32\[1099511627776, 8\].*"):
        model.run(huge)
