"""`topi.conv2d_nchwc_winograd`: a convolution by Winograd's algorithm, with a transformed weight."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.attribute_names import MATERIALIZED
from xrelay.dialects.shared.winograd import GROUP, PAIRS, TAPS
from xrelay.dialects.topi.build import ALLOW_CONTRACT, Body, compute
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.named.base import Expansion, NamedOp, add_product, verify_ranks
from xrelay.dialects.topi.shapes import ints, shape_list, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, ceil_div, certainly_differ


@irdl_op_definition
class Conv2dNchwcWinogradOp(NamedOp):
    """Convolution of stride 1 with 3×3 filters, in tiles of m×m results that need (m + 2)² products per channel.

    Data is N×(C/i)×H×W×i, the result N×(O/o)×OH×OW×o, as for `topi.conv2d_nchwc`. The weight is transformed,
    (O/o)×(m + 2)×(m + 2)×C×o: element [p, q] of a filter w is `Σ_{r, s} G[p, r] G[q, s] w[r, s]`. With the polynomial
    `M(x)`, the product of `x - x_p` over the finite points (`dialects/shared/winograd.py`), row p of G is
    `[1, x_p, x_p²] / M'(x_p)`, and [0, 0, 1] for ∞.

    A tile computes in numbers of other sizes than its results, so an inf or NaN that one result reads makes all results
    of a tile NaN.

    - C1: data and result have rank 5, weight has rank 5.
    - C2: the tile is 2 or 4; padding is top, left, bottom and right, none negative.
    - C3: the weight has tile + 2 rows and columns, the data's channels, and the filters of the result.
    - C4: the result's shape is batch, blocks of filters, as many windows as fit into the padded image, block.
    - C5: data, weight and result are all f32, or all f64.

    ```mlir
    func.func @conv(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x4x4x8x8xf32>) -> tensor<1x2x7x7x8xf32> {
      %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 2}
           : (tensor<1x1x9x9x8xf32>, tensor<2x4x4x8x8xf32>) -> tensor<1x2x7x7x8xf32>
      func.return %r : tensor<1x2x7x7x8xf32>
    }
    ```
    """

    name = "topi.conv2d_nchwc_winograd"

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    tile = prop_def(IntegerAttr[IntegerType])
    padding = prop_def(DenseArrayBase[IntegerType], default_value=ints([0, 0, 0, 0]))
    tensor = result_def(TensorType)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` $data `,` $weight `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, data: SSAValue, weight: SSAValue, result_type: Attribute, *, tile: int, padding: Sequence[int]):
        properties = {"tile": IntegerAttr(tile, i64), "padding": ints(padding)}
        super().__init__(operands=[data, weight], properties=properties, result_types=[result_type])

    def verify_(self) -> None:
        """Checks C1 to C5."""
        data, weight, result = shape_of(self.data), shape_of(self.weight), shape_of(self.tensor)
        verify_ranks(self.name, "C1", [("data", data, [5]), ("weight", weight, [5]), ("result", result, [5])])
        tile, padding = self.tile.value.data, list(self.padding.iter_values())
        if tile not in PAIRS:
            raise VerifyException(f"[{self.name} C2] the tile is {tile}, not {' or '.join(map(str, PAIRS))}")
        if len(padding) != 4 or min(padding) < 0:
            raise VerifyException(f"[{self.name} C2] padding is {padding}, not four numbers of at least 0")
        size, channels = tile + TAPS - 1, data[1] * data[4]
        expected_weight = (result[1], size, size, channels, result[4])
        if any(map(certainly_differ, weight, expected_weight)):
            raise VerifyException(
                f"[{self.name} C3] weight has shape {shape_list(weight)}, not {shape_list(expected_weight)}"
            )
        top, left, bottom, right = padding
        images = data[2] + (top + bottom - TAPS + 1), data[3] + (left + right - TAPS + 1)
        expected = (data[0], result[1], *images, result[4])
        few = any(isinstance(image, int) and image < 1 for image in images)
        if few or any(map(certainly_differ, result, expected)):
            raise VerifyException(f"[{self.name} C4] result has shape {shape_list(result)}, not {shape_list(expected)}")
        elements = {tensor_type(value).element_type for value in (self.data, self.weight, self.tensor)}
        if len(elements) > 1 or not isinstance(elements.pop(), Float32Type | Float64Type):
            raise VerifyException(f"[{self.name} C5] data, weight and result are not all f32 or all f64")

    def expand(self) -> Expansion:
        """Expands to the padding of the image, the transforms along columns and rows, the products, and their inverse.

        Each transform runs along one axis, so that its terms are computed once for all elements of a line. The last
        one computes the elements of the result, so that an epilogue is inlined into it. If height or width is dynamic,
        tiles are in groups of constant size, each with its own part of the image, and the last step reads whole tiles.
        """
        expansion = Expansion()
        image = expansion.add(self._patches() if self._is_dynamic else self._image())
        columns = expansion.add(self._data_columns(image))
        data = expansion.add(self._data_rows(columns))
        products = expansion.add(self._products(data))
        partial = expansion.add(self._result_columns(products))
        if not self._is_dynamic:
            return expansion.finish(self._result(partial))
        return expansion.finish(self._result_of_tiles(expansion.add(self._result_rows(partial))))

    @property
    def _size(self) -> int:
        """The number of points: rows and columns of a transformed tile."""
        return self.tile.value.data + TAPS - 1

    @property
    def _pairs(self) -> tuple[float, ...]:
        return PAIRS[self.tile.value.data]

    @property
    def _element(self) -> Attribute:
        return tensor_type(self.tensor).element_type

    @property
    def _is_dynamic(self) -> bool:
        """Whether the height or the width of the result is dynamic."""
        return not all(isinstance(extent, int) for extent in shape_of(self.tensor)[2:4])

    @property
    def _grid(self) -> tuple[Dim, Dim]:
        """The number of tiles along height and width."""
        _, _, height, width, _ = shape_of(self.tensor)
        tile = self.tile.value.data
        return ceil_div(height, tile), ceil_div(width, tile)

    @property
    def _tiles(self) -> dict[str, Dim]:
        """The axes of tiles: rows and columns, or groups and the tiles of a group if height or width is dynamic."""
        rows, columns = self._grid
        return {"ty": ceil_div(rows * columns, GROUP), "tx": GROUP} if self._is_dynamic else {"ty": rows, "tx": columns}

    def _image(self) -> ComputeOp:
        """The image with zeros around it, as large as the tiles need."""
        n, c, height, width, ci = shape_of(self.data)
        top, left, _, _ = self.padding.iter_values()
        rows, columns = (count * self.tile.value.data + TAPS - 1 for count in self._grid)

        def body(b: Body) -> list[SSAValue]:
            image, block, y, x, lane = b.spatial
            at = (y - top, x - left)
            inside = b.in_bounds(at, (height, width))
            return [b.guard(inside, self._element, lambda: b.read(self.data, image, block, *at, lane), 0)]

        return compute("pad", {"n": n, "c": c, "y": rows, "x": columns, "ci": ci}, [self._element], body)

    def _patches(self) -> ComputeOp:
        """The part of the image, with zeros around it, that each tile needs."""
        n, c, height, width, ci = shape_of(self.data)
        top, left, _, _ = self.padding.iter_values()
        tile, size, (_, columns) = self.tile.value.data, self._size, self._grid

        def body(b: Body) -> list[SSAValue]:
            image, block, ty, tx, y, x, lane = b.spatial
            row, column = _place(b, ty * GROUP + tx, columns)
            at = (row * tile + y - top, column * tile + x - left)
            inside = b.in_bounds(at, (height, width))
            return [b.guard(inside, self._element, lambda: b.read(self.data, image, block, *at, lane), 0)]

        spatial: dict[str, Dim] = {"n": n, "c": c, **self._tiles, "y": size, "x": size, "ci": ci}
        return compute("pad", spatial, [self._element], body)

    def _data_columns(self, image: SSAValue) -> ComputeOp:
        """The transform of each column of a tile of the image."""
        tile, size = self.tile.value.data, self._size
        n, c, _, _, ci = shape_of(self.data)

        def body(b: Body) -> list[SSAValue]:
            i, block, ty, tx, p, q, lane = b.spatial
            first = (ty, tx) if self._is_dynamic else ()
            top, left = (0, 0) if self._is_dynamic else (ty * tile, tx * tile)
            line = [b.read(image, i, block, *first, top + k, left + q, lane) for k in range(size)]
            return [b.choose(p, _data_line(b, line, self._pairs))]

        spatial: dict[str, Dim] = {"n": n, "c": c, **self._tiles, "p": size, "q": size, "ci": ci}
        return compute("data_columns", spatial, [self._element], body)

    def _data_rows(self, columns: SSAValue) -> ComputeOp:
        """The transform of each row of a tile, which completes the transform of the tile."""
        size = self._size
        n, c, _, _, ci = shape_of(self.data)

        def body(b: Body) -> list[SSAValue]:
            i, p, q, block, ty, tx, lane = b.spatial
            line = [b.read(columns, i, block, ty, tx, p, k, lane) for k in range(size)]
            return [b.choose(q, _data_line(b, line, self._pairs))]

        spatial: dict[str, Dim] = {"n": n, "p": size, "q": size, "c": c, **self._tiles, "ci": ci}
        return compute("data_rows", spatial, [self._element], body)

    def _products(self, data: SSAValue) -> ComputeOp:
        """The sums over channels, at each point and for each tile."""
        size = self._size
        n, c, _, _, block = shape_of(self.data)
        _, co, _, _, ci = shape_of(self.tensor)

        def body(b: Body) -> list[SSAValue]:
            i, filters, p, q, ty, tx, lane = b.spatial
            ko, ki = b.reduction
            a = b.read(data, i, p, q, ko, ty, tx, ki)
            return add_product(b, a, b.read(self.weight, filters, p, q, b.scaled(ko, block) + ki, lane))

        spatial: dict[str, Dim] = {"n": n, "co": co, "p": size, "q": size, **self._tiles, "ci": ci}
        return compute("products", spatial, [self._element], body, reduce={"ko": c, "ki": block}, init=[0])

    def _result_columns(self, products: SSAValue) -> ComputeOp:
        """The inverse transform of each column of a tile."""
        tile, size = self.tile.value.data, self._size
        n, co, _, _, ci = shape_of(self.tensor)

        def body(b: Body) -> list[SSAValue]:
            i, filters, ty, tx, y, q, lane = b.spatial
            line = [b.read(products, i, filters, k, q, ty, tx, lane) for k in range(size)]
            return [b.choose(y, _result_line(b, line, self._pairs))]

        spatial: dict[str, Dim] = {"n": n, "co": co, **self._tiles, "y": tile, "q": size, "ci": ci}
        return compute("result_columns", spatial, [self._element], body)

    def _result_rows(self, partial: SSAValue) -> ComputeOp:
        """The inverse transform of each row of a tile."""
        tile, size = self.tile.value.data, self._size
        n, co, _, _, ci = shape_of(self.tensor)

        def body(b: Body) -> list[SSAValue]:
            i, filters, ty, tx, y, x, lane = b.spatial
            line = [b.read(partial, i, filters, ty, tx, y, k, lane) for k in range(size)]
            return [b.choose(x, _result_line(b, line, self._pairs))]

        spatial: dict[str, Dim] = {"n": n, "co": co, **self._tiles, "y": tile, "x": tile, "ci": ci}
        op = compute("result_rows", spatial, [self._element], body)
        op.attributes[MATERIALIZED] = UnitAttr()
        return op

    def _result_of_tiles(self, tiles: SSAValue) -> ComputeOp:
        """The elements of the result, out of the tiles."""
        tile, (_, columns) = self.tile.value.data, self._grid
        n, co, height, width, ci = shape_of(self.tensor)

        def body(b: Body) -> list[SSAValue]:
            i, filters, h, w, lane = b.spatial
            number = b.scaled(h // tile, columns) + w // tile
            return [b.read(tiles, i, filters, number // GROUP, number % GROUP, h % tile, w % tile, lane)]

        return compute("conv2d", {"n": n, "co": co, "h": height, "w": width, "ci": ci}, [self._element], body)

    def _result(self, partial: SSAValue) -> ComputeOp:
        """The inverse transform of each row of a tile: the elements of the result."""
        tile, size = self.tile.value.data, self._size
        n, co, height, width, ci = shape_of(self.tensor)

        def body(b: Body) -> list[SSAValue]:
            i, filters, h, w, lane = b.spatial
            line = [b.read(partial, i, filters, h // tile, w // tile, h % tile, k, lane) for k in range(size)]
            return [b.choose(w % tile, _result_line(b, line, self._pairs))]

        return compute("conv2d", {"n": n, "co": co, "h": height, "w": width, "ci": ci}, [self._element], body)


def _place(b: Body, number: AffineExpr, columns: Dim) -> tuple[AffineExpr, AffineExpr]:
    """Returns the row and the column of a tile.

    LLVM moves the division out of the loops over the elements of the tile, because its divisor is never 0.
    """
    index, divisor = b.index(number), b.maximum(b.index(columns), 1)
    row = b.add(arith.DivUIOp(index, divisor))
    return b.as_index(row), b.as_index(b.minus(index, b.times(row, divisor)))


def _data_line(b: Body, line: Sequence[SSAValue], pairs: Sequence[float]) -> list[SSAValue]:
    """Transforms a line of the data: values at the points of its coefficients.

    With the polynomial R of the other pairs in x², the values at ±a are
    `Σ R[k] line[2 k + 2] ± a Σ R[k] line[2 k + 1]`.
    """
    values = [_weighted(b, line, 0, _expand_roots(pairs))]
    for point in pairs:
        others = _expand_roots([other for other in pairs if other != point])
        even, odd = _weighted(b, line, 2, others), _weighted(b, line, 1, others)
        values += [_add_multiple(b, even, odd, sign * point) for sign in (1, -1)]
    return [*values, _weighted(b, line, 1, _expand_roots(pairs))]


def _expand_roots(pairs: Sequence[float]) -> list[float]:
    """Returns the coefficients of the product of `x² - a²` in powers of x², the lowest first."""
    coefficients = [1.0]
    for point in pairs:
        shifted, scaled = [0.0, *coefficients], [-(point**2) * number for number in coefficients]
        coefficients = [a + b for a, b in zip(shifted, [*scaled, 0.0], strict=True)]
    return coefficients


def _weighted(b: Body, line: Sequence[SSAValue], first: int, factors: Sequence[float]) -> SSAValue:
    """Returns `Σ factors[k] line[first + 2 k]`; the last factor is 1."""
    total = line[first + 2 * (len(factors) - 1)]
    for k, factor in reversed(list(enumerate(factors[:-1]))):
        total = _add_multiple(b, total, line[first + 2 * k], factor)
    return total


def _result_line(b: Body, line: Sequence[SSAValue], pairs: Sequence[float]) -> list[SSAValue]:
    """Transforms values at the points to a line of results: the powers of a point are the factors of its value."""
    tile = len(line) - TAPS + 1
    zero, *values, infinity = line
    sums = [
        [
            _add_multiple(b, positive, negative, sign)
            for positive, negative in zip(values[::2], values[1::2], strict=True)
        ]
        for sign in (1, -1)
    ]
    results: list[SSAValue] = []
    for power in range(tile):
        first, *others = zip(sums[power % 2], pairs, strict=True)
        total = b.times(first[0], first[1] ** power) if power and first[1] != 1 else first[0]
        for value, point in others:
            total = _add_multiple(b, total, value, point**power)
        results.append(total)
    results[0] = _add_multiple(b, results[0], zero, 1)
    results[-1] = _add_multiple(b, results[-1], infinity, 1)
    return results


def _add_multiple(b: Body, total: SSAValue, value: SSAValue, factor: float) -> SSAValue:
    """Returns `total + factor * value`, rounded once if the CPU can."""
    if factor == 1:
        return b.plus(total, value)
    if factor == -1:
        return b.minus(total, value)
    product = b.add(arith.MulfOp(value, b.constant(factor, value.type), ALLOW_CONTRACT))
    return b.add(arith.AddfOp(total, product, ALLOW_CONTRACT))
