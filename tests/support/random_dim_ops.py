"""The single ops of random programs over named dimensions; each is added after an existing value."""

from __future__ import annotations

from support.random_dim_builder import Builder
from support.random_dim_parts import NUMBER, UNKNOWN, Value


def random_op(build: Builder, lines: list[str]) -> Value:
    """Adds a random op on existing values; returns its result."""
    data = build.any_value()
    kinds = [_elementwise, _binary, _concatenate, _axes, _reduce, _reshape, _expand, _squeeze, _split, _select]
    kinds += [_let]
    kinds += [_dense] * (data.rank == 2) + [_windows] * 2 * (data.rank == 4)
    kinds += [_filled, _sliced, _tiled, _found] * build.free
    return build.choices.pick(kinds)(build, lines, data)


def _elementwise(build: Builder, lines: list[str], data: Value) -> Value:
    return Value(build.op(lines, build.choices.pick(["nn.relu", "negative"]), data.name), data.rank)


def _binary(build: Builder, lines: list[str], data: Value) -> Value:
    other = build.value() or data
    name = build.choices.pick(["add", "multiply", "maximum"])
    return Value(build.op(lines, name, data.name, other.name), max(data.rank, other.rank))


def _dense(build: Builder, lines: list[str], data: Value) -> Value:
    other = build.value(2) or data
    return Value(build.op(lines, "nn.dense", data.name, other.name), 2)


def _concatenate(build: Builder, lines: list[str], data: Value) -> Value:
    if data.rank == 0:
        return _elementwise(build, lines, data)
    fields = [data.name, (build.value(data.rank) or data).name]
    joined = build.op(lines, "tuple", *fields)
    axis = build.choices.below(data.rank)
    return Value(build.op(lines, "concatenate", joined, attributes=f"{{axis = {axis}}} "), data.rank)


def _axes(build: Builder, lines: list[str], data: Value) -> Value:
    return Value(build.op(lines, "transpose", data.name), data.rank)


def _reduce(build: Builder, lines: list[str], data: Value) -> Value:
    if data.rank == 0:
        return _elementwise(build, lines, data)
    keeps = build.choices.chance(50)
    name = build.choices.pick(["sum", "mean"])
    attributes = f"{{axis = [{build.choices.below(data.rank)}], keepdims = {str(keeps).lower()}}} "
    return Value(build.op(lines, name, data.name, attributes=attributes), data.rank if keeps else data.rank - 1)


def _reshape(build: Builder, lines: list[str], data: Value) -> Value:
    codes = [([-1], 1), ([2, -1], 2), ([-1, 3], 2)]
    if data.rank >= 1:
        codes += [([0, -1], 2), ([-4, 2, -1, -2], data.rank + 1)]
    if data.rank >= 2:
        codes += [([-3, -2], data.rank - 1), ([0, 0, -1], 3)]
    chosen, rank = build.choices.pick(codes)
    text = ", ".join(map(str, chosen))
    return Value(build.op(lines, "reshape", data.name, attributes=f"{{newshape = [{text}]}} "), rank)


def _expand(build: Builder, lines: list[str], data: Value) -> Value:
    axis = build.choices.below(data.rank + 1)
    return Value(build.op(lines, "expand_dims", data.name, attributes=f"{{axis = {axis}}} "), data.rank + 1)


def _squeeze(build: Builder, lines: list[str], data: Value) -> Value:
    if data.rank == 0:
        return _elementwise(build, lines, data)
    axis = build.choices.below(data.rank)
    return Value(build.op(lines, "squeeze", data.name, attributes=f"{{axis = [{axis}]}} "), data.rank - 1)


def _split(build: Builder, lines: list[str], data: Value) -> Value:
    if data.rank == 0:
        return _elementwise(build, lines, data)
    cut = build.choices.pick(["2", "[1]", "[1, 2]"])
    attributes = f"{{indices_or_sections = {cut}, axis = {build.choices.below(data.rank)}}} "
    parts = build.op(lines, "split", data.name, attributes=attributes)
    index = build.choices.below(2)
    return Value(build.op(lines, "tuple_get_item", parts, attributes=f"{{index = {index}}} "), data.rank)


