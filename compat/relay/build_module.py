"""`build` compiles a Relay function with its parameters to a library for `GraphModule`, with Relay's interface.

lib = xrelay.build(func, "llvm", params=params)
m = xrelay.GraphModule(lib["default"](dev))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

from numpy.typing import NDArray
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from xrelay.api.arrays import arrays_by_name
from xrelay.api.build_schedule import BuiltFunction, build_schedule
from xrelay.api.compile import compile
from xrelay.api.interface import main_function
from xrelay.api.request import chosen_level, chosen_target
from xrelay.api.stage_runner import StageRunner, selected_passes
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.attribute_names import VALUE_NAME, VARIABLE
from xrelay.dialects.shared.types import merge_types
from xrelay.errors import InputError, with_article
from xrelay.lowering.pipelines import OPTIMIZER, Phase, compile_stages
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs
from xrelay.relay.backend import Executor, Runtime
from xrelay.relay.binding import as_parameter
from xrelay.relay.binding import bind_params_by_name as bind_params_by_name
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.library import DEFAULT, Library
from xrelay.relay.module import IRModule, Module
from xrelay.runtime.artifact import Artifact
from xrelay.target.target import Target
from xrelay.te.schedule import Schedule
from xrelay.te.tensor import Tensor


@overload
def build(
    source: Schedule, args: Sequence[Tensor], target: str | Target | None = None, *, name: str = "kernel"
) -> BuiltFunction: ...


@overload
def build(
    source: Function | Expr | ModuleOp,
    target: str | Target | None = None,
    params: Mapping[str, object] | None = None,
    opt_level: int | None = None,
    *,
    target_host: object = None,
    executor: Executor | str = "graph",
    runtime: Runtime | str = "cpp",
    mod_name: str = DEFAULT,
    threads: int | None = None,
) -> Library: ...


def build(source: Any, *arguments: Any, **named: Any) -> Library | BuiltFunction:
    """Compiles a function or expression of the builder, or the `@main` of a relay module. The source is not changed.

    `params` are constants by parameter name: arrays, or objects with `numpy()` or `asnumpy()`. Unknown names are
    ignored. Incomplete types of parameters are taken from them. `target` and `opt_level` are as for `compile`; Relay's
    `llvm` is this machine. `target_host` is accepted and ignored: host and device are one CPU. `executor` and `runtime`
    are checked, see `relay.backend`. The library contains its model as `mod_name`, and always as `default`.

    A schedule of tensor expressions becomes a function of the tensors `args`, see `build_schedule`.

    Raises `InputError` if two parameters have one of the names, if a value is not an array, or if its shape or dtype
    does not fit the parameter. Raises the errors of `compile`.
    """
    if isinstance(source, Schedule):
        return build_schedule(source, *arguments, **named)
    return _build_program(source, *arguments, **named)


def optimize(
    mod: Function | Expr | ModuleOp, target: str | Target | None = None, params: Mapping[str, object] | None = None
) -> tuple[IRModule, dict[str, NDArray[Any]]]:
    """Returns the program after all graph optimisations before fusion, and no parameters, as these are constants.

    `mod` is not changed; `params` become constants. The entered `PassContext` selects the passes by opt level and by
    name. Raises the errors of `build` that concern types and the graph.
    """
    module, chosen = _module(mod), chosen_target(target, None)
    _bind(main_function(module), arrays_by_name(params))
    stages = compile_stages(
        opt_level=chosen_level(None),
        vector_lanes=chosen.lanes(),
        tile_products=chosen.tile_products,
        selection=selected_passes(),
    )
    StageRunner([stage for stage in stages if stage.phase in {Phase.TYPED} | OPTIMIZER]).run(module)
    return IRModule.of(module), {}


def _build_program(
    source: Function | Expr | ModuleOp,
    target: str | Target | None = None,
    params: Mapping[str, object] | None = None,
    opt_level: int | None = None,
    *,
    target_host: object = None,
    executor: Executor | str = "graph",
    runtime: Runtime | str = "cpp",
    mod_name: str = DEFAULT,
    threads: int | None = None,
) -> Library:
    """Returns the library of a program and its parameters."""
    _check_options(executor, runtime, mod_name)
    module = _module(source)
    bound = arrays_by_name(params)
    _bind(main_function(module), bound)
    model = compile(module, target=target, opt_level=opt_level, threads=threads, cache=True)
    artifact = model.artifact
    metadata = replace(artifact.metadata, bound_params=tuple(bound), name=mod_name)
    return Library(Artifact(artifact.objects, metadata, artifact.weights), num_threads=threads)


def _check_options(executor: object, runtime: object, mod_name: object) -> None:
    """Raises `InputError` for an invalid executor, runtime or name. All valid ones have the same effect."""
    for kind, value in ((Executor, executor), (Runtime, runtime)):
        if isinstance(value, str):
            kind(value)
        elif not isinstance(value, kind):
            what = with_article(type(value).__name__)
            raise InputError(f"{what} is not a valid {kind.KIND}", help=f"pass a relay.backend.{kind.__name__}")
    if not isinstance(mod_name, str) or not mod_name:
        raise InputError(f"mod_name is {mod_name!r}", help="pass the name of the model in the library")


def _module(source: object) -> ModuleOp:
    """Returns `source` as a new module. The free variables of an expression become its parameters."""
    if isinstance(source, Function | Expr):
        return Module.from_expr(source)
    if isinstance(source, ModuleOp):
        return source.clone()
    raise InputError(
        f"{with_article(type(source).__name__)} is not a program",
        help="pass a relay.Function, an expression or a module",
    )


def _bind(function: FuncOp, params: Mapping[str, NDArray[Any]]) -> None:
    """Replaces the parameters of these names by constants. Unknown names are ignored, as in Relay."""
    block, attributes = function.body.block, argument_attrs(function)
    arguments = {_name(argument, attributes): argument for argument in block.args}
    params = {name: array for name, array in params.items() if name in arguments}
    repeated = [value.data for each in attributes if isinstance(value := each.get(VARIABLE), StringAttr)]
    for name in repeated:
        if name in params:
            raise InputError(f"{repeated.count(name) + 1} parameters are called {name!r}", help="use relay.bind")
    constants = [_constant(arguments[name], name, array) for name, array in params.items()]
    kept = [argument for argument in block.args if _name(argument, attributes) not in params]
    set_argument_attrs(function, [attributes[argument.index] for argument in kept])
    for name, constant in zip(params, constants, strict=True):
        arguments[name].replace_all_uses_with(constant.result)
        block.erase_arg(arguments[name])
    _insert_first(function, constants)
    function.function_type = FunctionType.from_lists(list(block.arg_types), list(function.function_type.outputs))


def _insert_first(function: FuncOp, constants: Sequence[ConstantOp]) -> None:
    block = function.body.block
    if block.first_op is None:
        raise InputError("@main is empty", help="a function ends in func.return")
    block.insert_ops_before(list(constants), block.first_op)


def _constant(argument: BlockArgument, name: str, array: NDArray[Any]) -> ConstantOp:
    constant = ConstantOp.of(as_parameter(array, argument.type), name)
    if merge_types(argument.type, constant.result.type) != constant.result.type:
        raise InputError(f"parameter {name!r} is {argument.type}, its value {constant.result.type}")
    constant.result.name_hint = argument.name_hint
    return constant


def _name(argument: BlockArgument, attributes: Sequence[Mapping[str, Any]]) -> str:
    value = attributes[argument.index].get(VALUE_NAME)
    if isinstance(value, StringAttr):
        return value.data
    return argument.name_hint if argument.name_hint is not None else f"input{argument.index}"
