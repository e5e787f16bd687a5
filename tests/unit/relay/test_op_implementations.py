"""Computes, schedules and strategies registered from outside for existing operators."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tool_server.served import served
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import registrations, relay, te, topi
from xrelay.api.kernels.lowering import KernelLowering
from xrelay.errors import InputError, LoweringError
from xrelay.lowering.relay_to_topi import registry as strategies
from xrelay.lowering.topi_to_loop.schedules import choose_family
from xrelay.passes.infra.printing import print_module
from xrelay.relay.op import implementations
from xrelay.relay.pass_api.named_passes import create_pass
from xrelay.target import Target, generic_func, override_native_generic_func
from xrelay.target.strategy import StrategyRegistry

X = relay.var("x", shape=(8, 48))
VALUES = np.random.default_rng(4).standard_normal((8, 48)).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def remembered_kernels() -> None:
    """Replaces the fixture of the folder: the tests observe how each kernel is lowered."""


@pytest.fixture(autouse=True)
def _own_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restores the registries after a test."""
    strategies.load()
    own = StrategyRegistry(strategies.own_implementation)
    own._implementations = {name: list(known) for name, known in strategies.STRATEGIES._implementations.items()}
    monkeypatch.setattr(strategies, "STRATEGIES", own)
    monkeypatch.setattr(choose_family, "REGISTERED", dict(choose_family.REGISTERED))
    monkeypatch.setattr(implementations, "_SCHEDULE_LEVELS", {})


def kernels(module: ModuleOp) -> str:
    names = "relay-infer-type,relay-fuse-ops,relay-outline-fused,convert-relay-to-topi,topi-inline-injective,"
    for name in (names + "topi-expand-named,convert-topi-to-loop,loop-assign-schedules").split(","):
        module = create_pass(name)(module)
    return str(module)


def run(expr: relay.Expr) -> np.ndarray:
    return xrelay.compile(relay.IRModule.from_expr(expr), cache=False).run([VALUES])[0]


def test_a_compute_of_a_greater_level_replaces_ours() -> None:
    @relay.op.register_compute("exp", level=11)
    def compute(attrs: relay.Attrs, inputs: list[te.Tensor], out_type: Any) -> list[te.Tensor]:
        assert str(out_type) == "tensor<8x48xf32>"
        return [topi.add(topi.exp(inputs[0]), 1.0)]

    np.testing.assert_allclose(run(relay.exp(X)), np.exp(VALUES) + 1, rtol=1e-5)
    assert "exp.te (priority 11" in kernels(relay.IRModule.from_expr(relay.exp(X)))


def test_operands_that_are_tuples_come_as_their_fields() -> None:
    relay.op.register_compute(
        "concatenate", lambda attrs, inputs, out_type: topi.concatenate(inputs, attrs.axis), level=20
    )
    both = relay.concatenate([X, relay.exp(X)], axis=1)
    np.testing.assert_allclose(run(both), np.concatenate([VALUES, np.exp(VALUES)], 1), rtol=1e-5)


def test_an_input_may_be_given_back() -> None:
    relay.op.register_compute("annotation.stop_fusion", lambda attrs, inputs, out_type: inputs, level=20)
    np.testing.assert_array_equal(run(relay.annotation.stop_fusion(X)), VALUES)


def serial(attrs: None, outs: list[te.Tensor], target: Target) -> te.Schedule:
    s = te.create_schedule([out.op for out in outs])
    s[outs[0]].unroll(s[outs[0]].split(s[outs[0]].op.axis[-1], 4)[1])
    return s


def test_a_schedule_is_that_of_the_kernels_of_its_op() -> None:
    relay.op.register_schedule("tanh", serial)
    text = kernels(relay.IRModule.from_expr(relay.tanh(relay.exp(X))))
    assert 'loop.schedule_reason = "relay.op:tanh: registered for tanh"' in text
    assert '#loop.schedule<[split("i1", 4), unroll("i1_i")]>' in text
    assert "relay.op:tanh" not in kernels(relay.IRModule.from_expr(relay.exp(X)))
    np.testing.assert_allclose(run(relay.tanh(X)), np.tanh(VALUES), rtol=1e-5, atol=1e-6)
    relay.op.register_schedule("tanh", lambda attrs, outs, target: None, level=5)
    assert "registered for tanh" in kernels(relay.IRModule.from_expr(relay.tanh(X)))


