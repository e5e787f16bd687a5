"""Runs one op on arrays, and compares native code with the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

import xrelay
from support.examples import OPT_LEVELS
from xrelay import relay
from xrelay.api.comparison import compare_outputs
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]


def check(module: relay.Module, inputs: Sequence[Array], *, rtol: float = 0.0, atol: float = 0.0) -> list[Array]:
    """Checks that native code at each of `OPT_LEVELS` agrees with the interpreter; returns its results."""
    return checked(module, rtol=rtol, atol=atol)(inputs)


def checked(module: relay.Module, *, rtol: float = 0.0, atol: float = 0.0) -> Callable[[Sequence[Array]], list[Array]]:
    """Returns `check` for one module on several inputs; the module is compiled once for each level."""
    models = [(level, xrelay.compile(module, opt_level=level, cache=False, threads=1)) for level in OPT_LEVELS]

    def run(inputs: Sequence[Array]) -> list[Array]:
        expected = found = run_relay(module, list(inputs))
        names = [f"y{k}" for k, _ in enumerate(expected)]
        for level, model in models:
            found = model.run(list(inputs))
            answer = compare_outputs(names, found, expected, levels=("native", "relay"), rtol=rtol, atol=atol)
            assert answer, f"level {level}: {answer}"
        return list(found)

    return run


def program(op: str, *arrays: Array, **attributes: Any) -> relay.Module:
    """A module that applies one op to its parameters."""
    given = [relay.var(f"x{k}", shape=array.shape, dtype=array.dtype.name) for k, array in enumerate(arrays)]
    return relay.Module.from_expr(relay.op_function(op)(*given, **attributes))


def applied(op: str, *arrays: Array, rtol: float = 0.0, atol: float = 0.0, **attributes: Any) -> Array:
    """The first result of the op."""
    return check(program(op, *arrays, **attributes), arrays, rtol=rtol, atol=atol)[0]
