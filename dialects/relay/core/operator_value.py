"""An operator as a value: the callee of a call, without operands and attributes.

`relay.op.register` creates operators by name, as in Relay. Later declarations, such as the number of operands and the
type relation, are stored in the class.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias, cast

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import VarOperandDef, irdl_op_definition, var_operand_def

from xrelay.dialects.relay.core.facts import Elements, Facts, Inference
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.shared.types import tensor_type
from xrelay.errors import InputError

DEFAULT: Final = 10
"""The level of operators that are not listed."""

_NAMES: Final = {
    1: """
        acos acosh add asin asinh atan atanh concatenate cos cosh divide erf exp expand_dims fast_erf fast_exp
        fast_tanh floor_divide floor_mod invert_permutation log log10 log2 mod multiply nn.batch_norm nn.bias_add
        nn.dense nn.dropout nn.fast_softmax nn.group_norm nn.instance_norm nn.layer_norm nn.log_softmax nn.matmul
        nn.relu nn.softmax nn.sparse_add nn.sparse_conv2d nn.sparse_dense nn.sparse_transpose rsqrt sigmoid sin sinh
        sqrt subtract tan tanh trunc_divide trunc_mod
    """,
    2: """
        dyn.nn.pad image.dilation2d nn.avg_pool1d nn.avg_pool2d nn.avg_pool2d_grad nn.avg_pool3d nn.batch_flatten
        nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_backward_weight nn.conv2d_transpose nn.conv3d
        nn.conv3d_transpose nn.correlation nn.global_avg_pool2d nn.global_max_pool2d nn.l2_normalize nn.lrn
        nn.max_pool1d nn.max_pool2d nn.max_pool2d_grad nn.max_pool3d nn.mirror_pad nn.pad nn.upsampling
        nn.upsampling3d
    """,
    3: """
        abs adv_index arange cast cast_like ceil clip copy cumprod cumsum dft dyn.full dyn.reshape
        dyn.sparse_to_dense dyn.tile floor full full_like gather gather_nd isfinite isinf isnan meshgrid negative
        nn.fifo_buffer nn.leaky_relu nn.prelu ones reinterpret repeat reshape reshape_like reverse reverse_sequence
        round scatter_elements scatter_nd sign sparse_reshape sparse_to_dense split squeeze stack stft take tile
        transpose trilu trunc unique unravel_index zeros
    """,
    4: """
        all any argmax argmin bitwise_and bitwise_not bitwise_or bitwise_xor broadcast_to collapse_sum_to
        dyn.broadcast_to dyn.strided_slice equal greater greater_equal left_shift less less_equal logical_and
        logical_not logical_or logical_xor max maximum mean min minimum not_equal ones_like power prod right_shift
        strided_set strided_slice sum variance where zeros_like
    """,
    5: """
        image.affine_grid image.crop_and_resize image.grid_sample image.resize1d image.resize2d image.resize3d
        layout_transform nn.batch_to_space_nd nn.deformable_conv2d nn.depth_to_space nn.space_to_batch_nd
        nn.space_to_depth vision.all_class_non_max_suppression vision.get_valid_counts vision.multibox_prior
        vision.multibox_transform_loc vision.non_max_suppression vision.proposal vision.regular_non_max_suppression
        vision.roi_align vision.roi_pool vision.yolo_reorg
    """,
    6: """
        argsort dyn.topk searchsorted sort topk
    """,
    11: """
        einsum
    """,
}

_LEVELS: Final = {name: level for level, names in _NAMES.items() for name in names.split()}


def support_level(name: str) -> int:
    """Returns the support level of an operator by Relay's name."""
    return _LEVELS.get(name, 11 if name.startswith("qnn.") else DEFAULT)


Relation: TypeAlias = Callable[[Facts], Attribute]
"""Returns the result type for the operands' types; it may raise `ConstraintError`."""


