"""`--list-passes`, `--help-pass`, `--list-configs`, `--show-dialects`: lists from docstrings and tables."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping

from xdsl.context import Context

from xrelay.dialects import ALL_DIALECTS
from xrelay.errors import PassError
from xrelay.lowering.pipelines import all_passes, compile_stages
from xrelay.lowering.registry import ALL_PASSES
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.relay_names import RELAY_PASSES, relay_pass
from xrelay.passes.infra.config import config_keys
from xrelay.passes.infra.pipeline_text import PassTable, unknown_name
from xrelay.passes.infra.source import one_line
from xrelay.tools.opt.pass_help import pass_documentation, summary


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
