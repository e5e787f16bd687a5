"""The built-in instruments."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.rewriter import Rewriter

from xrelay import instrument, relay, transform
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp
from xrelay.dialects.relay.ops.tensor.unary import ExpOp
from xrelay.errors import ParseError, PassError, VerificationError
from xrelay.passes.instruments.reproducer import read_reproducer
from xrelay.transform import PassContext, Sequential

X = relay.var("x", shape=("n", 3))
MEMBERS = ["FoldConstant", "EliminateCommonSubexpr", "FuseOps"]


def small() -> ModuleOp:
    doubled = relay.add(relay.const(1.0), relay.const(1.0))
    return relay.Module.from_expr(relay.Function([X], relay.exp(relay.multiply(X, doubled))))


@transform.module_pass(opt_level=0)
def add_for_multiply(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    """A pass that changes results."""
    for op in [op for op in mod.walk() if isinstance(op, MultiplyOp)]:
        Rewriter.replace_op(op, AddOp.call(*op.operands))
    return mod


@transform.module_pass(opt_level=0)
def fail(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    raise ValueError("no")


def run(*instruments: Any, members: list[Any] | None = None) -> ModuleOp:
    with PassContext(opt_level=3, instruments=instruments):
        return Sequential(MEMBERS if members is None else members)(small())


# --- printing ---------------------------------------------------------------------------------------------------------


def headings(stream: StringIO) -> list[str]:
    lines = [line for line in stream.getvalue().splitlines() if line.startswith("// -----// IR ")]
    return [line.removeprefix("// -----// IR ").partition(" //")[0] for line in lines]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda s: instrument.PrintIR(before=["FuseOps"], stream=s), ["before FuseOps"]),
        (
            lambda s: instrument.PrintIR(["relay-fuse-ops"], ["FoldConstant"], s),
            ["after FoldConstant", "before FuseOps"],
        ),
        (lambda s: instrument.PassPrintingInstrument([], ["FuseOps"], s), ["after FuseOps"]),
        (
            instrument.PrintBeforeAll,
            [f"before {name}" for name in ("sequential", "FoldConstant", "InferType", "FuseOps")],
        ),
        (
            instrument.PrintAfterAll,
            [f"after {name}" for name in ("FoldConstant", "InferType", "FuseOps", "sequential")],
        ),
    ],
)
def test_print_ir(make: Callable[[StringIO], Any], expected: list[str]) -> None:
    stream = StringIO()
    run(make(stream), members=["FoldConstant", "FuseOps"])
    assert headings(stream) == expected
    assert "func.func @main" in stream.getvalue()


def test_print_ir_knows_only_passes_that_exist() -> None:
    with pytest.raises(PassError, match="after: no pass is called 'FuseOp'; help: did you mean 'FuseOps'"):
        instrument.PrintIR(after=["FuseOp"])
    with pytest.raises(PassError, match="after is expected to be the type of list/tuple, found str"):
        instrument.PrintIR(after="FuseOps")


def test_print_diff() -> None:
    stream = StringIO()
    run(instrument.PrintDiff(stream), members=["FoldConstant", "SimplifyInference"])
    assert headings(stream)[:1] == ["change by FoldConstant"]
    assert "unchanged by SimplifyInference" in headings(stream)
    assert "-    %2 = relay.add(%0, %1)" in stream.getvalue()


def test_dump_ir(tmp_path: Path) -> None:
    run(instrument.DumpIR(tmp_path / "ir"), members=["FoldConstant", "FuseOps"])
    names = sorted(path.name for path in (tmp_path / "ir").iterdir())
    expected = ["input", "FoldConstant", "InferType", "FuseOps", "sequential"]
    assert names == [f"{number:02d}_{name}.mlir" for number, name in enumerate(expected)]
    assert "relay.fused" in (tmp_path / "ir" / "03_FuseOps.mlir").read_text()
    (tmp_path / "file").write_text("")
    with pytest.raises(PassError, match=r"\[sequential\] DumpIR\.run_before_pass: cannot write"):
        run(instrument.DumpIR(tmp_path / "file"))


# --- timing -----------------------------------------------------------------------------------------------------------


def test_timing_is_a_tree_in_text_and_json() -> None:
    timing = instrument.PassTiming()
    with PassContext(instruments=[timing]):
        Sequential([Sequential(["FoldConstant"], name="inner"), "FuseOps"])(small())
        text, data = timing.render(), json.loads(timing.to_json())
    assert [line.partition(":")[0] for line in text.splitlines()] == [
        "sequential",
        "\tinner",
        "\t\tFoldConstant",
        "\tInferType",
        "\tFuseOps",
    ]
    assert text.splitlines()[0].endswith("(100.00%; 100.00%)")
    (root,) = data
    assert [child["name"] for child in root["passes"]] == ["inner", "InferType", "FuseOps"]
    assert root["seconds"] >= sum(child["seconds"] for child in root["passes"])
    assert root["own_seconds"] == pytest.approx(root["seconds"] - sum(c["seconds"] for c in root["passes"]))


def test_timing_forgets_when_the_context_is_left() -> None:
    timing = instrument.PassTimingInstrument()
    run(timing)
    with pytest.warns(RuntimeWarning, match="no pass was timed"):
        assert timing.render() == ""
    with pytest.warns(RuntimeWarning, match="no pass was timed"):
        assert timing.to_json() == "[]"


# --- checking ---------------------------------------------------------------------------------------------------------


def test_verify_works_where_the_context_does_not() -> None:
    @transform.module_pass(opt_level=0)
    def lie(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        exp = next(op for op in mod.walk() if isinstance(op, ExpOp))
        Rewriter.replace_value_with_new_type(exp.result, TensorType(f32, [7]))
        return mod

    with PassContext(config={"xrelay.verify_each": False}):
        lie(small())
    with (
        pytest.raises(VerificationError, match=r"\[lie\] the pass left an ill-formed module"),
        PassContext(instruments=[instrument.Verify()], config={"xrelay.verify_each": False}),
    ):
        lie(small())


def test_statistics() -> None:
    statistics = instrument.PassStatistics()
    run(statistics, members=["FoldConstant", "FuseOps"])
    record = statistics.records[0]
    assert (record.name, record.before - record.after) == ("FoldConstant", 2)
    assert dict(record.removed) == {"relay.constant": 1, "relay.add": 1}
    lines = statistics.report().splitlines()
    assert lines[0].split("  ", 1)[0] == "FoldConstant"
    assert lines[0].endswith("-1 relay.add, -1 relay.constant")
    assert lines[2].endswith("+1 relay.fused, +1 relay.yield")
    assert [line.split()[0] for line in lines] == ["FoldConstant", "InferType", "FuseOps", "sequential"]


# --- reproducer -------------------------------------------------------------------------------------------------------


def test_a_failing_pass_leaves_a_reproducer(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "crash.mlir"
    reproducer = instrument.CrashReproducer(path)
    weight = relay.const(np.ones((3, 3), np.float32) * np.arange(3, dtype=np.float32), name="w")
    given = relay.Module.from_expr(relay.Function([X], relay.nn.dense(X, relay.concatenate((weight, weight), axis=0))))
    config = {"relay.FuseOps.link_params": True}
    with pytest.raises(PassError), PassContext(instruments=[reproducer], config=config):
        Sequential(["FoldConstant", transform.FuseOps(max_depth=0)])(given)
    assert reproducer.written
    text = path.read_text()
    recorded = read_reproducer(text, "crash.mlir")
    assert (recorded.pipeline, recorded.opt_level, recorded.config) == ("relay-fuse-ops{max_depth=0}", 2, config)
    assert 'relay.weights = "crash.safetensors"' in text
    assert path.with_suffix(".safetensors").exists()
    assert "relay.concatenate" not in text


def test_no_reproducer_where_nothing_fails(tmp_path: Path) -> None:
    reproducer = instrument.CrashReproducer(tmp_path / "crash.mlir")
    run(reproducer)
    assert not reproducer.written
    assert not list(tmp_path.iterdir())


def test_the_innermost_pass_is_in_the_reproducer(tmp_path: Path) -> None:
    path = tmp_path / "crash.mlir"
    with pytest.raises(PassError, match=r"\[fail\] raised ValueError: no"):
        run(instrument.CrashReproducer(path), members=["FoldConstant", Sequential([fail])])
    assert read_reproducer(path.read_text(), "crash.mlir").pipeline == "fail"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module {}", "this is no reproducer"),
        ("// xrelay-reproducer: x\n// opt-level: 2\n", "this is no reproducer"),
        ("// xrelay-reproducer: x\n// pipeline: dce\n// opt-level: two\n", "opt-level is 'two', must be a number"),
    ],
)
def test_damaged_reproducers(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_reproducer(text, "crash.mlir")


def test_unknown_instruments_are_attribute_errors() -> None:
    module: Any = instrument
    with pytest.raises(AttributeError, match="no attribute 'PrintAll'"):
        _ = module.PrintAll
    assert all(getattr(instrument, name) is not None for name in instrument.__all__)
