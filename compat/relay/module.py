"""`IRModule`: functions by name, with Relay's interface. It is an xDSL module.

    mod = IRModule.from_expr(relay.Function([x], y))
    mod["double"] = relay.Function([n], n + n)
    double = mod.get_global_var("double")
    mod["main"] = relay.Function([x], double(x))

Passes return an `IRModule` for an `IRModule`. `mod["main"]` is a copy: to change a function, assign the new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.attribute_values import AttributeValue, to_python
from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.types import IncompleteType, is_complete
from xrelay.errors import InputError, did_you_mean, with_article
from xrelay.html import html_text
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.expr import Expr, ExprLike, as_value, view
from xrelay.relay.function import Function, attribute_of, with_value
from xrelay.relay.nodes import GlobalVar, free_vars

MAIN = "main"
"""The name of the function that is compiled to a model."""


class IRModule(ModuleOp):
    """A module of functions. Raises `InputError` for unknown function names and for values that are not functions."""

    def __init__(self, functions: Mapping[GlobalVar | str, Expr | FuncOp] | Sequence[Operation] = ()):
        """Creates a module from functions by name, or from ops as xDSL's `ModuleOp`."""
        if isinstance(functions, Mapping):
            super().__init__([])
            self.update(functions)
        else:
            super().__init__(list(functions))

    @staticmethod
    def from_expr(
        expr: Function | ExprLike,
        functions: Mapping[GlobalVar | str, Expr | FuncOp] | None = None,
        *,
        name: str = MAIN,
    ) -> IRModule:
        """Returns a module with `expr` as @main and `functions`. Free variables of an expression become parameters."""
        return IRModule({**(functions if functions is not None else {}), name: as_function(expr)})

    @staticmethod
    def of(module: ModuleOp) -> IRModule:
        """Returns a copy of any module."""
        made = IRModule([op.clone() for op in module.ops])
        made.attributes.update(module.attributes)
        return made

    def _repr_html_(self) -> str:
        """Returns the functions and the text as HTML, for notebooks."""
        names = [f"@{name.name_hint}" for name in self.get_global_vars()]
        return html_text(f"module with {', '.join(names) or 'no function'}", self.astext())

    def same_as(self, other: object) -> bool:
        """Returns whether both are the same object."""
        return self is other

    # --- attributes ------------------------------------------------------------------------------------------------

    @property
    def attrs(self) -> Mapping[str, object]:
        """The attributes of the module as Python values."""
        return {name: to_python(value) for name, value in self.attributes.items()}

    def get_attr(self, attr_key: str) -> object:
        """Returns an attribute as a Python value, or None if the module does not have it."""
        return self.attrs.get(attr_key)

    def with_attr(
        self, attr_key_or_dict: str | Mapping[str, AttributeValue], attr_value: AttributeValue | None = None
    ) -> IRModule:
        """Returns a copy with one more attribute, or with all of a mapping. Values are MLIR attributes or Python's."""
        made = self.clone()
        more = with_value(attr_key_or_dict, attr_value)
        made.attributes.update({name: attribute_of(name, value) for name, value in more.items()})
        return made

    def without_attr(self, attr_key: str) -> IRModule:
        """Returns a copy without an attribute."""
        made = self.clone()
        made.attributes.pop(attr_key, None)
        return made

    # --- functions by name -----------------------------------------------------------------------------------------

    def __getitem__(self, var: GlobalVar | str) -> Function:
        """Returns a copy of a function, as expressions."""
        return Function.of_func(self._func(var))

    def __setitem__(self, var: GlobalVar | str, function: Expr | FuncOp) -> None:
        """Replaces the function of this name, or adds it at the end.

        An expression becomes a function of its free variables.
        """
        self.update({var: function})

    def __contains__(self, var: object) -> bool:
        """Returns whether the module has a function of this name."""
        return str(var).removeprefix("@") in functions_of(self)

    @property
    def functions(self) -> dict[GlobalVar, Function]:
        """Copies of all functions with a body, by global variable."""
        return {
            self.get_global_var(name): Function.of_func(func)
            for name, func in functions_of(self).items()
            if not func.is_declaration
        }

    def get_global_var(self, name: str) -> GlobalVar:
        """Returns the global variable of a function, which can be called."""
        return GlobalVar(name, self._func(name).function_type)

    def get_global_vars(self) -> list[GlobalVar]:
        """Returns the global variables of all functions, in order."""
        return [self.get_global_var(name) for name in functions_of(self)]

    def update(self, other: ModuleOp | Mapping[GlobalVar | str, Expr | FuncOp]) -> None:
        """Adds the functions of another module or a mapping; they replace functions of the same name.

        Global variables among the keys get the types of their functions, as after inference in Relay.
        """
        functions = functions_of(other) if isinstance(other, ModuleOp) else other
        for var, function in functions.items():
            self._put(str(var).removeprefix("@"), function)
        self._type_calls()
        for var in functions:
            if isinstance(var, GlobalVar):
                type = self._func(var).function_type
                var.function_type = type if is_complete(type) else None

    def update_func(self, var: GlobalVar | str, function: Expr | FuncOp) -> None:
        """Replaces or adds a function, as `mod[var] = function` does."""
        self[var] = function

    def remove(self, var: GlobalVar | str) -> None:
        """Removes a function."""
        self.body.block.erase_op(self._func(var), safe_erase=False)

    def astext(self, show_meta_data: bool = True) -> str:
        """Returns the module as text."""
        return str(self)

    def _func(self, var: object) -> FuncOp:
        found = functions_of(self)
        name = str(var).removeprefix("@")
        if name not in found:
            hint = did_you_mean(name, found, f"it has {', '.join(found) or 'none'}")
            raise InputError(f"the module has no function @{name}", help=hint)
        return found[name]

    def _put(self, name: str, function: object) -> None:
        if isinstance(function, FuncOp):
            func = function.clone()
            func.sym_name = StringAttr(name)
        elif isinstance(function, Expr):
            func = as_function(function).to_func(name)
        else:
            found = with_article(type(function).__name__)
            raise InputError(f"@{name} is {found}, not a function", help="pass a relay.Function")
        old = functions_of(self).get(name)
        if old is None:
            self.body.block.add_op(func)
        else:
            self.body.block.insert_op_before(func, old)
            self.body.block.erase_op(old, safe_erase=False)

    def _type_calls(self) -> None:
        """Infers the types of calls if the module has all functions that they name."""
        known = functions_of(self)
        for func in known.values():
            _set_results([op for op in func.walk() if isinstance(op, CallOp)], known)
        calls = [op for func in known.values() for op in func.walk() if is_call(op)]
        untyped = any(not is_complete(type) for call in calls for type in (*call.operand_types, *call.result_types))
        if untyped and all(callee_name(call) in known for call in calls):
            infer_types(self)


def _set_results(calls: Sequence[CallOp], known: Mapping[str, FuncOp]) -> None:
    """Replaces calls of unknown type by calls with the results of their function, as a tuple for the users."""
    for call in calls:
        func = known.get(callee_name(call))
        count = 1 if func is None else len(func.function_type.outputs)
        if count != 1 and len(call.results) == 1 and isinstance(call.results[0].type, IncompleteType):
            new = CallOp(call.callee, call.arguments, [IncompleteType()] * count)
            new.attributes, new.location = dict(call.attributes), call.location
            Rewriter.replace_op(call, [new, fields := TupleOp.call(*new.results)], fields.results)


def add_function(module: IRModule, function: Function, stem: str = MAIN) -> str:
    """Adds a function whose name is `stem`, with a number if the module has such a function; returns the name."""
    name = fresh_name(stem, set(functions_of(module)))
    module[name] = function
    return name


Module = IRModule
"""The former name of `IRModule`."""


def as_function(expr: Function | ExprLike) -> Function:
    """Returns an expression as the function of its free variables; a function unchanged."""
    if isinstance(expr, Function):
        return expr
    body: Expr = view(as_value(expr))
    return Function(free_vars(body), body)
