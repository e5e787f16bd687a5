"""`relay.Function`: parameters and a body, as a function of a module or a closure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.attribute_values import AttributeValue, to_attribute, to_python
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import (
    COMPILER,
    COMPILER_INLINE,
    FORM,
    INLINE,
    SKIP_OPTIMIZATION,
    VALUE_NAME,
    VARIABLE,
)
from xrelay.dialects.shared.types import IncompleteType, is_complete
from xrelay.errors import InputError
from xrelay.html import html_text
from xrelay.relay.copies import copy_into
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, block_for, invoke, tuple_of, view, views
from xrelay.relay.graph import detach, free_variables, lifted, note_parameters, variable_name, variables_of
from xrelay.relay.types import FuncTypeView, TypeView, as_plain_or_none, type_view

RELAY_NAMES: Final = {COMPILER_INLINE: INLINE, "SkipOptimization": SKIP_OPTIMIZATION}
"""Relay's names of function attributes that passes read → xrelay's. Functions for other compilers keep Relay's."""


@views(FnOp)
class Function(Expr):
    """A function of `params` with `body`. `str` shows it as text, with unknown types as `!relay.incomplete`.

    A `relay.Tuple` as body makes a function with several results, or without results. A closure may use variables of
    enclosing functions. `ret_type` is the result type if it is not to be inferred. `attrs` are attributes of the
    function, also of the `func.func` and the closure made from it. Raises `InputError` for parameters that are not
    distinct variables, and for type parameters.
    """

    params: list[Var]
    body: Expr

    def __init__(
        self,
        params: Sequence[Var],
        body: ExprLike,
        ret_type: Attribute | TypeView | None = None,
        type_params: Sequence[object] = (),
        attrs: Mapping[str, AttributeValue] | None = None,
    ):
        if type_params:
            raise InputError("functions here have no type parameters", help="omit types to infer them")
        self.params, self.body, self._ret_type = _check_params(params), view(as_value(body)), as_plain_or_none(ret_type)
        given = dict(attrs) if attrs is not None else dict[str, AttributeValue]()
        self._attributes = {name: attribute_of(name, value) for name, value in given.items()}
        self.itself: Var | None = None
        """The variable that refers to the function in its body, for a recursive closure."""
        self._origin: SSAValue | None = None
        self._closure: SSAValue | None = None
        self._outputs: list[str] | None = None
        self._is_inferred = False
        """Whether it was read from a function of a module or from a closure, whose types are inferred."""
        self._keeps_tuple = False
        """Whether a tuple body stays one result, as in the function of a module from which this one was read."""

    # --- from IR ---------------------------------------------------------------------------------------------------

    @classmethod
    def of_value(cls, value: SSAValue) -> Expr:
        """Returns the function for the value of a closure."""
        op = cast(FnOp, cast(OpResult, value).op)
        variables, results = _lifted(op.body.block)
        function = cls(variables[1:] if op.is_recursive else variables, view(results[0]), attrs=op.attributes)
        function.itself = variables[0] if op.is_recursive else None
        function._origin = function._closure = value
        function._is_inferred = True
        return function

    @classmethod
    def of_fused(cls, op: FusedOp) -> Function:
        """Returns the function that a fused group applies, with the attributes of the group."""
        variables, results = _lifted(op.body.block)
        function = cls(variables, view(results[0]), attrs=op.properties)
        function._origin = op.result
        return function

    @classmethod
    def of_func(cls, func: FuncOp) -> Function:
        """Returns the function for a `func.func` with a body, as a copy."""
        if func.is_declaration:
            raise InputError(f"@{func.sym_name.data} has no body", help="only functions with a body have expressions")
        attributes = func.arg_attrs.data if func.arg_attrs is not None else ()
        variables, results = _lifted(func.body.block, [_recorded_name(attribute) for attribute in attributes])
        if not results and not all(op.name.startswith(("relay.", "func.")) for op in func.body.block.ops):
            raise InputError(
                f"@{func.sym_name.data} returns nothing", help="only functions on tensors have expressions"
            )
        body = view(results[0]) if len(results) == 1 else tuple_of(results)
        function = cls(variables, body)
        function._is_inferred = True
        function._keeps_tuple = len(results) == 1 and isinstance(results[0].owner, TupleOp)
        known = {ours: relays for relays, ours in RELAY_NAMES.items()}
        function._attributes = {known.get(key, key): value for key, value in func.attributes.items() if key != FORM}
        if func.sym_visibility is not None:
            function._attributes["sym_visibility"] = func.sym_visibility
        if func.res_attrs is not None:
            found = [_recorded_name(attribute) for attribute in func.res_attrs.data]
            function._outputs = [name for name in found if name is not None]
        return function

    # --- to IR -----------------------------------------------------------------------------------------------------

    def to_func(self, name: str = "main") -> FuncOp:
        """Returns a new `func.func @name` for the function.

        Raises `InputError` if the body uses a variable that is not a parameter.
        """
        params = [param.ssa_value for param in self.params]
        unbound = [variable_name(value) for value in free_variables(self.body.ssa_value) if value not in set(params)]
        if unbound:
            raise InputError(
                f"the body uses variables that are not parameters: {', '.join(map(str, unbound))}",
                help="pass relay.analysis.free_vars(body) as parameters",
            )
        block = block_for(params)
        note_parameters(block, params)
        results = self._results(block, params)
        block.add_op(detach(ReturnOp(*results)))
        outputs = self._outputs
        if outputs is None or len(outputs) != len(results):
            outputs = ["output"] if len(results) == 1 else [f"output_{index}" for index in range(len(results))]
        func = FuncOp(
            name,
            FunctionType.from_lists(list(block.arg_types), [result.type for result in results]),
            Region(block),
            arg_attrs=_argument_names([param.name for param in self.params]),
            res_attrs=_names(outputs),
        )
        ours = {} if COMPILER in self._attributes else RELAY_NAMES
        func.attributes.update(
            {ours.get(key, key): value for key, value in self._attributes.items() if _is_recorded(key, value)}
        )
        visibility = self._attributes.get("sym_visibility")
        func.sym_visibility = visibility if isinstance(visibility, StringAttr) else None
        return func

    def _results(self, block: Block, params: Sequence[SSAValue]) -> list[SSAValue]:
        """Copies the body into `block`; returns its result, or the fields of a tuple body as several results."""
        (copy,) = copy_into(block, [self.body.ssa_value], dict(zip(params, block.args, strict=True)))
        if self._ret_type is not None and isinstance(copy.type, IncompleteType):
            copy = Rewriter.replace_value_with_new_type(copy, self._ret_type)
        made = copy.owner
        if self._keeps_tuple or not isinstance(made, TupleOp) or made.parent is not block:
            return [copy]
        fields = list(made.operands)
        if not copy.uses:
            block.erase_op(made)
        return fields

    @property
    def ssa_value(self) -> SSAValue:
        """The function as an SSA value."""
        if self._closure is None:
            made = self.closure(self.itself).ssa_value
            if cast(OpResult, made).op.parent is not None:
                return made
            self._closure = made
        return self._closure

    def closure(self, itself: Var | None = None) -> Expr:
        """Returns the function as a value (`relay.fn`). Uses of `itself` in the body are recursive calls."""
        params = [param.ssa_value for param in self.params]
        recursive = itself is not None and itself.ssa_value in free_variables(self.body.ssa_value)
        block = block_for(params)
        known = dict(zip(params, block.args, strict=True))
        if itself is not None and recursive:
            argument = block.insert_arg(itself.type, 0)
            argument.name_hint = itself.ssa_value.name_hint
            known[itself.ssa_value] = argument
        (result,) = copy_into(block, [self.body.ssa_value], known)
        if self._ret_type is not None and isinstance(result.type, IncompleteType):
            result = Rewriter.replace_value_with_new_type(result, self._ret_type)
        block.add_op(detach(YieldOp(result)))
        type = FunctionType.from_lists([param.type for param in params], [result.type])
        if recursive:
            Rewriter.replace_value_with_new_type(block.args[0], type)
        made = FnOp(type, Region(block), recursive=recursive)
        made.attributes.update(self._attributes)
        return Expr(made.result)

    def __call__(self, *arguments: ExprLike) -> Expr:
        """Calls the function with `arguments`."""
        return invoke(self, *arguments)

    @property
    def type_params(self) -> list[Attribute]:
        """Always empty: functions have no type parameters. For programs that pass them on to a new function."""
        return []

    @property
    def ret_type(self) -> TypeView | None:
        """The result type: as given, or as inferred in a module; else None."""
        found = self.body.type if self._is_inferred and is_complete(self.body.type) else None
        result = self._ret_type if self._ret_type is not None else found
        return None if result is None else type_view(result)

    @property
    def type(self) -> Attribute:
        """The function type, as far as it is known."""
        result = self.body.type if self._ret_type is None or is_complete(self.body.type) else self._ret_type
        return FunctionType.from_lists([param.type for param in self.params], [result])

    @property
    def checked_type(self) -> FuncTypeView:
        """The function type with Relay's interface. Raises `InputError` if it is not yet inferred."""
        type = self.type
        if not is_complete(type):
            raise InputError(f"the function has type {type}, which inference has not completed",
                             help="infer the types of a module: transform.InferType()(module)")  # fmt: skip
        return FuncTypeView(type)

    @property
    def attrs(self) -> Mapping[str, object]:
        """The attributes as Python values: numbers, booleans, strings and lists."""
        return {name: to_python(value) for name, value in self._attributes.items()}

    def with_attr(
        self, attr_key_or_dict: str | Mapping[str, AttributeValue], attr_value: AttributeValue | None = None
    ) -> Function:
        """Returns a copy with one more attribute, or with all of a mapping. Values are MLIR attributes or Python's."""
        more = with_value(attr_key_or_dict, attr_value)
        return self.with_parts(self.params, self.body, {**self._attributes, **more})

    def without_attr(self, attr_key: str) -> Function:
        """Returns a copy without an attribute."""
        left = {name: value for name, value in self._attributes.items() if name != attr_key}
        return self.with_parts(self.params, self.body, left)

    def with_parts(
        self, params: Sequence[Var], body: ExprLike, attrs: Mapping[str, AttributeValue] | None = None
    ) -> Function:
        """Returns a copy with other parameters, body or attributes."""
        function = Function(params, body, self._ret_type, attrs=self._attributes if attrs is None else attrs)
        function.itself, function._outputs, function._keeps_tuple = self.itself, self._outputs, self._keeps_tuple
        return function

    def astext(self, show_meta_data: bool = True) -> str:
        """Returns the function as the text of `func.func @main`."""
        return str(self.to_func())

    def __str__(self) -> str:
        return self.astext()

    def __repr__(self) -> str:
        return f"Function({', '.join(param.name for param in self.params)})"

    def _repr_html_(self) -> str:
        """Returns the text as HTML, for notebooks."""
        return html_text(repr(self), self.astext())

    def _key(self) -> object:
        return self if self._origin is None else self._origin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self._key() is other._key()

    def __hash__(self) -> int:
        return id(self) if self._origin is None else hash(self._origin)


