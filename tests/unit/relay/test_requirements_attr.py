"""The attributes of requirements and bounds: constructed in Python, they equal their parsed text."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.dim_trees import Tree, dim_of, trees
from support.examples import examples
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from xrelay.dialects.relay.dialect import RELAY
from xrelay.dialects.shared.requirements import BoundsAttr, NewExtent, RequirementsAttr
from xrelay.errors import DimensionError
from xrelay.index_algebra.dims import symbol
from xrelay.index_algebra.requirement import AtLeast, Broadcasts, Divides, Equal, Requirement

n, m, k = symbol("n"), symbol("m"), symbol("k")


def parse(text: str) -> object:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(RELAY)
    return Parser(context, text).parse_attribute()


@given(
    st.sampled_from([Equal, AtLeast, Divides, Broadcasts]),
    trees(),
    trees(),
    st.text(st.characters(codec="ascii"), max_size=5),
)
@settings(max_examples=examples(150, more=2), deadline=None)
def test_requirements_round_trip(kind: type[Requirement], lhs: Tree, rhs: Tree, about: str) -> None:
    try:
        requirement = kind(dim_of(lhs), dim_of(rhs), constraint="C1", about=about.strip())
    except (DimensionError, ZeroDivisionError):
        assume(False)
    attribute = RequirementsAttr.of([requirement])
    parsed = parse(str(attribute))
    assert parsed == attribute
    assert hash(parsed) == hash(attribute)
    assert str(parsed) == str(attribute)


def test_equal_requirements_are_kept_once() -> None:
    attribute = RequirementsAttr.of([Equal(n % 4, 0), Divides(4, n), Equal(n, m)])
    assert attribute is not None
    assert attribute.data == (Divides(4, n), Equal(n, m))
    assert RequirementsAttr.of([]) is None


@pytest.mark.parametrize(
    ("extent", "fact"), [(NewExtent("k", n * m), AtLeast(n * m, k)), (NewExtent("k", 3), AtLeast(3, k))]
)
def test_a_bound_is_a_fact(extent: NewExtent, fact: AtLeast) -> None:
    assert extent.fact == fact
    attribute = BoundsAttr.of([extent, NewExtent("j")])
    assert attribute is not None
    assert parse(str(attribute)) == attribute
    assert attribute.data[1].fact is None
    assert BoundsAttr.of([]) is None
