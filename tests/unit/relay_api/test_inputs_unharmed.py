"""A pass called from Python returns a new module and leaves its input unchanged: every kind, nested, and on errors."""

from __future__ import annotations

from contextlib import suppress
from io import StringIO
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp

from xrelay import relay, transform
from xrelay.errors import PassError, XRelayError
from xrelay.instrument import pass_instrument
from xrelay.lowering.registry import ALL_PASSES, load_pass
from xrelay.passes.catalogue.relay_names import RELAY_PASSES
from xrelay.transform import PassContext, Sequential


def module() -> ModuleOp:
    x = relay.var("x", shape=(2, 3))
    doubled = relay.add(relay.const(1.0), relay.const(1.0))
    return relay.Module.from_expr(relay.Function([x], relay.exp(relay.multiply(x, doubled))))


@transform.module_pass(opt_level=0)
def wreck_module(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    mod.attributes["wrecked"] = UnitAttr()
    for op in list(mod.body.block.ops):
        op.detach()
    return mod


@transform.function_pass(opt_level=0)
def mark_functions(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
    func.attributes["marked"] = UnitAttr()
    mod.attributes["seen"] = UnitAttr()
    return func


@transform.kernel_pass(opt_level=0)
def mark_kernels(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
    func.attributes["marked"] = UnitAttr()
    return func


@transform.module_pass(opt_level=0)
def wreck_and_fail(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    wreck_module.transform(mod, ctx)
    raise ValueError("after the damage")


KINDS: list[Any] = [
    wreck_module,
    mark_functions,
    Sequential(["FuseOps", "relay-outline-fused", mark_kernels]),
    Sequential([Sequential([mark_functions, Sequential([wreck_module])])]),
    transform.create_pass("canonicalize"),
    transform.create_pass("FuseOps{max-depth=4}"),
    transform.PrintIR(stream=StringIO()),
]


@pytest.mark.parametrize("current", KINDS, ids=lambda current: current.info.name)
@pytest.mark.parametrize("instruments", [(), ("looker",)])
def test_every_kind_leaves_its_input_alone(current: Any, instruments: tuple[str, ...]) -> None:
    @pass_instrument
    class Looker:
        def run_before_pass(self, mod: ModuleOp, info: transform.PassInfo) -> None:
            kept.append((mod, str(mod)))

    kept: list[tuple[ModuleOp, str]] = []
    given = module()
    before, identity = str(given), list(given.walk())
    with PassContext(opt_level=3, instruments=[Looker() for _ in instruments]):
        result = current(given)
    assert result is not given
    assert str(given) == before
    assert list(given.walk()) == identity, "not even an op was replaced"
    assert not set(given.walk()) & set(result.walk()), "nothing is shared"
    assert all(str(mod) == seen for mod, seen in kept), "what an instrument kept stays too"


@pytest.mark.parametrize("current", [wreck_and_fail, Sequential([mark_functions, Sequential([wreck_and_fail])])])
def test_a_failure_leaves_it_alone_too(current: Any) -> None:
    given = module()
    before = str(given)
    with pytest.raises(PassError, match=r"\[wreck_and_fail\] raised ValueError: after the damage"):
        current(given)
    assert str(given) == before


def test_a_hook_that_fails_leaves_it_alone() -> None:
    @pass_instrument
    class Fails:
        def run_after_pass(self, mod: ModuleOp, info: transform.PassInfo) -> None:
            raise RuntimeError("no")

    given = module()
    before = str(given)
    message = r"^\[wreck_module\] Fails.run_after_pass raised RuntimeError: no$"
    with pytest.raises(PassError, match=message), PassContext(instruments=[Fails()]):
        Sequential([wreck_module])(given)
    assert str(given) == before


def test_a_pass_that_may_not_run_gives_its_input() -> None:
    @pass_instrument
    class Forbids:
        def should_run(self, mod: ModuleOp, info: transform.PassInfo) -> bool:
            return info.name != "wreck_module"

    given = module()
    with PassContext(instruments=[Forbids()]):
        assert wreck_module(given) is given
        assert str(Sequential([wreck_module])(given)) == str(given)


PLAIN = [name for name in ALL_PASSES if not load_pass(name).required_fields()]
RELAYS = [row.name for row in RELAY_PASSES if row.pass_name in PLAIN]


@pytest.mark.parametrize("name", [*PLAIN, *RELAYS])
def test_every_pass_of_the_project_leaves_its_input_alone(name: str) -> None:
    given = module()
    before = str(given)
    with suppress(XRelayError):  # some passes do not apply to a graph and raise
        transform.create_pass(name)(given)
    assert str(given) == before
