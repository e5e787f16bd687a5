"""The protocol of instruments: hooks that the infrastructure calls around passes and contexts.

    @pass_instrument
    class Names:
        def run_before_pass(self, mod, info):
            names.append(info.name)

    with PassContext(instruments=[Names()]):
        module = sequential(module)

Instruments observe passes and never change the module. Five hooks are Relay's; `pass_scope` is an extension.

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

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import new_class
from typing import Any, Generic, TypeAlias, TypeVar, cast, overload

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import PassError, XRelayError
from xrelay.passes.infra.pass_info import PassInfo, PassTypeError, naming
from xrelay.raised import combine_classes, raised

ClassT = TypeVar("ClassT")
TraceFunction: TypeAlias = Callable[[ModuleOp, PassInfo, bool], None]
"""`trace(module, info, is_before)`, called before and after every pass."""

HOOKS = ("enter_pass_ctx", "exit_pass_ctx", "should_run", "run_before_pass", "run_after_pass", "pass_scope")

_NOTHING = nullcontext()


class PassInstrument:
    """The hooks; each does nothing unless overridden."""

    @property
    def name(self) -> str:
        """The instrument's name in errors."""
        return type(self).__name__

    @property
    def replay_flags(self) -> tuple[str, ...]:
        """The flags with which `xrelay-opt` creates this instrument; empty if that is not possible."""
        return ()

    @property
    def unserializable(self) -> tuple[str, ...]:
        """The names of the arguments of this instrument that no flag can represent."""
        return ()

    def enter_pass_ctx(self) -> None:
        """Called when a context with the instrument is entered."""

    def exit_pass_ctx(self) -> None:
        """Called when that context is left, also by an error."""

    def should_run(self, mod: ModuleOp, info: PassInfo) -> bool:
        """Whether the pass may run; every instrument of the context must agree. Not called for required passes."""
        return True

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Called directly before a pass."""

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Called directly after a pass that succeeded, with its result."""

    def pass_scope(self, mod: ModuleOp, info: PassInfo) -> AbstractContextManager[None]:
        """Returns a context manager that encloses only the pass, inside all other hooks, and sees its exceptions.

        `mod` is the module that the pass rewrites, which may be a copy of the module that the other hooks get.
        """
        return _NOTHING


@overload
def pass_instrument(pi_cls: type[ClassT]) -> type[ClassT]: ...
@overload
def pass_instrument(pi_cls: None = None) -> Callable[[type[ClassT]], type[ClassT]]: ...
def pass_instrument(
    pi_cls: type[ClassT] | None = None,
) -> type[ClassT] | Callable[[type[ClassT]], type[ClassT]]:
    """Decorator: turns a class into an instrument with the hooks it defines.

    Raises `PassTypeError` for an object that is not a class, and for a class without hooks.
    """
    return _as_instrument if pi_cls is None else _as_instrument(pi_cls)