def reduced(attrs: None, outs: list[te.Tensor], target: Target) -> te.Schedule:
    s = te.create_schedule([out.op for out in outs])
    (k,) = s[outs[0]].op.reduce_axis
    s[outs[0]].reorder(k, s[outs[0]].op.axis[0])
    return s


def test_reductions_have_their_axes_too() -> None:
    relay.op.register_schedule("sum", reduced)
    text = kernels(relay.IRModule.from_expr(relay.sum(X, axis=[1])))
    assert '#loop.schedule<[reorder("k1", "i0")]>' in text
    np.testing.assert_allclose(run(relay.sum(X, axis=[1])), VALUES.sum(1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (lambda attrs, outs, target: None, "the schedule of tanh .*None"),
        (lambda attrs, outs: None, "the schedule of tanh raised TypeError"),
        (lambda attrs, outs, target: outs[0].op.nothing, "raised AttributeError"),
        (
            lambda attrs, outs, target: _marked(outs[0], "vectorize", 0),
            "relay.op:tanh failed: stage 'tanh': .*not innermost",
        ),
    ],
)
def test_a_schedule_that_does_not_fit_gives_way_and_is_named(schedule: Callable[..., Any], words: str) -> None:
    relay.op.register_schedule("tanh", schedule)
    with pytest.warns(RuntimeWarning, match="not legal for @fused_tanh"):
        text = kernels(relay.IRModule.from_expr(relay.tanh(X)))
    assert 'loop.schedule_reason = "injective: ' in text
    assert re.search(words, text)


def _marked(out: te.Tensor, step: str, axis: int) -> te.Schedule:
    s = te.create_schedule(out.op)
    getattr(s[out], step)(s[out].op.axis[axis])
    return s


def test_strategies_by_target() -> None:
    @override_native_generic_func("tanh_strategy")
    def tanh_strategy(attrs: relay.Attrs, inputs: list[te.Tensor], out_type: Any, target: Target) -> Any:
        strategy = relay.op.OpStrategy()
        compute = relay.op.wrap_topi_compute(topi.tanh)
        strategy.add_implementation(compute, relay.op.wrap_topi_schedule(topi.generic.schedule_injective), "tanh.any")
        return strategy

    @tanh_strategy.register("haswell")
    def tanh_strategy_haswell(attrs: relay.Attrs, inputs: list[te.Tensor], out_type: Any, target: Target) -> Any:
        strategy = tanh_strategy._default(attrs, inputs, out_type, target)
        assert target.mcpu == "haswell"
        strategy.add_implementation(relay.op.wrap_topi_compute(topi.tanh), serial, "tanh.serial", plevel=12)
        return strategy

    relay.op.register_strategy("tanh", tanh_strategy, level=11)
    module = relay.IRModule.from_expr(relay.tanh(X))
    assert "the strategy's, tanh: tanh.any" in kernels(module)
    with Target("cpu -mcpu=haswell"):
        assert "the strategy's, tanh: tanh.serial" in kernels(module)
    np.testing.assert_allclose(run(relay.tanh(X)), np.tanh(VALUES), rtol=1e-5, atol=1e-6)


def test_generic_functions_are_the_version_for_the_target() -> None:
    @generic_func
    def name() -> str:
        return "any"

    name.register("cpu", lambda: "cpu")
    name.register(["haswell", "skylake"])(lambda: "avx2")
    assert name() == "cpu"
    with Target("cpu -mcpu=haswell"):
        assert name() == "avx2"
    with pytest.raises(InputError, match=r"name .* version for 'cpu'"):
        name.register("cpu", lambda: "other")
    name.register("cpu", lambda: "other", override=True)
    assert name() == "other"


def test_the_same_level_is_refused() -> None:
    with pytest.raises(InputError, match=r"exp has the implementation exp\.generic of level 10; help: .*level=11"):
        relay.op.register_compute("exp", lambda attrs, inputs, out_type: inputs)


def empty_strategy(*_: Any) -> Any:
    return relay.op.OpStrategy()


