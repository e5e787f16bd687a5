"""Runs pipelines of xDSL passes, on a module or, for `func.func(…)`, on each of its functions separately.

This is the only loop over passes in the project, for tools, `xrelay.compile` and tests.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import DiagnosticException

from xrelay.errors import PassError, XRelayError, one_line
from xrelay.passes.catalogue.extensions import RegisteredPass, level_of_pass, registered_passes
from xrelay.passes.catalogue.relay_names import canonical
from xrelay.passes.infra.gc_pause import gc_pause
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument, run_observed
from xrelay.passes.infra.pipeline_text import is_value
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import numerics_of
from xrelay.shortage import shortage_of


def run_pipeline(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    *,
    context: Context,
    instruments: Sequence[PassInstrument] = (),
    required: Collection[str] = (),
) -> None:
    """Applies `passes` to `module` in place and in order, with the hooks of `instruments` around each.

    The caller enters and leaves the instruments (`with PassContext(…)`). `required` are pass names in canonical form;
    no instrument may prevent these passes from running. If a pass fails with an `XRelayError`, that is raised, with a
    note if its message lacks the pass and its options; any other exception becomes a `PassError` that names the pass.
    """
    with gc_pause():
        for current in passes:
            _run_one(module, current, context, instruments, required)


def info_of(current: ModulePass) -> PassInfo:
    """Returns the description of an xDSL pass: its own name, options, level and numerics."""
    kind, added = type(current), registered_passes().get(current.name)
    if not is_value(kind):
        return _info(current)
    try:
        return _cached_info(kind, current, added)
    except TypeError:  # an unhashable option
        return _info(current)


@lru_cache(maxsize=1024)
def _cached_info(kind: type[ModulePass], current: ModulePass, added: RegisteredPass | None) -> PassInfo:
    """Returns `_info` of a pass; printing the options takes longer than running many a pass.

    `kind` is part of the key because all passes without options have the same hash. `added` is the registration of a
    pass of another package, on which the result depends.
    """
    return _info(current)


def _info(current: ModulePass) -> PassInfo:
    """Returns the description of a pass, with its text in the syntax of `xrelay-opt -p`."""
    numerics = numerics_of(type(current))
    return PassInfo(level_of_pass(current.name), current.name, spec=str(current), numerics=numerics)


def _run_one(
    module: ModuleOp,
    current: ModulePass,
    context: Context,
    instruments: Sequence[PassInstrument],
    required: Collection[str],
) -> None:
    def transform(mod: ModuleOp) -> ModuleOp:
        current.apply(context, mod)
        return mod

    try:
        if not instruments:
            transform(module)
            return
        is_required = canonical(current.name) in required
        run_observed(transform, module, info_of(current), instruments, required=is_required)
    except XRelayError as error:
        if str(current) != current.name or f"[{current.name}]" not in error.message:
            error.add_note(f"while running {current}")
        raise
    except Exception as error:
        raise _pass_error(current, error) from error


def _pass_error(current: ModulePass, error: Exception) -> XRelayError:
    """Returns any failure of a pass as an `XRelayError`."""
    shortage = shortage_of(error)
    if shortage is not None:
        shortage.message = f"[{current.name}] {shortage.message}"
        return shortage
    if isinstance(error, RecursionError):
        return PassError(f"[{current.name}] the program is nested too deeply", help="split the function")
    if isinstance(error, DiagnosticException):
        return PassError(f"[{current.name}] {one_line(str(error))}")
    text, help = f"{type(error).__name__}: {one_line(str(error))}", "XRELAY_DEBUG=1 shows the traceback"
    if type(current).__module__.startswith("xrelay."):
        return PassError(f"[{current.name}] internal error, {text}", help=f"{help}; please report it")
    return PassError(f"[{current.name}] raised {text}", help=help)


def run_on_functions(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    *,
    context: Context,
    instruments: Sequence[PassInstrument] = (),
) -> None:
    """Applies `passes` to each function of `module` that has a body, in place; raises the errors of `run_pipeline`.

    Each function is moved into a module of its own, which has the attributes of the whole and declarations of the
    functions that it references. All passes run on it before the next function; then the result moves back, without
    the declarations, also if a pass fails. So passes and instruments see only one body.
    """
    symbols = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    for function in [symbol for symbol in symbols.values() if not symbol.is_declaration]:
        following = function.next_op
        function.detach()
        others = symbols.keys() - {function.sym_name.data}
        # a dictionary, for speed: main references thousands of kernels
        declared = dict.fromkeys(_declaration(symbols[name]) for name in _references(function) if name in others)
        own = ModuleOp([*declared, function], dict(module.attributes))
        try:
            run_pipeline(own, passes, context=context, instruments=instruments)
        finally:
            _put_back([op for op in own.ops if op not in declared], module, following)


def _references(function: FuncOp) -> dict[str, None]:
    """Returns the symbols that `function` references, each once, in order of first reference."""
    attributes = (value for op in walk_ops(function) for value in (*op.properties.values(), *op.attributes.values()))
    return dict.fromkeys(value.root_reference.data for value in attributes if isinstance(value, SymbolRefAttr))


def _declaration(function: FuncOp) -> FuncOp:
    """Returns a declaration of the function, without its attributes: a schedule is useless without a body."""
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    return FuncOp.external(function.sym_name.data, list(inputs), list(outputs))


def _put_back(ops: Sequence[Operation], module: ModuleOp, following: Operation | None) -> None:
    """Moves `ops` into `module`, before `following` or to its end."""
    for op in ops:
        op.detach()
    Rewriter.insert_op(ops, InsertPoint(module.body.block, following))
