"""Registration of other packages' passes in the pass tables and the compile pipeline.

    from xrelay.extend.passes import register_pass

    register_pass(AcmeDropScalesPass, at="after relay-fold-constant", opt_level=2)

A registered pass is a pass like any other. `xrelay.compile` and `xrelay compile` run it at its point, `xrelay-opt` and
`transform.create_pass` accept its name and options, `Sequential` respects its level, contexts disable and require it,
and instruments observe it. `xdsl-opt` finds it if it is registered before `xrelay.universe` is imported. A package that
registers a pass here does not also announce it to xDSL, which refuses duplicate names.

A pass is a frozen dataclass derived from `xdsl.passes.ModulePass`, with a `name` that begins with the package's prefix.
Its fields are its options, and all have defaults. `points()` lists the points of the pipeline.
"""

from __future__ import annotations

import dataclasses

from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes

from xrelay.arguments import MAX_OPT_LEVEL
from xrelay.errors import did_you_mean
from xrelay.lowering.pipelines import extension_points
from xrelay.lowering.registry import ALL_PASSES
from xrelay.passes.catalogue.extensions import RegisteredPass, add_registered, remove_registered
from xrelay.passes.catalogue.relay_names import ROWS
from xrelay.passes.infra.pass_info import PassArgumentError, PassTypeError, check_level, remember_names

__all__ = ["points", "register_pass", "unregister_pass"]


def points() -> list[str]:
    """Returns the points of the compile pipeline, in order.

    `before stage-fused` and `after stage-fused` enclose a stage, `before relay-fold-constant` and
    `after relay-fold-constant` a pass, and `after relay-fold-constant#2` follows its second run. A point exists at
    every optimisation level, even if its pass does not run there.
    """
    return extension_points()


def register_pass(
    pass_type: type[ModulePass],
    *,
    at: str | None = None,
    opt_level: int = 0,
    exact: bool = False,
    per_function: bool = False,
) -> type[ModulePass]:
    """Registers the pass under its `name` and returns it. It replaces a pass registered before with the same name.

    The compiler runs it at the point `at`, at `opt_level` and above; without `at`, it runs only when it is named.
    `exact` promises that results stay equal bit for bit, which `--check-numerics` verifies; other passes may round.
    `per_function` declares that it processes one function at a time, so that `func.func(…)` may contain it. A class
    derived from `XRelayPass` may declare both itself.

    Raises `PassTypeError` for an object that is not a pass class, and `PassArgumentError` for the name of a pass of
    xrelay or xDSL, an option without a default, an unknown point (with the closest one), or an invalid level.
    """
    name = _checked_name(pass_type)
    if at is not None and at not in points():
        hint = did_you_mean(at, points(), "xrelay.extend.passes.points() lists them")
        raise PassArgumentError(f"[{name}] the pipeline has no point {at!r}", help=hint)
    if check_level(opt_level, name) > MAX_OPT_LEVEL:
        raise PassArgumentError(f"[{name}] opt_level must be between 0 and {MAX_OPT_LEVEL}, found {opt_level}")

    def load() -> type[ModulePass]:
        return pass_type

    load.__module__ = pass_type.__module__  # the model cache looks up where a registered object is defined
    add_registered(RegisteredPass(name, load, opt_level, at, exact, per_function))
    remember_names([name])
    return pass_type


def unregister_pass(name: str) -> None:
    """Removes the pass called `name` from the pipeline and the tables, if it is registered."""
    remove_registered(name)


def _checked_name(pass_type: object) -> str:
    """Returns the name of a pass class. Raises an error if it cannot be registered."""
    if not isinstance(pass_type, type) or not issubclass(pass_type, ModulePass):
        raise PassTypeError(f"register_pass takes a class derived from ModulePass, found {pass_type!r}")
    name: object = getattr(pass_type, "name", None)
    if not isinstance(name, str) or not name:
        raise PassArgumentError(f"{pass_type.__name__} has no name", help='set one: name = "acme-drop-scales"')
    if name in ROWS or name in ALL_PASSES or name in get_all_passes():
        raise PassArgumentError(f"another pass has the name {name!r}", help="prefix it with the name of the package")
    missing = [field.name for field in dataclasses.fields(pass_type) if _has_no_default(field)]
    if missing:
        raise PassArgumentError(
            f"[{name}] the option {missing[0]!r} has no default", help="the pipeline passes no value"
        )
    return name


def _has_no_default(field: dataclasses.Field[object]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