@pytest.mark.parametrize(
    ("register", "words"),
    [
        (lambda: relay.op.register_compute("exp", lambda *_: None, level=11), "the compute of exp returned None"),
        (lambda: relay.op.register_compute("exp", lambda a: a, level=11), "the compute of exp raised TypeError"),
        (
            lambda: relay.op.register_compute("exp", lambda a, i, o: [topi.transpose(i[0])], level=11),
            r"returned \[float32\[48, 8\]\], the operator has \[float32\[8, 48\]\]",
        ),
        (lambda: relay.op.register_strategy("exp", empty_strategy, level=11), "the strategy of exp returned no impl"),
    ],
)
def test_what_does_not_fit_is_told_in_one_line(register: Callable[[], object], words: str) -> None:
    register()
    with pytest.raises(LoweringError, match=words) as caught:
        run(relay.exp(X))
    assert "\n" not in str(caught.value)


PROGRAM = relay.IRModule.from_expr(relay.tanh(relay.exp(X)))
ENTRIES = {"compile": lambda: xrelay.compile(PROGRAM), "build": lambda: relay.build(PROGRAM)}


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that are lowered, as text."""
    texts: list[str] = []
    lower = KernelLowering.lower

    def note(self: KernelLowering, module: ModuleOp, symbol: str) -> Any:
        texts.append(print_module(module))
        return lower(self, module, symbol)

    monkeypatch.setattr(KernelLowering, "lower", note)
    return texts


def strategy(schedule: Callable[..., Any]) -> Callable[..., Any]:
    """The strategy of `topi.tanh` with a schedule."""

    def choose(attrs: relay.Attrs, inputs: list[te.Tensor], out_type: Any, target: Target) -> Any:
        chosen = relay.op.OpStrategy()
        chosen.add_implementation(relay.op.wrap_topi_compute(topi.tanh), schedule)
        return chosen

    return choose


REGISTER: dict[str, Callable[[Callable[..., Any]], object]] = {
    "schedule": lambda f: relay.op.register_schedule("tanh", f),
    "strategy": lambda f: relay.op.register_strategy("tanh", strategy(f), level=11),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("register", REGISTER)
def test_a_registered_schedule_is_compiled(register: str, entry: str, lowered: list[str]) -> None:
    called: list[int] = []

    def schedule(attrs: None, outs: list[te.Tensor], target: Target) -> te.Schedule:
        called.append(len(outs))
        return serial(attrs, outs, target)

    REGISTER[register](schedule)
    ENTRIES[entry]()
    assert called == [1]
    assert '#loop.schedule<[split("i1", 4), unroll("i1_i")]>' in lowered[0]


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_registered_injective_schedule_is_compiled(entry: str, lowered: list[str]) -> None:
    relay.op.register_injective_schedule("tanh")
    with Target("cpu -mcpu=haswell -num-threads=1"):
        ENTRIES[entry]()
    assert 'loop.schedule = #loop.schedule<[split("i1", 8), vectorize("i1_i")' in lowered[0]


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_registered_compute_is_compiled(entry: str, lowered: list[str]) -> None:
    relay.op.register_compute("tanh", lambda attrs, inputs, out_type: [topi.sqrt(inputs[0])], level=11)
    ENTRIES[entry]()
    assert "math.sqrt" in lowered[0]


def test_equal_kernels_are_shared_unless_their_schedules_differ(lowered: list[str]) -> None:
    relay.op.register_schedule("tanh", serial)
    both = relay.IRModule.from_expr(relay.Tuple([relay.tanh(X), relay.tanh(relay.var("y", shape=(8, 48)))]))
    first = xrelay.compile(both)
    relay.op.register_schedule("tanh", lambda attrs, outs, target: _marked(outs[0], "parallel", 0))
    second = xrelay.compile(both)
    relay.op.register_schedule("tanh", serial)
    assert ["unroll" in text for text in lowered] == [True, False]
    assert "parallelize" in lowered[1]
    assert xrelay.compile(both).artifact.objects == first.artifact.objects != second.artifact.objects


def test_the_targets_strategy_is_that_of_the_compilation() -> None:
    found: list[str] = []

    def choose(attrs: relay.Attrs, inputs: list[te.Tensor], out_type: Any, target: Target) -> Any:
        found.append(target.mcpu)
        return strategy(serial)(attrs, inputs, out_type, target)

    relay.op.register_strategy("tanh", choose, level=11)
    xrelay.compile(PROGRAM, target="cpu -mcpu=haswell")
    assert found == ["haswell"]


def test_two_schedules_of_one_strategy_are_kept_apart() -> None:
    def choose(attrs: relay.Attrs, inputs: list[te.Tensor], out_type: Any, target: Target) -> Any:
        step = "parallel" if inputs[0].shape[0] == 8 else "unroll"
        schedule = lambda attrs, outs, target: _marked(outs[0], step, 0)  # noqa: E731
        return strategy(schedule)(attrs, inputs, out_type, target)

    relay.op.register_strategy("tanh", choose, level=11)
    other = relay.var("y", shape=(4, 48))
    text = kernels(relay.IRModule.from_expr(relay.Tuple([relay.tanh(X), relay.tanh(other)])))
    assert text.count('loop.schedule<[parallelize("i0")]>') == 1
    assert text.count('loop.schedule<[unroll("i0")]>') == 1


def test_registering_xrelays_own_schedule_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model compiled before the registration is not taken from the cache."""
    monkeypatch.setattr(registrations, "_modules", set[str]())
    relay.op.register_schedule("tanh", relay.op.wrap_topi_schedule(topi.generic.schedule_injective))
    assert registrations.registering_modules() == {__name__}


