"""Whether two programs are the same but for the names of variables: `structural_equal`, `structural_hash` and kin."""

from __future__ import annotations

from itertools import zip_longest

from xrelay.relay.structural_tokens import structural_tokens


def structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> bool:
    """Whether two expressions, functions, modules or types are the same but for the names of variables.

    Operators, attributes, floats among them as f32, constants, attributes of functions and the types of parameters
    count, the order of bindings, and whether a value is used twice or computed twice: of constants and fields of tuples
    that means nothing. Types that inference finds do not count. Free variables are equal where they are the same, with
    `map_free_vars` in the order in which they are met. The functions of modules go by name. Lists, tuples and
    dictionaries of these, and arrays, are compared by their parts.
    """
    pairs = zip_longest(structural_tokens(lhs, map_free_vars), structural_tokens(rhs, map_free_vars))
    return all(one == other for one, other in pairs)


def assert_structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> None:
    """Raise `ValueError`, which shows both, where `structural_equal` says no."""
    if not structural_equal(lhs, rhs, map_free_vars):
        raise ValueError(f"the programs differ:\n{lhs}\n{rhs}")


def structural_hash(node: object, map_free_vars: bool = False) -> int:
    """A number that is the same for whatever is `structural_equal`; it holds for as long as the process runs.

    Without `map_free_vars` it depends on which variables the free ones are.
    """
    made = 0
    for token in structural_tokens(node, map_free_vars):
        made = hash((made, token))
    return made
