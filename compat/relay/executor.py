"""`relay.create_executor`: evaluates programs of the builder at once, with Relay's interface.

relay.create_executor("graph", mod).evaluate()(x)
relay.create_executor("debug").evaluate(relay.const(1.0) + relay.const(2.0))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr, TensorType, TupleType
from xdsl.ir import Attribute

from xrelay.api.arrays import Tensor, as_array
from xrelay.api.compile import compile
from xrelay.api.interface import main_function
from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.errors import InputError, did_you_mean
from xrelay.interpreters.relay.run import run_relay_values
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.binding import bind, bind_params_by_name
from xrelay.relay.expr import ExprLike, Var, as_value, view
from xrelay.relay.function import Function
from xrelay.relay.module import MAIN, IRModule
from xrelay.relay.nodes import Constant, GlobalVar
from xrelay.target.target import Target

Evaluated: TypeAlias = Callable[..., Any]
"""A function of arrays, positional or by parameter name."""
Runner: TypeAlias = Callable[[Sequence[Any]], list[Any]]
"""A function from the arguments of a program to its results, with tuples flattened."""

KINDS = ("debug", "graph", "aot", "vm")
"""The kinds of executors: the interpreter, and three names for native code."""


def create_executor(
    kind: str = "debug",
    mod: IRModule | None = None,
    device: object = None,
    target: str | Target | None = "llvm",
    params: Mapping[str, object] | None = None,
) -> Executor:
    """Returns an executor for expressions that may call the functions of `mod`.

    `debug` interprets; `graph`, `aot` and `vm` compile for `target`. All kinds accept every program. `params` are
    constants that replace parameters of the module's `@main`, by name. `device` is accepted and ignored: it is the CPU.
    Raises `InputError` for an unknown kind.
    """
    if kind not in KINDS:
        raise InputError(
            f"there is no executor {kind!r}", help=did_you_mean(kind, KINDS, "they are " + ", ".join(KINDS))
        )
    module = IRModule() if mod is None else IRModule.of(mod)
    if params:
        module[MAIN] = bind_params_by_name(module[MAIN], params)
    return Executor(module, None if kind == "debug" else target, interprets=kind == "debug")


@dataclass(frozen=True)
class Signature:
    """The parameters and results of a function; orders and converts arguments, and flattens tuples for native code."""

    names: Sequence[str]
    inputs: Sequence[Attribute]
    outputs: Sequence[Attribute]
    is_native: bool = True

    @staticmethod
    def of(module: IRModule, *, is_native: bool = True) -> Signature:
        """Returns the signature of the @main of a module whose types are known."""
        type = main_function(module).function_type
        names = [param.name for param in module[MAIN].params]
        return Signature(names, type.inputs.data, type.outputs.data, is_native)

    @staticmethod
    def of_type(type: FunctionType, *, is_native: bool) -> Signature:
        """Returns the signature of a function type. The parameter names are numbers."""
        names = [str(number) for number in range(len(type.inputs))]
        return Signature(names, type.inputs.data, type.outputs.data, is_native)

    def in_order(self, arguments: Sequence[object], named: Mapping[str, object]) -> list[Any]:
        """Returns the arguments of a call in order and converted, with tuples flattened for native code.

        Raises `InputError` if an argument is missing, superfluous or not a value.
        """
        given = zip(_in_order(self.names, arguments, named), self.inputs, strict=True)
        values = [(_to_array(value, type), type) for value, type in given]
        return [each for value, type in values for each in (_flat(value, type) if self.is_native else (value,))]

    def grouped(self, results: Iterable[Any]) -> Any:
        """Groups flat results into the function's value: lists for tuples and for several results."""
        rest = iter(results)
        values = [self._grouped(type, rest) for type in self.outputs]
        return values[0] if len(values) == 1 else values

    def _grouped(self, type: Attribute, values: Iterator[Any]) -> Any:
        """Returns the next value, or the list of a tuple's fields."""
        if isinstance(type, TupleType):
            return [self._grouped(inner, values) for inner in type.types]
        value = next(values)
        if isinstance(type, FunctionType):
            return EvaluatedFunction(value, Signature.of_type(type, is_native=self.is_native))
        return value.view(Tensor) if isinstance(value, np.ndarray) else value


@dataclass(frozen=True, eq=False)
class EvaluatedFunction:
    """A function that an expression evaluates to. It can be called and passed as an argument."""

    runner: Callable[..., Sequence[Any]]
    signature: Signature

    def __call__(self, *arguments: object) -> Any:
        """Returns the value for arrays, and lists of arrays for tuples. Raises `InputError` for invalid arguments."""
        return self.signature.grouped(self.runner(*self.signature.in_order(arguments, {})))

    def __repr__(self) -> str:
        return f"<function of {', '.join(map(str, self.signature.inputs))}>"


