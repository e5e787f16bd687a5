"""Contexts: levels, names, config, threads, and errors."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support.seed_example import module
from xdsl.dialects.builtin import ModuleOp

from xrelay import transform
from xrelay.errors import PassError
from xrelay.instrument import pass_instrument
from xrelay.lowering.registry import ALL_PASSES
from xrelay.passes.catalogue.relay_names import RELAY_PASSES
from xrelay.transform import PassContext, PassInfo, Sequential


@transform.module_pass(opt_level=4, name="NeedsFour")
def needs_four(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    return mod


def test_defaults() -> None:
    context = PassContext.current()
    assert context.opt_level == 2
    assert (context.required_pass, context.disabled_pass, context.config) == (frozenset(), frozenset(), {})


def test_contexts_nest_and_are_left_by_errors() -> None:
    outer = PassContext.current()
    with PassContext(opt_level=3) as three:
        assert PassContext.current() is three
        with pytest.raises(ZeroDivisionError), PassContext(opt_level=1):
            _ = 1 / (PassContext.current().opt_level - 1)
        assert PassContext.current() is three
    assert PassContext.current() is outer


def test_every_thread_has_contexts_of_its_own() -> None:
    with PassContext(opt_level=3), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: PassContext.current().opt_level).result() == 2
        assert PassContext.current().opt_level == 3


def test_a_copied_context_of_another_thread_is_not_heeded() -> None:
    async def in_another_thread() -> int:
        with PassContext(opt_level=3):
            return await asyncio.to_thread(lambda: PassContext.current().opt_level)

    assert asyncio.run(in_another_thread()) == 2


def test_every_task_has_contexts_of_its_own() -> None:
    seen: list[tuple[str, int]] = []

    async def work(name: str, level: int, mine: asyncio.Event, other: asyncio.Event) -> None:
        seen.append((name, PassContext.current().opt_level))
        with PassContext(opt_level=level):
            mine.set()
            await other.wait()
            seen.append((name, PassContext.current().opt_level))
        seen.append((name, PassContext.current().opt_level))

    async def both() -> None:
        first, second = asyncio.Event(), asyncio.Event()
        with PassContext(opt_level=4):
            await asyncio.gather(work("a", 0, first, second), work("b", 1, second, first))

    asyncio.run(both())
    assert [level for name, level in seen if name == "a"] == [4, 0, 4]
    assert [level for name, level in seen if name == "b"] == [4, 1, 4]
    assert PassContext.current().opt_level == 2


def test_threads_run_passes_side_by_side_with_instruments_of_their_own() -> None:
    at_once = threading.Barrier(4)

    def work(level: int) -> list[str]:
        log: list[str] = []

        @pass_instrument
        class Note:
            def enter_pass_ctx(self) -> None:
                log.append("enter")
                at_once.wait(30)

            def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
                log.append(f"{info.name} at {PassContext.current().opt_level}")

            def exit_pass_ctx(self) -> None:
                log.append("exit")

        with PassContext(opt_level=level, instruments=[Note()]):
            Sequential(["FoldConstant", "FuseOps"])(module())
        return log

    with ThreadPoolExecutor(4) as pool:
        logs = list(pool.map(work, range(4)))
    for level, log in enumerate(logs):
        names = ["sequential", *(["FoldConstant"] if level >= 2 else []), "InferType", "FuseOps"]
        assert log == ["enter", *(f"{name} at {level}" for name in names), "exit"]


@pytest.mark.parametrize(
    ("context", "runs", "reason"),
    [
        (PassContext(opt_level=4), True, "opt_level 4 >= 4"),
        (PassContext(opt_level=3), False, "it needs opt_level 4, this is 3"),
        (PassContext(opt_level=0, required_pass=["NeedsFour"]), True, "required_pass names it"),
        (PassContext(opt_level=4, disabled_pass=["NeedsFour"]), False, "disabled_pass names it"),
        (PassContext(required_pass=["NeedsFour"], disabled_pass=["NeedsFour"]), False, "disabled_pass names it"),
    ],
)
def test_what_a_sequential_runs_and_why(context: PassContext, runs: bool, reason: str) -> None:
    ((info, decision),) = Sequential([needs_four]).decisions(context)
    assert (info.name, decision.runs, decision.reason) == ("NeedsFour", runs, reason)
    assert context.pass_enabled(info) is runs


def test_both_kinds_of_names_are_the_same_to_a_context() -> None:
    fuse = transform.FuseOps()
    assert not PassContext(disabled_pass=["relay-fuse-ops"]).pass_enabled(fuse.info)
    assert not PassContext(disabled_pass=["relay-fuse-ops"]).pass_enabled(PassInfo(0, "relay-fuse-ops"))
    assert not PassContext(disabled_pass=["FuseOps"]).pass_enabled(PassInfo(0, "relay-fuse-ops"))


def test_every_row_is_a_pass_with_its_record() -> None:
    for row in RELAY_PASSES:
        made = getattr(transform, row.alias if row.alias else row.name)()
        assert made.info.name == row.name
        if row.name != "FoldScaleAxis":
            assert (made.info.opt_level, made.info.required) == (row.opt_level, row.required)
            assert made.info.spec.startswith(row.pass_name)


def test_every_graph_pass_has_a_row_or_is_unknown_to_relay() -> None:
    ours_alone = {
        "qnn-select-integers",
        "qnn-fold-quantize-scale",
        "qnn-fuse-block-dequantize",
        "qnn-multiply-integers",
        "qnn-round-block-data",
        "relay-add-callers",
        "relay-apply-winograd",
        "relay-check-basic-block-normal-form",
        "relay-check-types",
        "relay-dissolve-compiler-regions",
        "relay-expand-composites",
        "relay-fuse-attention",
        "relay-flatten-folds",
        "relay-lift-closures",
        "relay-merge-kernels",
        "relay-fix-extents",
        "relay-name-extents",
        "relay-narrow-products",
        "relay-simplify-rounding",
        "relay-split-attention",
        "relay-split-products",
        "relay-keep-floats",
        "relay-outline-fused",
        "relay-parametrize-constants",
        "relay-pad-channels",
        "relay-recompute-groups",
        "relay-fuse-rows",
        "relay-select-entry",
        "relay-simplify-batch-matmul",
        "relay-simplify-loops",
        "relay-split-conv-transpose",
        "relay-split-convolutions",
        "relay-split-wide-ops",
        "relay-recursion-to-loop",
        "relay-widen-products",
    }
    rows = {row.pass_name for row in RELAY_PASSES}
    graph_passes = {name for name in ALL_PASSES if name.startswith(("relay-", "qnn-"))}
    assert rows <= graph_passes
    assert graph_passes - ours_alone <= rows, "add a row to passes/catalogue/relay_names.py, or a name to ours_alone"


def test_fold_scale_axis_is_a_sequential_of_level_0() -> None:
    made: Any = transform.FoldScaleAxis()
    assert isinstance(made, Sequential)
    assert made.info == PassInfo(0, "FoldScaleAxis")
    assert [p.info.name for p in made.passes] == ["BackwardFoldScaleAxis", "ForwardFoldScaleAxis", "FoldConstant"]
    with PassContext(disabled_pass=["FoldScaleAxis"]):
        before = module()
        assert Sequential(["FoldScaleAxis"])(before) is not None
        assert not Sequential(["FoldScaleAxis"]).decisions()[0][1].runs


def test_config_reaches_the_passes() -> None:
    with PassContext(config={"relay.FuseOps.max_depth": 1}):
        groups = str(transform.FuseOps(fuse_opt_level=2)(module())).count("relay.fused")
    assert groups > str(transform.FuseOps(fuse_opt_level=2)(module())).count("relay.fused") == 1
    with PassContext(config={"relay.FuseOps.max_depth": 1}):
        assert str(transform.FuseOps(2, max_depth=256)(module())).count("relay.fused") == 1


def test_fuse_ops_takes_the_level_of_the_context() -> None:
    with PassContext(opt_level=0):
        assert str(transform.FuseOps()(module())).count("relay.fused") == 7
    assert str(transform.FuseOps()(module())).count("relay.fused") == 1


@pytest.mark.parametrize("key", ["relay-fuse-ops.max-depth", "relay-fuse-ops.max_depth"])
def test_config_by_the_names_of_our_passes(key: str) -> None:
    context = PassContext(config={key: 1})
    assert context.config == {"relay.FuseOps.max_depth": 1}
    assert context.get_config(key) == context.get_config("relay.FuseOps.max_depth") == 1
    with pytest.raises(PassError, match=r"relay\.FuseOps\.max_depth is given twice, the second time as 'relay-fuse"):
        PassContext(config={"relay.FuseOps.max_depth": 1, key: 2})
    with pytest.raises(AttributeError, match=r"did you mean 'relay-fuse-ops\.max-depth'"):
        PassContext(config={"relay-fuse-ops.max-dept": 1})


def test_list_configs_and_get_config() -> None:
    assert PassContext.list_configs()["relay.FuseOps.max_depth"]["type"] == "int"
    assert PassContext(config={"relay.FuseOps.max_depth": 3}).get_config("relay.FuseOps.max_depth") == 3
    assert PassContext().get_config("relay.FuseOps.max_depth", 7) == 7
    with pytest.raises(PassError, match=r"invalid config option 'relay\.FuseOp\.depth'"):
        PassContext().get_config("relay.FuseOp.depth")


def test_keys_can_be_registered() -> None:
    transform.register_config("test.rate", float, "a rate")
    assert PassContext(config={"test.rate": 1}).get_config("test.rate") == 1
    transform.register_config("test.rate", float, "the same again")
    with pytest.raises(PassError, match=r"test\.rate is registered with type float already"):
        transform.register_config("test.rate", int, "a rate")
    wrong: Any = dict
    with pytest.raises(PassError, match=r"test\.table: values are bool, int, float or str, found <class 'dict'>"):
        transform.register_config("test.table", wrong, "a table")
    with pytest.raises(TypeError, match=r"test\.rate: expected float, found str \('x'\)"):
        PassContext(config={"test.rate": "x"})


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (("1", "x"), TypeError, "PassInfo: opt_level must be an int, found '1'"),
        ((-1, "x"), ValueError, "PassInfo: opt_level must not be negative"),
        ((1, 3), TypeError, "PassInfo must hold names of passes, found 3"),
        ((1, ""), ValueError, "a pass needs a name"),
        ((1, "x", "InferType"), TypeError, "Required is expected to be the type of list/tuple"),
    ],
)
def test_records_are_checked(arguments: tuple[Any, ...], kind: type[Exception], message: str) -> None:
    with pytest.raises(PassError, match=message) as caught:
        PassInfo(*arguments)
    assert isinstance(caught.value, kind)


def test_a_record_as_relay_makes_one() -> None:
    required: Any = ["InferType"]
    info = PassInfo(1, "x", required, False)
    assert (info.required, info.traceable) == (("InferType",), False)
    assert len({info, PassInfo(1, "x", ("InferType",))}) == 1


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"opt_level": -1}, ValueError, "opt_level must not be negative, found -1"),
        ({"opt_level": "3"}, TypeError, "opt_level must be an int, found '3'"),
        ({"opt_level": True}, TypeError, "opt_level must be an int, found True"),
        ({"disabled_pass": ["FoldConstnt"]}, ValueError, "no pass is called 'FoldConstnt'; help: .* 'FoldConstant'"),
        ({"required_pass": ["relay-fuse-op"]}, ValueError, "no pass is called 'relay-fuse-op'; .* 'relay-fuse-ops'"),
        ({"required_pass": ["qqq"]}, ValueError, "required_pass: no pass is called 'qqq'"),
        ({"required_pass": "FuseOps"}, TypeError, "expected to be the type of list/tuple, found str"),
        ({"disabled_pass": [1]}, TypeError, "must hold names of passes, found 1"),
        ({"config": {"relay.FuseOps.max_dept": 1}}, AttributeError, "did you mean 'relay.FuseOps.max_depth'"),
        ({"config": {"qqq": 1}}, AttributeError, "candidates are .*relay.FuseOps.max_depth"),
        ({"config": {"relay.FuseOps.max_depth": "4"}}, TypeError, "expected int, found str"),
        ({"config": {"relay.FuseOps.max_depth": None}}, TypeError, "expected int, found None"),
        ({"config": {"relay.FuseOps.max_depth": True}}, TypeError, "expected int, found bool"),
        ({"config": {"relay.FuseOps.link_params": 1}}, TypeError, "expected bool, found int"),
        ({"config": {3: 1}}, TypeError, "config keys are strings"),
        ({"config": [1]}, TypeError, "config must be a mapping"),
        ({"instruments": [object()]}, TypeError, "object is no instrument"),
        ({"instruments": 3}, TypeError, "must be a list of instruments"),
        ({"trace": 3}, TypeError, r"trace must be a function of \(module, info, is_before\), found 3"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(PassError, match=message) as caught:
        PassContext(**arguments)
    assert isinstance(caught.value, kind)
    assert "\n" not in str(caught.value)


def test_names_of_relays_other_passes_are_taken() -> None:
    assert PassContext(disabled_pass=["FastMath"]).disabled_pass == {"FastMath"}


def test_contexts_are_left_in_order() -> None:
    first, second = PassContext(), PassContext()
    with first, pytest.raises(PassError, match="not the innermost"), second:
        first.__exit__(None, None, None)
