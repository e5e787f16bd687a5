"""`relay.Function`: parameters and a body, as a function of a module or as a value (a closure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.attribute_names import (
    COMPILER,
    COMPILER_INLINE,
    FORM,
    INLINE,
    SKIP_OPTIMIZATION,
    VALUE_NAME,
    VARIABLE,
)
from xrelay.dialects.relay.core.attribute_values import AttributeValue, to_attribute
from xrelay.dialects.relay.core.python_values import to_python
from xrelay.dialects.relay.core.types import IncompleteType, is_complete
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.errors import InputError
from xrelay.relay.copies import copy_into
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, block_for, invoke, tuple_of, view, views
from xrelay.relay.graph import detached, free_variables, lifted, note_parameters, variable_name, variables_of
from xrelay.relay.type_views import FuncTypeView, TypeView, as_plain_or_none, type_view

RELAY_NAMES: Final = {COMPILER_INLINE: INLINE, "SkipOptimization": SKIP_OPTIMIZATION}
"""Relay's names of the marks of functions that passes read → ours; those for other compilers keep Relay's."""


@views(FnOp)
class Function(Expr):
    """A function of `params` with `body`; `str` shows it as text, types that are not known yet as `!relay.incomplete`.

    A body that is a `relay.Tuple` gives a function of several results, or of none. As a closure it may use variables of
    the function around it. `ret_type` says what it gives where inference is not to find it. `attrs` are attributes of
    the function, which the function of a module and the closure have too. Raises `InputError` for parameters that are
    no variables, or one that is given twice, and for type parameters.
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
            raise InputError("functions here have no type parameters", help="leave types out to have them inferred")
        self.params, self.body, self._ret_type = _checked(params), view(as_value(body)), as_plain_or_none(ret_type)
        given = dict(attrs) if attrs is not None else dict[str, AttributeValue]()
        self._attributes = {name: attribute_of(name, value) for name, value in given.items()}
        self.itself: Var | None = None
        """The variable by which the body means the function, where a closure calls itself."""
        self._origin: SSAValue | None = None
        self._closure: SSAValue | None = None
        self._outputs: list[str] | None = None
        self._is_inferred = False
        """Whether it was a function of a module or a closure, whose types inference found."""
        self._keeps_tuple = False
        """Whether a body that is a tuple stays one result, as in the function of a module that this one was."""

    # --- from IR ---------------------------------------------------------------------------------------------------

    @classmethod
    def of_value(cls, value: SSAValue) -> Expr:
        """The function that a closure's value is."""
        op = cast(FnOp, cast(OpResult, value).op)
        variables, results = _lifted(op.body.block)
        function = cls(variables[1:] if op.is_recursive else variables, view(results[0]), attrs=op.attributes)
        function.itself = variables[0] if op.is_recursive else None
        function._origin = function._closure = value
        function._is_inferred = True
        return function

    @classmethod
    def of_fused(cls, op: FusedOp) -> Function:
        """The function that a fused group applies; its attributes are those of the group."""
        variables, results = _lifted(op.body.block)
        function = cls(variables, view(results[0]), attrs=op.properties)
        function._origin = op.result
        return function

    @classmethod
    def of_func(cls, func: FuncOp) -> Function:
        """The function that a `func.func` with a body is; it shares nothing with it."""
        if func.is_declaration:
            raise InputError(f"@{func.sym_name.data} has no body", help="only functions with a body have expressions")
        attributes = func.arg_attrs.data if func.arg_attrs is not None else ()
        variables, results = _lifted(func.body.block, [_given_name(attribute) for attribute in attributes])
        if not results and not all(op.name.startswith(("relay.", "func.")) for op in func.body.block.ops):
            raise InputError(f"@{func.sym_name.data} gives nothing", help="only functions on tensors have expressions")
        body = view(results[0]) if len(results) == 1 else tuple_of(results)
        function = cls(variables, body)
        function._is_inferred = True
        function._keeps_tuple = len(results) == 1 and isinstance(results[0].owner, TupleOp)
        known = {ours: relays for relays, ours in RELAY_NAMES.items()}
        function._attributes = {known.get(key, key): value for key, value in func.attributes.items() if key != FORM}
        if func.sym_visibility is not None:
            function._attributes["sym_visibility"] = func.sym_visibility
        if func.res_attrs is not None:
            found = [_given_name(attribute) for attribute in func.res_attrs.data]
            function._outputs = [name for name in found if name is not None]
        return function

    # --- to IR -----------------------------------------------------------------------------------------------------

    def to_func(self, name: str = "main") -> FuncOp:
        """The function as `func.func @name`; each call makes a copy of its own.

        Raises `InputError` where the body uses a variable that is no parameter.
        """
        params = [param.ssa_value for param in self.params]
        unbound = [variable_name(value) for value in free_variables(self.body.ssa_value) if value not in set(params)]
        if unbound:
            raise InputError(
                f"the body uses variables that are no parameters: {', '.join(map(str, unbound))}",
                help="pass relay.analysis.free_vars(body) as parameters",
            )
        block = block_for(params)
        note_parameters(block, params)
        results = self._results(block, params)
        block.add_op(detached(ReturnOp(*results)))
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
            {ours.get(key, key): value for key, value in self._attributes.items() if _is_said(key, value)}
        )
        visibility = self._attributes.get("sym_visibility")
        func.sym_visibility = visibility if isinstance(visibility, StringAttr) else None
        return func

    def _results(self, block: Block, params: Sequence[SSAValue]) -> list[SSAValue]:
        """Copy the body into `block`; the fields of a body that is a tuple are results of their own."""
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
        """The function as a value."""
        if self._closure is None:
            made = self.closure(self.itself).ssa_value
            if cast(OpResult, made).op.parent is not None:
                return made
            self._closure = made
        return self._closure

    def closure(self, itself: Var | None = None) -> Expr:
        """The function as a value (`relay.fn`), in which `itself`, where the body uses it, means the function."""
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
        block.add_op(detached(YieldOp(result)))
        type = FunctionType.from_lists([param.type for param in params], [result.type])
        if recursive:
            Rewriter.replace_value_with_new_type(block.args[0], type)
        made = FnOp(type, Region(block), recursive=recursive)
        made.attributes.update(self._attributes)
        return Expr(made.result)

    def __call__(self, *arguments: ExprLike) -> Expr:
        """The function's value at `arguments`."""
        return invoke(self, *arguments)

    @property
    def type_params(self) -> list[Attribute]:
        """None: functions here have no type parameters. Programs that rebuild a function hand them on."""
        return []

    @property
    def ret_type(self) -> TypeView | None:
        """The type of what it gives: as it was said, or as inference found it in a module; else None."""
        found = self.body.type if self._is_inferred and is_complete(self.body.type) else None
        result = self._ret_type if self._ret_type is not None else found
        return None if result is None else type_view(result)

    @property
    def type(self) -> Attribute:
        """The function's type, as far as it is known."""
        result = self.body.type if self._ret_type is None or is_complete(self.body.type) else self._ret_type
        return FunctionType.from_lists([param.type for param in self.params], [result])

    @property
    def checked_type(self) -> FuncTypeView:
        """The function's type by Relay's names; `InputError` where inference has yet to find it."""
        type = self.type
        if not is_complete(type):
            raise InputError(f"the function has type {type}, which inference has not completed",
                             help="infer the types of a module: transform.InferType()(module)")  # fmt: skip
        return FuncTypeView(type)

    @property
    def attrs(self) -> Mapping[str, object]:
        """The attributes as Python values: numbers, flags, texts and lists."""
        return {name: to_python(value) for name, value in self._attributes.items()}

    def with_attr(
        self, attr_key_or_dict: str | Mapping[str, AttributeValue], attr_value: AttributeValue | None = None
    ) -> Function:
        """The same function with one more attribute, or with all of a mapping: of MLIR, or Python values."""
        more = with_value(attr_key_or_dict, attr_value)
        return self.with_parts(self.params, self.body, {**self._attributes, **more})

    def without_attr(self, attr_key: str) -> Function:
        """The same function without an attribute, if it has it."""
        left = {name: value for name, value in self._attributes.items() if name != attr_key}
        return self.with_parts(self.params, self.body, left)

    def with_parts(
        self, params: Sequence[Var], body: ExprLike, attrs: Mapping[str, AttributeValue] | None = None
    ) -> Function:
        """A function of other parts that is otherwise this one."""
        function = Function(params, body, self._ret_type, attrs=self._attributes if attrs is None else attrs)
        function.itself, function._outputs, function._keeps_tuple = self.itself, self._outputs, self._keeps_tuple
        return function

    def astext(self, show_meta_data: bool = True) -> str:
        """The function as the text of `func.func @main`."""
        return str(self.to_func())

    def __str__(self) -> str:
        return self.astext()

    def __repr__(self) -> str:
        return f"Function({', '.join(param.name for param in self.params)})"

    def _key(self) -> object:
        return self if self._origin is None else self._origin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self._key() is other._key()

    def __hash__(self) -> int:
        return id(self) if self._origin is None else hash(self._origin)