class UserOperator(RelayOp):
    """Base of the operators that are registered by name.

    Constraints:
    - C1: there are as many operands as arguments were declared.
    - C2: the type relation accepts the types of the operands.
    """

    PATTERN = OpPatternKind.OPAQUE
    COUNT: ClassVar[int | None] = None
    """The number of operands; None for any number."""
    ARGUMENTS: ClassVar[Sequence[tuple[str, str, str]]] = ()
    """The declared name, type and description of each operand."""
    SUPPORT_LEVEL: ClassVar[int | None] = None
    """The declared support level."""
    RELATION: ClassVar[Sequence[Relation]] = ()
    """The type relation, or empty before its declaration."""

    inputs = var_operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the result of the relation; C1 and C2."""
        count = self.COUNT
        found = len(facts)
        facts.require(count is None or found == count, "C1", f"it takes {count} operands, found {found}")
        facts.require(
            bool(self.RELATION),
            "C2",
            "it has no type relation",
            help=f'add one: relay.op.get("{self.relay_name()}").add_type_rel',
        )
        return self.RELATION[0](facts)

    def inference(self, operand_types: Sequence[Attribute], elements: Sequence[Elements | None] = ()) -> Inference:
        """Applies the current relation, without a cache because it may be replaced."""
        return self._apply_rule(Facts(self.name, operand_types, elements))


def make_operator(name: str, description: str) -> type[UserOperator]:
    """Creates a class for the operator called `name` in Relay."""
    title = "".join(part.capitalize() for part in name.replace(".", "_").split("_"))
    fields = {"name": f"relay.{name}", "__doc__": description, "__module__": __name__}
    return irdl_op_definition(type(f"{title}Op", (UserOperator,), fields))


def identity(facts: Facts) -> Attribute:
    """Returns the common type of all operands."""
    facts.require(len(facts) > 0, "C2", "an op without operands has no inferred type")
    first = facts[0]
    for index in range(1, len(facts)):
        facts.require(facts[index] == first, "C2", f"operands of types {first} and {facts[index]}")
    return first


def broadcast(facts: Facts) -> Attribute:
    """Returns the broadcast shape of two operands, in their element type."""
    facts.require(len(facts) == 2, "C2", f"two operands are expected, found {len(facts)}")
    elements = [facts.element(index) for index in range(2)]
    facts.require(elements[0] == elements[1], "C2", f"element types {elements[0]} and {elements[1]}")
    return tensor_type(facts.broadcast("C2", 0, 1), elements[0])


def compared(facts: Facts) -> Attribute:
    """Returns the broadcast shape of two operands, with boolean elements."""
    broadcast(facts)
    return tensor_type(facts.broadcast("C2", 0, 1), i1)


RELATIONS: dict[str, Relation] = {"Identity": identity, "Broadcast": broadcast, "BroadcastComp": compared}
"""The predefined relations by Relay's name."""


LEVEL = 10
"""The default level of attributes."""


class OperatorAttribute(Protocol):
    """A named attribute of operators."""

    def get(self, kind: type[RelayOp]) -> Any:
        """Returns the value for an operator, or None."""
        ...

    def set(self, kind: type[RelayOp], value: Any, level: int) -> None:
        """Sets the value, unless one of a greater level is set."""
        ...

    def reset(self, kind: type[RelayOp]) -> None:
        """Removes the value."""
        ...


class OperatorArgument(NamedTuple):
    """An operand of an operator."""

    name: str
    type_info: str
    description: str


