"""Relay's virtual machine interface: compiles `@main` of a module once and calls it with inputs.

exe = relay.vm.compile(mod, target="llvm", params=params)
vm = relay.vm.VirtualMachine(exe, xrelay.cpu(0))
result = vm.invoke("main", x)
code, lib = exe.save()
exe = relay.vm.Executable.load_exec(code, lib)

There is no bytecode: an executable is native code, which supports dynamic shapes, control flow and tuples.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from xrelay.api.compile import compile as compile_model
from xrelay.api.graph_module import BenchmarkResult, benchmark_of, copy_to
from xrelay.api.model import CompiledModel
from xrelay.errors import InputError, did_you_mean
from xrelay.passes.infra.source import full_context
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.binding import bind_params_by_name
from xrelay.relay.build_module import optimize as optimize_module
from xrelay.relay.executor import Signature
from xrelay.relay.function import Function
from xrelay.relay.module import MAIN, IRModule
from xrelay.target.target import Target


class Executable:
    """A compiled `@main` with the types of its parameters and results."""

    def __init__(self, signature: Signature, lib: CompiledModel):
        """Creates an executable of native code, for `load_exec` and `compile`."""
        self.signature, self.lib = signature, lib

    @property
    def globals(self) -> list[str]:
        """The names of the functions that can be called: `main`."""
        return [MAIN]

    def get_function_params(self, func_name: str) -> list[str]:
        """Returns the names of the parameters of a function."""
        _check(func_name)
        return list(self.signature.names)

    def save(self) -> tuple[bytearray, CompiledModel]:
        """Returns the signature as bytes, and the library, which is saved by its own `save`."""
        held = self.signature
        types = {"inputs": [str(each) for each in held.inputs], "outputs": [str(each) for each in held.outputs]}
        return bytearray(json.dumps({"names": list(held.names), **types}).encode()), self.lib

    @staticmethod
    def load_exec(bytecode: bytes | bytearray, lib: CompiledModel) -> Executable:
        """Restores an executable from the result of `save`. Raises `InputError` for other bytes."""
        try:
            read = json.loads(bytes(bytecode))
            names, inputs, outputs = (_texts(read[key]) for key in ("names", "inputs", "outputs"))
            signature = Signature(names, [*map(_type, inputs)], [*map(_type, outputs)])
        except (ValueError, KeyError, TypeError, RecursionError, ParseError) as error:
            raise InputError("the bytes are not a saved executable", help="pass those of Executable.save") from error
        if len(names) != len(inputs):
            raise InputError(f"the saved executable has {len(names)} names for {len(inputs)} parameters")
        return Executable(signature, lib)


def compile(
    mod: IRModule | Function,
    target: str | Target | None = None,
    target_host: object = None,
    params: Mapping[str, object] | None = None,
) -> Executable:
    """Compiles `@main` of a module, or a function. The source is not changed.

    `params` are constants that replace parameters, by name. `target_host` is ignored: it is the same CPU. Raises the
    errors of `xrelay.compile`.
    """
    module = IRModule.from_expr(mod) if isinstance(mod, Function) else IRModule.of(mod)
    if params:
        module[MAIN] = bind_params_by_name(module[MAIN], params)
    infer_types(module)
    return Executable(Signature.of(module), compile_model(module, target=target))


class VMCompiler:
    """`compile` in Relay's steps: `set_params`, `lower`, `codegen`, `get_exec`."""

    def __init__(self) -> None:
        self._params: dict[str, object] = {}
        self._exe: Executable | None = None

    def set_params(self, params: Mapping[str, object]) -> None:
        """Sets constants that replace parameters, by name, of the module that is lowered next."""
        self._params.update(params)

    def lower(self, mod: IRModule | Function, target: str | Target | None = None, target_host: object = None) -> None:
        """Compiles `@main` of a module."""
        self._exe = compile(mod, target, target_host, self._params)

    def codegen(self) -> None:
        """Does nothing: `lower` generates the code."""

    def optimize(
        self, mod: IRModule | Function, target: str | Target | None = None, target_host: object = None,
        params: Mapping[str, object] | None = None,
    ) -> tuple[IRModule, dict[str, Any]]:  # fmt: skip
        """The same as `relay.optimize`."""
        return optimize_module(mod, target, params)

    def get_exec(self) -> Executable:
        """Returns the executable. Raises `InputError` if nothing was lowered."""
        if self._exe is None:
            raise InputError("nothing was lowered", help="call lower(mod, target) before")
        return self._exe


