"""Equality and hashes of programs up to the names of variables: `structural_equal`, `structural_hash`."""

from __future__ import annotations

from itertools import zip_longest

from xrelay.relay.structural_tokens import structural_tokens


def structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> bool:
    """Returns whether two expressions, functions, modules or types are equal up to the names of variables.

    Compared are operators, attributes (floats as f32), constants, function attributes, parameter types, the order of
    bindings, and whether a value is shared or computed twice, except for constants and tuple fields. Inferred types are
    not compared. Free variables are equal if they are the same variable; with `map_free_vars` they correspond in order
    of occurrence. Functions of modules correspond by name. Lists, tuples, dictionaries and arrays are compared by
    elements.
    """
    pairs = zip_longest(structural_tokens(lhs, map_free_vars), structural_tokens(rhs, map_free_vars))
    return all(one == other for one, other in pairs)


def assert_structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> None:
    """Raises `ValueError` with both programs if they are not `structural_equal`."""
    if not structural_equal(lhs, rhs, map_free_vars):
        raise ValueError(f"the programs differ:\n{lhs}\n{rhs}")


def structural_hash(node: object, map_free_vars: bool = False) -> int:
    """Returns a hash that is equal for `structural_equal` objects in this process.

    Without `map_free_vars` it depends on the identity of the free variables.
    """
    made = 0
    for token in structural_tokens(node, map_free_vars):
        made = hash((made, token))
    return made
