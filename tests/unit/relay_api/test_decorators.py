"""`@module_pass`, `@function_pass` and `@kernel_pass`: every way to use and misuse them."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp

from xrelay import relay, transform
from xrelay.errors import PassError
from xrelay.transform import PassContext, PassInfo, Sequential

X = relay.var("x", shape=(2, 3))
DECORATORS: list[Any] = [transform.module_pass, transform.function_pass, transform.kernel_pass]


def small() -> ModuleOp:
    return relay.Module.from_expr(relay.exp(X))


@transform.module_pass(opt_level=2, required=["InferType"])
def mark(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    mod.attributes[f"level{ctx.opt_level}"] = UnitAttr()
    return mod


@transform.module_pass(opt_level=1, name="Marker")
class Mark:
    """Marks the module."""

    def __init__(self, first: str, *, second: str = "b"):
        self.names = [first, second]

    def transform_module(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        mod.attributes.update(dict.fromkeys(self.names, UnitAttr()))
        return mod


def test_a_function_is_a_pass() -> None:
    assert mark.info == PassInfo(2, "mark", ("InferType",))
    assert repr(mark.info) == "PassInfo(name='mark', opt_level=2, required=['InferType'])"
    assert isinstance(mark, transform.ModulePass)
    assert "level2" in mark(small()).attributes
    with PassContext(opt_level=1):
        assert "level1" in mark(small()).attributes
        assert not Sequential([mark])(small()).attributes


def test_a_class_is_a_class_of_passes_with_its_arguments() -> None:
    made = Mark("a", second="c")
    assert made.info == PassInfo(1, "Marker")
    assert made.names == ["a", "c"]
    assert set(made(small()).attributes) == {"a", "c"}
    assert (Mark.__name__, Mark.__doc__) == ("Mark", "Marks the module.")
    with pytest.raises(AttributeError, match="other"):
        _ = made.other


def test_called_with_the_function() -> None:
    made: Any = transform.module_pass(lambda mod, ctx: mod, opt_level=0, name="plain")
    given = small()
    assert str(made(given)) == str(given)


def test_passes_of_ones_own_can_be_required_by_name() -> None:
    ran: list[str] = []

    @transform.module_pass(opt_level=3)
    def first_of_two(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        ran.append("first")
        return mod

    @transform.function_pass(opt_level=0, required=["first_of_two"])
    def second_of_two(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        ran.append("second")
        return func

    Sequential([second_of_two])(small())
    assert ran == ["first", "second"]


@pytest.mark.parametrize("decorator", DECORATORS)
@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({}, ValueError, "Please provide opt_level for the (module|function|kernel) pass."),
        ({"opt_level": "1"}, TypeError, "opt_level must be an int, found '1'"),
        ({"opt_level": -1}, ValueError, "opt_level must not be negative"),
        ({"opt_level": 1, "required": "InferType"}, TypeError, "Required is expected to be the type of list/tuple"),
        ({"opt_level": 1, "required": {"InferType"}}, TypeError, "Required is expected to be the type of list/tuple"),
        ({"opt_level": 1, "required": [3]}, TypeError, "Required must hold names of passes, found 3"),
        ({"opt_level": 1, "name": 3}, TypeError, "the name of a (module|function|kernel) pass must be a string"),
        ({"opt_level": 1, "pass_func": 3}, TypeError, "pass_func must be a callable for (module|function|kernel) pass"),
        ({"opt_level": 1, "pass_func": dict}, TypeError, "class dict has no method transform_(module|function)"),
    ],
)
def test_misuse(decorator: Any, arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        decorator(**arguments)
    assert isinstance(caught.value, PassError)


def nothing_given() -> None: ...


def one(mod: object) -> None: ...


def four(a: object, b: object, c: object, d: object) -> None: ...


class Methods:
    def transform_module(self, mod: object) -> None: ...
    def transform_function(self, func: object, mod: object) -> None: ...


@pytest.mark.parametrize("decorator", DECORATORS)
@pytest.mark.parametrize("item", [nothing_given, one, four, Methods])
def test_functions_that_do_not_take_what_they_are_called_with(decorator: Any, item: Any) -> None:
    name = item.__name__
    message = rf"\[{name}\] .* takes \(.*\), but a \w+ pass is called with \((func, )?mod, ctx\)"
    with pytest.raises(TypeError, match=message) as caught:
        decorator(item, opt_level=0)
    assert isinstance(caught.value, PassError)


@pytest.mark.parametrize("decorator", DECORATORS)
def test_static_methods_defaults_and_stars_are_fine(decorator: Any) -> None:
    class Static:
        @staticmethod
        def transform_module(mod: ModuleOp, ctx: PassContext, more: int = 0) -> ModuleOp:
            return mod

        @classmethod
        def transform_function(cls, func: FuncOp, *rest: object) -> FuncOp:
            return func

    made = decorator(opt_level=0)(Static)
    assert str(made()(small())) == str(small())


def test_constructors_are_checked_and_documented() -> None:
    made: Any = Mark
    for wrong, message in [
        (lambda: made(), r"\[Marker\] missing a required argument: 'first'; help: Mark takes \(first: .*\)"),
        (lambda: made("a", third=1), r"\[Marker\] got an unexpected keyword argument 'third'"),
        (lambda: made("a", "b"), r"\[Marker\] too many positional arguments"),
    ]:
        with pytest.raises(TypeError, match=message) as caught:
            wrong()
        assert isinstance(caught.value, PassError)
    assert isinstance(made, type)
    assert issubclass(made, transform.ModulePass)
    assert (made.__name__, made.__doc__) == ("Mark", "Marks the module.")
    assert isinstance(made("a"), made)
    with pytest.raises(AttributeError, match="has no attribute '_private_thing'"):
        _ = made("a")._private_thing


def test_a_name_that_a_pass_has_stays_that_passs() -> None:
    transform.module_pass(lambda mod, ctx: 1 / 0, opt_level=0, name="canonicalize")
    transform.module_pass(lambda mod, ctx: 1 / 0, opt_level=0, name="FoldConstant")
    Sequential(["canonicalize", "FoldConstant"])(small())


def test_a_pass_of_ones_own_has_no_options_as_text() -> None:
    with pytest.raises(PassError, match=r"\[mark\] takes no options as text, found depth; help: create it in Python"):
        transform.create_pass("mark{depth=3}")


def test_kernel_passes_have_relays_name_too() -> None:
    assert transform.prim_func_pass is transform.kernel_pass


@transform.kernel_pass(opt_level=0)
class CountKernels:
    def __init__(self) -> None:
        self.count = 0

    def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        self.count += 1
        return func


@pytest.mark.parametrize("stage", [[], ["convert-relay-to-topi"], ["convert-relay-to-topi", "convert-topi-to-loop"]])
def test_kernel_passes_run_at_every_level_that_has_kernels(stage: list[str]) -> None:
    counter: Any = CountKernels()
    Sequential(["FuseOps", "relay-outline-fused", *stage, counter])(small())
    assert counter.count == 1


def test_replace_each_shares_and_copies() -> None:
    shared = relay.const(2.0)

    @transform.function_pass(opt_level=0)
    def doubled(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        from xrelay.dialects.relay.ops.tensor.unary import ExpOp

        return transform.replace_each(func, ExpOp, lambda value: value * shared + shared)

    result = str(doubled(relay.Module.from_expr(relay.exp(relay.exp(X)))))
    assert result.count("relay.exp") == result.count("relay.multiply") == result.count("relay.add") == 2
    assert result.count("relay.constant") == 2
    assert str(doubled(small())).count("relay.constant") == 1
