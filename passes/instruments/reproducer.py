"""Crash reproducers: files with the input program of a failing pass, the pass, and its settings.

    // xrelay-reproducer: xrelay-opt --run-reproducer FILE
    // pipeline: relay-fuse-ops{max-depth=4}
    // opt-level: 2
    // pass-config: relay.FuseOps.link_params=true
    // disabled-pass: FoldConstant
    // flags: --check-numerics --numerics-seed 3

    builtin.module { … }

Weights whose bytes are in memory go into a `.safetensors` file next to it. `xrelay-opt --run-reproducer` runs the pass
again, with the same options, level, config and instruments. Anything that cannot be stored in a file is listed in the
header, and in a note.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay.structure.weights import save_side_file, weights_of
from xrelay.dialects.shared.attribute_names import WEIGHTS_FILE
from xrelay.errors import ParseError, PassError
from xrelay.passes.infra.config import VERIFY, ConfigValue, parse_configs
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument, PassStack
from xrelay.passes.infra.printing import print_module
from xrelay.passes.instruments.verify import Verify

MARK = "// xrelay-reproducer:"


class CrashReproducer(PassInstrument):
    """Writes `path` when a pass fails; `written` is whether it did.

    It must be the last of several instruments: for a failure raised by an instrument after it, the pass has already
    ended for this one. `flags` are the flags of `xrelay-opt` in the failing run that no context represents; `settled`
    is whether passes already have the options of the context, as those of `xrelay-opt` do.

    The input module of every pass is printed beforehand, which takes a little time, since a failing pass may have
    broken it. The header records whether the pass exists in Python only, in which case replaying refuses it, or has
    options that cannot be written as text, which replaying notes. Raises `PassError` if the file cannot be written.
    """

    def __init__(self, path: str | Path, flags: Sequence[str] = (), *, settled: bool = False):
        self.path, self._flags, self._settled = Path(path), flags, settled
        self._open = PassStack[tuple[str, ModuleOp]]()
        self.written = False

    def enter_pass_ctx(self) -> None:
        """Resets the instrument."""
        self._open.clear()
        self.written = False

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Stores the input of the pass."""
        self._open.push(info, (self._header(info) + print_module(mod) + "\n", mod))

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Drops the input of a pass that ended."""
        self._open.pop(info)

    def exit_pass_ctx(self) -> None:
        """Writes the input of the innermost pass that began and did not end."""
        innermost = self._open.innermost
        if innermost is None:
            return
        _, (text, mod) = innermost
        self._open.clear()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(self._with_weights(text, mod), encoding="utf-8")
        except OSError as error:
            raise PassError(f"cannot write the reproducer {self.path}: {error.strerror}") from error
        self.written = True

    def _header(self, info: PassInfo) -> str:
        context = PassContext.current()
        flags = [*self._flags, *(flag for instrument in context.instruments for flag in instrument.replay_flags)]
        lines = [
            f"{MARK} xrelay-opt --run-reproducer {self.path.name}",
            f"// pipeline: {info.spec or info.name}",
            f"// opt-level: {context.opt_level}",
            *(f"// pass-config: {key}={_text(value)}" for key, value in _config(context).items()),
            *(f"// disabled-pass: {name}" for name in sorted(context.disabled_pass)),
            *(f"// required-pass: {name}" for name in sorted(context.required_pass)),
            *([f"// flags: {shlex.join(flags)}"] if flags else []),
            *(["// settled: the options of the context are in the pipeline"] if self._settled else []),
            *([] if info.spec else ["// python-only: the pass is no pass of a package's xDSL universe"]),
            *(f"// python-value: option {name!r}" for name in info.unserializable),
            *(f"// python-value: {what}" for what in _unserializable(context.instruments)),
        ]
        return "".join(f"{line}\n" for line in lines)

    def _with_weights(self, text: str, mod: ModuleOp) -> str:
        """Returns the text, with a reference to a new side file if the bytes of all weights are in memory."""
        weights = weights_of(mod)
        if not weights or not all(weight.is_resolved for weight in weights) or WEIGHTS_FILE in mod.attributes:
            return text
        side_file = self.path.with_suffix(".safetensors")
        save_side_file(mod.clone(), side_file)
        head, opening, body = text.partition("builtin.module {")
        return f'{head}builtin.module attributes {{{WEIGHTS_FILE} = "{side_file.name}"}} {{{body}' if opening else text


@dataclass(frozen=True)
class Reproducer:
    """The header of a reproducer."""

    pipeline: str
    opt_level: int
    config: dict[str, ConfigValue]
    disabled: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """Further flags of `xrelay-opt` in the failing run."""
    settled: bool = False
    """Whether the pipeline contains all options of the pass, independently of the level."""
    python_only: bool = False
    """Whether the pass cannot be created from its name."""
    python_values: tuple[str, ...] = ()
    """The pass options and instruments that the file does not contain."""


def read_reproducer(text: str, name: str) -> Reproducer:
    """Returns the header of the reproducer `text`, the file `name`; raises `ParseError` if it is absent or damaged."""
    header: dict[str, list[str]] = {}
    for line in text.splitlines():
        if not line.startswith("// "):
            break
        key, _, value = line.removeprefix("// ").partition(": ")
        header.setdefault(key, []).append(value)
    if not text.startswith(MARK) or "pipeline" not in header:
        raise ParseError("this is no reproducer", location=name, help=f"the file must begin with {MARK!r}")
    level = header.get("opt-level", ["2"])[0]
    if not level.isdecimal():
        raise ParseError(f"the reproducer's opt-level is {level!r}, must be a number", location=name)
    return Reproducer(
        header["pipeline"][0],
        int(level),
        parse_configs(header.get("pass-config", [])),
        tuple(header.get("disabled-pass", ())),
        tuple(header.get("required-pass", ())),
        _flags(header.get("flags", ()), name),
        "settled" in header,
        "python-only" in header,
        tuple(header.get("python-value", ())),
    )


def _flags(lines: Iterable[str], name: str) -> tuple[str, ...]:
    try:
        return tuple(flag for line in lines for flag in shlex.split(line))
    except ValueError as error:
        raise ParseError(f"the reproducer's flags cannot be read: {error}", location=name) from error


def _config(context: PassContext) -> dict[str, ConfigValue]:
    """Returns the config of a replay, which verifies if the run did, also if only an instrument did."""
    config = dict(context.config)
    if any(isinstance(instrument, Verify) for instrument in context.instruments):
        config.pop(VERIFY, None)
    return config


def _unserializable(instruments: Iterable[PassInstrument]) -> list[str]:
    """Returns the users' instruments, and the arguments of other instruments, that a replay lacks."""
    found: list[str] = []
    for instrument in instruments:
        if type(instrument).__module__.partition(".")[0] != "xrelay":
            found.append(f"instrument {instrument.name!r}")
        found += (f"{name!r} of {instrument.name}" for name in instrument.unserializable)
    return found


def _text(value: ConfigValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
