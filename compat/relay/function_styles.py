"""`transform.to_cps` and `un_cps`: convert a function to continuation-passing style and back, as in Relay."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from xrelay.errors import InputError
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_upkeep import has_incomplete_types
from xrelay.relay.function import Function
from xrelay.relay.module import MAIN, IRModule
from xrelay.relay.passes.to_cps import to_cps as functions_to_cps
from xrelay.relay.passes.un_cps import un_cps as function_from_cps


def to_cps(func: Function, mod: IRModule | None = None) -> Function:
    """Returns `func` in continuation-passing style: its last parameter is the continuation, whose result it returns.

    Each function `f` of `mod` that it calls, directly or indirectly, is added to `mod` in this style as `f_cps`, and
    the call is redirected to it. Raises `PassError` if `relay-to-cps` fails.
    """
    program = IRModule() if mod is None else IRModule.of(mod)
    name = _with(program, func)
    made = functions_to_cps(program, only=[name])
    if mod is not None:
        mod.update({new: _func(program, new) for new in made})
    return program[name]


def un_cps(func: Function) -> Function:
    """Returns the direct-style function of `func`, which is in continuation-passing style.

    Raises `InputError` if its last parameter is not a continuation whose result `func` returns.
    """
    program = IRModule()
    name = _with(program, func)
    if not function_from_cps(_func(program, name)):
        raise InputError(
            "the last parameter is not a continuation whose result the function returns",
            help="transform.to_cps converts functions to continuation-passing style",
        )
    return program[name]


def _with(program: IRModule, func: Function) -> str:
    """Adds `func` to `program` and infers its types; returns its name there."""
    name = fresh_name(MAIN, {var.name_hint for var in program.get_global_vars()})
    program[name] = func
    if has_incomplete_types([program]):
        infer_types(program)
    return name


def _func(program: IRModule, name: str) -> FuncOp:
    """Returns the op of a function."""
    return next(op for op in program.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