class Executor:
    """Evaluates expressions and functions that may call the functions of a module."""

    def __init__(self, module: IRModule, target: str | Target | None, *, interprets: bool):
        self._module, self._target, self._interprets = module, target, interprets

    def evaluate(
        self, expr: Function | GlobalVar | ExprLike | None = None, binds: Mapping[Var, ExprLike] | None = None
    ) -> Any:
        """Returns the value of an expression; for a function, or by default the module's @main, a Python function.

        `binds` maps free variables to values. Values are arrays, and lists of values for tuples. A tuple parameter
        takes one list. Raises `InputError` for an expression with free variables and for invalid arguments. Raises the
        errors of `compile` and of the interpreter.
        """
        if expr is None or isinstance(expr, GlobalVar):
            return self._callable(expr)
        if isinstance(expr, Function):
            return self._callable(bind(expr, binds) if binds else expr)
        value = view(as_value(expr))
        return self._callable(Function([], bind(value, binds) if binds else value))()

    def _callable(self, function: Function | GlobalVar | None) -> Evaluated:
        module = self._program(function)
        infer_types(module)
        signature = Signature.of(module, is_native=not self._interprets)
        run = self._runner(module)
        return lambda *arguments, **named: signature.grouped(run(signature.in_order(arguments, named)))

    def _program(self, function: Function | GlobalVar | None) -> IRModule:
        """Returns a copy of the module with `function` as its @main."""
        module = IRModule.of(self._module)
        if isinstance(function, GlobalVar):
            if function.name_hint == MAIN:
                return module
            called = module[function]
            function = Function(called.params, module.get_global_var(function.name_hint)(*called.params))
        if function is not None:
            name = _set_main_aside(module)
            module[MAIN] = function
            _call_instead(module, name)
        return module

    def _runner(self, module: IRModule) -> Runner:
        if self._interprets:
            return lambda arguments: run_relay_values(module, list(arguments))
        model = compile(module, target=self._target)
        return lambda arguments: model.run(list(arguments))


def _set_main_aside(module: IRModule) -> str:
    """Renames @main to a private function if there is one; returns its name, else @main."""
    functions = functions_of(module)
    main = functions.get(MAIN)
    name = MAIN
    if main is not None:
        name = fresh_name(MAIN, set(functions))
        main.sym_name, main.sym_visibility = StringAttr(name), StringAttr("private")
    return name


def _call_instead(module: IRModule, name: str) -> None:
    """Redirects calls of @main to `name`, also in the evaluated function, where @main means that of the module."""
    for op in walk_ops(module):
        if is_call(op) and callee_name(op) == MAIN:
            op.callee = SymbolRefAttr(name)


def _in_order(names: Sequence[str], arguments: Sequence[object], named: Mapping[str, object]) -> list[object]:
    """Returns the positional, then the named arguments of a call. Raises `InputError` for missing or extra ones."""
    unknown = [name for name in named if name not in names[len(arguments) :]]
    if unknown:
        raise InputError(f"there is no remaining argument {unknown[0]!r}", help=f"parameters: {', '.join(names)}")
    missing = [name for name in names[len(arguments) :] if name not in named]
    if missing or len(arguments) > len(names):
        given = len(arguments) + len(named)
        raise InputError(f"the function takes {len(names)} arguments ({', '.join(names)}), got {given}")
    return [*arguments, *(named[name] for name in names[len(arguments) :])]


def _to_array(value: object, type: Attribute) -> Any:
    """Converts an argument: numbers and objects with `numpy()` to arrays, a sequence to a list for a tuple."""
    if isinstance(type, TupleType):
        values = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else None
        if values is None or len(values) != len(type.types):
            raise InputError(f"an argument is {value!r}, must be {type}", help=f"pass a tuple of {len(type.types)}")
        return [_to_array(each, inner) for each, inner in zip(values, type.types, strict=True)]
    if isinstance(value, EvaluatedFunction):
        return value.runner
    if not isinstance(type, TensorType):
        return value
    array = value.data if isinstance(value, Constant) else value
    return _in_dtype(as_array("an argument", array), numpy_dtype(type.element_type))


def _in_dtype(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts values to the parameter's dtype, as Relay's executors do; returns them unchanged if they do not fit.

    Floats are rounded to another precision. Integers and whole numbers must keep their value.
    """
    if array.dtype == dtype or (array.dtype.kind == dtype.kind == "f" and np.can_cast(array.dtype, dtype, "same_kind")):
        return array.astype(dtype, copy=False)
    with np.errstate(invalid="ignore"):
        found = array.astype(dtype)
    return found if np.array_equal(found, array) else array


def _flat(given: Any, type: Attribute) -> Iterator[object]:
    """Yields the arrays of an argument in order: native code has no tuples."""
    if not isinstance(type, TupleType):
        yield given
        return
    for each, inner in zip(given, type.types, strict=True):
        yield from _flat(each, inner)
