"""Calls the hooks of instruments in Relay's order, and defines the effect of errors in hooks.

**Contexts.** Entering calls every `enter_pass_ctx` in order, leaving every `exit_pass_ctx` in the same order. If an
`enter_pass_ctx` raises, the instruments already entered are exited in reverse. If an `exit_pass_ctx` raises, the
instruments after it are not exited.

**Passes.** The order is: all `should_run` (every one is called; they must all agree; none is called for a required
pass), all `run_before_pass`, the pass, all `run_after_pass`, each in order. A pass that may not run returns its module
unchanged. Each `pass_scope` encloses only the pass. If a hook or the pass raises, no further hook of that pass is
called. Errors of hooks name the pass, the instrument and the hook. An exception of a hook or a pass can be caught by
its own class as well as by `PassError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import PassError, XRelayError
from xrelay.passes.infra.pass_info import PassInfo, naming
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.raised import also, raised

Transform = Callable[[ModuleOp], ModuleOp]
"""A pass: rewrites the module in place, or creates another one."""


def enter_instruments(instruments: Sequence[PassInstrument]) -> None:
    """Notifies `instruments` that their context is entered."""
    for number, instrument in enumerate(instruments):
        try:
            _call(instrument, "enter_pass_ctx", instrument.enter_pass_ctx)
        except BaseException:
            for previous in reversed(instruments[:number]):
                _call(previous, "exit_pass_ctx", previous.exit_pass_ctx)
            raise


def exit_instruments(instruments: Sequence[PassInstrument]) -> None:
    """Notifies `instruments` that their context is left."""
    for instrument in instruments:
        _call(instrument, "exit_pass_ctx", instrument.exit_pass_ctx)


def run_observed(
    transform: Transform,
    mod: ModuleOp,
    info: PassInfo,
    instruments: Sequence[PassInstrument],
    *,
    required: bool = False,
    copy: bool = False,
) -> ModuleOp:
    """Returns the result of `transform` on `mod`, and calls the hooks of `instruments` around it.

    With `required`, no instrument may prevent the pass from running; with `copy`, the pass works on a copy of `mod`.
    """
    if not required and not _may_run(mod, info, instruments):
        return mod
    for instrument in instruments:
        _around(instrument, "run_before_pass", instrument.run_before_pass, mod, info)
    own = _copy(mod, info) if copy else mod
    with ExitStack() as scopes:
        for instrument in instruments:
            scopes.enter_context(instrument.pass_scope(own, info))
        result = transform(own)
    for instrument in instruments:
        _around(instrument, "run_after_pass", instrument.run_after_pass, result, info)
    return result


def _may_run(mod: ModuleOp, info: PassInfo, instruments: Sequence[PassInstrument]) -> bool:
    """Whether every instrument lets the pass run; all of them are called."""
    should_run = True
    for instrument in instruments:
        answer = _around(instrument, "should_run", instrument.should_run, mod, info)
        if not isinstance(answer, bool):
            raise PassError(f"[{info.name}] {instrument.name}.should_run gave {answer!r}, it must give a bool")
        should_run &= answer
    return should_run


def _copy(mod: ModuleOp, info: PassInfo) -> ModuleOp:
    try:
        return mod.clone()
    except RecursionError as error:
        raise naming(error, info.name) from error


def _around(
    instrument: PassInstrument, hook: str, call: Callable[[ModuleOp, PassInfo], object], mod: ModuleOp, info: PassInfo
) -> object:
    """Calls a hook around a pass; its errors name the pass, the instrument and the hook."""
    try:
        return call(mod, info)
    except XRelayError as error:
        naming(error, info.name, doing=f"{instrument.name}.{hook}")
        raise
    except Exception as error:
        raise naming(error, info.name, doing=f"{instrument.name}.{hook}") from error


def _call(instrument: PassInstrument, hook: str, call: Callable[[], None]) -> None:
    """Calls a hook around a context; its errors name the instrument and the hook."""
    try:
        call()
    except XRelayError as error:
        error.message = f"{instrument.name}.{hook}: {error.message}"
        raise
    except Exception as error:
        raise also(PassError(f"{instrument.name}.{hook} {raised(error)}"), error) from error