@dataclass(frozen=True)
class Op:
    """An operator: `name` is Relay's name, `kind` the op class.

    Its attributes are values by name that this package or users register. For instance, `FTVMLegalize` is the
    expression that replaces a call. `relay.op.register_legalize` and similar functions register such hooks; other names
    store any value. `register_op_attr` in `op_attributes.py` lists the attributes that passes use.
    """

    name: str
    kind: type[RelayOp]

    @staticmethod
    @cache
    def of(kind: type[RelayOp]) -> Op:
        """Returns the operator whose calls are ops of `kind`."""
        return Op(kind.relay_name(), kind)

    @property
    def description(self) -> str:
        """The description of the operator, without constraints and example."""
        return inspect.cleandoc(self.kind.__doc__ or "").partition("\n\nConstraints:")[0].partition("\n\nExample:")[0]

    @property
    def arguments(self) -> list[OperatorArgument]:
        """The operands in order, without attributes, as in Relay."""
        if issubclass(self.kind, UserOperator):
            return [OperatorArgument(*argument) for argument in self.kind.ARGUMENTS]
        return [
            OperatorArgument(name, "Tensor", f"Operand {number} of {self.name}: {name.replace('_', ' ')}.")
            for number, (name, _) in enumerate(self.kind.get_irdl_definition().operands)
        ]

    @property
    def num_inputs(self) -> int:
        """The number of operands; -1 if it varies."""
        if issubclass(self.kind, UserOperator):
            return -1 if self.kind.COUNT is None else self.kind.COUNT
        operands = self.kind.get_irdl_definition().operands
        return -1 if any(isinstance(definition, VarOperandDef) for _, definition in operands) else len(operands)

    def get_attr(self, attr_name: str) -> Any:
        """Returns an attribute of the operator, or None."""
        return _attribute(attr_name).get(self.kind)

    def has_attr(self, attr_name: str) -> bool:
        """Returns whether the operator has an attribute."""
        return self.get_attr(attr_name) is not None

    def set_attr(self, attr_name: str, value: Any, plevel: int = LEVEL) -> None:
        """Sets an attribute, unless one of a higher level is set. Raises `InputError` as `register_op_attr`."""
        _attribute(attr_name).set(self.kind, value, plevel)

    def reset_attr(self, attr_name: str) -> None:
        """Removes an attribute, even if this package registered it."""
        _attribute(attr_name).reset(self.kind)

    # --- declaration of operators of `relay.op.register` --------------------------------------------------------------

    @property
    def support_level(self) -> int:
        """Relay's support level: from 1, for the most common operators, to 11."""
        given = self.kind.SUPPORT_LEVEL if issubclass(self.kind, UserOperator) else None
        return support_level(self.name) if given is None else given

    def set_support_level(self, level: int) -> None:
        """Sets the support level."""
        self._registered().SUPPORT_LEVEL = level

    def set_num_inputs(self, n: int) -> None:
        """Sets the number of operands; -1 for any number."""
        self._registered().COUNT = None if n < 0 else n

    def add_argument(self, name: str, type: str, description: str) -> None:
        """Declares the next operand."""
        kind = self._registered()
        kind.ARGUMENTS = (*kind.ARGUMENTS, (name, type, description))

    def add_type_rel(self, rel_name: str, type_rel_func: Callable[[list[Any], Any], Any] | None = None) -> None:
        """Sets the type relation.

        `f(args, attrs)` takes the types of the operands, with Relay's interface, and returns the type of the result.
        Without a function, it is the relation of this name in Relay: "Identity", "Broadcast", "BroadcastComp".
        """
        relation = RELATIONS.get(rel_name) if type_rel_func is None else _attributes().relation_of(type_rel_func)
        if relation is None:
            hint = f"pass a function, or one of {', '.join(RELATIONS)}"
            raise InputError(f"unknown relation {rel_name!r}", help=hint)
        self._registered().RELATION = (relation,)

    def _registered(self) -> type[UserOperator]:
        """Returns the class of a registered operator. Raises `InputError` for an op class."""
        if issubclass(self.kind, UserOperator):
            return self.kind
        raise InputError(f"{self.name} is declared by its class", help="use relay.op.register for new operators")

    def __repr__(self) -> str:
        return f"Op({self.name})"


def _attribute(name: str) -> OperatorAttribute:
    """Returns the attribute of a name."""
    return cast(OperatorAttribute, _attributes().operator_attribute(name))


_loaders: list[Callable[[], Any]] = []


def register_operator_attributes(load: Callable[[], Any]) -> None:
    """Registers a function that loads the module of attributes, which depends on passes.

    The module has the functions `operator_attribute(name)` and `relation_of(function)`.
    """
    _loaders[:] = [load]


def _attributes() -> Any:
    """Returns the module of attributes. Raises `InputError` if no package has registered it."""
    if not _loaders:
        raise InputError("the attributes of operators are unknown", help="import xrelay.relay")
    return _loaders[0]()
