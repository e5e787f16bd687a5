"""Instruments: the order of hooks in every situation."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelay import transform
from xrelay.errors import InputError, PassError
from xrelay.instrument import PassInstrument, pass_instrument
from xrelay.transform import PassContext, PassInfo, Sequential


class Log(PassInstrument):
    """Writes every hook into `log`; raises in the given hooks."""

    def __init__(self, letter: str, log: list[str], *, fails: str = "", runs: bool = True):
        self.letter, self.log, self.fails, self.runs = letter, log, fails, runs

    def note(self, hook: str, info: PassInfo | None = None) -> None:
        self.log.append(f"{self.letter}.{hook}" + (f" {info.name}" if info is not None else ""))
        if hook == self.fails:
            raise RuntimeError("broken")

    def enter_pass_ctx(self) -> None:
        self.note("enter")

    def exit_pass_ctx(self) -> None:
        self.note("exit")

    def should_run(self, mod: ModuleOp, info: PassInfo) -> bool:
        self.note("should", info)
        return self.runs

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        self.note("before", info)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        self.note("after", info)


@transform.module_pass(opt_level=0)
def nothing(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    return mod


@transform.module_pass(opt_level=0, required=["nothing"])
def needing(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    return mod


@transform.module_pass(opt_level=0)
def failing(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    raise ZeroDivisionError("oh")


def test_order_of_all_hooks() -> None:
    log: list[str] = []
    with PassContext(instruments=[Log("A", log), Log("B", log)]):
        nothing(ModuleOp([]))
    assert log == [
        *("A.enter", "B.enter"),
        *("A.should nothing", "B.should nothing", "A.before nothing", "B.before nothing"),
        *("A.after nothing", "B.after nothing"),
        *("A.exit", "B.exit"),
    ]


def test_every_instrument_is_asked_and_all_must_agree() -> None:
    log: list[str] = []
    given = ModuleOp([])
    with PassContext(instruments=[Log("A", log, runs=False), Log("B", log)]):
        assert nothing(given) is given
    assert log == ["A.enter", "B.enter", "A.should nothing", "B.should nothing", "A.exit", "B.exit"]


def test_required_passes_are_not_asked_about() -> None:
    log: list[str] = []
    with PassContext(required_pass=["nothing"], instruments=[Log("A", log, runs=False)]):
        nothing(ModuleOp([]))
    assert log == ["A.enter", "A.before nothing", "A.after nothing", "A.exit"]


def test_a_sequential_encloses_its_members_and_what_they_require() -> None:
    log: list[str] = []
    with PassContext(instruments=[Log("A", log)]):
        Sequential([nothing, Sequential([needing], name="inner")], name="outer")(ModuleOp([]))
    assert [line for line in log if "should" not in line] == [
        "A.enter",
        "A.before outer",
        *("A.before nothing", "A.after nothing"),
        "A.before inner",
        *("A.before nothing", "A.after nothing", "A.before needing", "A.after needing"),
        "A.after inner",
        "A.after outer",
        "A.exit",
    ]


def test_a_required_pass_runs_every_time_its_own_requirements_do_not_and_only_in_a_sequential() -> None:
    transform.module_pass(lambda mod, ctx: mod, opt_level=9, required=["nothing"], name="middle")
    top: Any = transform.module_pass(lambda mod, ctx: mod, opt_level=0, required=["middle"], name="top")
    log: list[str] = []
    with PassContext(instruments=[Log("A", log)]):
        Sequential([top, top])(ModuleOp([]))
        top(ModuleOp([]))
    ran = [line.removeprefix("A.before ") for line in log if "before" in line]
    assert ran == ["sequential", "middle", "top", "middle", "top", "top"]


@pytest.mark.parametrize(
    ("fails", "hooks"),
    [
        ("should", ["A.should", "B.should"]),
        ("before", ["A.should", "B.should", "C.should", "A.before", "B.before"]),
        ("after", ["A.should", "B.should", "C.should", "A.before", "B.before", "C.before", "A.after", "B.after"]),
    ],
)
def test_a_hook_that_raises_stops_the_hooks_of_its_pass_alone(fails: str, hooks: list[str]) -> None:
    log: list[str] = []
    instruments = [Log("A", log), Log("B", log, fails=fails), Log("C", log)]
    with pytest.raises(RuntimeError) as caught, PassContext(instruments=instruments):
        nothing(ModuleOp([]))
    assert isinstance(caught.value, PassError)
    name = {"should": "should_run", "before": "run_before_pass", "after": "run_after_pass"}[fails]
    assert str(caught.value) == f"[nothing] Log.{name} raised RuntimeError: broken"
    assert isinstance(caught.value.__cause__, RuntimeError)
    around = [line.partition(" ")[0] for line in log]
    assert around == ["A.enter", "B.enter", "C.enter", *hooks, "A.exit", "B.exit", "C.exit"]


def test_a_pass_that_raises_gets_no_after() -> None:
    log: list[str] = []
    message = r"\[failing\] raised ZeroDivisionError: oh"
    with pytest.raises(ZeroDivisionError, match=message) as caught, PassContext(instruments=[Log("A", log)]):
        Sequential([failing, nothing])(ModuleOp([]))
    assert isinstance(caught.value, PassError)
    assert [line for line in log if "should" not in line] == [
        *("A.enter", "A.before sequential", "A.before failing"),
        "A.exit",
    ]


def test_enter_that_raises_exits_those_before_in_reverse_and_disables_all() -> None:
    log: list[str] = []
    context = PassContext(instruments=[Log("A", log), Log("B", log), Log("C", log, fails="enter"), Log("D", log)])
    outer = PassContext.current()
    with pytest.raises(RuntimeError, match=r"Log\.enter_pass_ctx raised RuntimeError: broken"), context:
        log.append("not reached")
    assert log == ["A.enter", "B.enter", "C.enter", "B.exit", "A.exit"]
    assert context.instruments == []
    assert PassContext.current() is outer


@pytest.mark.parametrize("hook", ["enter_pass_ctx", "exit_pass_ctx"])
def test_a_project_error_in_a_hook_of_the_context_names_the_hook(hook: str) -> None:
    def refuse(self: object) -> None:
        raise InputError("no room", help="make some")

    made: Any = pass_instrument(type("Refusing", (), {hook: refuse}))
    with pytest.raises(InputError) as caught, PassContext(instruments=[made()]):
        pass
    assert str(caught.value) == f"Refusing.{hook}: no room; help: make some"


def test_an_interrupted_enter_exits_those_before_too() -> None:
    log: list[str] = []

    class Interrupted(Log):
        def enter_pass_ctx(self) -> None:
            raise KeyboardInterrupt

    context = PassContext(instruments=[Log("A", log), Log("B", log), Interrupted("C", log), Log("D", log)])
    with pytest.raises(KeyboardInterrupt), context:
        log.append("never")
    assert log == ["A.enter", "B.enter", "B.exit", "A.exit"]
    assert context.instruments == []
    assert PassContext.entered() is None


def test_exit_that_raises_leaves_those_behind_it_and_disables_all() -> None:
    log: list[str] = []
    context = PassContext(instruments=[Log("A", log), Log("B", log, fails="exit"), Log("C", log)])
    outer = PassContext.current()
    with pytest.raises(RuntimeError, match=r"Log\.exit_pass_ctx raised RuntimeError: broken"), context:
        pass
    assert log == ["A.enter", "B.enter", "C.enter", "A.exit", "B.exit"]
    assert context.instruments == []
    assert PassContext.current() is outer


def test_override_instruments_exits_the_old_and_enters_the_new() -> None:
    log: list[str] = []
    with PassContext(instruments=[Log("A", log)]) as context:
        context.override_instruments([Log("B", log)])
        nothing(ModuleOp([]))
        context.override_instruments(None)
        nothing(ModuleOp([]))
    expected = ["A.enter", "A.exit", "B.enter", "B.should nothing", "B.before nothing", "B.after nothing", "B.exit"]
    assert log == expected


def test_should_run_must_give_a_bool() -> None:
    @pass_instrument
    class Vague:
        def should_run(self, mod: ModuleOp, info: PassInfo) -> None: ...

    with (
        pytest.raises(PassError, match=r"\[nothing\] Vague.should_run returned None instead of a bool"),
        PassContext(instruments=[Vague()]),
    ):
        nothing(ModuleOp([]))


def test_decorated_classes_keep_what_they_are() -> None:
    @pass_instrument
    class Counter:
        """Counts."""

        def __init__(self, start: int):
            self.count = start

        def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
            self.count += 1

    counter = Counter(5)
    assert (Counter.__name__, Counter.__doc__) == ("Counter", "Counts.")
    with PassContext(instruments=[counter]):
        nothing(ModuleOp([]))
    assert counter.count == 6
    assert isinstance(counter, PassInstrument)


def test_what_cannot_be_an_instrument() -> None:
    decorate: Any = pass_instrument
    with pytest.raises(TypeError, match="pass_instrument decorates classes"):
        decorate(3)
    with pytest.raises(TypeError, match="Empty defines no hook of an instrument; help: hooks are enter_pass_ctx"):

        @pass_instrument
        class Empty:
            pass


def test_the_older_trace_function() -> None:
    seen: list[tuple[str, bool]] = []

    def trace(module: ModuleOp, info: PassInfo, is_before: bool) -> None:
        assert isinstance(module, ModuleOp)
        seen.append((info.name, is_before))

    with PassContext(trace=trace):
        Sequential([nothing])(ModuleOp([]))
    assert seen == [("sequential", True), ("nothing", True), ("nothing", False), ("sequential", False)]


def test_instruments_may_keep_the_modules_they_see() -> None:
    kept: list[ModuleOp] = []

    @transform.module_pass(opt_level=0)
    def grow(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        mod.body.block.add_op(ModuleOp([]))
        return mod

    @pass_instrument
    class Keep:
        def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
            kept.append(mod)

    with PassContext(instruments=[Keep()]):
        Sequential([grow, grow])(ModuleOp([]))
    assert [len(list(mod.body.block.ops)) for mod in kept] == [0, 0, 1]
