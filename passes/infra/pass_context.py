"""`PassContext` holds the level, the pass names, the config and the instruments with which passes run."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self, cast

from xdsl.passes import ModulePass

from xrelay.errors import PassError
from xrelay.passes.catalogue.relay_names import canonical
from xrelay.passes.infra.config import ConfigValue, check_config, config_keys, known_key, option_keys
from xrelay.passes.infra.entered_contexts import entered_contexts, innermost_context, set_entered
from xrelay.passes.infra.pass_info import PassInfo, PassTypeError, check_known, check_level
from xrelay.passes.infra.pass_instrument import (
    HOOKS,
    PassInstrument,
    TraceFunction,
    TraceInstrument,
    enter_instruments,
    exit_instruments,
)
from xrelay.passes.infra.xrelay_pass import FROM_LEVEL

DEFAULT_OPT_LEVEL = 2


class _Thread(threading.local):
    """The state of one thread: its default context, created on first use."""

    def __init__(self) -> None:
        self.default: PassContext | None = None


_THREAD = _Thread()


@dataclass(frozen=True)
class PassDecision:
    """Whether a context runs a pass, and why."""

    runs: bool
    reason: str


class PassContext:
    """The level, the pass names, the config and the instruments with which passes run inside of a `with` statement.

        with PassContext(opt_level=3, disabled_pass=["FoldConstant"]):
            module = sequential(module)

    `opt_level` is the highest level of passes that run. Those in `required_pass` run at every level, those in
    `disabled_pass` at none. `config` maps keys of `list_configs` to values. `instruments` observe passes; `trace` is
    the older form of an instrument, called `trace(module, info, is_before)`.

    Contexts are per thread, and per asyncio task within a thread: a new thread starts with the default context, a new
    task with the contexts of its creator, and contexts entered in either are not visible elsewhere. Only a `Sequential`
    uses the context to select passes; a pass that is called directly always runs.

    `with` enters the instruments, and leaving it exits them. If entering or leaving raises, the context loses its
    instruments, and a context that was being entered is not entered. If a hook of a pass or the pass itself raises, the
    contexts around it exit their instruments as usual. `instrument` has the order of the hooks around a pass.

    Raises subclasses of `PassError` for a negative level, for unknown pass names, for unknown config keys and values of
    the wrong type, and for instruments without hooks.
    """

    opt_level: int
    required_pass: frozenset[str]
    disabled_pass: frozenset[str]
    config: dict[str, ConfigValue]
    instruments: list[PassInstrument]

    def __init__(
        self,
        opt_level: int = DEFAULT_OPT_LEVEL,
        required_pass: Sequence[str] | None = None,
        disabled_pass: Sequence[str] | None = None,
        instruments: Sequence[PassInstrument | object] | None = None,
        config: object = None,
        trace: TraceFunction | None = None,
    ):
        self.opt_level = check_level(opt_level, "PassContext")
        self.required_pass = check_known(required_pass, "required_pass")
        self.disabled_pass = check_known(disabled_pass, "disabled_pass")
        self.config = check_config(config)
        self.instruments = _checked_instruments(instruments)
        if trace is not None:
            self.instruments.append(TraceInstrument(trace))

    @staticmethod
    def current() -> PassContext:
        """Returns the innermost context that this thread has entered, else the thread's default one."""
        entered = PassContext.entered()
        if entered is not None:
            return entered
        if _THREAD.default is None:
            _THREAD.default = PassContext()
        return _THREAD.default

    @staticmethod
    def entered() -> PassContext | None:
        """Returns the innermost context that this thread has entered, or None."""
        return cast("PassContext | None", innermost_context())

    @staticmethod
    def list_configs() -> dict[str, dict[str, str]]:
        """Returns every config key with the name of its type and its effect."""
        return {key: {"type": known.type.__name__, "help": known.help} for key, known in config_keys().items()}

    def get_config(self, key: str, default: ConfigValue | None = None) -> ConfigValue | None:
        """Returns the value of a config key here; raises `UnknownConfigError` for an unregistered key."""
        return self.config.get(known_key(key).key, default)

    def decide(self, info: PassInfo) -> PassDecision:
        """Whether a `Sequential` runs the pass here, by `disabled_pass`, else by `required_pass`, else by the level."""
        name = canonical(info.name)
        if name in self.disabled_pass:
            return PassDecision(False, "disabled_pass names it")
        if name in self.required_pass:
            return PassDecision(True, "required_pass names it")
        if self.opt_level >= info.opt_level:
            return PassDecision(True, f"opt_level {self.opt_level} >= {info.opt_level}")
        return PassDecision(False, f"it needs opt_level {info.opt_level}, this is {self.opt_level}")

    def pass_enabled(self, info: PassInfo) -> bool:
        """Whether a `Sequential` runs the pass here."""
        return self.decide(info).runs

    def requires(self, info: PassInfo) -> bool:
        """Whether `required_pass` contains the pass, so that no instrument may prevent it from running."""
        return canonical(info.name) in self.required_pass

    def override_instruments(self, instruments: Sequence[PassInstrument | object] | None) -> None:
        """Exits the instruments of this context, replaces them with `instruments`, and enters those."""
        checked = _checked_instruments(instruments)
        self._notify(exit_instruments)
        self.instruments = checked
        self._notify(enter_instruments)

    def __enter__(self) -> Self:
        self._notify(enter_instruments)
        set_entered((*entered_contexts(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        entered = entered_contexts()
        if not entered or entered[-1] is not self:
            raise PassError("a PassContext is left that is not the innermost one of its thread", help="use with")
        set_entered(entered[:-1])
        self._notify(exit_instruments)

    def _notify(self, notify: Callable[[Sequence[PassInstrument]], None]) -> None:
        """Enters or exits the instruments; drops them if one raises."""
        try:
            notify(self.instruments)
        except BaseException:
            self.instruments = []
            raise

    def __repr__(self) -> str:
        return (
            f"PassContext(opt_level={self.opt_level}, required_pass={sorted(self.required_pass)}, "
            f"disabled_pass={sorted(self.disabled_pass)}, instruments={[i.name for i in self.instruments]}, "
            f"config={self.config})"
        )


def _checked_instruments(instruments: object) -> list[PassInstrument]:
    if instruments is None:
        return []
    if not isinstance(instruments, list | tuple):
        raise PassTypeError(f"instruments must be a list of instruments, found {type(instruments).__name__}")
    found: list[PassInstrument] = []
    for instrument in cast("Sequence[object]", instruments):
        if not isinstance(instrument, PassInstrument):
            raise PassTypeError(
                f"{type(instrument).__name__} is no instrument",
                help=f"decorate a class that has one of {', '.join(HOOKS)} with @pass_instrument, and pass an instance",
            )
        found.append(instrument)
    return found


def configured(current: ModulePass, context: PassContext, *, use_level: bool) -> ModulePass:
    """Returns the pass with default options replaced by those of the context.

    `use_level` is whether the context's opt_level applies, for example to the level of fusion.
    """
    if not (context.config or use_level):
        return current
    fields = dataclasses.fields(current)
    given = {
        field.name: getattr(current, field.name) for field in fields if getattr(current, field.name) != field.default
    }
    options = configured_options(type(current), given, context, use_level=use_level)
    return current if options == given else dataclasses.replace(current, **options)


def configured_options(
    pass_type: type[ModulePass], given: Mapping[str, object], context: PassContext, *, use_level: bool = True
) -> dict[str, object]:
    """Returns the options of a pass in `context`: `given`, then those of the context's config and level."""
    options = dict(given)
    for key, option in option_keys(canonical(pass_type.name)).items():
        if option not in options and key in context.config:
            options[option] = context.config[key]
    for field in dataclasses.fields(pass_type) if use_level else ():
        level = options.get(field.name, field.default)
        if FROM_LEVEL in field.metadata and isinstance(level, int) and level < 0:
            options[field.name] = context.opt_level
    return options
