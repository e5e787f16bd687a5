"""The shape environment: its proofs and refutations hold for every size, and it proves all that the compiler needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.dim_trees import NoValueError, Tree, dim_of, trees, value_of
from support.examples import examples

from xrelay.errors import ContradictionError, DimensionError
from xrelay.index_algebra.dims import ANY, Dim, broadcast, maximum, minimum, symbol
from xrelay.index_algebra.requirement import AtLeast, Broadcasts, Divides, Equal, Requirement
from xrelay.index_algebra.shape_environment import ShapeEnvironment, Verdict

PROVEN, REFUTED, UNKNOWN = Verdict.PROVEN, Verdict.REFUTED, Verdict.UNKNOWN
n, m, k, c = (symbol(name) for name in "nmkc")

NAMES = ("n", "m", "k")
SIZES: list[Mapping[str, int]] = [
    dict(zip(NAMES, sizes, strict=True)) for sizes in product((0, 1, 2, 3, 4, 6, 12), repeat=len(NAMES))
]
KINDS: dict[str, type[Requirement]] = {"==": Equal, ">=": AtLeast, "|": Divides, "~": Broadcasts}

Statement = tuple[str, Tree, Tree]


def holds(statement: Statement, values: Mapping[str, int]) -> bool:
    """Evaluates a statement on numbers; raises `NoValueError` if a side is undefined."""
    kind, *sides = statement
    lhs, rhs = (value_of(side, values) for side in sides)
    if kind == "|":
        return lhs != 0 and rhs % lhs == 0
    return {"==": lhs == rhs, ">=": lhs >= rhs, "~": lhs == rhs or 1 in (lhs, rhs)}[kind]


def requirement(statement: Statement) -> Requirement:
    kind, lhs, rhs = statement
    return KINDS[kind](dim_of(lhs), dim_of(rhs))


def is_true(statement: Statement, values: Mapping[str, int]) -> bool:
    try:
        return holds(statement, values)
    except NoValueError:
        return False


simple = st.sampled_from(NAMES)
sides = st.one_of(simple, st.integers(0, 4), trees(NAMES, leaves=4))
statements = st.tuples(st.sampled_from(["==", "==", ">=", "|", "~"]), st.one_of(simple, sides), sides)


@given(st.lists(statements, max_size=5), st.lists(statements, min_size=1, max_size=4))
@settings(max_examples=examples(75, more=4), deadline=None)
def test_verdicts_are_right(facts: Sequence[Statement], questions: Sequence[Statement]) -> None:
    environment = ShapeEnvironment()
    sizes = [values for values in SIZES if all(is_true(fact, values) for fact in facts)]
    try:
        for fact in facts:
            environment.add(requirement(fact))
        asked = [(question, requirement(question)) for question in questions]
    except ContradictionError:
        assert not sizes, "a contradiction that is none"
        return
    except (DimensionError, ZeroDivisionError):
        assume(False)
    for question, asking in asked:
        check_question(environment, question, asking, sizes)


def check_question(
    environment: ShapeEnvironment, question: Statement, asking: Requirement, sizes: Sequence[Mapping[str, int]]
) -> None:
    verdict = environment.prove(asking)
    simplified = environment.simplify(asking.lhs)
    low, high = environment.interval(asking.lhs)
    for values in sizes:
        try:
            expected = holds(question, values)
            value = value_of(question[1], values)
        except NoValueError:
            continue
        assert verdict is UNKNOWN or expected == (verdict is PROVEN), values
        assert low is None or low <= value, values
        assert high is None or value <= high, values
        assert simplified == value or AtLeast(simplified, 0).evaluate(values)[0] == value, values


def given_facts(*facts: Requirement) -> ShapeEnvironment:
    environment = ShapeEnvironment()
    for fact in facts:
        environment.add(fact)
    return environment


padded = 16 * ((c + 15) // 16)


@pytest.mark.parametrize(
    ("facts", "question", "verdict"),
    [
        ([], Equal(n, n), PROVEN),
        ([], Equal(n, n + 1), REFUTED),
        ([], Equal(n, m), UNKNOWN),
        ([], Equal(n, ANY), UNKNOWN),
        ([], Equal(ANY, ANY), UNKNOWN),
        ([], Equal(3, 4), REFUTED),
        ([], Equal(2 * n, 2 * m + 1), REFUTED),
        ([], Equal(n + 1, 0), REFUTED),
        # Every name is an extent.
        ([], AtLeast(n, 0), PROVEN),
        ([], AtLeast(n * m, 0), PROVEN),
        ([], AtLeast(n, 1), UNKNOWN),
        ([], AtLeast(-1 - n, 0), REFUTED),
        ([], AtLeast(n // 2, n), UNKNOWN),
        ([], AtLeast(n, n // 2), UNKNOWN),
        ([], AtLeast(n, 2 * (n // 2)), PROVEN),
        ([], AtLeast(maximum(n, 3), 3), PROVEN),
        ([], AtLeast(3, minimum(n, 3)), PROVEN),
        ([], AtLeast(3, n % 4), PROVEN),
        # Rewriting to representatives.
        ([Equal(n, m)], Equal(m, n), PROVEN),
        ([Equal(n, m)], Equal(2 * n + 1, 2 * m + 1), PROVEN),
        ([Equal(n, m)], Equal(n // 2, m // 2), PROVEN),
        ([Equal(n, m)], Equal(maximum(n, k), maximum(m, k)), PROVEN),
        ([Equal(n, m), Equal(m, k)], Equal(n * k, m * m), PROVEN),
        ([Equal(n, m), Equal(m, 4)], Equal(n, 4), PROVEN),
        ([Equal(n, m), Equal(m, 4)], Equal(n, 5), REFUTED),
        ([Equal(n // 2, m), Equal(n, k)], Equal(k // 2, m), PROVEN),
        ([Equal(maximum(n, m), 7), Equal(n, k)], Equal(maximum(k, m), 7), PROVEN),
        ([Equal(maximum(n, m), 7)], AtLeast(7, n), PROVEN),
        ([Equal(n // 4, 3)], AtLeast(n, 12), PROVEN),
        ([Equal(n // 4, 3)], AtLeast(15, n), PROVEN),
        ([Equal(2 * n, 2 * m)], Equal(n, m), PROVEN),
        ([Equal(2 * n, 3 * m)], Equal(4 * n, 6 * m), PROVEN),
        ([Equal(n * m, 12)], Equal(2 * n * m + 1, 25), PROVEN),
        ([Equal(n * m, 12), Equal(n, 3)], Equal(m, 4), PROVEN),
        ([Equal(n * m, n * k), AtLeast(n, 1)], Equal(m, k), UNKNOWN),
        ([AtLeast(n, 1), Equal(m, k)], Equal(n * m, n * k), PROVEN),
        ([AtLeast(n, 1), Equal(m, k + 1)], Equal(n * m, n * k), REFUTED),
        # Blocks of channels.
        ([], Equal(padded, c), UNKNOWN),
        ([], AtLeast(padded, c), PROVEN),
        ([], AtLeast(c + 15, padded), PROVEN),
        ([Divides(16, c)], Equal(padded, c), PROVEN),
        ([Divides(32, c)], Equal(padded, c), PROVEN),
        ([Divides(8, c)], Equal(padded, c), UNKNOWN),
        ([Equal(c, 16 * n)], Equal(padded, c), PROVEN),
        ([Equal(padded, c)], Divides(16, c), PROVEN),
        ([Equal(padded, c)], Divides(4, c), PROVEN),
        # Divisibility.
        ([], Divides(4, 4 * n), PROVEN),
        ([], Divides(4, 4 * n + 2), REFUTED),
        ([], Divides(4, n), UNKNOWN),
        ([], Divides(0, n), REFUTED),
        ([Divides(4, n)], Divides(2, n), PROVEN),
        ([Divides(4, n)], Divides(8, 2 * n), PROVEN),
        ([Divides(4, n)], Divides(4, n + 1), REFUTED),
        ([Divides(4, n), Divides(6, n)], Divides(12, n), PROVEN),
        ([Divides(4, n), Divides(9, m)], Divides(36, n * m), PROVEN),
        ([Divides(4, n + m)], Divides(4, n + m + 4), PROVEN),
        ([Divides(4, n + m), Equal(m, k)], Divides(4, n + k), PROVEN),
        ([Divides(4, 2 * n)], Divides(2, n), PROVEN),
        ([Divides(4, n), AtLeast(n, 1)], AtLeast(n, 4), PROVEN),
        # Division by a name.
        ([], Equal(n * m // n, m), UNKNOWN),
        ([AtLeast(n, 1)], Equal(n * m // n, m), PROVEN),
        ([], Divides(n, n * m), UNKNOWN),
        ([AtLeast(n, 1)], Divides(n, n * m), PROVEN),
        ([Divides(n, m)], AtLeast(n, 1), PROVEN),
        ([Divides(n, m)], Equal(n * (m // n), m), PROVEN),
        ([AtLeast(n, 1)], AtLeast(n * m, m), PROVEN),
        ([], AtLeast(n * m, m), UNKNOWN),
        # Bounds.
        ([AtLeast(n, k)], AtLeast(n + 1, k), PROVEN),
        ([AtLeast(n, k)], AtLeast(k, n + 1), REFUTED),
        ([AtLeast(n, k), AtLeast(m, n)], AtLeast(m, k), PROVEN),
        ([AtLeast(n, k)], AtLeast(n * m, k * m), PROVEN),
        ([AtLeast(n, k), AtLeast(k, n)], Equal(n, k), PROVEN),
        ([AtLeast(n, 3), AtLeast(3, n)], Equal(n, 3), PROVEN),
        ([AtLeast(0, n)], Equal(n * m, 0), PROVEN),
        ([AtLeast(n, k), Equal(n, 4)], AtLeast(4, k), PROVEN),
        # Broadcasting.
        ([], Broadcasts(n, n), PROVEN),
        ([], Broadcasts(n, 1), PROVEN),
        ([], Broadcasts(n, m), UNKNOWN),
        ([], Broadcasts(3, 4), REFUTED),
        ([], Broadcasts(0, 4), REFUTED),
        ([], Broadcasts(0, 1), PROVEN),
        ([], Broadcasts(broadcast(n, m), n), PROVEN),
        ([AtLeast(n, 2)], Broadcasts(n, n + 1), REFUTED),
        ([Broadcasts(n, m)], Broadcasts(m, n), PROVEN),
        ([Broadcasts(n, m)], Equal(m, n), UNKNOWN),
        ([Broadcasts(n, m), AtLeast(n, 2), AtLeast(m, 2)], Equal(n, m), PROVEN),
        ([AtLeast(n, 2), AtLeast(m, 2), Broadcasts(n, m)], Equal(n, m), PROVEN),
        ([Broadcasts(n, k), Broadcasts(m, k)], Broadcasts(broadcast(n, m), k), PROVEN),
        ([Broadcasts(n, 8)], AtLeast(8, n), PROVEN),
        ([Broadcasts(n, 8), AtLeast(n, 2)], Equal(n, 8), PROVEN),
        ([AtLeast(n, 2), Broadcasts(n, 8)], Equal(n, 8), PROVEN),
        ([AtLeast(n, 2)], Equal(broadcast(n, m), n), PROVEN),
        ([Equal(n, 1)], Equal(broadcast(n, m), m), PROVEN),
        ([Equal(broadcast(n, m), 1)], Equal(m, 1), PROVEN),
    ],
)
def test_verdicts(facts: Sequence[Requirement], question: Requirement, verdict: Verdict) -> None:
    assert given_facts(*facts).prove(question) is verdict
    # An equation holds in both directions.
    if isinstance(question, Equal | Broadcasts):
        assert given_facts(*facts).prove(type(question)(question.rhs, question.lhs)) is verdict


@pytest.mark.parametrize(
    ("facts", "dim", "expected"),
    [
        ([], n * m // n, n * m // n),
        ([AtLeast(n, 1)], n * m // n, m),
        ([Equal(m, n)], m + n, 2 * m),
        ([Equal(n, 4), Equal(m, n + 1)], m * n, 20),
        ([], padded, padded),
        ([Divides(16, c)], padded, c),
        ([Divides(4, n)], (n + 3) % 4, 3),
        ([AtLeast(3, n)], n // 4, 0),
        ([AtLeast(3, n)], n % 4, n),
        ([AtLeast(n, 1), AtLeast(m, n + 1)], n % m, n % m),
        ([AtLeast(n, 4)], maximum(n, 3), n),
        ([AtLeast(n, 4)], minimum(n, 3), 3),
        ([AtLeast(n, 2)], broadcast(n, m), n),
        ([], ANY, ANY),
        ([], 3, 3),
    ],
)
def test_simplification(facts: Sequence[Requirement], dim: Dim, expected: Dim) -> None:
    assert given_facts(*facts).simplify(dim) == expected


@pytest.mark.parametrize(
    ("facts", "dim", "expected"),
    [
        ([], n, (0, None)),
        ([], ANY, (None, None)),
        ([], n - m, (None, None)),
        ([], 5, (5, 5)),
        ([AtLeast(8, n)], 2 * n + 1, (1, 17)),
        ([AtLeast(8, n)], n // 4, (0, 2)),
        ([AtLeast(n, k), AtLeast(8, n)], k, (0, 8)),
        ([AtLeast(n, k), AtLeast(k, 2)], n, (2, None)),
        ([AtLeast(8, n), AtLeast(4, m)], n * m, (0, 32)),
        ([AtLeast(8, n), AtLeast(4, m)], n - m, (-4, 8)),
        ([AtLeast(8, n), AtLeast(4, m)], maximum(n, m), (0, 8)),
        ([AtLeast(8, n), AtLeast(4, m)], minimum(n, m), (0, 4)),
        ([AtLeast(8, n), AtLeast(4, m)], broadcast(n, m), (0, 8)),
        ([AtLeast(n, 2), AtLeast(m, 1)], n * m - m, (1, None)),
        ([Divides(4, n), AtLeast(n, 1), AtLeast(11, n)], n, (4, 8)),
    ],
)
def test_intervals(facts: Sequence[Requirement], dim: Dim, expected: tuple[int | None, int | None]) -> None:
    assert given_facts(*facts).interval(dim) == expected


@pytest.mark.parametrize(
    ("facts", "fact", "message"),
    [
        ([Equal(n, 3)], Equal(n, 4), r"n == 4 .*: n is 3"),
        ([Equal(n, m), Equal(m, 3)], Equal(n, 4), r"n == 4 .*: n is 3"),
        ([Equal(n, m)], Equal(n, m + 1), r"n == m \+ 1"),
        ([], AtLeast(-1, n), "-1 >= n"),
        ([AtLeast(n, 4)], AtLeast(3, n), "3 >= n"),
        ([Divides(4, n)], Equal(n, 6), "n == 6"),
        ([Divides(4, n)], Divides(4, n + 1), r"contradicts.*known"),
        ([Divides(4, n), AtLeast(n, 5)], AtLeast(7, n), "7 >= n"),
        ([AtLeast(n, 2), AtLeast(m, 2), Broadcasts(n, m)], Equal(m, n + 1), r"contradicts.*known"),
        ([AtLeast(n, k), AtLeast(k, 5)], Equal(n, 4), r"contradicts.*known"),
        ([], Divides(0, n), "n mod 0 == 0"),
    ],
)
def test_contradictions_are_reported(facts: Sequence[Requirement], fact: Requirement, message: str) -> None:
    environment = given_facts(*facts)
    with pytest.raises(ContradictionError, match=message):
        environment.add(fact)


def test_adding_says_whether_a_fact_is_new() -> None:
    environment = ShapeEnvironment()
    assert environment.add(Equal(n, m))
    assert not environment.add(Equal(m, n))
    assert not environment.add(Equal(n, ANY))
    assert environment.prove(Equal(n, ANY)) is UNKNOWN


def test_the_name_met_first_stays() -> None:
    assert given_facts(Equal(m, n)).simplify(n) == m
    environment = ShapeEnvironment(["n"])
    environment.add(Equal(m, n))
    assert environment.simplify(m + 1) == n + 1


def test_a_copy_learns_alone() -> None:
    environment = given_facts(Equal(n, m), AtLeast(n, k), Broadcasts(n, c))
    other = environment.copy()
    other.add(Equal(n, 4))
    assert other.prove(AtLeast(4, k)) is PROVEN
    assert other.prove(Broadcasts(m, c)) is PROVEN
    assert environment.prove(AtLeast(4, k)) is UNKNOWN
    environment.add(Equal(n, 5))
    assert other.prove(Equal(m, 4)) is PROVEN


def test_many_facts_and_questions() -> None:
    environment = ShapeEnvironment()
    names = [symbol(f"n{i}") for i in range(200)]
    for i, (first, second) in enumerate(pairwise(names)):
        environment.add(Equal(first, second) if i % 2 else AtLeast(first, second))
        assert environment.prove(Equal(2 * first + 1, 2 * second + 1)) is (PROVEN if i % 2 else UNKNOWN)
    for first in names:
        assert environment.prove(AtLeast(first * names[0], 0)) is PROVEN
        assert environment.prove(AtLeast(first, names[0] + 5)) is not PROVEN


def test_a_long_chain_of_equations_is_resolved() -> None:
    environment = ShapeEnvironment()
    names = [symbol(f"n{i}") for i in range(500)]
    for first, second in zip(reversed(names[1:]), reversed(names[:-1]), strict=True):
        environment.add(Equal(first, second + 1))
    assert environment.prove(Equal(names[-1], names[0] + len(names) - 1)) is PROVEN
    assert environment.prove(Equal(names[7], names[9])) is REFUTED


def test_what_gets_too_large_stays_unknown() -> None:
    environment = ShapeEnvironment()
    names = [symbol(f"n{i}") for i in range(40)]
    for first, second in pairwise(names):
        environment.add(Equal(second, first * first + first + 1))
    assert environment.prove(Equal(names[1], names[0] * names[0] + names[0] + 1)) is PROVEN
    assert environment.prove(Equal(names[-1], names[0])) in (UNKNOWN, REFUTED)


def test_a_division_by_a_name_that_is_zero_is_no_verdict() -> None:
    for fact in (Equal(n, 0), AtLeast(0, n)):
        environment = given_facts(fact)
        assert environment.prove(Equal(m // n, 3)) is UNKNOWN
        assert environment.simplify(m // n) == m // n
    bounded = given_facts(AtLeast(n, m // k), AtLeast(n, m % k))
    assert bounded.add(AtLeast(0, k))
    assert bounded.prove(AtLeast(n, m // k)) is not REFUTED
