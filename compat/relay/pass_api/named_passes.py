"""Creates passes by name: wrappers that add Relay's names and levels to xDSL passes, and sequences of passes.

`create_pass("FoldConstant")`, `create_pass("relay-fuse-ops{max-depth=4}")` and `NamedPass(row, options)` return
callable passes. Options without a value from the caller come from the context: its level for `fuse_opt_level`, its
config for others. `Sequential` runs passes in order, if the context enables them. Options that cannot be written as
text, such as functions and mappings, have the names of the parameters of the function that takes them
(`RelayPass.values`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final, cast, get_type_hints

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass as XdslModulePass
from xdsl.transforms import get_all_passes
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.utils.hints import isa

from xrelay.errors import PassError, did_you_mean, one_line
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.registry import member_of, target_of
from xrelay.passes.catalogue.relay_names import RELAY_PASSES, RelayPass, relay_pass
from xrelay.passes.infra.pass_context import PassContext, PassDecision, configured_options
from xrelay.passes.infra.pass_info import (
    PassArgumentError,
    PassInfo,
    PassTypeError,
    check_level,
    check_names,
    remember_names,
)
from xrelay.passes.infra.pipeline import info_of, run_pipeline
from xrelay.passes.infra.pipeline_text import make_pass, refuse_repeated_options, unknown_name
from xrelay.passes.infra.source import full_context
from xrelay.passes.infra.xrelay_pass import is_per_function, numerics_of
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_upkeep import has_incomplete_types
from xrelay.relay.pass_api.passes import ModulePass, Pass, hide_skipped_functions, run_pass
from xrelay.target.target import CPU, Target, device_kind

PassFactory = Callable[[], Pass]

_USERS: dict[str, PassFactory] = {}
_OTHERS: Final[Mapping[str, Callable[[], type[XdslModulePass]]]] = {**get_all_passes(), **pass_thunks()}
"""The passes of xDSL and of lowering: name → thunk that imports the class."""
_IMPLEMENTATIONS: Final = {
    "AlterOpLayout": "xrelay.passes.layout.alter_op_layout:alter_layouts",
    "EliminateCommonSubexpr": "xrelay.relay.transform.expressions:eliminate_common_subexpressions_of",
    "MergeComposite": "xrelay.relay.dataflow_pattern.composite_tables:merge_composites_of",
}
"""Relay's name → the function that takes the module, the options and the values of `RelayPass.values`."""


def register_pass(name: str, factory: PassFactory) -> None:
    """Makes `create_pass` create the pass `name` by calling `factory`, so that other passes can require it.

    Names of the project's passes and of xDSL's take precedence.
    """
    _USERS[name] = factory
    remember_names([name])


def create_pass(text: str) -> Pass:
    """Returns the pass that `text` names, with options as in `FuseOps{max-depth=4}`, by either kind of name.

    Raises `PassError` for malformed text, an unknown name (with the closest one) and invalid options.
    """
    spec = _parse(text)
    if spec.name in SEQUENCES and not spec.parameters:
        return SEQUENCES[spec.name]()
    row = relay_pass(spec.name)
    if row is not None:
        # A pass created by the project's name has its own defaults; by Relay's name, it behaves as in Relay.
        row = dataclasses.replace(row, fixed={}) if spec.name == row.pass_name else row
        return NamedPass(row, _options_of(spec, pass_class(row.pass_name), row.name))
    added = registered_passes().get(spec.name)
    if added is not None:
        return XdslPass(make_pass(spec, added.load()))
    if spec.name in _OTHERS:
        return XdslPass(make_pass(spec, _OTHERS[spec.name]()))
    if spec.name in _USERS:
        if spec.parameters:
            message = f"[{spec.name}] takes no options as text, found {', '.join(spec.parameters)}"
            raise PassArgumentError(message, help="create it in Python")
        return _USERS[spec.name]()
    names = [row.name for row in RELAY_PASSES]
    known = [*names, *(row.pass_name for row in RELAY_PASSES), *_USERS, *registered_passes(), *_OTHERS]
    raise unknown_name("pass", spec.name, known, f"Relay's are {', '.join(names)}")


def pass_class(pass_name: str) -> type[XdslModulePass]:
    """Returns the class of a pass in `passes/`."""
    return member_of(target_of(pass_name))


