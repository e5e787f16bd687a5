from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from xrelay.lowering.topi_to_loop.schedules.tile_model import (
    RegisterTile,
    fits,
    rank_filters,
    rank_tiles,
)


def choose_tile(width: int, blocks: int, registers: int, **options: Any) -> RegisterTile:
    return rank_tiles(width, blocks, registers, **options)[0]


def choose_filters(filters: int, registers: int) -> int:
    return rank_filters(filters, registers, terms=1000)[0].filters


WIDTHS = (1, 2, 3, 5, 7, 13, 14, 17, 27, 28, 55, 56, 112, 149, 224)


def test_the_tile_of_the_measured_convolution() -> None:
    tile = choose_tile(56, 4, 32)
    assert (tile.columns, tile.blocks) == (14, 2)


@pytest.mark.parametrize(("registers", "vectors"), [(32, 1), (16, 1), (16, 2), (32, 4)])
@pytest.mark.parametrize("height", [1, 7, 40])
def test_every_tile_fits(height: int, registers: int, vectors: int) -> None:
    for width, blocks in product(WIDTHS, (1, 2, 3, 4, 7, 16, 125)):
        tile = choose_tile(width, blocks, registers, height=height, vectors_per_block=vectors)
        assert fits(tile.positions, tile.blocks * vectors, registers)
        assert 1 <= tile.blocks <= blocks
        assert 1 <= tile.columns <= width
        assert 1 <= tile.rows <= height
        assert tile.rows == 1 or tile.columns == width
        assert 0 < tile.efficiency <= 1


def test_a_tile_has_at_most_the_given_columns() -> None:
    assert choose_tile(1024, 64, 32).columns > 8
    assert choose_tile(1024, 64, 32, max_columns=8).columns == 8


def test_short_rows_share_the_weights_with_others() -> None:
    tile = choose_tile(7, 32, 32, height=7)
    assert (tile.rows, tile.columns, tile.blocks) == (2, 7, 2)
    assert choose_tile(14, 32, 32, height=14).rows == 1


def test_blocks_that_nothing_divides_leave_a_partial_tile() -> None:
    assert choose_tile(14, 13, 32, height=14).blocks == 2
    assert choose_tile(14, 12, 32, height=14).blocks == 2


@pytest.mark.parametrize("width", WIDTHS)
def test_depthwise_tiles_have_one_block(width: int) -> None:
    assert choose_tile(width, 8, 32, shares_broadcasts=False).blocks == 1


def test_a_width_of_whole_tiles_leaves_no_partial_one() -> None:
    for width in (14, 28, 56, 112):
        assert width % choose_tile(width, 8, 32).columns == 0


def test_blocks_can_be_kept_for_other_threads() -> None:
    assert choose_tile(1, 8, 32).blocks == 8
    assert choose_tile(1, 8, 32, max_blocks=4).blocks == 4


@pytest.mark.parametrize("registers", [16, 32])
@pytest.mark.parametrize("filters", [1, 2, 7, 13, 31, 34, 62, 128, 1009])
def test_filters_of_a_tile_fit_the_registers(filters: int, registers: int) -> None:
    count = choose_filters(filters, registers)
    assert 1 <= count <= filters
    assert count == 1 or fits(count, 1, registers)


def test_filters_are_cut_evenly_where_that_keeps_the_units_busy() -> None:
    assert [choose_filters(filters, 32) for filters in (13, 34, 62, 64)] == [13, 17, 21, 16]


def test_few_filters_share_several_vectors_of_a_row() -> None:
    """Eight accumulators keep the units busy; a row of one vector has no others."""
    tiles = [rank_filters(filters, 32, terms=1000, vectors=4)[0] for filters in (1, 2, 3, 4, 8)]
    assert [(tile.filters, tile.vectors) for tile in tiles] == [(1, 4), (2, 4), (3, 3), (4, 2), (8, 1)]
    assert rank_filters(2, 32, terms=1000)[0].vectors == 1


def test_few_filters_share_rows_of_overlapping_windows() -> None:
    tiles = [rank_filters(1, 32, terms=9, vectors=4, height=height, taps=3)[0] for height in (2, 13, 14, 56)]
    assert [(tile.rows, tile.vectors) for tile in tiles] == [(1, 4), (4, 1), (7, 1), (8, 1)]
    assert rank_filters(4, 32, terms=9, vectors=4, height=56, taps=3)[0].rows == 4
    assert rank_filters(8, 32, terms=9, vectors=4, height=56, taps=3)[0].rows == 1


@pytest.mark.parametrize("extent", [2**31, 2**33 + 17, 2**62])
def test_nothing_is_listed_for_each_element_of_an_extent(extent: int) -> None:
    """A list of this length would not fit into memory."""
    assert choose_tile(extent, 4, 32).columns == choose_tile(14 * 64, 4, 32).columns
    assert choose_tile(7, 32, 32, height=extent).blocks >= 1
    assert choose_tile(14, extent, 32).blocks == 2
    assert choose_filters(extent, 32) >= 1
