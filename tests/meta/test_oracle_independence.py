"""`evaluate`, the reference for native code, shares no code with `compute` or `decompose`, which it checks.

A mistake in a function that both use would be on both sides of the comparison, and no test would find it. Both may use
the properties of the operator and the code of `core/`, `structure/` and `layout/`, which describes it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import relay_ops

RELAY = "xrelay.dialects.relay"
ROOMS = tuple(f"{RELAY}.{room}." for room in ("ops", "meaning", "computes", "gradients"))
"""The modules with code that `evaluate` and the lowering must not share."""

SHARED: dict[str, str] = {
    "EinsumOp.labelled": "parses the equation for the shape rule; test_einsum.py compares with np.einsum on its text",
    "OneHotOp.axis_index": "counts the axis from the front; the shape rule does the same",
    "ReduceOp.reduced_axes": "are the axes of the shape rule; test_reduced_axes.py compares with numpy's",
    "TakeOp.axis_and_batch": "counts the axes from the front; the shape rule does the same",
}
"""Functions that both sides use → why a mistake in them would be found."""

OPERATORS = relay_ops()


def imports_of(path: Path) -> Iterator[str]:
    """Yields the modules that a file imports, also inside of functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize(
    ("room", "others"),
    [("meaning", ("computes", "gradients")), ("computes", ("meaning",)), ("gradients", ("meaning",))],
)
def test_the_rooms_of_meaning_and_lowering_do_not_import_each_other(room: str, others: tuple[str, ...]) -> None:
    folder = Path(__file__).parents[2] / "dialects" / "relay" / room
    files = sorted(folder.glob("*.py"))
    assert len(files) > 1
    forbidden = tuple(f"{RELAY}.{other}" for other in others)
    found = {path.name: [name for name in imports_of(path) if name.startswith(forbidden)] for path in files}
    assert not {name: names for name, names in found.items() if names}


def unwrapped(value: object) -> FunctionType | None:
    """Returns the function of a method, a class method or a decorated function; None for other values."""
    value = getattr(value, "__func__", value)
    function = inspect.unwrap(value) if callable(value) else value
    is_written = isinstance(function, FunctionType) and not function.__code__.co_filename.startswith("<")
    return function if is_written else None


@cache
def tree_of(function: FunctionType) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def names_in(function: FunctionType) -> dict[str, object]:
    """Returns the global names of a function and those that it imports."""
    names = dict(function.__globals__)
    for node in ast.walk(tree_of(function)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            module = import_module(node.module)
            for alias in node.names:
                is_member = hasattr(module, alias.name)
                value = getattr(module, alias.name) if is_member else import_module(f"{node.module}.{alias.name}")
                names[alias.asname or alias.name] = value
    return names


@cache
def methods_of(op: type[RelayOp]) -> set[FunctionType]:
    """Returns the methods of an operator, also inherited and overridden ones."""
    found = (unwrapped(value) for base in op.__mro__ for value in vars(base).values())
    return {function for function in found if function is not None}


def used_by(function: FunctionType, op: type[RelayOp]) -> Iterator[object]:
    """Yields the values that a function names: globals, members of modules, and methods of the operator."""
    names, is_method = names_in(function), function in methods_of(op)
    for node in ast.walk(tree_of(function)):
        if isinstance(node, ast.Name):
            yield names.get(node.id)
        elif isinstance(node, ast.Attribute):
            of = ast.unparse(node.value)
            if isinstance(names.get(of), ModuleType):
                yield getattr(names[of], node.attr, None)
            elif is_method and of in ("self", "cls", "super()"):
                yield from (vars(base)[node.attr] for base in op.__mro__ if node.attr in vars(base))


def reached(op: type[RelayOp], method: str) -> set[FunctionType]:
    """Returns the functions of `ROOMS` that a method of an operator calls, directly or not, without the method."""
    start = unwrapped(getattr(op, method, None))
    found: set[FunctionType] = set()
    pending = [] if start is None else [start]
    while pending:
        for value in used_by(pending.pop(), op):
            members = vars(value).values() if isinstance(value, type) and not issubclass(value, RelayOp) else [value]
            for function in map(unwrapped, members):
                if function is not None and function not in found and f"{function.__module__}.".startswith(ROOMS):
                    found.add(function)
                    pending.append(function)
    return {function for function in found if function.__name__ != method}


def test_evaluate_and_the_lowering_call_no_common_function_but_the_exceptions() -> None:
    found: dict[str, set[str]] = {}
    for name, op in OPERATORS.items():
        for function in reached(op, "evaluate") & (reached(op, "compute") | reached(op, "decompose")):
            found.setdefault(function.__qualname__, set()).add(name)
    assert {function: ops for function, ops in found.items() if function not in SHARED} == {}
    assert set(SHARED) <= found.keys(), "an exception is not needed"


def test_the_functions_of_both_sides_are_found() -> None:
    """The search finds methods, inherited methods, functions of modules and imports inside of methods."""
    conv, pool, add = OPERATORS["nn.conv2d"], OPERATORS["nn.max_pool2d"], OPERATORS["qnn.add"]
    names = {function.__qualname__ for function in reached(pool, "evaluate") | reached(conv, "compute")}
    assert {"PoolOp.to_plain_layout", "to_plain", "taps", "primal_indices"} <= names
    assert "scale_distances" in {function.__qualname__ for function in reached(add, "evaluate")}
