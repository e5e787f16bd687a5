"""`relay.dyn.nn.pad`: padding with widths from an operand."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.gradients.numbered_elements import numbered, sum_by_number
from xrelay.dialects.relay.op_definition import (
    ANY,
    AnyDim,
    Array,
    Body,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    IndexLike,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    RelayOp,
    TopiBuilder,
    maximum,
    minimum,
    register_relay_op,
    string_property,
    tensor_type,
)
from xrelay.dialects.relay.ops.tensor.transform import PAD_MODES, require_padding
from xrelay.errors import InterpreterError


@register_relay_op
@irdl_op_definition
class DynPadOp(RelayOp):
    """The data padded as by `nn.pad`, with the widths before and after each axis from an operand.

    `pad_mode` "constant" fills with the last operand, a scalar; "edge" repeats the outermost element; "reflect" mirrors
    about it.

    Constraints:
    - C2: the widths are integers, not booleans, two for each axis, and none is negative.
    - C3: the pad value has rank 0 and the data's element type.
    - C4: "edge" pads no axis of extent 0; "reflect" pads by less than the extent.

    Example:
    ```mlir
    %y = relay.dyn.nn.pad(%x, %w, %v) : (tensor<4x8xf32>, tensor<2x2xi64>, tensor<f32>) -> tensor<?x?xf32>
    ```

    """

    name = "relay.dyn.nn.pad"
    CONSTRAINTS = {"C1": OneOf("pad_mode", PAD_MODES)}
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()
    pad_width = operand_def()
    pad_value = operand_def()

    pad_mode = string_property("constant")

    @property
    def shape_depends_on_data(self) -> bool:
        """The shape depends on the widths."""
        return True

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the padded type, with a new extent for each axis whose widths are not known; checks C2 to C4."""
        shape, element = facts.operand(0)
        widths, kind = facts.operand(1)
        fits = widths == (len(shape), 2) and isinstance(kind, IntegerType) and kind.width.data > 1
        facts.require(fits, "C2", lambda: f"the widths of {facts[0]} are two integers for each axis, found {facts[1]}")
        value = facts.operand(2)
        facts.require(
            value == ((), element), "C3", lambda: f"the pad value must be tensor<{element}>, found {facts[2]}"
        )
        found = facts.elements(1) or (ANY,) * (2 * len(shape))
        pairs = zip(shape, found[::2], found[1::2], strict=True)
        return tensor_type([self._padded(facts, axis, *pair) for axis, pair in enumerate(pairs)], element)

    def _padded(self, facts: Facts, axis: int, extent: Dim, before: Dim, after: Dim) -> Dim:
        """Returns an extent with its padding; checks C2 and C4 for known widths."""
        for width in (before, after):
            if not isinstance(width, AnyDim):
                facts.require_at_least(width, 0, "C2", "padding")
            require_padding(facts, self.pad_mode.data, extent, width)
        if isinstance(before, AnyDim) or isinstance(after, AnyDim):
            return facts.new_extent("e", axis)
        return extent + before + after

    def evaluate(self, data: Array, pad_width: Array, pad_value: Array) -> Array:
        """Pads the array; the error for invalid widths contains axis and widths."""
        from xrelay.dialects.relay.meaning.padding import padded

        mode = self.pad_mode.data
        for axis, (extent, (before, after)) in enumerate(zip(data.shape, pad_width.tolist(), strict=True)):
            if min(before, after) < 0:
                raise InterpreterError(
                    f"[{self.name} C2] axis {axis} is padded by {before} and {after}; widths must not be negative"
                )
            widest = max(before, after)
            most = {"constant": widest, "edge": widest if extent else 0, "reflect": max(0, extent - 1)}
            if widest > most[mode]:
                raise InterpreterError(
                    f"[{self.name} C4] mode {mode!r} cannot pad axis {axis} of extent {extent} by {before} and {after}"
                )
        return padded(data, pad_width.tolist(), mode, pad_value)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Pads like `nn.pad`, with widths that are checked at run time."""
        from xrelay.dialects.relay.computes.checked_indices import checked_indices
        from xrelay.dialects.relay.computes.movement import padded

        build.require_no_new_extents()
        shape, mode = build.shape(build.operand(0)), self.pad_mode.data
        widths: list[SSAValue] = []
        for axis, (extent, room) in enumerate(zip(shape, build.result_shape, strict=True)):
            most = {"constant": room, "edge": minimum(extent, 1) * room, "reflect": maximum(extent, 1) - 1}[mode]
            widths.append(checked_indices(build, build.operand(1), most + 1, part=axis, from_end=False))

        def before(b: Body) -> Sequence[IndexLike]:
            return [b.read_index(pair, 0) for pair in widths]

        return [padded(build, build.operand(2), before, [True] * len(shape))]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sums for the elements of the data and for the pad value; None for the widths."""
        nothing = build.scalar(0, numbered(self.data, build))
        numbers = build.op("dyn.nn.pad", numbered(self.data, build), self.pad_width, nothing, **self.properties)
        fills = build.op("where", build.op("equal", numbers, 0), of, build.zeros_like(of))
        return [sum_by_number(numbers, of, self.data, build), None, build.op("sum", fills)]