def _lifted(block: Block, names: Sequence[str | None] = ()) -> tuple[list[Var], list[SSAValue]]:
    """Returns variables for the arguments of a block, named by `names` or their hints, and the block's results."""
    hints = [argument.name_hint if argument.name_hint is not None else f"p{n}" for n, argument in enumerate(block.args)]
    given = [*names, *[None] * (len(hints) - len(names))]
    chosen = [name if name is not None else hint for name, hint in zip(given, hints, strict=True)]
    known: dict[SSAValue, SSAValue] = dict(zip(block.args, variables_of(block, chosen), strict=True))
    variables = [cast(Var, view(variable)) for variable in known.values()]
    return variables, lifted(block, known)


def _is_recorded(name: str, value: Attribute) -> bool:
    """Returns whether the `func.func` gets an attribute. `Inline = 0` is omitted, as it has no effect."""
    return name != "sym_visibility" and not (
        name in RELAY_NAMES and isinstance(value, IntegerAttr) and not value.value.data
    )


def attribute_of(name: str, value: AttributeValue) -> Attribute:
    """Converts a Python value to an attribute. Raises `InputError` if that is not possible."""
    try:
        return to_attribute(name, value, None)
    except (TypeError, ValueError) as error:
        raise InputError(f"attribute {name!r} cannot be {value!r}", help="pass a number, a string or a list") from error


