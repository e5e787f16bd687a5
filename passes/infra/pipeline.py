"""Running passes one after another, with instruments looking on.

`run_pipeline` is the only loop over passes in the project: `xrelay-opt`, `xrelay.compile` and tests use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException

from xrelay.errors import PassError, XRelayError, did_you_mean
from xrelay.passes.infra.gc_pause import gc_pause
from xrelay.passes.infra.instruments import Instrument
from xrelay.passes.infra.pass_info import PassArgumentError
from xrelay.passes.infra.pass_options import make_pass, refuse_repeated_options
from xrelay.passes.infra.source import one_line

PassTable = Mapping[str, Callable[[], type[ModulePass]]]
"""Pass name → thunk that imports its class."""


def run_pipeline(
    module: ModuleOp, passes: Sequence[ModulePass], *, context: Context, instruments: Sequence[Instrument] = ()
) -> None:
    """Apply `passes` to `module` in place and in order.

    Around each pass the `before` hooks run in the order of `instruments` and the `after` hooks in reverse, so an
    instrument encloses those that follow it. When a pass or a hook fails, the `failed` hooks run in reverse and the
    error goes on: one of the project's family as it is, anything else as a `PassError` naming the pass.
    """
    with gc_pause():
        _run_each(module, passes, context, instruments)


def _run_each(
    module: ModuleOp, passes: Sequence[ModulePass], context: Context, instruments: Sequence[Instrument]
) -> None:
    for instrument in instruments:
        instrument.begin(module, passes)
    for number, current in enumerate(passes):
        try:
            for instrument in instruments:
                instrument.before(current, number, module)
            current.apply(context, module)
            for instrument in reversed(instruments):
                instrument.after(current, number, module)
        except Exception as error:
            for instrument in reversed(instruments):
                instrument.failed(current, number, module, error)
            if isinstance(error, XRelayError):
                error.add_note(f"while running {current}")
                raise
            raise _pass_error(current, error) from error
    for instrument in reversed(instruments):
        instrument.end(module)


Pipelines = Callable[[], Mapping[str, str]]
"""Gives the named pipelines: name → text. Called only for a name that is not a pass."""


def parse_passes(spec: str, available: PassTable, pipelines: Pipelines = dict) -> list[ModulePass]:
    """The passes that a text such as `relay-infer-type,relay-fuse-ops{max-depth=4}` names, with their options.

    A name of `pipelines` stands for the passes of its text. Raises `PassError` for malformed text, an unknown name
    (with the closest known one) and unusable options.
    """
    return [current for _, current in parse_grouped(spec, available, pipelines)]


def parse_grouped(spec: str, available: PassTable, pipelines: Pipelines = dict) -> list[tuple[str, ModulePass]]:
    """As `parse_passes`, each with the named pipeline that it comes from, empty for one that the text names."""
    return [(group, _instantiate(item, available)) for group, item in _expand(spec, available, pipelines)]


def _expand(spec: str, available: PassTable, pipelines: Pipelines, group: str = "") -> list[tuple[str, ArgSpec]]:
    """The entries of `spec` with named pipelines replaced by their entries, which name passes only."""
    refuse_repeated_options(spec)
    try:
        entries = list(parse_pipeline(spec.strip()))
    except ArgSpecParseError as error:
        message = one_line(str(error).splitlines()[-1])
        raise PassError(f"malformed pass pipeline {spec!r}: {message}", help="write pass-a,pass-b{option=1}") from None
    result: list[tuple[str, ArgSpec]] = []
    for entry in entries:
        if entry.name in available:
            result.append((group, entry))
            continue
        named: Mapping[str, str] = {} if group else pipelines()
        if entry.name in named and entry.parameters:
            raise PassArgumentError(f"the pipeline {entry.name!r} takes no options", help="give them to its passes")
        if entry.name not in named:
            raise unknown_name("pass", entry.name, [*available, *named], "xrelay-opt --list-passes shows them all")
        result += _expand(named[entry.name], available, pipelines, entry.name)
    return result


def unknown_name(kind: str, name: str, known: Sequence[str], otherwise: str) -> PassError:
    """The error for a name that is not in a table: the closest known one as help, or `otherwise`."""
    return PassError(f"no {kind} is called {name!r}", help=did_you_mean(name, known, otherwise))


def _instantiate(item: ArgSpec, available: PassTable) -> ModulePass:
    """The pass with the options of `item`."""
    try:
        pass_type = available[item.name]()
    except ImportError as error:
        raise PassError(f"[{item.name}] cannot be loaded: {one_line(str(error))}") from error
    return make_pass(item, pass_type)


def _pass_error(current: ModulePass, error: Exception) -> PassError:
    """Any failure of a pass as the project's own error."""
    if isinstance(error, RecursionError):
        return PassError(f"[{current.name}] the program is nested too deeply", help="split the function")
    if isinstance(error, DiagnosticException):
        return PassError(f"[{current.name}] {one_line(str(error))}")
    return PassError(
        f"[{current.name}] internal error, {type(error).__name__}: {one_line(str(error))}",
        help="XRELAY_DEBUG=1 shows the traceback; please report it",
    )