def _lifted(block: Block, names: Sequence[str | None] = ()) -> tuple[list[Var], list[SSAValue]]:
    """Variables for the arguments of a block, by the names given or those in the text, and what the block gives."""
    hints = [argument.name_hint if argument.name_hint is not None else f"p{n}" for n, argument in enumerate(block.args)]
    given = [*names, *[None] * (len(hints) - len(names))]
    chosen = [name if name is not None else hint for name, hint in zip(given, hints, strict=True)]
    known: dict[SSAValue, SSAValue] = dict(zip(block.args, variables_of(block, chosen), strict=True))
    variables = [cast(Var, view(variable)) for variable in known.values()]
    return variables, lifted(block, known)


def _is_said(name: str, value: Attribute) -> bool:
    """Whether an attribute stands on the `func.func`: `Inline = 0` says nothing."""
    return name != "sym_visibility" and not (
        name in RELAY_NAMES and isinstance(value, IntegerAttr) and not value.value.data
    )


def attribute_of(name: str, value: AttributeValue) -> Attribute:
    """The attribute that a Python value is; `InputError` for one that is none."""
    try:
        return to_attribute(name, value, None)
    except (TypeError, ValueError) as error:
        raise InputError(f"attribute {name!r} cannot be {value!r}", help="give a number, a text or a list") from error