def test_an_illegal_schedule_is_one_warning(lowered: list[str]) -> None:
    relay.op.register_schedule("tanh", lambda attrs, outs, target: _marked(outs[0], "vectorize", 0))
    with pytest.warns(RuntimeWarning, match=r"'relay.op:tanh' is not legal for @fused_exp_tanh .*not innermost") as all:
        compiled = xrelay.compile(PROGRAM)
    assert len(all) == 1
    assert "loop.schedule = " not in lowered[0]
    np.testing.assert_allclose(compiled.run([VALUES])[0], np.tanh(np.exp(VALUES)), rtol=1e-5)


PLUGIN = """
import os
import sys
from xrelay import relay, te, topi

KIND = os.environ["XRELAY_KIND"]

def schedule(attrs, outs, target):
    sys.stderr.write(f"schedule of {outs[0].op.name}\\n")
    s = te.create_schedule([out.op for out in outs])
    s[outs[0]].parallel(s[outs[0]].op.axis[0])
    return s

def strategy(attrs, inputs, out_type, target):
    chosen = relay.op.OpStrategy()
    chosen.add_implementation(relay.op.wrap_topi_compute(topi.tanh), schedule)
    return chosen

def compute(attrs, inputs, out_type):
    sys.stderr.write("compute\\n")
    return [topi.exp(inputs[0])]

if KIND == "strategy":
    relay.op.register_strategy("tanh", strategy, level=11)
elif KIND == "schedule":
    relay.op.register_schedule("tanh", schedule)
elif KIND == "injective":
    relay.op.register_injective_schedule("tanh")
else:
    relay.op.register_compute("tanh", compute, level=11)
"""
TOOL_INPUT = """
func.func @main(%x: tensor<8x48xf32>) -> tensor<8x48xf32> {
  %y = relay.tanh(%x) : (tensor<8x48xf32>) -> tensor<8x48xf32>
  func.return %y : tensor<8x48xf32>
}
"""


@pytest.fixture(scope="module")
def with_plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yields an environment with a plugin that registers what the variable `XRELAY_KIND` names."""
    site = tmp_path_factory.mktemp("site")
    info = site / "registering-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: registering\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[xrelay.plugins]\nstrategies = registering\n")
    (site / "registering.py").write_text(PLUGIN)
    with served({**os.environ, "PYTHONPATH": str(site)}) as environment:
        yield environment


@pytest.mark.parametrize(
    ("kind", "called", "marker"),
    [
        ("schedule", "schedule of tanh\n", b"xrelay_parallel_for"),
        ("injective", "", b"xrelay_parallel_for"),
        ("strategy", "schedule of T_tanh\n", b"xrelay_parallel_for"),
        ("compute", "compute\n", b"xrelay_kernel_"),
    ],
)
def test_the_tool_compiles_what_a_plugin_registers(
    kind: str, called: str, marker: bytes, tmp_path: Path, with_plugin: dict[str, str]
) -> None:
    (tmp_path / "tanh.mlir").write_text(TOOL_INPUT)
    environment = {**with_plugin, "XRELAY_KIND": kind, "XRELAY_CACHE_DIR": str(tmp_path / "cache")}
    command = ["xrelay", "compile", tmp_path / "tanh.mlir", "-o", tmp_path / "tanh.xrelay"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.startswith(f"{called}wrote "), done.stderr
    assert marker in (tmp_path / "tanh.xrelay").read_bytes()
