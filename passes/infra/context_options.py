"""Options that a context sets on passes, from its config and its level, if the caller left them at their defaults."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from xdsl.passes import ModulePass

from xrelay.passes.catalogue.relay_names import canonical
from xrelay.passes.infra.config import option_keys
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.xrelay_pass import FROM_LEVEL


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