def with_value(given: str | Mapping[str, AttributeValue], value: AttributeValue | None) -> Mapping[str, AttributeValue]:
    """The attributes that `with_attr` is given: a name and a value, or all of a mapping; `InputError` for neither."""
    if isinstance(given, Mapping):
        return given
    if value is None:
        raise InputError(f"attribute {given!r} has no value", help="give one; without_attr takes an attribute away")
    return {given: value}


def _given_name(attributes: Attribute) -> str | None:
    if not isinstance(attributes, DictionaryAttr):
        return None
    name = attributes.data.get(VARIABLE, attributes.data.get(VALUE_NAME))
    return name.data if isinstance(name, StringAttr) else None


def _checked(params: object) -> list[Var]:
    """`params` as distinct variables."""
    if not isinstance(params, (list, tuple)):
        raise InputError(f"the parameters are {params!r}", help="give a list of variables, as relay.analysis.free_vars")
    result: dict[Var, None] = {}
    for number, param in enumerate(cast("Sequence[object]", params)):
        if not isinstance(param, Var):
            raise InputError(f"parameter #{number} is no variable: {param!r}", help="relay.var makes one")
        if param in result:
            raise InputError(f"variable {param.name!r} is given twice as a parameter")
        result[param] = None
    return list(result)


def _distinct(names: Sequence[str]) -> list[str]:
    """`names` with a number after those that came before: inputs are given by name."""
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
    """Returns the attributes of parameters: distinct names, and the name of the variable if that is another one."""
    attributes: list[DictionaryAttr] = []
    for name, distinct in zip(names, _distinct(names), strict=True):
        variable = {} if name == distinct else {VARIABLE: StringAttr(name)}
        attributes.append(DictionaryAttr({VALUE_NAME: StringAttr(distinct), **variable}))
    return ArrayAttr(attributes)


def _names(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({VALUE_NAME: StringAttr(name)}) for name in names])
