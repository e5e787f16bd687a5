"""`--list-passes`, `--help-pass`, `--list-configs`, `--show-dialects`: lists from docstrings and tables."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping

from xdsl.context import Context
from xdsl.passes import ModulePass, PassOptionInfo, get_pass_option_infos

from xrelay.dialects import ALL_DIALECTS
from xrelay.errors import PassError
from xrelay.lowering.pipelines import all_passes, compile_stages
from xrelay.lowering.registry import ALL_PASSES
from xrelay.passes.catalogue.extensions import level_of_pass, registered_passes
from xrelay.passes.catalogue.relay_names import RELAY_PASSES, option_text, relay_pass
from xrelay.passes.infra.config import config_keys
from xrelay.passes.infra.pipeline_text import PassTable, unknown_name
from xrelay.passes.infra.source import one_line
from xrelay.passes.infra.xrelay_pass import is_per_function, numerics_of


def named_pipelines() -> Mapping[str, str]:
    """Maps names to passes: the stages of the compiler, `stage-typed` to `stage-llvm`, and `compile`, all of them."""
    stages = compile_stages()
    named = {f"stage-{stage.name}": ",".join(stage.passes) for stage in stages}
    return {**named, "compile": ",".join(all_passes(stages))}


def print_catalogue(args: Namespace, passes: PassTable, ctx: Context) -> bool:
    """Prints the catalogue that a flag requests; returns whether there is one."""
    if args.help_pass is not None:
        sys.stdout.write(pass_help(args.help_pass, passes))
    elif args.list_passes:
        sys.stdout.write(list_passes(passes))
    elif args.list_configs:
        sys.stdout.write(list_configs())
    elif args.show_dialects:
        sys.stdout.write(list_dialects(ctx))
    else:
        return False
    return True


def list_passes(passes: PassTable) -> str:
    """Returns the project's passes with their summaries, its pipelines, and the names of xDSL's passes."""
    width = max((len(name) for name in ALL_PASSES), default=0)
    own = [f"  {name:{width}}  {_pass_summary(name, passes)}" for name in ALL_PASSES]
    pipelines = [f"  {name} = {text}" for name, text in named_pipelines().items()]
    added = registered_passes()
    others = [f"  {name}" for name in passes if name not in ALL_PASSES and name not in added]
    lines = ["xrelay's passes:", *own, "pipelines:", *pipelines, "xDSL's passes:", *others]
    if added:
        lines += ["passes of other packages:", *(f"  {name}  {_pass_summary(name, passes)}" for name in added)]
    return "\n".join(lines) + "\n"


def pass_help(name: str, passes: PassTable) -> str:
    """Returns the documentation of a pass and its options, or the passes of a pipeline.

    Raises `PassError` for an unknown name.
    """
    row = relay_pass(name)
    name = name if row is None else row.pass_name
    if name not in passes:
        pipelines = named_pipelines()
        if name in pipelines:
            return f"{name} = {pipelines[name]}\n"
        known = [*passes, *pipelines, *(row.name for row in RELAY_PASSES)]
        raise unknown_name("pass", name, known, "xrelay-opt --list-passes lists all")
    try:
        found = passes[name]()
    except ImportError as error:
        raise PassError(f"[{name}] cannot be loaded: {one_line(str(error))}") from error
    return pass_documentation(name, found)


def list_configs() -> str:
    """Returns the keys of `--pass-config` with their types and descriptions."""
    keys = config_keys()
    width = max(map(len, keys), default=0)
    return "".join(f"  {key:{width}}  {known.type.__name__:5}  {known.help}\n" for key, known in keys.items())


def list_dialects(ctx: Context) -> str:
    """Returns the project's dialects with their numbers of ops, and the names of xDSL's dialects."""
    own: list[str] = []
    for name in ALL_DIALECTS:
        dialect = ctx.get_dialect(name)
        own.append(
            f"  {name}: {len(list(dialect.operations))} ops, {len(list(dialect.attributes))} attributes and types"
        )
    others = [f"  {name}" for name in ctx.registered_dialect_names if name not in ALL_DIALECTS]
    return "\n".join(["xrelay's dialects:", *own, "xDSL's dialects:", *others]) + "\n"


def _pass_summary(name: str, passes: PassTable) -> str:
    """Returns the summary of a pass; for a pass that cannot be imported, the reason."""
    try:
        return summary(passes[name]())
    except ImportError as error:
        return f"(cannot be loaded: {error})"


_POINTER = re.compile(r";? \(?see the module's docstring\)?")
"""The reference in a pass's docstring to that of its module."""
_QUOTE = "'"
"""The quotes around types that are annotated as text."""
_EMPTY = '""'
"""The default of an option that is an empty text."""

