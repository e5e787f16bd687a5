"""Options that a context sets on passes, from its config and its level, if the caller left them at their defaults."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from xdsl.passes import ModulePass

from xrelay.passes.catalogue.relay_names import RelayPass, relay_pass
from xrelay.passes.infra.pass_context import PassContext


def configured(current: ModulePass, context: PassContext, *, use_level: bool) -> ModulePass:
    """Returns the pass with default options replaced by those of the context.

    `use_level` is whether the context's opt_level applies, for example to the level of fusion.
    """
    row = relay_pass(current.name)
    if row is None or not (context.config or use_level):
        return current
    if not use_level:
        row = dataclasses.replace(row, level_option=None)
    fields = dataclasses.fields(current)
    given = {
        field.name: getattr(current, field.name) for field in fields if getattr(current, field.name) != field.default
    }
    return dataclasses.replace(current, **configured_options(row, given, context))


def configured_options(row: RelayPass, given: Mapping[str, object], ctx: PassContext) -> dict[str, object]:
    """Returns the options of a pass in `ctx`: `given`, then those of the context's config and level."""
    options = dict(given)
    for key, option in row.config.items():
        if option not in options and key in ctx.config:
            options[option] = ctx.config[key]
    level = options.get(row.level_option, -1) if row.level_option is not None else 0
    if row.level_option is not None and isinstance(level, int) and level < 0:
        options[row.level_option] = ctx.opt_level
    return options
