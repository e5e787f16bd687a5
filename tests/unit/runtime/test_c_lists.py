"""Models with sequences and optionals as inputs and outputs, exported to C."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.c_programs import compile_and_run, needs_compiler

import xrelay
from xrelay.api.model import CompiledModel
from xrelay.runtime.c_header import header_text
from xrelay.runtime.metadata import ModelMetadata

TEXT = """
!s = !relay.sequence<tensor<?x2xf32>>
!o = !relay.optional<tensor<i64>>
func.func @main(%s: !s, %o: !o, %x: tensor<?x2xf32, #relay.dims<n>>) -> (!s, !o, tensor<i64>, !relay.incomplete) {
  %t = relay.sequence_insert(%s, %x) : (!s, tensor<?x2xf32, #relay.dims<n>>) -> !s
  %n = relay.sequence_length(%t) : (!s) -> tensor<i64>
  %at = relay.constant dense<0> : tensor<i64>
  %y = relay.sequence_at(%t, %at) : (!s, tensor<i64>) -> !relay.incomplete
  func.return %t, %o, %n, %y : !s, !o, tensor<i64>, !relay.incomplete
}
"""

# A sequence of two values, of 1 and 0 rows, then an empty one; the optional is 7, and then empty.
C_MAIN = """
#include "m.h"
int main(int argc, char **argv) {
  float rows[4] = {1, 2, 3, 4};
  int64_t extents[2] = {1, 2}, seven = 7, n, dims[1] = {2}, sizes[M_NUM_SIZES];
  xrelay_object *items[2], *s, *o;
  m_results results;
  void *arena, *weights = m_load_weights(argv[1]);
  if (argc != 2 || weights == NULL || m_plan(dims, sizes) != 0) return 1;
  arena = m_new_arena(sizes[0]);
  items[0] = xrelay_new_tensor(rows, 8, 2, extents);
  extents[0] = 0;
  items[1] = xrelay_new_tensor(NULL, 0, 2, extents);
  s = xrelay_new_list(2, items);
  items[0] = xrelay_new_tensor(&seven, 8, 0, NULL);
  o = xrelay_new_list(1, items);
  if (arena == NULL || s == NULL || o == NULL) return 2;
  if (m_run(s, o, rows, &n, &results, weights, arena, dims, 1) != 0) return 3;
  if (n != 3 || xrelay_length(results.output0.list) != 3) return 4;
  for (int i = 0; i < 3; ++i) {
    const xrelay_object *item = xrelay_item(results.output0.list, i);
    if (xrelay_rank(item) != 2 || xrelay_extents(item)[0] != (i == 2 ? 2 : 1 - i)) return 5;
    if (i != 1 && ((float *)xrelay_data(item))[0] != 1) return 6;
  }
  if (*(int64_t *)xrelay_data(xrelay_item(results.output1.list, 0)) != 7) return 7;
  if (results.output3.extents[0] != 1 || results.output3.data[1] != 2) return 8;
  m_release(&results);
  xrelay_free_object(s);
  xrelay_free_object(o);
  s = xrelay_new_list(0, NULL);
  if (m_run(s, s, rows, &n, &results, weights, arena, dims, 1) != 0) return 9;
  if (n != 1 || xrelay_length(results.output1.list) != 0 || results.output3.data[3] != 4) return 10;
  m_release(&results);
  xrelay_free_object(s);
  free(arena);
  free(weights);
  return 0;
}
"""


@pytest.fixture(scope="module")
def model() -> CompiledModel:
    return xrelay.compile(xrelay.parse(TEXT), cache=False, threads=1)


@needs_compiler
def test_a_c_program_gives_and_takes_lists(model: CompiledModel, tmp_path: Path) -> None:
    model.export(tmp_path / "m.o", header=tmp_path / "m.h")
    compile_and_run(tmp_path, {"main.c": C_MAIN}, str(tmp_path / "m.weights"))


def test_the_header_says_what_they_are(model: CompiledModel) -> None:
    text = header_text(model.artifact.metadata, "m", allocates=True)
    assert "const xrelay_object *o /* optional(int64[]) */" in text
    assert "struct { const xrelay_object *list; } output0; /* sequence(float32[?, 2]) */" in text
    assert "xrelay_object" not in header_text(ModelMetadata((), ()), "m")
