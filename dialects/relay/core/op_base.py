"""`RelayOp`, the base of all Relay operators: syntax, type relation, constraints and fusion pattern.

An operator is one class. It declares operands and properties with IRDL, sets its `PATTERN`, and defines its shape rule
in `infer_type` over `Dim`s. Checks are numbered constraints (`self.require(…, "C1", …)`) whose ids occur in the
docstring, in the verifier's message and in the test.

Three optional methods implement the operator: `evaluate(self, *arrays)` is the numpy reference, `compute(self, build)`
builds the index spaces, and `gradient(self, of, build)` builds the gradients of the operands. Another package registers
functions for a class (`@evaluates`, `@implements`, `@differentiates`), which replace the methods or are further
implementations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self

from xdsl.dialects.builtin import FunctionType, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue, SSAValues, TypeAttribute
from xdsl.irdl import IRDLOperation, OptionalDef, VarOperandDef, VerificationContext, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core import assembly_format
from xrelay.dialects.relay.core.attribute_values import AttributeValue, normalized, to_attribute
from xrelay.dialects.relay.core.compatible import compatible, environment_of
from xrelay.dialects.relay.core.constraints import Constraints
from xrelay.dialects.relay.core.facts import Elements, Facts, Inference
from xrelay.dialects.relay.core.mixed_precision import HalfPrecision, MixedPrecision
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.layout.behaviour import LayoutAnswer, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.identity_memo import IdentityMemo
from xrelay.dialects.shared.requirements import PureExceptNames, record_requirements, requirements_of
from xrelay.dialects.shared.types import (
    IncompleteType,
    element_type_of,
    function_type,
    is_complete,
    shape_of,
)
from xrelay.errors import ConstraintError, ContradictionError, XRelayError, did_you_mean
from xrelay.index_algebra.dims import Shape
from xrelay.index_algebra.requirement import Requirement
from xrelay.index_algebra.shape_environment import ShapeEnvironment

if TYPE_CHECKING:
    import numpy as np


class RelayOp(IRDLOperation):
    """Base of the Relay operators: one call node with one result (a tuple if Relay's operator has several)."""

    LEVEL: ClassVar[str] = "relay"
    """The level of the op, regardless of the dialect in its name (`xrelay.dialects.shared.levels`)."""

    PATTERN: ClassVar[OpPatternKind]
    """The fusion pattern of the op."""

    MIXED_PRECISION: ClassVar[MixedPrecision | None] = None
    """How mixed precision treats the op; None if it is not specified."""
    HALF_PRECISION: ClassVar[HalfPrecision] = HalfPrecision.OWN
    """How `compute` treats halves."""
    QUANTIZATION: ClassVar[Quantization | None] = None
    """How the op computes with quantised numbers; None if it needs floats, or a rule of its own."""
    RESULT_ELEMENT: ClassVar[str | None] = None
    """The property for the element type of the result, of an op whose result may differ from its operands."""

    CONSTRAINTS: ClassVar[Constraints] = {}
    """Declared constraints by id, checked before the shape rule; see `core/constraints.py`."""
    RESHAPE_ONLY: ClassVar[bool] = False
    """Whether the result has the operand's bytes in another shape (Relay's TReshapeOp)."""

    INFERS_FROM_INCOMPLETE: ClassVar[bool] = False
    """Whether the shape rule also accepts incomplete operand types, and propagates their known parts."""

    CHOOSES_LAYOUT: ClassVar[bool] = False
    """Whether the op's speed depends on its layout. Such an op keeps its layout if a change only avoids a transform."""

    INFERENCE_HINT: ClassVar[str | None] = None
    """Advice for users whose program does not determine the types of this op's operands."""

    result = result_def()

    traits = traits_def(PureExceptNames())

    def __init_subclass__(cls) -> None:
        """Annotates the constants of a class, its upper-case names, because IRDL recognises them by an annotation."""
        super().__init_subclass__()
        for name in list(vars(cls)):
            if name.isupper():
                cls.__annotations__.setdefault(name, "ClassVar")

    # --- names -----------------------------------------------------------------------------------------------------

    @classmethod
    def relay_name(cls) -> str:
        """Returns Relay's name of the op, e.g. `nn.conv2d`."""
        return cls.name.removeprefix("relay.")

    # --- the type relation -----------------------------------------------------------------------------------------

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the result type for complete operand types: the shape rule.

        It may use properties and `facts`, but not the operands themselves. Raises `ConstraintError` if a constraint
        certainly does not hold; undecided conditions are recorded as requirements in `facts`.
        """
        raise NotImplementedError(f"{self.name} has no shape rule")

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the elements of the result, a small integer tensor, or None if `facts` do not determine them.

        Shape rules of ops that read this tensor compute extents from them.
        """
        return None

    def inferred_type(self, operand_types: Sequence[Attribute]) -> Attribute:
        """Returns the type of `infer_type`, with Relay's Any for extents that the op introduces."""
        return self.inference(operand_types).anonymous_type

    def inference(self, operand_types: Sequence[Attribute], elements: Sequence[Elements | None] = ()) -> Inference:
        """Returns the result of the rule, cached because networks repeat layers of equal types and properties."""
        key = _rule_key(type(self), operand_types, self.properties, elements)
        known = _INFERRED.get(key)
        if known is None:
            kept = (*operand_types, *self.properties.values())
            known = _INFERRED.add(key, self._apply_rule(Facts(self.name, operand_types, elements)), kept)
        return known

    def _apply_rule(self, facts: Facts) -> Inference:
        """Checks the declared constraints and applies the rule."""
        self._require_operands(len(facts))
        for name, constraint in self.CONSTRAINTS.items():
            constraint.check(name, facts, self.properties)
        return Inference.of(self.infer_type(facts), facts)

    def _require_operands(self, count: int) -> None:
        """Raises `ConstraintError` if the number of operands differs from the declaration."""
        operands = self.get_irdl_definition().operands
        if count != len(operands) and not any(isinstance(operand, VarOperandDef) for _, operand in operands):
            names = ", ".join(name for name, _ in operands)
            self.require(False, "C0", f"takes {len(operands)} operands ({names}), found {count}")

    @property
    def result_dtype(self) -> np.dtype:
        """The numpy dtype of the result, a tensor."""
        return numpy_dtype(element_type_of(self.result.type))

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The requirements on named dimensions that `relay-infer-type` recorded on the op."""
        return requirements_of(self)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns operand types refined by each other and by the result: the rule in reverse.

        Any of the given types may be incomplete, and may stay so. The default returns them unchanged.
        """
        return facts

    def require(
        self, condition: bool, constraint: str, message: str | Callable[[], str], *, help: str | None = None
    ) -> None:
        """Raises `ConstraintError` with the op's name and `constraint` if `condition` is false.

        A function may create the message, for messages that are expensive to create, such as those with a type.
        """
        if not condition:
            raise ConstraintError(self.name, constraint, message if isinstance(message, str) else message(), help=help)

    def element_type_property(self, attribute: Attribute | None, default: Attribute, constraint: str) -> Attribute:
        """Returns the element type in a property, or `default` for None."""
        if attribute is None:
            return default
        self.require(
            isinstance(attribute, TypeAttribute),
            constraint,
            lambda: f"the dtype must be an element type, found {attribute}",
        )
        return attribute

    def verify_(self) -> None:
        """Checks the numbered constraints, the result type against the shape rule, and the names of attributes."""
        known = self.get_irdl_definition().properties if type(self).print is RelayOp.print else self.attributes
        if (unknown := assembly_format.unknown_attribute(self.name, self.attributes, known)) is not None:
            raise VerifyException(f"[{self.name} C0] {unknown}")
        operand_types = [operand.type for operand in self.operands]
        if not all(is_complete(type) for type in operand_types):
            return
        try:
            inferred = self.inferred_type(operand_types)
            environment = self._require_possible(self.requirements)
        except ConstraintError as error:
            raise VerifyException(_verifier_text(error)) from error
        found = self.results[0].type
        if is_complete(found) and not compatible(inferred, found, environment):
            raise VerifyException(f"[{self.name} C0] result type {found} differs from the inferred type {inferred}")

    @classmethod
    def _require_possible(cls, requirements: Sequence[Requirement]) -> ShapeEnvironment | None:
        """Returns the facts that follow from `requirements`. Raises `ConstraintError` if no sizes satisfy them."""
        try:
            return environment_of(requirements)
        except ContradictionError as error:
            raise ConstraintError(cls.name, "C0", f"the requirements of the op cannot hold: {error.message}") from error

    # --- fusion and layouts ----------------------------------------------------------------------------------------

    @property
    def fusion_pattern(self) -> OpPatternKind:
        """The op's fusion pattern. Ops whose pattern depends on operands override this."""
        return self.PATTERN

    @property
    def shape_depends_on_data(self) -> bool:
        """Whether the result's shape depends on operand values (Relay's TShapeDataDependent), as for `unique`.

        Such an op is not fused if its result has unknown extents, because the kernel's output could not be allocated.
        """
        return False

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Decides the layouts of the op for operands that are available in `layouts` (None: in the original layout).

        Returns the layouts of operands and result with the properties to change, or the reason for keeping the current
        layouts. The layout of a tuple operand is that of most elements in it. The default, and `LayoutError`, keep the
        current layouts.
        """
        return LayoutRefusal(f"{self.name} does not declare layouts")

    # --- building --------------------------------------------------------------------------------------------------

    @classmethod
    def call(cls, *operands: SSAValue | Operation, **attributes: AttributeValue) -> Self:
        """Returns the op on `operands` with Python values for its properties. The result type is inferred if possible.

        None leaves a property at its default. Raises `ConstraintError` for unknown properties and invalid values.
        """
        properties = cls.properties_from(attributes)
        values = [operand if isinstance(operand, SSAValue) else SSAValue.get(operand) for operand in operands]
        if cls.INFERS_FROM_INCOMPLETE or all(is_complete(value.type) for value in values):
            return cls.typed(values, properties)
        return cls.create(operands=values, result_types=[INCOMPLETE], properties=properties)

    @classmethod
    def number_type(cls, index: int) -> Attribute | None:
        """Returns the tensor type for a Python number as operand `index`; None for the element type of the data."""
        return None

    @classmethod
    def typed(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        elements: Sequence[Elements | None] = (),
    ) -> Self:
        """Returns the op on `operands` with the result type of the shape rule.

        `elements` are the known elements of the operands. Raises `ConstraintError` if a constraint does not hold or no
        sizes satisfy the requirements.
        """
        types = [operand.type for operand in operands]
        known = _INFERRED.get(_rule_key(cls, types, properties, elements))
        if known is not None:
            cls._require_possible(known.known_requirements)
            op = cls.create(operands=operands, result_types=[known.anonymous_type], properties=properties)
            record_requirements(op, known.known_requirements)
            return op
        op = cls.create(operands=operands, result_types=[INCOMPLETE], properties=properties)
        try:
            inference = op.inference(types, elements)
            cls._require_possible(inference.known_requirements)
        except (XRelayError, ValueError):
            # xDSL's implicit builder has inserted the op into a block already.
            if op.parent is not None:
                op.detach()
            op.erase()
            raise
        # The result has no uses yet, so it can be replaced directly.
        op.results = SSAValues((OpResult(inference.anonymous_type, op, 0),))
        record_requirements(op, inference.known_requirements)
        return op

    @classmethod
    def properties_from(cls, attributes: Mapping[str, AttributeValue]) -> dict[str, Attribute]:
        """Returns properties for Python values, with defaults for the others."""
        definitions = cls.get_irdl_definition().properties
        properties: dict[str, Attribute] = {}
        for name, value in normalized(cls.name, cls.normalize, attributes).items():
            if name not in definitions:
                known = ", ".join(definitions)
                hint = did_you_mean(name, definitions, f"it has: {known}")
                raise ConstraintError(cls.name, "C0", f"unknown attribute {name!r}", help=hint)
            if value is not None:
                default = None if isinstance(definitions[name], OptionalDef) else definitions[name].default_value
                properties[name] = cls._property(name, value, default)
        for name, definition in definitions.items():
            if name not in properties and not isinstance(definition, OptionalDef):
                if definition.default_value is None:
                    raise ConstraintError(cls.name, "C0", f"attribute {name!r} is required")
                properties[name] = definition.default_value
        return properties

    @classmethod
    def _property(cls, name: str, value: AttributeValue, default: Attribute | None) -> Attribute:
        """Converts a Python value for the property `name`. Raises `ConstraintError` for a value of the wrong kind."""
        try:
            if isinstance(value, int | str):
                return _checked_property(cls, name, type(value), value, default)
            return _check_property(cls, name, to_attribute(name, value, default))
        except (TypeError, ValueError, VerifyException) as error:
            text = " ".join(str(error).split())
            raise ConstraintError(cls.name, "C0", f"attribute {name!r} cannot be {value!r}: {text}") from error

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Expands the shorthands that Relay accepts, e.g. one number of padding for four. Ops may override this."""
        return attributes

    # --- text ------------------------------------------------------------------------------------------------------

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses `(%x, %w) {strides = [2, 2]} : (T, T) -> T`."""
        unresolved = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        position = parser.pos
        attributes = assembly_format.parse_attributes(parser)
        problem = cls._attribute_problem(attributes)
        if problem is not None:
            parser.raise_error(problem, position)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_attribute()
        if not isinstance(type, FunctionType) or len(type.outputs) != 1:
            parser.raise_error("expected a type with one result, e.g. (tensor<4xf32>) -> tensor<4xf32>", position)
        operands = parser.resolve_operands(unresolved, type.inputs.data, position)
        names = cls.get_irdl_definition().properties
        properties = {name: attributes.pop(name) for name in list(attributes) if name in names}
        types = list(type.outputs)
        return cls.create(operands=operands, result_types=types, properties=properties, attributes=attributes)

    @classmethod
    def _attribute_problem(cls, attributes: Mapping[str, Attribute]) -> str | None:
        """Returns the error for parsed attributes, a value of the wrong kind or an unknown name, or None."""
        definitions = cls.get_irdl_definition().properties
        for name, value in attributes.items():
            if name in definitions:
                try:
                    definitions[name].constr.verify(value, VerificationContext())
                except VerifyException as error:
                    return f"{cls.name}: attribute {name!r} has a value of the wrong kind: {error}"
        return assembly_format.unknown_attribute(cls.name, attributes, definitions)

    def print(self, printer: Printer) -> None:
        """Prints the syntax that `parse` reads, without properties at their defaults."""
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_ssa_value)
        assembly_format.print_attributes(printer, self.non_default_properties() | self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(function_type(self.operand_types, self.result_types))

    def non_default_properties(self) -> dict[str, Attribute]:
        """Returns the properties that differ from their defaults, in the order of declaration."""
        definitions = self.get_irdl_definition().properties
        return {
            name: self.properties[name]
            for name, definition in definitions.items()
            if name in self.properties
            and (isinstance(definition, OptionalDef) or definition.default_value != self.properties[name])
        }


_INFERRED = IdentityMemo[Inference]()
"""The cached results of shape rules."""


def _rule_key(
    op: type[RelayOp],
    operand_types: Sequence[Attribute],
    properties: Mapping[str, Attribute],
    elements: Sequence[Elements | None],
) -> Hashable:
    """Returns a key of everything that a shape rule may depend on."""
    known = tuple(elements) if any(each is not None for each in elements) else ()
    return (op, *map(id, operand_types), *properties, *map(id, properties.values()), known)


@lru_cache(maxsize=4096)
def _checked_property(
    op: type[RelayOp], name: str, kind: type, value: int | str, default: Attribute | None
) -> Attribute:
    """Returns the checked attribute for a value, cached. `kind` distinguishes `True` from 1."""
    return _check_property(op, name, to_attribute(name, value, default))


def _check_property(op: type[RelayOp], name: str, attribute: Attribute) -> Attribute:
    """Returns `attribute` if it is valid for the property `name` of `op`. Raises `VerifyException` otherwise."""
    op.get_irdl_definition().properties[name].constr.verify(attribute, VerificationContext())
    return attribute


INCOMPLETE = IncompleteType()


def _verifier_text(error: ConstraintError) -> str:
    return error.message if error.help is None else f"{error.message}; help: {error.help}"


def known_shape(type: Attribute) -> Shape | None:
    """Returns the shape of a tensor type; None for anything else, such as an incomplete type."""
    return shape_of(type) if isinstance(type, TensorType) else None
