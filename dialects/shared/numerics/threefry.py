"""Threefry with four 64-bit words and twenty rounds; the key is added before every fourth round."""

from __future__ import annotations

ONES = (1 << 64) - 1
PARITY = 0x1BD11BDAA9FC1A22
ROTATIONS = ((14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32))


def hashed(key: list[int], counter: list[int]) -> list[int]:
    """Returns the hash of the four words `counter` with `key`."""
    keys = [*key, PARITY ^ key[0] ^ key[1] ^ key[2] ^ key[3]]
    words = list(counter)
    for turn in range(20):
        if turn % 4 == 0:
            step = turn // 4
            added = [keys[(step + place) % 5] + (step if place == 3 else 0) for place in range(4)]
            words = [word + more & ONES for word, more in zip(words, added, strict=True)]
        for place, count in zip((0, 2), ROTATIONS[turn % 8], strict=True):
            first, second = words[place], words[place + 1]
            first = first + second & ONES
            words[place], words[place + 1] = first, first ^ (second << count & ONES | second >> 64 - count)
        words[1], words[3] = words[3], words[1]
    return words


def shifted(high: int, low: int) -> list[int]:
    """Shifts a single bit in two words to the next position."""
    if high == 0:
        return [0, low >> 1]
    return [0, 1 << 63] if high == 1 else [high >> 1, 0]
