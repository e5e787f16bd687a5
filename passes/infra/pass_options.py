"""Pass options as text: creates a pass from `relay-fuse-ops{max-depth=4}`, with errors that name the option."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from typing import get_args, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, ParameterListType
from xdsl.utils.hints import isa

from xrelay.errors import did_you_mean, one_line
from xrelay.passes.infra.pass_info import PassArgumentError, PassTypeError

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACES = re.compile(r"([\w-]+)\{([^{}]*)\}")
_OPTION = re.compile(r"(?:^|\s)([\w-]+)")


def refuse_repeated_options(text: str) -> None:
    """Raises `PassArgumentError` if a pipeline's text repeats an option of a pass: parsing would keep the last one."""
    for name, options in _BRACES.findall(_QUOTED.sub('""', text)):
        seen: set[str] = set()
        for option in _OPTION.findall(options):
            known = option.replace("_", "-")
            if known in seen:
                raise PassArgumentError(f"[{name}] option {known!r} is given twice", help="give it once")
            seen.add(known)


def make_pass(spec: ArgSpec, pass_type: type[ModulePass], name: str | None = None) -> ModulePass:
    """Returns the pass with the options of `spec`; errors use `name`, by default the name of the pass.

    Raises `PassArgumentError` for an unknown option (with the closest one), a missing option, or a value that the pass
    refuses, and `PassTypeError` for a value of the wrong type.
    """
    shown = name if name is not None else spec.name
    fields = {field.name: field for field in dataclasses.fields(pass_type)}
    # Evaluating annotations is slow, and most passes of a pipeline have no options.
    hints = get_type_hints(pass_type) if spec.parameters else {}
    for option, value in spec.parameters.items():
        key = option.replace("-", "_")
        if key not in fields:
            raise PassArgumentError(f"[{shown}] has no option {option!r}", help=_neighbours(key, list(fields), shown))
        if not _fits(value, hints[key]):
            wanted = _type_text(hints[key])
            raise PassTypeError(f"[{shown}] option {option!r} must be {wanted}, found {_value_text(value)}")
    for key in sorted(pass_type.required_fields()):
        if key not in {option.replace("-", "_") for option in spec.parameters}:
            raise PassArgumentError(f"[{shown}] needs the option {_spelt(key)!r}", help=_help(shown))
    try:
        return pass_type.from_spec(spec) if spec.parameters else pass_type()
    except (ValueError, TypeError) as error:
        raise PassArgumentError(f"[{shown}] {one_line(str(error))}", help=_help(shown)) from error


@cache
def is_value(pass_type: type[ModulePass]) -> bool:
    """Whether instances of a class are immutable, and equal instances have equal options."""
    parameters = pass_type.__dict__.get("__dataclass_params__")
    frozen = getattr(parameters, "frozen", False) and getattr(parameters, "eq", False)
    return frozen and all(field.compare for field in dataclasses.fields(pass_type))


def _fits(value: ParameterListType, hint: type[object]) -> bool:
    """Whether xDSL converts `value` to a field of type `hint`; booleans are not accepted as numbers."""
    if len(value) == 1 and isa(value[0], hint):
        return not isinstance(value[0], bool) or isa(True, hint) != isa(2, hint)
    return isa(value, hint) or (not value and isa(None, hint))


def _neighbours(key: str, known: list[str], name: str) -> str:
    options = [_spelt(one) for one in known]
    otherwise = f"options: {', '.join(options)}" if options else f"{name} takes no options"
    return did_you_mean(_spelt(key), options, otherwise)


def _help(name: str) -> str:
    return f"xrelay-opt --help-pass {name} lists the options"


def _spelt(key: str) -> str:
    return key.replace("_", "-")


def _type_text(hint: type[object]) -> str:
    return getattr(hint, "__name__", str(hint)) if not get_args(hint) else str(hint)


def _value_text(value: ParameterListType) -> str:
    return ",".join(map(repr, value)) if value else "no value"
