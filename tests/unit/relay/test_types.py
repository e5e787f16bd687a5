"""Types under Relay's names, and functions that take them."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from xdsl.dialects.builtin import MemRefType, f32

import xrelay
from xrelay import relay, transform
from xrelay.errors import InputError, TensorTypeError
from xrelay.relay.op.hooks import legalize_hook
from xrelay.relay.types import TensorTypeView, TupleTypeView, TypeView

SPLIT = """
func.func @main(%x: tensor<1x3xf16>) -> tuple<tensor<1x1xf16>, tensor<1x2xf16>> {
  %y = relay.split(%x) {indices_or_sections = [1], axis = 1 : i64}
    : (tensor<1x3xf16>) -> tuple<tensor<1x1xf16>, tensor<1x2xf16>>
  func.return %y : tuple<tensor<1x1xf16>, tensor<1x2xf16>>
}
"""


def test_a_tensor_is_read_by_relays_names() -> None:
    type = relay.var("x", shape=(1, 3), dtype="float16").checked_type
    assert isinstance(type, TensorTypeView)
    assert (type.shape, type.concrete_shape, type.dtype) == ((1, 3), (1, 3), "float16")
    assert isinstance(type, relay.TensorType)
    assert not isinstance(type, relay.TupleType)


def test_an_extent_with_a_name_is_no_number() -> None:
    type = relay.var("x", shape=("n", 3)).checked_type
    assert isinstance(type, TensorTypeView)
    assert [str(extent) for extent in type.shape] == ["n", "3"]
    with pytest.raises(TensorTypeError, match="has dynamic extents"):
        _ = type.concrete_shape


def test_a_view_equals_the_type_of_xdsl_and_stands_for_it() -> None:
    type = relay.var("x", shape=(1, 3)).checked_type
    plain = relay.TensorType((1, 3))
    assert type == plain
    assert plain == type
    assert type != relay.TensorType((3, 1))
    assert len({type, plain}) == 1
    assert copy.deepcopy(type) == type
    assert str(type) == "tensor<1x3xf32>"
    y = relay.var("y", type)
    assert relay.Function([y], relay.exp(y), type).ret_type == plain
    assert relay.TupleType([type, plain]) == relay.TupleType([plain, plain])
    assert relay.FuncType([type], type) == relay.FuncType([plain], plain)
    assert xrelay.ir.structural_equal(type, plain)


def test_functions_and_tuples_give_their_parts() -> None:
    main = relay.IRModule.of(xrelay.parse(SPLIT))["main"]
    type = main.checked_type
    assert [str(each) for each in type.arg_types] == ["tensor<1x3xf16>"]
    assert type.type_params == []
    assert isinstance(type.ret_type, TupleTypeView)
    assert [str(each) for each in type.ret_type.fields] == ["tensor<1x1xf16>", "tensor<1x2xf16>"]


def test_hooks_get_types_by_relays_names() -> None:
    seen: list[object] = []

    def hook(attrs: relay.Attrs, inputs: list[relay.Expr], types: list[TensorTypeView]) -> None:
        seen.extend((type.shape, type.dtype) for type in types)

    x = relay.var("x", shape=(2, 4))
    dense = relay.nn.dense(x, relay.const(np.ones((3, 4), np.float32)))
    with transform.legalize_scope({"nn.dense": legalize_hook(hook)}):
        transform.Legalize()(relay.IRModule.from_expr(relay.Function([x], dense)))
    assert seen == [((2, 4), "float32"), ((3, 4), "float32"), ((2, 3), "float32")]


def test_types_that_are_made_answer_to_relays_names() -> None:
    tensor, pair = relay.TensorType((2, "n"), "int8"), relay.TupleType([relay.scalar_type("bool")])
    assert (tensor.dtype, tensor.shape[0], str(tensor.shape[1])) == ("int8", 2, "n")
    assert relay.TensorType((2, 3)).concrete_shape == (2, 3)
    assert [field.dtype for field in pair.fields if isinstance(field, TensorTypeView)] == ["bool"]
    function = relay.FuncType([tensor, pair], tensor)
    assert (function.arg_types, function.ret_type) == ([tensor, pair], tensor)
    assert isinstance(tensor, relay.TensorType)
    assert tensor == relay.var("x", tensor).type == relay.Var("x", tensor).type_annotation


class _Halves(relay.TypeMutator):
    """Changes all tensors to f16."""

    def visit_tensor_type(self, tt: TypeView) -> TypeView:
        assert isinstance(tt, TensorTypeView)
        return TypeView(relay.TensorType(tt.shape, "float16"))


class _Shapes(relay.TypeVisitor):
    """Collects shapes."""

    def __init__(self) -> None:
        self.found: list[object] = []

    def visit_tensor_type(self, tt: TypeView) -> None:
        assert isinstance(tt, TensorTypeView)
        self.found.append(tt.shape)


def test_functors_have_a_method_for_each_kind_of_type() -> None:
    x = relay.TensorType((2,))
    type = relay.FuncType([x, relay.TupleType([x, relay.IncompleteType()])], relay.TensorType(()))
    assert relay.TypeMutator().visit(type) == type
    halves = _Halves().visit(type)
    assert str(halves) == "(tensor<2xf16>, tuple<tensor<2xf16>, !relay.incomplete>) -> tensor<f16>"
    shapes = _Shapes()
    shapes.visit(type)
    assert shapes.found == [(2,), (2,), ()]
    for each in (x, relay.TupleType([]), type, relay.IncompleteType()):
        with pytest.raises(NotImplementedError):
            relay.TypeFunctor().visit(each)
    with pytest.raises(InputError, match="is not a type of Relay"):
        relay.TypeVisitor().visit(MemRefType(f32, [2]))
