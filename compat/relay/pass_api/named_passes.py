"""Creates passes by name: wrappers that add Relay's names and levels to xDSL passes, and passes of other tables.

`create_pass("FoldConstant")`, `create_pass("relay-fuse-ops{max-depth=4}")` and `NamedPass(row, options)` return
callable passes. Options without a value from the caller come from the context: its level for `fuse_opt_level`, its
config for others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Final, cast, get_type_hints

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass as XdslModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.utils.hints import isa

from xrelay.errors import PassError, did_you_mean, one_line
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.registry import member_of, target_of
from xrelay.passes.catalogue.relay_names import RELAY_PASSES, RelayPass, relay_pass
from xrelay.passes.infra.pass_context import PassContext, configured_options
from xrelay.passes.infra.pass_info import PassArgumentError, PassInfo, PassTypeError, remember_names
from xrelay.passes.infra.pipeline import info_of, run_pipeline
from xrelay.passes.infra.pipeline_text import make_pass, refuse_repeated_options, unknown_name
from xrelay.passes.infra.source import full_context
from xrelay.passes.infra.xrelay_pass import is_per_function, numerics_of
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_upkeep import has_incomplete_types
from xrelay.relay.pass_api.passes import ModulePass, Pass, skipped_functions_hidden

PassThunks = Mapping[str, Callable[[], type[XdslModulePass]]]
PassFactory = Callable[[], Pass]

_TABLES: list[PassThunks] = []
_USERS: dict[str, PassFactory] = {}
_IMPLEMENTATIONS: Final = {
    "AlterOpLayout": "xrelay.passes.layout.alter_op_layout:alter_layouts",
    "ConvertLayout": "xrelay.passes.layout.convert_layout:convert_layouts",
    "EliminateCommonSubexpr": "xrelay.relay.transform.expressions:eliminate_common_subexpressions_of",
    "MergeComposite": "xrelay.relay.dataflow_pattern.composite_tables:merge_composites_of",
    "DenseToSparse": "xrelay.relay.passes.dense_to_sparse:dense_to_sparse",
    "Conv2dToSparse": "xrelay.relay.passes.conv2d_to_sparse:conv2d_to_sparse",
    "InlineCompilerFunctionsBoundTo": (
        "xrelay.relay.byoc.inline_compiler_functions_bound_to:inline_compiler_functions"
    ),
}
"""Relay's name → the function that takes the module, the options and the values of `RelayPass.values`."""
_SEQUENCES: dict[str, PassFactory] = {}


def add_pass_table(table: PassThunks) -> None:
    """Adds a table of passes for `create_pass`: name → thunk that imports the class."""
    _TABLES.append(table)
    remember_names(table)


def register_pass(name: str, factory: PassFactory) -> None:
    """Makes `create_pass` create the pass `name` by calling `factory`, so that other passes can require it.

    Names of the project's passes and of xDSL's take precedence.
    """
    _USERS[name] = factory
    remember_names([name])


def register_sequence(name: str, factory: PassFactory) -> None:
    """Makes `create_pass` create a `Sequential` for one of Relay's names whose passes are in this package."""
    _SEQUENCES[name] = factory
    remember_names([name])


def sequence_names() -> list[str]:
    """Returns Relay's names of the registered `Sequential`s."""
    return list(_SEQUENCES)


def sequence_factory(name: str) -> PassFactory | None:
    """Returns the factory of the `Sequential` that Relay calls `name`; None if that is a pass in Relay."""
    return _SEQUENCES.get(name)


def create_pass(text: str) -> Pass:
    """Returns the pass that `text` names, with options as in `FuseOps{max-depth=4}`, by either kind of name.

    Raises `PassError` for malformed text, an unknown name (with the closest one) and invalid options.
    """
    spec = _parse(text)
    if spec.name in _SEQUENCES and not spec.parameters:
        return _SEQUENCES[spec.name]()
    row = relay_pass(spec.name)
    if row is not None:
        # A pass created by the project's name has its own defaults; by Relay's name, it behaves as in Relay.
        row = dataclasses.replace(row, fixed={}) if spec.name == row.pass_name else row
        return NamedPass(row, _options_of(spec, pass_class(row.pass_name), row.name))
    added = registered_passes().get(spec.name)
    if added is not None:
        return XdslPass(make_pass(spec, added.load()))
    for table in _TABLES:
        if spec.name in table:
            return XdslPass(make_pass(spec, table[spec.name]()))
    if spec.name in _USERS:
        return _users_pass(spec)
    names = [row.name for row in RELAY_PASSES]
    others = [*_USERS, *registered_passes(), *(name for table in _TABLES for name in table)]
    known = [*names, *(row.pass_name for row in RELAY_PASSES), *others]
    raise unknown_name("pass", spec.name, known, f"Relay's are {', '.join(names)}")


