"""Profiles of models: each call of each kernel is recorded, and the times add up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay.api.model import CompiledModel
from xrelay.api.profiling.profile import Profile
from xrelay.errors import InputError
from xrelay.runtime import call_tracer

T = "tensor<64x64xf32>"
TEXT = f"""
func.func @main(%x: {T}) -> {T} {{
  %d = relay.nn.dense(%x, %x) : ({T}, {T}) -> {T}
  %s = relay.nn.softmax(%d) : ({T}) -> {T}
  func.return %s : {T}
}}"""
LOOP = """
func.func @main(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %r = relay.loop(%i, %v = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
    %t = relay.tanh(%v) : (tensor<4xf32>) -> tensor<4xf32>
    %y = relay.tuple(%t) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %y : tuple<tensor<4xf32>>
  }
  %f = relay.tuple_get_item(%r) {index = 0 : i64} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  func.return %f : tensor<4xf32>
}"""
ROW = "tensor<?x64xf32, #relay.dims<n>>"
ROWS = f"func.func @main(%x: {ROW}) -> {ROW} {{ %e = relay.exp(%x) : ({ROW}) -> {ROW} func.return %e : {ROW} }}"
DATA = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)


@pytest.fixture(scope="module")
def model() -> CompiledModel:
    return xrelay.compile(xrelay.parse(TEXT), threads=2)


@pytest.fixture(scope="module")
def profile(model: CompiledModel) -> Profile:
    return model.profile([DATA], runs=2)


def test_rows_add_up_to_the_run(profile: Profile):
    assert sum(kernel.seconds for kernel in profile.kernels) + profile.other_seconds == pytest.approx(profile.seconds)
    assert all(kernel.seconds > 0 for kernel in profile.kernels)
    assert profile.other_seconds > 0
    times = [kernel.seconds for kernel in profile.kernels]
    assert times == sorted(times, reverse=True)


def test_a_product_has_its_operations_and_its_schedule(profile: Profile):
    product = next(kernel for kernel in profile.kernels if "dense" in kernel.name)
    assert (product.calls, product.operations) == (1, 2 * 64**3)
    assert product.bytes == 3 * 4 * 64 * 64
    assert product.schedule.startswith("dense: ")
    assert product.expected_seconds is not None
    assert product.roofline_share is not None


def test_kernels_compiled_with_their_module_have_the_same_work(profile: Profile, tmp_path: Path):
    whole = xrelay.compile(xrelay.parse(TEXT), threads=2, dump_stages=tmp_path).profile([DATA], runs=1)
    numbers = {kernel.name: (kernel.operations, kernel.bytes, kernel.schedule) for kernel in profile.kernels}
    assert {kernel.name: (kernel.operations, kernel.bytes, kernel.schedule) for kernel in whole.kernels} == numbers


def test_results_and_later_runs_are_unaffected(model: CompiledModel):
    before = model(DATA)[0]
    model.profile([DATA], runs=1)
    np.testing.assert_array_equal(model(DATA)[0], before)


def test_calls_in_loops_are_counted_when_the_first_memory_is_too_small(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(call_tracer, "_FIRST_CAPACITY", 4)
    model = xrelay.compile(xrelay.parse(LOOP), threads=1)
    profile = model.profile([np.ones(4, np.float32), np.array(50)], runs=1)
    assert max(kernel.calls for kernel in profile.kernels) == 50


@pytest.mark.parametrize("size", [3, 40])
def test_dynamic_extents_are_those_of_the_call(size: int):
    text = TEXT.replace("64x64xf32", "?x64xf32, #relay.dims<n>").replace(
        "%d = relay.nn.dense(%x, %x)", "%d = relay.exp(%x)"
    )
    text = text.replace(": (tensor<?x64xf32, #relay.dims<n>>, tensor<?x64xf32, #relay.dims<n>>) ->",
                        ": (tensor<?x64xf32, #relay.dims<n>>) ->")  # fmt: skip
    model = xrelay.compile(xrelay.parse(text), threads=1)
    array: NDArray[np.float32] = DATA[:size]
    profile = model.profile([array], runs=1)
    assert sum(kernel.bytes or 0 for kernel in profile.kernels) >= 2 * 4 * size * 64
    assert all(call.extents == (size,) for call in profile.calls if not call.is_part)


def test_a_version_for_the_sizes_is_profiled():
    model = xrelay.compile(xrelay.parse(ROWS), threads=1, specialize=False)
    model.specialize({"n": (4, 4, 4)})
    for size, extents in ((4, ()), (5, (5,))):
        calls = [call for call in model.profile([DATA[:size]], runs=1).calls if not call.is_part]
        assert [call.extents for call in calls] == [extents]


def test_the_expected_time_is_that_of_the_extents_of_the_call():
    model = xrelay.compile(xrelay.parse(ROWS), threads=1, specialize=False)
    few, many = (model.profile([DATA[:size]], runs=1).kernels[0].expected_seconds for size in (2, 6))
    assert few is not None
    assert many == pytest.approx(3 * few)


def test_a_trace_has_each_call_within_the_run(profile: Profile):
    events = json.loads(profile.trace_text())["traceEvents"]
    calls = [event for event in events if event["ph"] == "X" and event["cat"] == "kernel"]
    assert [event["name"] for event in calls] == [
        profile.kernels[call.kernel].name for call in profile.calls if not call.is_part
    ]
    assert all(event["ts"] >= 0 and event["dur"] >= 0 for event in calls)
    assert max(event["ts"] + event["dur"] for event in calls) <= profile.seconds * 1e6


def test_a_chart_has_a_dot_for_each_kernel_that_computes(profile: Profile):
    root = ElementTree.fromstring(profile.roofline_svg())
    dots = root.findall("{http://www.w3.org/2000/svg}circle")
    assert len(dots) == sum(bool(kernel.operations and kernel.bytes) for kernel in profile.kernels)


def test_a_saved_model_has_the_same_names_and_work(model: CompiledModel, profile: Profile, tmp_path: Path):
    model.save(tmp_path / "m.xrelay")
    again = xrelay.load(tmp_path / "m.xrelay").profile([DATA], runs=1)
    known = {kernel.name: (kernel.operations, kernel.schedule) for kernel in profile.kernels}
    assert {kernel.name: (kernel.operations, kernel.schedule) for kernel in again.kernels} == known


def test_runs_must_be_positive(model: CompiledModel):
    with pytest.raises(InputError, match="runs"):
        model.profile([DATA], runs=0)


def test_perf_map_names_the_kernels(model: CompiledModel, tmp_path: Path):
    model.save(tmp_path / "m.xrelay")
    code = (
        "import os, sys, numpy as np, xrelay\n"
        "xrelay.load(sys.argv[1])(np.ones((64, 64), np.float32))\n"
        "path = f'/tmp/perf-{os.getpid()}.map'\n"
        "print(open(path).read())\n"
        "os.remove(path)\n"
    )
    environment = {**os.environ, "XRELAY_PERF_MAP": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "m.xrelay")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split(maxsplit=2) for line in done.stdout.split("\n") if line]
    names = {name.partition(":")[2] for _, _, name in rows}
    assert {kernel.symbol for kernel in model.artifact.metadata.kernels} <= names
    assert all(int(start, 16) > 0 and int(size, 16) > 0 for start, size, _ in rows)