class XdslPass(ModulePass):
    """A callable xDSL pass; contexts use its own name and level."""

    forgets: bool = True

    def __init__(self, wrapped: XdslModulePass):
        super().__init__(info_of(wrapped))
        self._wrapped = wrapped

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Applies the pass."""
        run_pipeline(mod, [self._wrapped], context=full_context())
        return mod


class NamedPass(ModulePass):
    """Wraps the xDSL pass of `row` under Relay's name; `options` are options of the pass, or values of the row.

    Raises `PassArgumentError` for an unknown option, `PassTypeError` for a value of the wrong type.
    """

    forgets: bool = True

    def __init__(self, row: RelayPass, options: Mapping[str, object]):
        pass_type = pass_class(row.pass_name)
        self._row, self._pass_type = row, pass_type
        hints = get_type_hints(pass_type)
        unserializable = tuple(name for name in options if name in row.values)
        self._options: dict[str, object] = {**row.fixed}
        for name in options.keys() - row.values.keys():
            self._options[name] = _option(row, name, options[name], hints.get(name))
        self._values = {row.values[name]: options[name] for name in unserializable}
        for name in unserializable:
            _require(row, name, options[name], *_VALUES[row.values[name]])
        _check_options(pass_type, row, self._options)
        # Type inference visits every op: its result needs no verification.
        self.checks_itself = row.name == "InferType"
        spec = str(pass_type(**self._options))
        numerics = numerics_of(pass_type)
        super().__init__(
            PassInfo(row.opt_level, row.name, row.required, spec=spec, unserializable=unserializable, numerics=numerics)
        )

    def configured(self, ctx: PassContext) -> XdslModulePass:
        """Returns the xDSL pass that runs in `ctx`."""
        return self._pass_type(**configured_options(self._pass_type, self._options, ctx))

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Applies the pass; first infers missing types, since Relay's modules are typed."""
        _ensure_types(mod, self._row)
        with hide_skipped_functions(mod) if is_per_function(self._pass_type) else nullcontext():
            self._apply(mod, ctx)
        return mod

    def _apply(self, mod: ModuleOp, ctx: PassContext) -> None:
        if self._values:
            options = configured_options(self._pass_type, self._options, ctx)
            member_of(_IMPLEMENTATIONS[self._row.name])(mod, **options, **self._values)
        else:
            run_pipeline(mod, [self.configured(ctx)], context=full_context())


def relay_options(row: RelayPass, arguments: tuple[object, ...], named: Mapping[str, object]) -> dict[str, object]:
    """Returns positional and named arguments, in Relay's convention, as options; drops arguments of value None.

    Raises `PassArgumentError` for too many arguments and for an option that is given twice.
    """
    if len(arguments) > len(row.positional):
        raise PassArgumentError(f"[{row.name}] takes {len(row.positional)} positional options, got {len(arguments)}")
    options = dict(zip(row.positional, arguments, strict=False))
    twice = options.keys() & named.keys()
    if twice:
        raise PassArgumentError(f"[{row.name}] option {min(twice)!r} is given twice")
    return {name: value for name, value in {**options, **named}.items() if value is not None}


def pass_maker(row: RelayPass) -> Callable[..., Pass]:
    """Returns a function that creates the pass of `row`, with its options as arguments."""

    def make(*arguments: object, **options: object) -> Pass:
        if row.name in SEQUENCES and not arguments and not options:
            return SEQUENCES[row.name]()
        return NamedPass(row, relay_options(row, arguments, options))

    make.__name__ = make.__qualname__ = row.name
    make.__doc__ = f"Creates the pass `{row.pass_name}`; the arguments are its options."
    return make


def _ensure_types(mod: ModuleOp, row: RelayPass) -> None:
    if row.name != "InferType" and has_incomplete_types([mod]):
        infer_types(mod)


def _option(row: RelayPass, name: str, value: object, type: object) -> object:
    """Returns an option's value as a pass stores it: a list becomes a tuple, as does a string for a tuple option."""
    if isinstance(value, str) and type == tuple[str, ...]:
        return (value,)
    made = tuple(cast(list[object], value)) if isinstance(value, list) else value
    if name not in _WRITTEN or isa(made, tuple[str, ...]):
        return made
    fits, wanted, text = _WRITTEN[name]
    _require(row, name, made, fits, wanted)
    return text(made)