def with_value(given: str | Mapping[str, AttributeValue], value: AttributeValue | None) -> Mapping[str, AttributeValue]:
    """Returns the attributes given to `with_attr`: a name and a value, or a mapping; else raises `InputError`."""
    if isinstance(given, Mapping):
        return given
    if value is None:
        raise InputError(f"attribute {given!r} has no value", help="pass a value; without_attr removes an attribute")
    return {given: value}


def _recorded_name(attributes: Attribute) -> str | None:
    if not isinstance(attributes, DictionaryAttr):
        return None
    name = attributes.data.get(VARIABLE, attributes.data.get(VALUE_NAME))
    return name.data if isinstance(name, StringAttr) else None


def _check_params(params: object) -> list[Var]:
    """Returns `params` as a list of distinct variables. Raises `InputError` if they are not."""
    if not isinstance(params, (list, tuple)):
        raise InputError(
            f"the parameters are {params!r}", help="pass a list of variables, such as relay.analysis.free_vars(body)"
        )
    result: dict[Var, None] = {}
    for number, param in enumerate(cast("Sequence[object]", params)):
        if not isinstance(param, Var):
            raise InputError(f"parameter #{number} is not a variable: {param!r}", help="relay.var creates one")
        if param in result:
            raise InputError(f"variable {param.name!r} is a parameter twice")
        result[param] = None
    return list(result)


def _distinct(names: Sequence[str]) -> list[str]:
    """Makes names distinct by a number at repeated ones, because inputs are passed by name."""
    taken, result = set(names), list[str]()
    seen: set[str] = set()
    for name in names:
        new, number = name, 0
        while new in seen or (number and new in taken):
            number += 1
            new = f"{name}_{number}"
        seen.add(new)
        result.append(new)
    return result


def _argument_names(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    """Returns the attributes of parameters: distinct names, and the name of the variable if it differs."""
    attributes: list[DictionaryAttr] = []
    for name, distinct in zip(names, _distinct(names), strict=True):
        variable = {} if name == distinct else {VARIABLE: StringAttr(name)}
        attributes.append(DictionaryAttr({VALUE_NAME: StringAttr(distinct), **variable}))
    return ArrayAttr(attributes)


def _names(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({VALUE_NAME: StringAttr(name)}) for name in names])