def _select(build: Builder, lines: list[str], data: Value) -> Value:
    kind = build.choices.pick(["topk", "argmax", "argwhere", "pad"])
    if data.rank == 0:
        return _elementwise(build, lines, data)
    if kind == "topk":
        k = build.choices.pick([1, 2, 3])
        return Value(build.op(lines, "topk", data.name, attributes=f'{{k = {k}, ret_type = "values"}} '), data.rank)
    if kind == "pad":
        widths = ", ".join(["1"] * 2 * data.rank)
        zero = build.op(lines, "sum", data.name)
        attributes = f'{{pad_width = [{widths}], pad_mode = "reflect"}} '
        return Value(build.op(lines, "nn.pad", data.name, zero, attributes=attributes), data.rank)
    axis = f"{{axis = [{build.choices.below(data.rank)}]}} " if kind == "argmax" else ""
    places = build.op(lines, kind, data.name if kind == "argmax" else _whole(build, lines, data.name), attributes=axis)
    rank = data.rank - 1 if kind == "argmax" else 2
    return Value(build.op(lines, "cast", places, attributes="{dtype = f32} "), rank)


def _windows(build: Builder, lines: list[str], data: Value) -> Value:
    if build.choices.chance(30):
        return Value(build.op(lines, "nn.max_pool2d", data.name, attributes="{pool_size = [2, 2]} "), 4)
    weight = build.value(4) or data
    return Value(build.op(lines, "nn.conv2d", data.name, weight.name), 4)


def _let(build: Builder, lines: list[str], data: Value) -> Value:
    result = build.fresh()
    lines.append(f'{result} = relay.let "v" = {data.name} : {UNKNOWN}')
    build.used.add(data.name)
    return Value(result, data.rank)


def _list(build: Builder, lines: list[str], *numbers: str) -> str:
    """A vector of scalars."""
    vectors = [build.op(lines, "reshape", each, attributes="{newshape = [1]} ", type=NUMBER) for each in numbers]
    return build.op(lines, "concatenate", build.op(lines, "tuple", *vectors)) if len(vectors) > 1 else vectors[0]


def _number(build: Builder) -> str:
    return build.choices.pick(["%some", "%which", "%two", "%rows", "%three"])


def _filled(build: Builder, lines: list[str], data: Value) -> Value:
    """A tensor whose extents are known at run time, filled with the sum of the data."""
    shape = [_number(build) for _ in range(1 + build.choices.below(2))]
    total = build.op(lines, "sum", data.name)
    return Value(build.op(lines, "dyn.full", total, _list(build, lines, *shape)), len(shape))


def _sliced(build: Builder, lines: list[str], data: Value) -> Value:
    """A slice of the first axis between bounds that are known at run time."""
    if data.rank == 0:
        return _elementwise(build, lines, data)
    end = _list(build, lines, _number(build))
    begin, stride = (_list(build, lines, each) for each in (build.choices.pick(["%which", "%one"]), "%one"))
    return Value(build.op(lines, "dyn.strided_slice", data.name, begin, end, stride), data.rank)


def _tiled(build: Builder, lines: list[str], data: Value) -> Value:
    if data.rank == 0:
        return _filled(build, lines, data)
    repeats = _list(build, lines, _number(build), *["%one"] * (data.rank - 1))
    return Value(build.op(lines, "dyn.tile", data.name, repeats), data.rank)


def _whole(build: Builder, lines: list[str], name: str) -> str:
    """Rounds to integers: a sum that is 0 in one order and nearly 0 in another is then 0 in both."""
    return build.op(lines, "round", name)


def _found(build: Builder, lines: list[str], data: Value) -> Value:
    """The rows of the data whose rounded sums are not 0."""
    if data.rank == 0:
        return _elementwise(build, lines, data)
    sums = data.name
    for _ in range(data.rank - 1):
        sums = build.op(lines, "sum", sums, attributes="{axis = [-1]} ")
    places = build.op(lines, "argwhere", _whole(build, lines, sums))
    column = build.op(lines, "squeeze", places, attributes="{axis = [1]} ")
    return Value(build.op(lines, "take", data.name, column, attributes="{axis = 0} "), data.rank)
