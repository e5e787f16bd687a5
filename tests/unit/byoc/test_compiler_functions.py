"""Functions for external compilers, outlined from closures, marked, and inlined again, under Relay's names."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.errors import PassError
from xrelay.ir import assert_structural_equal


def module() -> relay.IRModule:
    """A graph with a closure for the compiler `one` that contains a composite, and a closure for `two`."""
    p, q, r = (relay.var(name, shape=(4,)) for name in "pqr")
    composite = relay.Function([p], relay.exp(p)).with_attr("Composite", "one.exp")
    first = relay.Function([q], relay.Call(composite, [q]) + relay.const(np.float32(2.0)))
    second = relay.Function([r], relay.tanh(r))
    x = relay.var("x", shape=(4,))
    y = relay.Call(marked(second, "two"), [relay.Call(marked(first, "one"), [x])])
    return relay.IRModule.from_expr(relay.Function([x], y))


def marked(function: relay.Function, compiler: str) -> relay.Function:
    for name, value in (("Inline", 1), ("Compiler", compiler), ("global_symbol", f"{compiler}_0"), ("Primitive", 1)):
        function = function.with_attr(name, value)
    return function


def run(mod: relay.IRModule) -> list[float]:
    return xrelay.compile(mod, cache=False).run([np.linspace(-1, 1, 4, dtype=np.float32)])[0].tolist()


def test_there_and_back() -> None:
    given = module()
    outlined = transform.OutlineCompilerFunctionsWithExistingGlobalSymbols("one")(given)
    assert isinstance(outlined, relay.IRModule)
    one = outlined.get_global_var("one_0")
    assert [var.name_hint for var in outlined.get_global_vars()] == ["main", "one_0"]
    assert outlined[one].attrs == {
        "Inline": 1, "Compiler": "one", "global_symbol": "one_0", "Primitive": 1, "sym_visibility": "private",
    }  # fmt: skip
    extern = transform.MarkCompilerFunctionsAsExtern("one")(outlined)
    assert isinstance(extern, relay.IRModule)
    assert extern[one].attrs == {"Extern": 1, "sym_visibility": "private"}
    back = transform.InlineCompilerFunctionsBoundTo([one])(outlined)
    assert isinstance(back, relay.IRModule)
    assert [var.name_hint for var in back.get_global_vars()] == ["main"]
    assert "one.exp" not in str(back)
    assert run(given) == run(outlined) == run(extern) == run(back)


def test_all_compilers_without_a_filter() -> None:
    outlined = transform.OutlineCompilerFunctionsWithExistingGlobalSymbols()(module())
    assert isinstance(outlined, relay.IRModule)
    assert [var.name_hint for var in outlined.get_global_vars()] == ["main", "one_0", "two_0"]
    assert "relay.invoke" not in str(outlined["main"])


def test_nothing_named_nothing_inlined() -> None:
    outlined = transform.create_pass("OutlineCompilerFunctions")(module())
    assert_structural_equal(transform.InlineCompilerFunctionsBoundTo([])(outlined), outlined)


def test_a_function_that_another_compiler_calls_stays() -> None:
    x = relay.var("x", shape=(4,))
    mod = relay.IRModule({"inner_0": marked(relay.Function([x], relay.exp(x)), "inner")})
    inner = mod.get_global_var("inner_0")
    y, z = relay.var("y", shape=(4,)), relay.var("z", shape=(4,))
    mod["outer_0"] = marked(relay.Function([y], inner(y)), "outer")
    mod["main"] = relay.Function([z], inner(mod.get_global_var("outer_0")(z)))
    made = transform.InlineCompilerFunctionsBoundTo([inner])(mod)
    assert isinstance(made, relay.IRModule)
    assert made["inner_0"].attrs == mod["inner_0"].attrs
    assert "inner_0" not in str(made["main"])


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(PassError, match="'global_vars' must be a list of functions of the module"):
        transform.InlineCompilerFunctionsBoundTo([3])
    with pytest.raises(PassError, match="no function @nobody"):
        transform.InlineCompilerFunctionsBoundTo(["nobody"])(module())
