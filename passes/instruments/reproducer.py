"""Crash reproducers: when a pass fails, a file with the program it was given and the pass in its header.

    // xrelay-reproducer: xrelay-opt --run-reproducer FILE
    // pipeline: relay-fuse-ops{max-depth=4}
    // opt-level: 2
    builtin.module { … }

Weights whose bytes are here go into a `.safetensors` file beside it. `xrelay-opt --run-reproducer` runs the pass again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.attribute_names import WEIGHTS_FILE
from xrelay.errors import ParseError, PassError
from xrelay.passes.infra.config import ConfigValue, parse_configs
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.printing import print_module
from xrelay.passes.instruments.pass_stack import PassStack

MARK = "// xrelay-reproducer:"


class CrashReproducer(PassInstrument):
    """Writes `path` when a pass fails; `written` says whether it did.

    Of several instruments it stands last: one behind it that finds fault with a pass does so after the pass is over for
    this one. `flags` are what replaying takes beside the file, such as ` --check-numerics`.

    Every pass's module is printed beforehand, which takes a little time, since a failing pass may have broken it. The
    header says of a pass that it exists in Python only, or has options that no text can hold: replaying refuses the
    one, and notes the other. Raises `PassError` where the file cannot be written.
    """

    def __init__(self, path: str | Path, flags: str = ""):
        self.path, self._flags = Path(path), flags
        self._open = PassStack[tuple[str, ModuleOp]]()
        self.written = False

    def enter_pass_ctx(self) -> None:
        """Begin anew."""
        self._open.clear()
        self.written = False

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Remember what the pass is given."""
        self._open.push(info, (self._header(info) + print_module(mod) + "\n", mod))

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """The pass is over."""
        self._open.pop(info)

    def exit_pass_ctx(self) -> None:
        """Write the innermost pass that began and did not end."""
        innermost = self._open.innermost
        if innermost is None:
            return
        text, mod = innermost
        self._open.clear()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(self._with_weights(text, mod), encoding="utf-8")
        except OSError as error:
            raise PassError(f"cannot write the reproducer {self.path}: {error.strerror}") from error
        self.written = True

    def _header(self, info: PassInfo) -> str:
        context = PassContext.current()
        config = "".join(f"// pass-config: {key}={_text(value)}\n" for key, value in context.config.items())
        lost = "" if info.spec else "// python-only: the pass is no pass of a package's xDSL universe\n"
        lost += "".join(f"// python-value: {name}\n" for name in info.unwritten)
        return (
            f"{MARK} xrelay-opt --run-reproducer {self.path.name}{self._flags}\n// pipeline: {info.spec or info.name}\n"
            f"// opt-level: {context.opt_level}\n{config}{lost}"
        )

    def _with_weights(self, text: str, mod: ModuleOp) -> str:
        """The text, naming a side file that is written with the weights whose bytes are here."""
        from xrelay.dialects.relay.structure.weights import save_side_file, weights_of

        weights = weights_of(mod)
        if not weights or not all(weight.is_resolved for weight in weights) or WEIGHTS_FILE in mod.attributes:
            return text
        side_file = self.path.with_suffix(".safetensors")
        save_side_file(mod.clone(), side_file)
        head, opening, body = text.partition("builtin.module {")
        return f'{head}builtin.module attributes {{{WEIGHTS_FILE} = "{side_file.name}"}} {{{body}' if opening else text


@dataclass(frozen=True)
class Reproducer:
    """What the header of a reproducer says."""

    pipeline: str
    opt_level: int
    config: dict[str, ConfigValue]
    python_only: bool = False
    """Whether the pass cannot be made from its name."""
    python_values: tuple[str, ...] = ()
    """Its options that the file does not hold."""


def read_reproducer(text: str, name: str) -> Reproducer:
    """The header of the reproducer `text`, the file `name`; `ParseError` where it has none, or one that is damaged."""
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
    config = parse_configs(header.get("pass-config", []))
    values = tuple(header.get("python-value", ()))
    return Reproducer(header["pipeline"][0], int(level), config, "python-only" in header, values)


def _text(value: ConfigValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