class VirtualMachine:
    """Calls the functions of an executable with arguments passed or set before. Not thread-safe."""

    def __init__(self, exe: Executable, device: object = None, memory_cfg: object = None):
        """Creates a machine for an executable. The device is the CPU; its memory is not configurable."""
        if not isinstance(cast("object", exe), Executable):
            raise InputError(f"{exe!r} is not an executable", help="compile one: relay.vm.compile(mod)")
        self._exe = exe
        self._set: list[Any] | None = None
        self._one: dict[int, object] = {}
        self._value: Any = None

    def set_input(self, func_name: str, *args: object, **kwargs: object) -> None:
        """Sets all arguments of a function, in order or by name."""
        _check(func_name)
        self._set = self._exe.signature.in_order(args, kwargs)

    def set_one_input(self, func_name: str, *args: object, **kwargs: object) -> None:
        """Sets one argument: `(name, value)`, `(index, value)` or `name=value`.

        Raises `InputError` if there is no such parameter.
        """
        names = self._exe.get_function_params(func_name)
        tag, value = _tagged(args, kwargs)
        number = self.get_input_index(tag) if isinstance(tag, str) else tag
        if not 0 <= number < len(names):
            raise InputError(f"there is no parameter {tag!r}", help=f"parameters: {', '.join(names)}")
        self._one[number] = value
        if len(self._one) == len(names):
            self.set_input(func_name, *(self._one[each] for each in range(len(names))))

    def invoke(self, func_name: str, *args: object, **kwargs: object) -> Any:
        """Calls a function with the arguments, or with those set before if none are passed; returns its value."""
        _check(func_name)
        if args or kwargs or self._set is None:
            self.set_input(func_name, *args, **kwargs)
        signature = self._exe.signature
        self._value = signature.grouped(self._exe.lib.run(self._set or []))
        return self._value

    def run(self, *args: object, **kwargs: object) -> Any:
        """The same as `invoke` of `main`."""
        return self.invoke(MAIN, *args, **kwargs)

    def invoke_stateful(self, func_name: str, *args: object, **kwargs: object) -> None:
        """The same as `invoke`; `get_outputs` returns the value."""
        self.invoke(func_name, *args, **kwargs)

    def invoke_with_outputs(
        self, func_name: str, input_args: Mapping[str, object] | None, output_args: Sequence[NDArray[Any]]
    ) -> None:
        """Calls a function with arguments by name, or with those set before; copies the values to `output_args`.

        Raises `InputError` if number, shapes or dtypes differ.
        """
        self.invoke(func_name, **(input_args or {}))
        values = _arrays(self._value)
        if len(values) != len(output_args):
            raise InputError(f"{func_name} has {len(values)} outputs, got {len(output_args)} arrays")
        for out, value in zip(output_args, values, strict=True):
            copy_to(out, value)

    def benchmark(
        self,
        device: object = None,
        *args: object,
        func_name: str = MAIN,
        repeat: int = 5,
        number: int = 5,
        min_repeat_ms: float | None = None,
        end_to_end: bool = False,
        **kwargs: object,
    ) -> BenchmarkResult:
        """Measures `invoke`: `repeat` results, each the mean of `number` calls, after one warm-up call.

        `min_repeat_ms` raises `number` until a repeat takes that long. With `end_to_end`, setting the arguments is
        measured too. `device` is ignored: it is the CPU.
        """
        if args or kwargs:
            self.set_input(func_name, *args, **kwargs)
        call = partial(self.invoke, func_name)
        return benchmark_of(partial(call, *args, **kwargs) if end_to_end else call, repeat, number, min_repeat_ms)

    def get_outputs(self) -> list[Any]:
        """Returns the last value as a list: its fields, or itself."""
        return cast("list[Any]", self._value) if isinstance(self._value, list) else [self._value]

    def get_input_index(self, input_name: str, func_name: str = MAIN) -> int:
        """Returns the index of a parameter, or -1 if the name is unknown."""
        names = self._exe.get_function_params(func_name)
        return names.index(input_name) if input_name in names else -1


def _tagged(args: Sequence[object], named: Mapping[str, object]) -> tuple[str | int, object]:
    """Returns which argument is set to which value. Raises `InputError` if it is not exactly one."""
    given = dict(named)
    if len(args) == 2 and not named and isinstance(args[0], str | int):
        return args[0], args[1]
    if args or len(given) != 1:
        raise InputError("expected one argument to set", help="pass its name or number and the value, or name=value")
    return given.popitem()


def _arrays(value: Any) -> list[NDArray[Any]]:
    """Returns the arrays of a value, with tuples flattened."""
    return [each for part in cast("list[Any]", value) for each in _arrays(part)] if isinstance(value, list) else [value]


def _check(func_name: str) -> None:
    if func_name != MAIN:
        hint = did_you_mean(func_name, [MAIN], "only @main is compiled: call the others from it")
        raise InputError(f"the executable has no function {func_name!r}", help=hint)


def _texts(value: object) -> list[str]:
    """Returns a list of strings. Raises `TypeError` for anything else."""
    texts = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(each, str) for each in texts):
        raise TypeError(f"{value!r} is not a list of strings")
    return cast("list[str]", texts)


def _type(text: str) -> Attribute:
    return Parser(full_context(), text).parse_type()
