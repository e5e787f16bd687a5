"""The official cases of onnx's own test suite, in the interpreter and native code, against onnx's expected outputs.

Rejected cases are listed in `refused.txt` with the step that rejects them and its reason; the list is checked in both
directions. `cd tests; python -m onnx_backend.test_node_cases` rewrites it.

Native code runs the cases of `sets/run_time_shapes.txt`, and one case of each family of the others: the cases of a
family have the same ops and input dtypes, and differ in attributes and shapes, which the interpreter covers. Other long
graphs run only in the interpreter. `make test` interprets one in sixteen cases, and more until each op is covered, and
compiles one in sixteen; `make test-all` and `make conformance` run all.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator
from onnx_backend.conformance import case_set
from support.onnx_node_cases import NodeCase, flat, node_cases

from xrelay.api.comparison import compare_outputs
from xrelay.api.compile import compile
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

LONG = 12
"""The maximum number of nodes of a compiled model."""

HELD = frozenset(case_set("run_time_shapes"))

LIST = Path(__file__).with_name("refused.txt")

CANCELLED = frozenset({"test_dft_inverse", "test_dft_inverse_opset19"})
"""Cases that expect 2e-7 where terms cancel, the rounding error of a sum in f32: they are compared with sums in f64."""


def interpreted(case: NodeCase) -> list[np.ndarray]:
    return run_relay(import_onnx(case.model), case.inputs)


def native(case: NodeCase) -> list[np.ndarray]:
    return compile(case.model, cache=False, threads=1).run(case.inputs)


STEPS = {"interpreter": interpreted, "native": native}


@cache
def refusals() -> dict[tuple[str, str], str]:
    """The list of rejections: `(step, case) → reason`."""
    rows = (line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {(step, name): reason for step, name, reason in rows}


def chosen(step: str) -> list[NodeCase]:
    """All cases for the interpreter; natively all of `HELD` that it accepts, and the largest of other families."""
    if step == "interpreter":
        return node_cases()
    refused = {name for other, name in refusals() if other == "interpreter"}
    cases = [case for case in node_cases() if case.name not in refused]
    held = [case for case in cases if case.name in HELD]
    by_family = {case.family: case for case in sorted(cases, key=_size) if len(case.model.graph.node) <= LONG}
    families = {case.family for case in held}
    return held + [case for family, case in by_family.items() if family not in families]


def _size(case: NodeCase) -> int:
    return sum(array.size for array in case.arrays)


def check(case: NodeCase, step: str) -> None:
    """Checks that a case matches onnx's outputs, or is rejected as listed."""
    if (step, case.name) in refusals():
        with pytest.raises(XRelayError):
            STEPS[step](case)
        return
    found = flat(STEPS[step](case))
    expected = case.outputs if case.name not in CANCELLED else in_double(case)
    comparison = compare_outputs(
        case.output_names, found, expected, levels=(step, "onnx"), rtol=case.allowed, atol=case.atol
    )
    assert comparison, str(comparison)


def in_double(case: NodeCase) -> list[np.ndarray]:
    """The outputs of onnx's reference for the inputs in f64, rounded once; integers are unchanged."""
    evaluator: Any = ReferenceEvaluator(case.model)
    feeds = {
        info.name: array.astype(np.float64) if array.dtype.kind == "f" else array
        for info, array in zip(case.model.graph.input, case.arrays, strict=True)
    }
    return [array.astype(np.float32) for array in evaluator.run(None, feeds)]


@pytest.mark.grid(16, values=lambda case: case.ops)
@pytest.mark.parametrize("case", chosen("interpreter"), ids=lambda case: case.name)
def test_interpreter(case: NodeCase) -> None:
    check(case, "interpreter")


@pytest.mark.grid(16)
@pytest.mark.parametrize("case", chosen("native"), ids=lambda case: case.name)
def test_native(case: NodeCase) -> None:
    check(case, "native")


def test_the_list_names_only_cases_that_run_and_why() -> None:
    known = {(step, case.name) for step in STEPS for case in node_cases()}
    assert refusals().keys() <= known
    assert all(reason.strip() for reason in refusals().values())


def write_list() -> None:
    """Rewrites the list of rejections, step by step."""
    lines = ["# What is refused of onnx's node cases: step, case, reason. Written by test_node_cases.py."]
    for step, run in STEPS.items():
        for case in chosen(step):
            try:
                run(case)
            except XRelayError as error:
                lines.append(f"{step}\t{case.name}\t{error.message}")
        LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
        refusals.cache_clear()  # the native cases are those that the interpreter accepts


if __name__ == "__main__":
    write_list()