UPSTREAM: dict[str, str] = {
    "cse": "Replaces ops that compute the same value from the same operands with the first of them.",
    "dce": "Erases unused ops without side effects, and unreachable blocks.",
    "reconcile-unrealized-casts": "Erases chains of unrealized_conversion_cast that lead back to the first type.",
    "lower-affine": "Lowers the ops of the affine dialect to arith, memref and scf.",
}
"""Descriptions of undocumented xDSL passes that programs of this project need."""


def pass_documentation(name: str, found: type[ModulePass]) -> str:
    """Returns the documentation of the pass `found`, which the tables call `name`."""
    options = [f"  {signature}{text and f'  {text}'}" for signature, text in options_of(found)]
    facts = [f"{title}: {text}" for title, text in facts_of(name, found)]
    described = description_of(name, found)
    example = [] if "-p '" in described else [f"Example: xrelay-opt FILE -p '{_example(name, found)}'"]
    lines = [name, "", described, "", *example, *facts]
    return "\n".join([*lines, "", "Options:" if options else "No options.", *options]) + "\n"


def summary(found: type[ModulePass]) -> str:
    """Returns the first paragraph of a pass's own documentation on one line."""
    first = " ".join(_own_docstring(found).split("\n\n")[0].split())
    return _POINTER.sub("", first)


def description_of(name: str, found: type[ModulePass]) -> str:
    """Returns the documentation of a pass: its docstring, its module's docstring, or both."""
    own, module = _own_docstring(found), inspect.getdoc(inspect.getmodule(found))
    has_details = module is not None and "\n\n" in module and "\n\n" not in own
    if own and module and (_POINTER.search(own) or has_details):
        first, _, details = module.partition("\n\n")
        return f"{_POINTER.sub('', own)}\n\n{details if first.startswith(f'`{name}`') else module}"
    described = own or UPSTREAM.get(name) or module
    where = f"It is the class {found.__name__} of {found.__module__}."
    return described if described else f"It has no documentation. {where}"


def _own_docstring(found: type[ModulePass]) -> str:
    """Returns the class's own docstring, neither inherited nor the signature that `dataclass` generates."""
    written = found.__dict__.get("__doc__")
    if not isinstance(written, str) or written.startswith(f"{found.__name__}("):
        return ""
    return inspect.cleandoc(written)


def _example(name: str, found: type[ModulePass]) -> str:
    """Returns the pass in the syntax of `-p`, with every required option."""
    infos = get_pass_option_infos(found)
    needed = [f"{_option_name(info)}={_sample(info)}" for info in infos if info.default_value is None]
    return f"{name}{{{' '.join(needed)}}}" if needed else name


def _sample(info: PassOptionInfo) -> str:
    """Returns a sample value of the type of an option."""
    known = {"int": "4", "float": "0.5", "bool": "true", "tuple[int, ...]": "4,4"}
    return known.get(info.expected_type.strip(_QUOTE), info.name.upper())


def facts_of(name: str, found: type[ModulePass]) -> Iterator[tuple[str, str]]:
    """Yields the facts about the pass in its class and in the pass tables."""
    for row in RELAY_PASSES:
        if row.pass_name == name:
            required = f", after {', '.join(row.required)}" if row.required else ""
            fixed = "".join(f", with {option}={option_text(value)}" for option, value in row.fixed.items())
            yield "Relay's name", f"{row.name}, level {row.opt_level}{required}{fixed}"
    added = registered_passes().get(name)
    if added is not None:
        yield "Level", str(level_of_pass(name))
    stages = [stage.name for stage in compile_stages() if name in (spec.partition("{")[0] for spec in stage.passes)]
    if stages:
        yield "The compiler runs it in", ", ".join(f"stage-{stage}" for stage in stages)
    yield "Runs on", "each function in func.func(…), or the module" if is_per_function(found) else "the module"
    numerics = numerics_of(found)
    if numerics.description:
        yield "Results", numerics.description


def options_of(found: type[ModulePass]) -> Iterator[tuple[str, str]]:
    """Yields for each option of a pass its spelling with type and default, and its help."""
    helps: dict[str, str] = {field.name: field.metadata.get("help", "") for field in dataclasses.fields(found)}
    for info in get_pass_option_infos(found):
        default = "" if info.default_value is None else f" = {info.default_value or _EMPTY}"
        needed = "" if info.default_value is not None else "  (needed)"
        yield f"{_option_name(info)}: {info.expected_type.strip(_QUOTE)}{default}", f"{helps[info.name]}{needed}"


def _option_name(info: PassOptionInfo) -> str:
    return info.name.replace("_", "-")