def _as_instrument(pi_cls: type[ClassT]) -> type[ClassT]:
    if not inspect.isclass(pi_cls):
        raise PassTypeError(f"pass_instrument decorates classes, found {pi_cls!r}")
    if issubclass(pi_cls, PassInstrument):
        return pi_cls
    if not any(callable(getattr(pi_cls, hook, None)) for hook in HOOKS):
        raise PassTypeError(f"{pi_cls.__name__} defines no hook of an instrument", help=f"hooks are {', '.join(HOOKS)}")
    namespace = {name: getattr(pi_cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    made = new_class(pi_cls.__name__, (pi_cls, PassInstrument), exec_body=lambda body: body.update(namespace))
    return cast("type[ClassT]", made)


class TraceInstrument(PassInstrument):
    """Calls a tracing function before and after every pass. Raises `PassTypeError` if it is not callable."""

    def __init__(self, trace: TraceFunction):
        if not callable(trace):
            raise PassTypeError(f"trace must be a function of (module, info, is_before), found {trace!r}")
        self._trace = trace

    @property
    def name(self) -> str:
        """The function's name."""
        return getattr(self._trace, "__name__", "trace")

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Calls the function with `is_before` true."""
        self._trace(mod, info, True)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Calls the function with `is_before` false."""
        self._trace(mod, info, False)


Transform = Callable[[ModuleOp], ModuleOp]
"""A pass: rewrites the module in place, or creates another one."""


def enter_instruments(instruments: Sequence[PassInstrument]) -> None:
    """Notifies `instruments` that their context is entered."""
    for number, instrument in enumerate(instruments):
        try:
            _call(instrument, "enter_pass_ctx")
        except BaseException:
            for previous in reversed(instruments[:number]):
                _call(previous, "exit_pass_ctx")
            raise


def exit_instruments(instruments: Sequence[PassInstrument]) -> None:
    """Notifies `instruments` that their context is left."""
    for instrument in instruments:
        _call(instrument, "exit_pass_ctx")


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
        _call(instrument, "run_before_pass", mod, info)
    own = _copy(mod, info) if copy else mod
    result = _in_scopes(transform, own, info, instruments)
    for instrument in instruments:
        _call(instrument, "run_after_pass", result, info)
    return result


def _in_scopes(transform: Transform, mod: ModuleOp, info: PassInfo, instruments: Sequence[PassInstrument]) -> ModuleOp:
    """Returns the result of `transform` on `mod` inside the scopes of `instruments`, the first one outermost."""
    if not instruments:
        return transform(mod)
    with instruments[0].pass_scope(mod, info):
        return _in_scopes(transform, mod, info, instruments[1:])


def _may_run(mod: ModuleOp, info: PassInfo, instruments: Sequence[PassInstrument]) -> bool:
    """Whether every instrument lets the pass run; all of them are called."""
    should_run = True
    for instrument in instruments:
        answer = _call(instrument, "should_run", mod, info)
        if not isinstance(answer, bool):
            raise PassError(f"[{info.name}] {instrument.name}.should_run returned {answer!r} instead of a bool")
        should_run &= answer
    return should_run


def _copy(mod: ModuleOp, info: PassInfo) -> ModuleOp:
    try:
        return mod.clone()
    except RecursionError as error:
        raise naming(error, info.name) from error


def _call(instrument: PassInstrument, hook: str, *arguments: Any) -> object:
    """Calls a hook; its errors name the instrument and the hook, and the pass if the hook has module and info."""
    try:
        return getattr(instrument, hook)(*arguments)
    except Exception as error:
        named = _named(error, f"{instrument.name}.{hook}", *arguments)
        if named is error:
            raise
        raise named from error


def _named(error: Exception, doing: str, mod: ModuleOp | None = None, info: PassInfo | None = None) -> XRelayError:
    if info is not None:
        return naming(error, info.name, doing=doing)
    if not isinstance(error, XRelayError):
        return combine_classes(PassError(f"{doing} {raised(error)}"), error)
    error.message = f"{doing}: {error.message}"
    return error


T = TypeVar("T")


class PassStack(Generic[T]):
    """A value for each running pass, innermost last.

    A pass that fails has no `run_after_pass`; if its caller continues, `pop` drops the value of the failed pass.
    """

    def __init__(self) -> None:
        self._open: list[tuple[PassInfo, T]] = []

    def __len__(self) -> int:
        return len(self._open)

    @property
    def innermost(self) -> tuple[PassInfo, T] | None:
        """The pass that began last and its value, or None if no pass is running."""
        return self._open[-1] if self._open else None

    def push(self, info: PassInfo, value: T) -> None:
        """Pushes the value of a pass that begins."""
        self._open.append((info, value))

    def fill(self, value: T) -> None:
        """Sets the value of every running pass."""
        self._open = [(info, value) for info, _ in self._open]

    def pop(self, info: PassInfo) -> T:
        """Pops and returns the value of a pass that ends; raises `KeyError` for a pass that did not begin."""
        while self._open:
            known, value = self._open.pop()
            if known == info:
                return value
        raise KeyError(info.name)

    def clear(self) -> None:
        """Removes all passes."""
        self._open.clear()
