"""Einsum against numpy, in the interpreter and native code, with static and dynamic sizes."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np
import onnx
import pytest
from onnx import helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Shapes = tuple[tuple[int, ...], ...]


def built(equation: str, shapes: Shapes, *, named: bool = False) -> onnx.ModelProto:
    names = [f"x{index}" for index in range(len(shapes))]
    open_shapes = [tuple(f"n{extent}" for extent in shape) for shape in shapes]
    inputs = [value(name, shape) for name, shape in zip(names, open_shapes if named else shapes, strict=True)]
    return model([helper.make_node("Einsum", names, ["y"], name="sum", equation=equation)], inputs, ["y"])


CASES: list[tuple[str, Shapes]] = [
    ("ij->ji", ((2, 3),)),
    ("ij", ((2, 3),)),
    ("ii->i", ((3, 3),)),
    ("ii", ((3, 3),)),
    ("...ii->...i", ((2, 3, 3),)),
    ("ij,jk->ik", ((2, 3), (3, 4))),
    ("bhqd,bhkd->bhqk", ((2, 3, 4, 5), (2, 3, 6, 5))),
    ("bqhd,bkhd->bhqk", ((2, 4, 3, 5), (2, 6, 3, 5))),
    ("...ij,...jk->...ik", ((2, 3, 4), (4, 5))),
    ("i,j", ((2,), (3,))),
    (" i j , j -> i ", ((2, 3), (3,))),
    ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 5))),
    ("ij,ij->", ((2, 3), (2, 3))),
    ("Ba,aB", ((2, 3), (3, 2))),
    ("ij,jk->ik", ((2, 0), (0, 4))),
    (f"{','.join(ascii_lowercase)}->{ascii_lowercase}", (*((2,),) * 3, *((1,),) * 23)),
]


@pytest.mark.grid(8)
@pytest.mark.parametrize(("equation", "shapes"), CASES, ids=str)
def test_equations(equation: str, shapes: Shapes) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    expected = np.einsum(equation, *arrays)
    for named in (False, True):
        proto = built(equation, shapes, named=named)
        np.testing.assert_allclose(run_relay(import_onnx(proto), arrays)[0], expected, rtol=1e-5, atol=1e-6)
        (found,) = compile(proto, cache=False, threads=1).run(arrays)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", ((2, 3),)),
        ("i->i", ((2, 3),)),
        ("ij->ii", ((2, 3),)),
        ("i1->i", ((2, 3),)),
        ("...i->i", ((2, 3),)),
    ],
)
def test_equations_that_do_not_fit_are_refused(equation: str, shapes: Shapes) -> None:
    with pytest.raises(ModelImportError, match="equation"):
        import_onnx(built(equation, shapes))