def _require(row: RelayPass, option: str, value: object, fits: Callable[[object], bool], wanted: str) -> None:
    """Raises `PassTypeError` unless `value` fits."""
    if not fits(value):
        raise PassTypeError(f"[{row.name}] option {option!r} must be {wanted}, found {value!r}")


def _check_options(pass_type: type[XdslModulePass], row: RelayPass, options: Mapping[str, object]) -> None:
    known = {field.name: field for field in dataclasses.fields(pass_type)}
    hints = get_type_hints(pass_type)
    for name, value in options.items():
        if name not in known:
            names = [*known, *row.values]
            hint = did_you_mean(name, names, f"options: {', '.join(names) if names else 'none'}")
            raise PassArgumentError(f"[{row.name}] has no option {name!r}", help=hint)
        expected = hints[name]
        if not isa(value, expected) or (isinstance(value, bool) and expected is int):
            wanted = getattr(expected, "__name__", str(expected))
            raise PassTypeError(f"[{row.name}] option {name!r} must be {wanted}, found {value!r}")


def _parse(text: str) -> ArgSpec:
    refuse_repeated_options(text)
    try:
        specs = list(parse_pipeline(text.strip()))
    except ArgSpecParseError as error:
        raise PassError(f"malformed pass {text!r}: {one_line(str(error).splitlines()[-1])}") from error
    if len(specs) != 1:
        raise PassError(f"{text!r} names {len(specs)} passes, expected one")
    return specs[0]


def _options_of(spec: ArgSpec, pass_type: type[XdslModulePass], name: str) -> dict[str, object]:
    """Returns the options in `spec`, as values of the fields of the pass."""
    written = {key.replace("-", "_") for key in spec.parameters}
    instance = make_pass(ArgSpec(pass_type.name, spec.parameters), pass_type, name)
    names = [field.name for field in dataclasses.fields(instance)]
    return {name: getattr(instance, name) for name in names if name in written}


def _is_hooks(value: object) -> bool:
    entries = cast("Mapping[object, object]", value).items() if isinstance(value, Mapping) else ((None, None),)
    return all(isinstance(op, type) and callable(hook) for op, hook in entries)


def _is_table(value: object) -> bool:
    return isa(value, list[list[object] | tuple[object, ...]] | tuple[list[object] | tuple[object, ...], ...]) and all(
        len(row) in (2, 3) for row in value
    )


_VALUES: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "table": (_is_table, "a list of (name, pattern) or (name, pattern, check)"),
    "hooks": (_is_hooks, "a mapping from classes of ops to hooks"),
    "fskip": (callable, "a function of an expression"),
    "skip": (callable, "a function of an op"),
}
"""Parameters of `RelayPass.values`: whether a value fits, and a description of values that do."""


def _is_global_vars(value: object) -> bool:
    items = cast("Sequence[object]", value) if isinstance(value, tuple) else (None,)
    return all(isinstance(getattr(one, "name_hint", one), str) for one in items)


_WRITTEN: Final[Mapping[str, tuple[Callable[[object], bool], str, Callable[[Any], tuple[str, ...]]]]] = {
    "desired_layouts": (
        lambda value: isa(value, dict[str, Sequence[str]]),
        "a mapping from operators to lists of layouts, or a list of 'operator:layout:layout'",
        lambda value: tuple(":".join([operator, *layouts]) for operator, layouts in value.items()),
    ),
    "global_vars": (
        _is_global_vars,
        "a list of functions of the module, as mod.get_global_var returns",
        lambda value: tuple(getattr(one, "name_hint", one) for one in value),
    ),
    "weight_shape": (
        lambda value: isa(value, Sequence[Sequence[int]]),
        "a list of lists of extents",
        lambda value: tuple("x".join(map(str, shape)) for shape in value),
    ),
}
"""Options whose values in Relay are not text: whether a value fits, a description, and the text of the option."""


# --- sequences -----------------------------------------------------------------------------------------------------


