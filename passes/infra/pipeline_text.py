"""Parses pipelines: `relay-infer-type,func.func(cse,relay-fuse-ops{max-depth=4})`.

A text lists passes with their options, and named pipelines, which expand to the passes of their text. As in `mlir-opt`,
`anchor(…)` specifies the ops that passes run on: `builtin.module` is the module, and may only be outermost; `func.func`
is every function of the module that has a body, each separately (`run_on_functions`). Only passes that process one
function at a time may be in it; a module pass is refused.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import get_args, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, ParameterListType, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.utils.hints import isa

from xrelay.errors import PassError, did_you_mean, one_line
from xrelay.passes.infra.pass_info import PassArgumentError, PassTypeError
from xrelay.passes.infra.xrelay_pass import is_per_function

PassTable = Mapping[str, Callable[[], type[ModulePass]]]
"""Pass name → thunk that imports its class."""
Pipelines = Callable[[], Mapping[str, str]]
"""Returns the named pipelines: name → text. Called only for a name that is not a pass."""

MODULE, FUNCTION = "builtin.module", "func.func"
"""The anchors."""


@dataclass(frozen=True)
class PipelineEntry:
    """A pass of a pipeline, the named pipeline that it comes from, and the number of the `func.func(…)` around it."""

    current: ModulePass
    group: str = ""
    anchor: int = 0
    """0 for a pass that runs on the module."""


def parse_passes(spec: str, available: PassTable) -> list[ModulePass]:
    """Returns the passes that a text without `func.func(…)` names, with their options.

    Raises `PassError` for malformed text, an unknown name (with the closest known one) and invalid options.
    """
    entries = parse_entries(spec, available)
    if any(entry.anchor for entry in entries):
        raise PassError(f"passes of functions cannot be used here: {spec!r}", help=f"leave out {FUNCTION}(…)")
    return [entry.current for entry in entries]


def parse_entries(spec: str, available: PassTable, pipelines: Pipelines = dict) -> list[PipelineEntry]:
    """Returns the entries that `spec` names; raises as `parse_passes`, and for a module pass in `func.func(…)`."""
    found: list[PipelineEntry] = []
    anchor, anchors = 0, 0
    for text, parenthesis in _pieces(_without_module(spec)):
        listed, _, name = text.rpartition(",") if parenthesis == "(" else (text, "", "")
        passes = listed.strip().strip(",").strip()
        entries = _flat(passes, spec, available, pipelines, anchor) if passes else []
        if anchor:
            _refuse_module_passes(entries)
        found += entries
        if parenthesis == "(":
            _check_anchor(name.strip(), spec, inside=anchor > 0)
            anchor = anchors = anchors + 1
        elif parenthesis == ")":
            if not anchor:
                raise _malformed(spec, "it has a ')' too many")
            anchor = 0
    if anchor:
        raise _malformed(spec, "it lacks a ')'")
    return found


def unknown_name(kind: str, name: str, known: Sequence[str], otherwise: str) -> PassError:
    """Returns the error for an unknown name: the closest known one as help, or `otherwise`."""
    return PassError(f"no {kind} is called {name!r}", help=did_you_mean(name, known, otherwise))


def _without_module(spec: str) -> str:
    """Returns the text inside `builtin.module(…)` if that encloses the whole text."""
    text = spec.strip()
    if not text.startswith(f"{MODULE}("):
        return text
    if not text.endswith(")"):
        raise _malformed(spec, "it lacks a ')'")
    return text.removeprefix(f"{MODULE}(").removesuffix(")")


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yields the pieces of a text between parentheses outside of options and quoted text, each with the next one."""
    start, braces, quoted = 0, 0, False
    for position, char in enumerate(text):
        if char == '"' and text[position - 1 : position] != "\\":
            quoted = not quoted
        elif not quoted and char in "{}":
            braces += 1 if char == "{" else -1
        elif not quoted and not braces and char in "()":
            yield text[start:position], char
            start = position + 1
    yield text[start:], ""


def _check_anchor(anchor: str, spec: str, *, inside: bool) -> None:
    if anchor == MODULE:
        raise PassError(f"malformed pass pipeline {spec!r}: {MODULE}(…) may only enclose the whole pipeline")
    if anchor != FUNCTION:
        hint = did_you_mean(anchor, [FUNCTION, MODULE], f"anchors are {MODULE} and {FUNCTION}")
        raise PassError(f"no anchor of passes is called {anchor!r}", help=hint)
    if inside:
        raise PassError(
            f"malformed pass pipeline {spec!r}: a function contains no functions", help=f"nest no {FUNCTION}(…)"
        )


