"""The pipeline runner: order of hooks, failures, options, names."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
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
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import PassTable, parse_entries, parse_passes
from xrelay.passes.instruments.print_ir import DumpIR, PrintIR
from xrelay.passes.instruments.timing import PassTiming, TimeTree
from xrelay.passes.instruments.verify import Verify


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
    """Raises the error that `kind` selects."""

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
    """Moves a use before its definition."""

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


class Log(PassInstrument):
    """Logs every hook."""

    def __init__(self, title: str, log: list[str], allowed: bool = True):
        self.title, self.log, self.allowed = title, log, allowed

    def should_run(self, mod: ModuleOp, info: PassInfo) -> bool:
        self.log.append(f"{self.title} asked {info.name}")
        return self.allowed

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        self.log.append(f"{self.title} before {info.title}")

    @contextmanager
    def pass_scope(self, mod: ModuleOp, info: PassInfo) -> Generator[None]:
        try:
            yield
        except Exception as error:
            self.log.append(f"{self.title} sees {type(error).__name__}")
            raise

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        self.log.append(f"{self.title} after {info.title}")


def run(spec: str, *instruments: PassInstrument, required: tuple[str, ...] = ()) -> ModuleOp:
    module = ModuleOp([])
    with PassContext(instruments=list(instruments)):
        passes = parse_passes(spec, TABLE)
        run_pipeline(module, passes, context=Context(), instruments=instruments, required=required)
    return module


def test_hooks_run_in_the_order_of_the_list() -> None:
    log: list[str] = []
    run("test-add{count=2},test-add", Log("a", log), Log("b", log))
    once = ["asked test-add", "before test-add{count=2}", "after test-add{count=2}"]
    first = [f"{name} {line}" for line in once for name in "ab"]
    assert log == [*first, *(line.replace("{count=2}", "") for line in first)]


def test_a_pass_that_an_instrument_forbids_does_not_run_unless_it_is_required() -> None:
    log: list[str] = []
    assert len(run("test-add", Log("a", log, allowed=False), Log("b", log)).ops) == 0
    assert log == ["a asked test-add", "b asked test-add"]
    assert len(run("test-add", Log("a", log, allowed=False), required=("test-add",)).ops) == 1
    assert log[2:] == ["a before test-add", "a after test-add"]


def test_scopes_see_the_failure_of_the_pass_and_no_hook_follows() -> None:
    log: list[str] = []
    with pytest.raises(PassError, match=r"\[test-fail\] first line second line"):
        run("test-fail,test-add", Log("a", log), Log("b", log))
    assert log[4:] == ["b sees PassFailedException", "a sees PassFailedException"]


def test_own_errors_pass_through_with_a_note() -> None:
    with pytest.raises(LoweringError) as caught:
        run("test-fail{kind=own}")
    assert caught.value.location == "f.mlir:1:2"
    assert caught.value.__notes__ == ['while running test-fail{kind="own"}']


@pytest.mark.parametrize(("kind", "text"), [("depth", "nested too deeply"), ("other", "raised KeyError")])
def test_foreign_errors_become_ours(kind: str, text: str) -> None:
    with pytest.raises(PassError, match=text):
        run(f"test-fail{{kind={kind}}}")


def test_an_error_in_a_pass_of_this_project_is_internal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FailPass, "__module__", "xrelay.passes.test")
    with pytest.raises(PassError, match="internal error, KeyError"):
        run("test-fail{kind=other}")


def test_options_reach_the_pass() -> None:
    assert len(run("test-add{count=3}").ops) == 3


@pytest.mark.parametrize("spec", ["test-add , test-add{ count = 3 }", "test-add,\ntest-add {count=3}"])
def test_separators_may_have_blanks_around_them(spec: str) -> None:
    assert [str(each) for each in parse_passes(spec, TABLE)] == ["test-add", "test-add{count=3}"]


def test_a_pass_is_made_once_where_nobody_can_change_it() -> None:
    class OwnStatePass(ModulePass):
        name = "test-own-state"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            raise AssertionError("it is not run")

    spec, other = "test-add,test-own-state,test-add{count=3}", {**TABLE, "test-add": lambda: FailPass}
    first, second = (parse_passes(spec, {**TABLE, "test-own-state": lambda: OwnStatePass}) for _ in range(2))
    assert [a is b for a, b in zip(first, second, strict=True)] == [True, False, True]
    assert [str(each) for each in first] == ["test-add", "test-own-state", "test-add{count=3}"]
    assert isinstance(parse_passes("test-add", TABLE)[0], AddOpPass)
    assert isinstance(parse_passes("test-add", other)[0], FailPass)


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

    assert len(parse_entries("test-add", TABLE, unwanted)) == 1
    entries = parse_entries("twice,test-fail", TABLE, lambda: {"twice": "test-add,test-add"})
    names = [entry.current.name for entry in entries]
    assert names == ["test-add", "test-add", "test-fail"]


def test_verify_names_the_pass_that_broke_the_module() -> None:
    with pytest.raises(VerificationError, match=r"\[test-break\] the pass left an ill-formed module: test\.op uses"):
        run("test-add,test-break", Verify())


def test_timing_goes_into_the_tree_of_the_caller_beside_the_time_of_verification() -> None:
    clock = TimeTree()
    with clock.step("parse"):
        pass
    for _ in range(2):
        with clock.step("passes"):
            run("test-add,test-add", Verify(before=False, clock=clock), PassTiming(clock))
    with clock.step("passes"), pytest.raises(XRelayError):
        run("test-add,test-fail", PassTiming(clock))
    twice = ["  test-add", "  verify", "  test-add"]
    assert [("  " * depth) + step.name for step, _, depth in clock.root.walk()] == [
        "parse",
        "passes",
        *twice,
        "  test-add",
        "  test-add",
        "  test-add",
        "  test-fail",
    ]
    assert clock.report().splitlines()[-1].endswith("total")


def test_steps_hold_what_is_in_them() -> None:
    tree = TimeTree()
    with tree.step("outer"), tree.step("inner"):
        pass
    with suppress(ValueError), tree.step("outer"), tree.step("ended by an error"):
        raise ValueError
    (outer,) = tree.root.steps
    assert [step.name for step in outer.steps] == ["inner", "ended by an error"]
    assert tree.root.seconds == outer.seconds >= sum(step.seconds for step in outer.steps) >= 0
    data = tree.root.as_data()
    assert data["name"] == "total"
    assert list(data) == ["name", "seconds", "own_seconds", "steps"]


def test_print_ir_and_dump_ir(tmp_path: Path) -> None:
    stream = StringIO()
    run("test-add,test-add{count=0}", PrintIR(stream=stream, on_change=True), DumpIR(tmp_path))
    assert "IR after test-add //" in stream.getvalue()
    assert "IR unchanged by test-add{count=0}" in stream.getvalue()
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "00_input.mlir",
        "01_test-add.mlir",
        "02_test-add.mlir",
    ]
    assert "test.op" in (tmp_path / "01_test-add.mlir").read_text()


@pytest.mark.parametrize("spec", ["test-fail", "test-break"])
def test_print_ir_on_failure_also_shows_what_verification_refuses(spec: str) -> None:
    stream = StringIO()
    with pytest.raises(XRelayError):
        run(f"test-add,{spec}", Verify(before=False), PrintIR(stream=stream, on_failure=True))
    assert stream.getvalue().count("IR after failure of") == 1
    assert f"IR after failure of {spec}" in stream.getvalue()
    assert '"test.op"' in stream.getvalue()
