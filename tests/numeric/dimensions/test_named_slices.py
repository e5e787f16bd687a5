"""Slices of named axes with symbolic lengths: native code against numpy, at sizes around their bounds."""

from __future__ import annotations

from itertools import product

import numpy as np

from xrelay.api.compile import compile
from xrelay.passes.infra.source import full_context, parse_module

FAR = (1 << 63) - 1
Bound = int | str
SLICES: list[tuple[Bound, Bound, int]] = [
    (1, FAR, 1), (1, -1, 2), (2, 5, 1), (-2, FAR, 1), (-3, -1, 1), (1, "m", 2), ("m", FAR, 1), (-3, "m", 1),
    (-FAR, FAR, 1), (FAR, -1, 1), (-FAR, "m", FAR),
]  # fmt: skip
DATA = "tensor<?x2xf32, #relay.dims<n>>"


def test_lengths_that_are_expressions() -> None:
    lines: list[str] = []
    for number, bounds in enumerate(SLICES):
        names = [f"%v{number}_{place}" if isinstance(bound, int) else "%m" for place, bound in enumerate(bounds)]
        lines += [
            f"{name} = relay.constant dense<{bound}> : tensor<1xi64>"
            for name, bound in zip(names, bounds, strict=True)
            if bound != "m"
        ]
        types = ", ".join([DATA, *(["tensor<1xi64>"] * 3)])
        lines.append(f"%r{number} = relay.dyn.strided_slice(%x, {', '.join(names)}) : ({types}) -> !relay.incomplete")
    results, types = (
        ", ".join(f"%r{number}" for number in range(len(SLICES))),
        ", ".join(["!relay.incomplete"] * len(SLICES)),
    )
    body = "\n".join(lines)
    text = f"""func.func @main(%x: {DATA}, %y: tensor<?xf32, #relay.dims<m>>) -> ({types}) {{
        %m = relay.shape_of(%y) : (tensor<?xf32, #relay.dims<m>>) -> tensor<1xi64>
        {body}
        func.return {results} : {types}
    }}"""
    model = compile(parse_module(full_context(), text, "slices"), cache=False, threads=1)
    for n, m in product((0, 1, 2, 3, 7), (0, 1, 4)):
        data = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
        for bounds, found in zip(SLICES, model(data, np.zeros(m, np.float32)), strict=True):
            first, last, step = (m if bound == "m" else int(bound) for bound in bounds)
            np.testing.assert_array_equal(found, data[first:last:step], err_msg=f"{bounds} {n} {m}")


def test_places_that_are_attributes() -> None:
    bounds = [(-3, 3, 1), (-2, FAR, 1), (-1, -FAR, -1), (4, -5, -2), (1, -1, 2), (3, 0, -1)]
    bounds += [
        (-FAR - 1, 1 << 62, 1),
        (FAR, -(1 << 62), -2),
        (FAR, 0, 1),
        (-FAR, -FAR, -1),
        (0, FAR, FAR),
        (-1, 0, -FAR),
    ]
    rows = [
        f"%r{number} = relay.strided_slice(%x) {{begin = [{first}], end = [{last}], strides = [{step}]}}"
        f" : ({DATA}) -> !relay.incomplete"
        for number, (first, last, step) in enumerate(bounds)
    ]
    results = ", ".join(f"%r{number}" for number in range(len(bounds)))
    types, body = ", ".join(["!relay.incomplete"] * len(bounds)), "\n".join(rows)
    text = f"func.func @main(%x: {DATA}) -> ({types}) {{\n{body}\nfunc.return {results} : {types}\n}}"
    model = compile(parse_module(full_context(), text, "slices"), cache=False, threads=1)
    for n in (0, 1, 2, 3, 4, 7):
        data = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
        for (first, last, step), found in zip(bounds, model(data), strict=True):
            np.testing.assert_array_equal(found, data[first:last:step], err_msg=f"{first}:{last}:{step} of {n}")


def test_places_of_unsigned_numbers_are_never_counted_from_the_end() -> None:
    types = f"{DATA}, tensor<1xui64>, tensor<1xui64>, tensor<1xui64>"
    text = f"""func.func @main(%x: {DATA}, %b: tensor<1xui64>, %e: tensor<1xui64>) -> !relay.incomplete {{
        %s = relay.constant dense<1> : tensor<1xui64>
        %r = relay.dyn.strided_slice(%x, %b, %e, %s) : ({types}) -> !relay.incomplete
        func.return %r : !relay.incomplete
    }}"""
    model = compile(parse_module(full_context(), text, "slices"), cache=False, threads=1)
    data = np.arange(6, dtype=np.float32).reshape(3, 2)
    for first, last in product((0, 1, 3, FAR, FAR + 1, 2**64 - 1), repeat=2):
        (found,) = model(data, *(np.array([place], np.uint64) for place in (first, last)))
        np.testing.assert_array_equal(found, data[first:last], err_msg=f"{first}:{last}")