def _refuse_module_passes(entries: Sequence[PipelineEntry]) -> None:
    for entry in entries:
        if not is_per_function(type(entry.current)):
            name = entry.current.name
            raise PassError(f"[{name}] the pass runs on a module, not in {FUNCTION}(…)", help=f"put {name} outside")


def _flat(
    spec: str, whole: str, available: PassTable, pipelines: Pipelines, anchor: int, group: str = ""
) -> list[PipelineEntry]:
    """Returns the passes of `spec`, which has no anchors; those of a named pipeline have its name as group."""
    try:
        items = _arguments(spec)
    except ArgSpecParseError as error:
        raise _malformed(whole, one_line(str(error).splitlines()[-1])) from None
    result: list[PipelineEntry] = []
    for number, item in enumerate(items):
        if item.name in available:
            result.append(PipelineEntry(_instantiate(spec, number, available), group, anchor))
            continue
        named: Mapping[str, str] = {} if group else pipelines()
        if item.name in named and item.parameters:
            raise PassArgumentError(f"the pipeline {item.name!r} takes no options", help="set them on its passes")
        if item.name not in named:
            raise unknown_name("pass", item.name, [*available, *named], "xrelay-opt --list-passes shows them all")
        result += _flat(named[item.name], whole, available, pipelines, anchor, item.name)
    return result


@lru_cache(maxsize=256)
def _arguments(spec: str) -> tuple[ArgSpec, ...]:
    """Returns the names in `spec` with their options as text; cached, since compilations use the same few pipelines."""
    text = _without_blanks(spec)
    refuse_repeated_options(text)
    return tuple(parse_pipeline(text))


def _without_blanks(spec: str) -> str:
    """Returns `spec` without the blanks around separators, which xDSL refuses; quoted text is unchanged."""
    return _SEPARATOR.sub(lambda found: found["separator"] or found[0], spec.strip())


def _instantiate(spec: str, number: int, available: PassTable) -> ModulePass:
    """Returns the pass for an item of `spec`, with its options."""
    item = _arguments(spec)[number]
    try:
        pass_type = available[item.name]()
    except ImportError as error:
        raise PassError(f"[{item.name}] cannot be loaded: {one_line(str(error))}") from error
    return _cached_pass(spec, number, pass_type) if is_value(pass_type) else make_pass(item, pass_type)


@lru_cache(maxsize=1024)
def _cached_pass(spec: str, number: int, pass_type: type[ModulePass]) -> ModulePass:
    """Returns the pass for an item of `spec`; it is immutable, so all compilations share it."""
    return make_pass(_arguments(spec)[number], pass_type)


def _malformed(spec: str, why: str) -> PassError:
    return PassError(f"malformed pass pipeline {spec!r}: {why}", help="write pass-a,pass-b{option=1}")


_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_SEPARATOR = re.compile(_QUOTED.pattern + r"|\s*(?P<separator>[,={])\s*|\s+(?=})")
_BRACES = re.compile(r"([\w-]+)\{([^{}]*)\}")
_OPTION = re.compile(r"(?:^|\s)([\w-]+)")


def refuse_repeated_options(text: str) -> None:
    """Raises `PassArgumentError` if a pipeline's text repeats an option of a pass: parsing would keep the last one."""
    for name, options in _BRACES.findall(_QUOTED.sub('""', text)):
        seen: set[str] = set()
        for option in _OPTION.findall(options):
            known = option.replace("_", "-")
            if known in seen:
                raise PassArgumentError(f"[{name}] option {known!r} is given twice", help="set it once")
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
            raise PassArgumentError(f"[{shown}] needs the option {_option_name(key)!r}", help=_help(shown))
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
    options = [_option_name(one) for one in known]
    otherwise = f"options: {', '.join(options)}" if options else f"{name} takes no options"
    return did_you_mean(_option_name(key), options, otherwise)


def _help(name: str) -> str:
    return f"xrelay-opt --help-pass {name} lists the options"


def _option_name(key: str) -> str:
    return key.replace("_", "-")


def _type_text(hint: type[object]) -> str:
    return getattr(hint, "__name__", str(hint)) if not get_args(hint) else str(hint)


def _value_text(value: ParameterListType) -> str:
    return ",".join(map(repr, value)) if value else "no value"