def _users_pass(spec: ArgSpec) -> Pass:
    """Returns a user's pass, which takes no options as text."""
    if spec.parameters:
        raise PassArgumentError(
            f"[{spec.name}] takes no options as text, found {', '.join(spec.parameters)}", help="create it in Python"
        )
    return _USERS[spec.name]()


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
        written = {name: _option(value, hints.get(name)) for name, value in options.items()}
        fields = {field.name for field in dataclasses.fields(pass_type)}
        unwritten = tuple(
            name for name, value in written.items() if name in row.values and not (name in fields and _is_text(value))
        )
        self._options = {**row.fixed, **{name: value for name, value in written.items() if name not in unwritten}}
        self._values = {row.values[name]: options[name] for name in unwritten}
        for name in unwritten:
            check_value(row.name, name, row.values[name], options[name])
        _check_options(pass_type, row, self._options)
        # Type inference visits every op: its result needs no verification.
        self.checks_itself = row.name == "InferType"
        spec = str(pass_type(**self._options))
        numerics = numerics_of(pass_type)
        super().__init__(
            PassInfo(row.opt_level, row.name, row.required, spec=spec, unwritten=unwritten, numerics=numerics)
        )

    def configured(self, ctx: PassContext) -> XdslModulePass:
        """Returns the xDSL pass that runs in `ctx`."""
        return self._pass_type(**configured_options(self._pass_type, self._options, ctx))

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Applies the pass; first infers missing types, since Relay's modules are typed."""
        _ensure_types(mod, self._row)
        with skipped_functions_hidden(mod) if is_per_function(self._pass_type) else nullcontext():
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
        sequence = sequence_factory(row.name)
        if sequence is not None and not arguments and not options:
            return sequence()
        return NamedPass(row, relay_options(row, arguments, options))

    make.__name__ = make.__qualname__ = row.name
    make.__doc__ = f"Creates the pass `{row.pass_name}`; the arguments are its options."
    return make


def _ensure_types(mod: ModuleOp, row: RelayPass) -> None:
    if row.name != "InferType" and has_incomplete_types([mod]):
        infer_types(mod)


def _option(value: object, type: object) -> object:
    """Returns an option's value as a pass stores it: a list becomes a tuple, as does a string for a tuple option."""
    if isinstance(value, str) and type == tuple[str, ...]:
        return (value,)
    return tuple(cast(list[object], value)) if isinstance(value, list) else value


def _is_text(value: object) -> bool:
    """Whether `value` is a tuple of strings, as options in text are."""
    return isinstance(value, tuple) and all(isinstance(one, str) for one in cast("tuple[object, ...]", value))


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


def check_value(pass_name: str, option: str, parameter: str, value: object) -> None:
    """Raises `PassTypeError` unless `value`, passed as `option`, fits the parameter of the pass's function."""
    fits, wanted = _WANTED[parameter]
    if not fits(value):
        raise PassTypeError(f"[{pass_name}] option {option!r} must be {wanted}, found {value!r}")


def _is_hooks(value: object) -> bool:
    entries = cast("Mapping[object, object]", value).items() if isinstance(value, Mapping) else ((None, None),)
    return all(isinstance(op, type) and callable(hook) for op, hook in entries)


def _is_table(value: object) -> bool:
    return isa(value, list[list[object] | tuple[object, ...]] | tuple[list[object] | tuple[object, ...], ...]) and all(
        len(row) in (2, 3) for row in value
    )


def _is_global_vars(value: object) -> bool:
    items = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (None,)
    return all(isinstance(getattr(one, "name_hint", one), str) for one in items)


_WANTED: dict[str, tuple[Callable[[object], bool], str]] = {
    "table": (_is_table, "a list of (name, pattern) or (name, pattern, check)"),
    "desired": (
        lambda value: isa(value, dict[str, Sequence[str]]),
        "a mapping from operators to lists of layouts, or a list of 'operator:layout:layout'",
    ),
    "hooks": (_is_hooks, "a mapping from classes of ops to hooks"),
    "global_vars": (_is_global_vars, "a list of functions of the module, as mod.get_global_var gives them"),
    "weight_shape": (lambda value: isa(value, Sequence[Sequence[int]]), "a list of lists of extents"),
    "fskip": (callable, "a function of an expression"),
    "skip": (callable, "a function of an op"),
}
