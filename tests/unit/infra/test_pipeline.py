"""The pipeline runner: order of hooks, failures, options, names."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xrelay.errors import LoweringError, PassError, VerificationError, XRelayError
from xrelay.passes.infra.instruments import Instrument, PrintIR, SaveIR, TimedVerify, Timing, Verify
from xrelay.passes.infra.pipeline import PassTable, parse_passes, run_pipeline
from xrelay.passes.instruments.time_tree import TimeTree


@dataclass(frozen=True)
class AddOpPass(ModulePass):
    """Adds `count` ops."""

    name = "test-add"
    count: int = field(default=1)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for _ in range(self.count):
            op.body.block.add_op(test.TestOp())


@dataclass(frozen=True)
class FailPass(ModulePass):
    """Raises what it is told."""

    name = "test-fail"
    kind: str = "failed"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        match self.kind:
            case "failed":
                raise PassFailedException("first line\n  second line")
            case "own":
                raise LoweringError("no way", location="f.mlir:1:2")
            case "depth":
                raise RecursionError
            case _:
                raise KeyError("surprise")


@dataclass(frozen=True)
class BreakPass(ModulePass):
    """Leaves a use before its definition."""

    name = "test-break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from xdsl.dialects.builtin import i32

        late = test.TestOp(result_types=[i32])
        op.body.block.add_ops([test.TestOp(operands=[late.results[0]]), late])


TABLE: PassTable = {
    "test-add": lambda: AddOpPass,
    "test-fail": lambda: FailPass,
    "test-break": lambda: BreakPass,
}


class Log(Instrument):
    """Writes every hook down."""

    def __init__(self, name: str, log: list[str]):
        self.name, self.log = name, log

    def before(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        self.log.append(f"{self.name} before {current.name} {number}")

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        self.log.append(f"{self.name} after {current.name} {number}")

    def failed(self, current: ModulePass, number: int, module: ModuleOp, error: Exception) -> None:
        self.log.append(f"{self.name} failed {current.name} {type(error).__name__}")

    def end(self, module: ModuleOp) -> None:
        self.log.append(f"{self.name} end")


def run(spec: str, *instruments: Instrument) -> ModuleOp:
    module = ModuleOp([])
    run_pipeline(module, parse_passes(spec, TABLE), context=Context(), instruments=instruments)
    return module


def test_hooks_nest() -> None:
    log: list[str] = []
    run("test-add,test-add", Log("a", log), Log("b", log))
    first = ["a before test-add 0", "b before test-add 0", "b after test-add 0", "a after test-add 0"]
    assert log == [*first, *(line.replace("0", "1") for line in first), "b end", "a end"]


def test_failure_tells_every_instrument_and_stops() -> None:
    log: list[str] = []
    with pytest.raises(PassError, match=r"\[test-fail\] first line second line"):
        run("test-fail,test-add", Log("a", log), Log("b", log))
    assert log[2:] == ["b failed test-fail PassFailedException", "a failed test-fail PassFailedException"]


def test_own_errors_pass_through_with_a_note() -> None:
    with pytest.raises(LoweringError) as caught:
        run("test-fail{kind=own}")
    assert caught.value.location == "f.mlir:1:2"
    assert caught.value.__notes__ == ['while running test-fail{kind="own"}']


@pytest.mark.parametrize(("kind", "text"), [("depth", "nested too deeply"), ("other", "internal error, KeyError")])
def test_foreign_errors_become_ours(kind: str, text: str) -> None:
    with pytest.raises(PassError, match=text):
        run(f"test-fail{{kind={kind}}}")


def test_options_reach_the_pass() -> None:
    assert len(run("test-add{count=3}").ops) == 3


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("test-ad", "did you mean 'test-add'"),
        ("zzzzzz", "--list-passes"),
        ("test-add{", "malformed"),
        ("test-add{count=x}", r"\[test-add\] option 'count' must be int, found 'x'"),
        ("test-add{count=true}", r"option 'count' must be int, found True"),
        ("test-add{count}", r"option 'count' must be int, found no value"),
        ("test-add{count=1,2}", r"option 'count' must be int, found 1,2"),
        ("test-add{cout=1}", r"\[test-add\] has no option 'cout'; help: did you mean 'count'\?"),
        ("test-add{count=1 count=2}", r"\[test-add\] option 'count' is given twice"),
        ("§", "malformed"),
    ],
)
def test_bad_pipelines(spec: str, text: str) -> None:
    with pytest.raises(PassError, match=text):
        parse_passes(spec, TABLE)


def test_named_pipelines_expand_and_are_asked_for_only_when_needed() -> None:
    def unwanted() -> dict[str, str]:
        raise AssertionError("not needed")

    assert len(parse_passes("test-add", TABLE, unwanted)) == 1
    names = [p.name for p in parse_passes("twice,test-fail", TABLE, lambda: {"twice": "test-add,test-add"})]
    assert names == ["test-add", "test-add", "test-fail"]


def test_verify_names_the_pass_that_broke_the_module() -> None:
    with pytest.raises(VerificationError, match=r"after test-break: test\.op uses"):
        run("test-add,test-break", Verify())


def test_timing_is_a_tree_of_pipelines_and_passes() -> None:
    timing = Timing(["", "pair", "pair"])
    with timing.tree.step("parse"):
        pass
    run("test-add,test-add,test-add", TimedVerify(timing), timing)
    with pytest.raises(XRelayError):
        run("test-add,test-fail", timing)
    assert [("  " * depth) + step.name for step, _, depth in timing.tree.root.walk()] == [
        "parse",
        "passes",
        "  test-add",
        "  verify",
        "  pair",
        "    test-add",
        "    verify",
        "    test-add",
        "  test-add",
        "  pair",
        "    test-fail",
    ]
    assert timing.report().splitlines()[-1].endswith("total")
    assert Timing().report()


def test_steps_hold_what_is_in_them() -> None:
    tree = TimeTree()
    with tree.step("outer"), tree.step("inner"):
        pass
    with tree.step("outer"):
        tree.open("left open by an error")
    (outer,) = tree.root.steps
    assert [step.name for step in outer.steps] == ["inner", "left open by an error"]
    assert tree.root.seconds == outer.seconds >= sum(step.seconds for step in outer.steps) >= 0
    data = tree.root.as_data()
    assert data["name"] == "total"
    assert list(data) == ["name", "seconds", "own_seconds", "steps"]


def test_print_ir_and_save_ir(tmp_path: Path) -> None:
    stream = StringIO()
    run("test-add,test-add{count=0}", PrintIR(stream, on_change=True), SaveIR(tmp_path))
    assert "IR after test-add //" in stream.getvalue()
    assert "IR unchanged by test-add{count=0}" in stream.getvalue()
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "00_input.mlir",
        "01_test-add.mlir",
        "02_test-add.mlir",
    ]
    assert "test.op" in (tmp_path / "01_test-add.mlir").read_text()
