"""`xrelay.register_func`: passes that an external compiler registers for its functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay, transform
from xrelay.errors import InputError, PassError
from xrelay.relay.registered_functions import remove_global_func

NAME = "relay.ext.tests-mine.optimize"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    remove_global_func(NAME)


def annotated() -> ModuleOp:
    """`x * (1 + 2)`, in which the sum of constants is for the compiler."""
    x, one, two = relay.var("x", shape=(2,)), relay.const([1.0, 1.0]), relay.const([2.0, 2.0])
    begins = [relay.annotation.compiler_begin(value, "tests-mine") for value in (one, two)]
    total = relay.annotation.compiler_end(begins[0] + begins[1], "tests-mine")
    return transform.InferType()(relay.IRModule.from_expr(relay.Function([x], x * total)))


def region_of(module: ModuleOp) -> relay.Function:
    return relay.IRModule.of(module)["tvmgen_default_tests_mine_main_0"]


def test_each_function_is_optimized() -> None:
    @xrelay.register_func(NAME)
    def optimize(mod: relay.IRModule) -> ModuleOp:
        assert not mod["main"].attrs
        return transform.FoldConstant()(mod)

    assert xrelay.get_global_func(NAME) is optimize
    made = transform.PartitionGraph()(annotated())
    body = region_of(made).body
    assert isinstance(body, relay.Constant)
    assert body.data.tolist() == [3, 3]
    assert region_of(made).attrs["Compiler"] == "tests-mine"
    assert xrelay.compile(made).run([np.array([1, 2], np.float32)])[0].tolist() == [3, 6]


def test_without_one_a_function_is_as_it_was() -> None:
    assert isinstance(region_of(transform.PartitionGraph()(annotated())).body, relay.Call)


def another_type(mod: relay.IRModule) -> ModuleOp:
    x = relay.var("x", shape=(3,))
    return transform.InferType()(relay.IRModule.from_expr(relay.Function([x], x)))


def another_function(mod: relay.IRModule) -> ModuleOp:
    mod["helper"] = mod["main"]
    return mod


def nothing(mod: relay.IRModule) -> ModuleOp:
    return None  # pyright: ignore[reportReturnType]


def failure(mod: relay.IRModule) -> ModuleOp:
    raise KeyError("weights")


@pytest.mark.parametrize(
    ("optimizer", "message"),
    [
        (another_type, "changes the type .* to "),
        (another_function, "returns the functions @main, @helper "),
        (nothing, "returns a NoneType"),
        (failure, "raised KeyError: 'weights'"),
    ],
)
def test_optimizers_that_are_wrong(optimizer: object, message: str) -> None:
    xrelay.register_func(NAME, optimizer)  # pyright: ignore
    with pytest.raises(PassError, match=f"the optimizer of 'tests-mine' {message}"):
        transform.PartitionGraph()(annotated())


def test_names() -> None:
    with pytest.raises(InputError, match=r"the name 'relay\.ext\.mine' are not supported"):
        xrelay.register_func("relay.ext.mine")
    with pytest.raises(InputError, match="no function is registered"):
        xrelay.get_global_func(NAME)
    assert xrelay.get_global_func(NAME, allow_missing=True) is None
    xrelay.register_func(NAME, another_function)
    with pytest.raises(InputError, match="registered already"):
        xrelay.register_func(NAME, another_type)
    xrelay.register_func(NAME, another_type, override=True)
    assert xrelay.get_global_func(NAME) is another_type
    with pytest.raises(InputError, match="cannot be called"):
        xrelay.register_func(NAME, 3, override=True)  # pyright: ignore