class Sequential(Pass):
    """Runs each of `passes` that the context enables, each after the passes its info requires.

    A member is a pass, or text for `create_pass`. Required passes are created by name without options and always run,
    each time they are required, since nothing is cached; the passes that they require in turn do not run. A
    `Sequential` is a pass and may be a member of another one, which enables or disables it as a whole by its own
    `opt_level`, 0 by default.

    Raises `PassTypeError` for members that are not passes, and `PassError` for a required pass that does not exist.
    """

    checks_itself: bool = True
    names_errors: bool = True
    passes: tuple[Pass, ...]

    def __init__(
        self,
        passes: Sequence[Pass | str] | None = None,
        opt_level: int = 0,
        name: str = "sequential",
        required: Sequence[str] | None = None,
        traceable: bool = False,
    ):
        if passes is not None and not isinstance(passes, list | tuple):
            raise PassTypeError(f"[{name}] passes must be a list of Pass objects, found {type(passes).__name__}")
        self.passes = tuple(_member(item, name) for item in cast("Sequence[object]", passes if passes else ()))
        self.forgets = all(member.forgets for member in self.passes)
        super().__init__(PassInfo(check_level(opt_level, name), name, check_names(required, "Required"), traceable))

    def decisions(self, ctx: PassContext | None = None) -> list[tuple[PassInfo, PassDecision]]:
        """Returns for every member whether `ctx`, by default the current context, runs it, and why."""
        current = PassContext.current() if ctx is None else ctx
        return [(member.info, current.decide(member.info)) for member in self.passes]

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Runs the members."""
        owned = True
        for member in self.passes:
            if ctx.pass_enabled(member.info):
                for current in (*(_required(name, member) for name in member.info.required), member):
                    mod = run_pass(current, mod, ctx, owned=owned)
                    owned = current.forgets
        return mod


def _member(item: object, name: str) -> Pass:
    if isinstance(item, str):
        return create_pass(item)
    if not isinstance(item, Pass):
        raise PassTypeError(f"[{name}] {item!r} is not a pass", help="call the class to create a pass")
    return item


def _required(name: str, member: Pass) -> Pass:
    """Returns a pass that `member` requires."""
    try:
        return create_pass(name)
    except PassError as error:
        raise PassError(
            f"[{member.info.name}] cannot use {name!r}, which it requires, to create the pass: {error.message}",
            help=error.help,
        ) from error


def fold_scale_axis() -> Sequential:
    """Returns Relay's FoldScaleAxis: backward, forward, then the folding of the remaining constants."""
    return Sequential(["BackwardFoldScaleAxis", "ForwardFoldScaleAxis", "FoldConstant"], name="FoldScaleAxis")


def batching_ops() -> Sequential:
    """Returns Relay's BatchingOps, which combines parallel convolutions, dense layers and matrix products."""
    members = ["CombineParallelConv2D", "CombineParallelDense", "CombineParallelBatchMatmul"]
    return Sequential(members, name="BatchingOps")


def eta_expand(*, expand_constructor: bool = False, expand_global_var: bool = False) -> Sequential:
    """Returns Relay's EtaExpand, which makes closures of functions and constructors used as values; no passes here.

    A function of the module is a value here only as the closure that the builder makes of a `relay.GlobalVar`, and
    there are no constructors, so a module is always expanded, with any options.
    """
    del expand_constructor, expand_global_var
    return Sequential([], opt_level=1, name="EtaExpand")


def plan_devices(config: object = None) -> Sequential:
    """Returns Relay's PlanDevices, which selects the device of each expression; no passes here, with one device.

    `config` is the target of the compilation, if the caller has one. Raises `PassArgumentError` for a device other than
    a CPU, and `PassTypeError` for an object that is not a target.
    """
    if not isinstance(config, Target | str | None):
        raise PassTypeError(f"[PlanDevices] {config!r} is not a target", help="pass a Target, or a target's text")
    if isinstance(config, str) and device_kind(config) != CPU:
        raise PassArgumentError(f"[PlanDevices] target {config!r} is not a CPU", help=f"write {CPU!r}, or omit it")
    return Sequential([], name="PlanDevices")


SEQUENCES: Final[Mapping[str, Callable[..., Pass]]] = {
    "FoldScaleAxis": fold_scale_axis,
    "BatchingOps": batching_ops,
    "EtaExpand": eta_expand,
    "PlanDevices": plan_devices,
}
"""Relay's names of sequences of passes of this package, each with the function that creates it."""

remember_names([*_OTHERS, *SEQUENCES])
