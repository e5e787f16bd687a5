"""`topi.conv2d_nchwc_terms`: convolution on blocked channels that sums products in groups of four."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi.build import Body, compute
from xrelay.dialects.topi.named.base import Expansion, convert, verify_ranks
from xrelay.dialects.topi.named.conv import ConvBaseOp
from xrelay.dialects.topi.shapes import known_shape_of, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim


@irdl_op_definition
class Conv2dNchwcTermsOp(ConvBaseOp):
    """Convolution of images in blocks of channels with filters whose channels are contiguous in small blocks.

    Data is N×(C/i)×H×W×i, weight (O/o)×(D/t)×KH×KW×o×t, the result N×(O/o)×OH×OW×o. The same sums as
    `topi.conv2d_nchw`, with channel `c` of data at `[c // i, …, c % i]` and of a filter at `[c // t, …, c % t]`: the t
    products that one instruction sums in each lane are contiguous, followed by those of the next lane.

    - C1: data and result have rank 5, weight rank 6.
    - C2: strides and dilation are two positive numbers; padding is top, left, bottom and right, none negative.
    - C3: groups divides the filters; the data's channels are groups times the weight's depth.
    - C4: the result's shape is batch, blocks of filters, as many windows as fit into the padded image, block.
    - C5: data and weight have the same element type, and the result has the same or a wider type of its kind; or they
      are ui8, i8 and i32.
    - C6: t divides the data's block; with several groups each group consists of whole blocks.

    ```mlir
    func.func @conv(%x: tensor<1x1x9x9x8xui8>, %w: tensor<2x2x3x3x8x4xi8>) -> tensor<1x2x7x7x8xi32> {
      %r = topi.conv2d_nchwc_terms(%x, %w)
           : (tensor<1x1x9x9x8xui8>, tensor<2x2x3x3x8x4xi8>) -> tensor<1x2x7x7x8xi32>
      func.return %r : tensor<1x2x7x7x8xi32>
    }
    ```
    """

    name = "topi.conv2d_nchwc_terms"
    AXES: ClassVar[str] = "HW"

    def verify_(self) -> None:
        """Checks C1 to C6."""
        data, weight, result = shape_of(self.data), known_shape_of(self.weight), shape_of(self.tensor)
        verify_ranks(self.name, "C1", [("data", data, [5]), ("weight", weight, [6]), ("result", result, [5])])
        filters, depth = weight[0] * weight[4], weight[1] * weight[5]
        self.verify_shapes(data[1] * data[4], filters, depth, [weight[0], weight[4]])
        self.verify_types()
        block, groups = data[4], self.groups.value.data
        if not isinstance(block, int) or block % weight[5]:
            raise VerifyException(f"[{self.name} C6] blocks of {weight[5]} do not divide the data's of {block}")
        if groups > 1 and (depth % block or filters // groups % weight[4]):
            raise VerifyException(
                f"[{self.name} C6] blocks of {block} data and {weight[4]} result channels do not fit {groups} groups "
                f"of {depth} channels and {filters // groups} filters"
            )

    def expand(self) -> Expansion:
        """Expands to a pad, if there is padding, and the convolution."""
        expansion = Expansion()
        data = self.padded_image(expansion)
        n, _, h, w, _ = shape_of(self.tensor)
        co, small, *kernel, ci, terms = known_shape_of(self.weight)
        per_block = self._block // terms
        blocks, blocks_per_group = small // per_block, co // self.groups.value.data
        element = tensor_type(self.tensor).element_type

        def body(b: Body) -> list[SSAValue]:
            n, co_, *place, ci_ = b.spatial
            ko_, term, kq_, *taps = b.reduction
            block = co_ // blocks_per_group * blocks + ko_
            a = b.read(data, n, block, *self.places(place, taps), kq_ * terms + term)
            f = b.read(self.weight, co_, ko_ * per_block + kq_, *taps, ci_, term)
            return [b.accumulate_product(b.accumulators[0], convert(b, a, element), convert(b, f, element))]

        spatial: dict[str, Dim] = {"n": n, "co": co, "h": h, "w": w, "ci": ci}
        reduce: dict[str, Dim] = {"ko": blocks, "t": terms, "kq": per_block, **self.taps(kernel)}
        return expansion.finish(compute("conv2d", spatial, [element], body, reduce=reduce, init=[0]))

    @property
    def _block(self) -> int:
        """The number of contiguous channels of the data."""
        return tensor_type(self.data).get_shape()[4]
