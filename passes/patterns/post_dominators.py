"""Post-dominators of numbered nodes: queries in constant time, construction in O(n log n).

Node `p` post-dominates `n` if every path from `n` to the outside passes `p`. The nearest such node is the least common
ancestor of the users of `n` in the tree built so far, users first. Each node of the tree has a jump pointer beside its
parent (Myers 1983), as in `passes/fusion/post_dominators.py`, which also tracks patterns along the edges.
"""

from __future__ import annotations

from collections.abc import Sequence


class PostDominators:
    """The post-dominator tree. Users have greater numbers than the node; `outside` lists the nodes used outside."""

    def __init__(self, users: Sequence[Sequence[int]], outside: Sequence[int]):
        self._exit = size = len(users)
        self._parents, self._jumps = [size] * (size + 1), [size] * (size + 1)
        self._depths = [0] * (size + 1)
        seen = set(outside)
        for node in reversed(range(size)):
            self._attach(node, size if node in seen else self._common(users[node]))
        self._enter, self._leave = self._intervals()

    def dominates(self, node: int, other: int) -> bool:
        """Returns whether `node` strictly post-dominates `other`."""
        return self._enter[node] < self._enter[other] < self._leave[node]

    def _attach(self, node: int, parent: int) -> None:
        self._parents[node], self._depths[node] = parent, self._depths[parent] + 1
        jump = self._jumps[parent]
        equally_far = self._depths[parent] - self._depths[jump] == self._depths[jump] - self._depths[self._jumps[jump]]
        self._jumps[node] = self._jumps[jump] if equally_far else parent

    def _common(self, users: Sequence[int]) -> int:
        """Returns the least common ancestor of the users; without users, the exit."""
        if not users:
            return self._exit
        found = users[0]
        for user in users[1:]:
            found = self._common_of_two(found, user)
        return found

    def _common_of_two(self, left: int, right: int) -> int:
        depths, jumps, parents = self._depths, self._jumps, self._parents
        if depths[left] < depths[right]:
            left, right = right, left
        while depths[left] > depths[right]:
            left = jumps[left] if depths[jumps[left]] >= depths[right] else parents[left]
        while left != right:
            if jumps[left] != jumps[right]:
                left, right = jumps[left], jumps[right]
            else:
                left, right = parents[left], parents[right]
        return left

    def _intervals(self) -> tuple[list[int], list[int]]:
        """Returns the pre-order interval of each node's subtree."""
        size = self._exit
        below = [1] * (size + 1)
        for node in range(size):
            # A parent's number is greater, so the count of `node` is complete.
            below[self._parents[node]] += below[node]
        enter, free = [0] * (size + 1), [1] * (size + 1)
        for node in reversed(range(size)):
            parent = self._parents[node]
            enter[node] = free[parent]
            free[parent] += below[node]
            free[node] = enter[node] + 1
        return enter, [start + count for start, count in zip(enter, below, strict=True)]
