"""Models exported to C: compiled by a C compiler, if there is one, and run."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.c_programs import COMPILER, check_syntax, compile_and_run, needs_compiler, needs_cxx_compiler

import xrelay
from xrelay import relay
from xrelay.api.model import CompiledModel
from xrelay.errors import ArtifactError
from xrelay.runtime.c_header import c_identifier, comment_text, header_text
from xrelay.runtime.host_cpu import host_features
from xrelay.runtime.metadata import MemoryInfo, ModelMetadata, TensorSpec
from xrelay.runtime.object_code.elf import defined_symbols, rename_symbols

MAIN = """
#include "m.h"
int main(int argc, char **argv) {
  float x[100], y[100], out[100];
  void *weights = m_load_weights(argv[1]);
  void *arena = m_new_arena();
  int32_t status;
  if (weights == NULL || arena == NULL || argc != 2) return 2;
  for (int i = 0; i < 100; ++i) { x[i] = 0.5f * i; y[i] = 1000; }
  status = m_run(x, y, out, weights, arena, 2);
  for (int i = 0; i < 100; ++i) printf("%.9g\\n", out[i]);
  free(weights);
  free(arena);
  return status;
}
"""
TILES_MAIN = """
#include "m.h"
int main(int argc, char **argv) {
  static uint8_t x[32 * 64];
  static int32_t y[32 * 32];
  void *weights = m_load_weights(argv[1]), *arena = m_new_arena();
  int32_t status;
  if (argc != 2) return 2;
  memset(x, 3, sizeof x);
  status = m_run(x, y, weights, arena, 1);
  for (int i = 0; i < 32; ++i) printf("%d\\n", y[33 * i]);
  return status;
}
"""
# The program's own parallel for: runs from the last index to the first.
OWN_PARALLEL_FOR = """
#include <stdint.h>
int calls;
int32_t xrelay_parallel_for(void *ctx, int32_t (*body)(void *, void *, int64_t, int64_t), void *env, int64_t n) {
  int32_t status = 0;
  for (int64_t i = n; i > 0 && status == 0; --i) { status = body(ctx, env, i - 1, i); ++calls; }
  return calls == 100 ? status : 9;
}
"""


@needs_compiler
@pytest.mark.parametrize("own", [False, True])
def test_a_c_program_runs_the_model(adder: CompiledModel, tmp_path: Path, own: bool):
    adder.export(tmp_path / "m.o", header=tmp_path / "m.h")
    sources = {"main.c": MAIN} | ({"own.c": OWN_PARALLEL_FOR} if own else {})
    printed = compile_and_run(tmp_path, sources, str(tmp_path / "m.weights"))
    expected = 0.5 * np.arange(100) + 1000 + np.arange(100)
    np.testing.assert_array_equal(np.array(printed.split(), np.float32), expected)


def test_only_code_with_tiles_requests_the_permission(adder: CompiledModel):
    plain = replace(adder.artifact.metadata, features="+avx2,-amx-tile")
    assert "xrelay_request_tiles" not in header_text(plain, "m")
    text = header_text(replace(plain, features="+avx2,+amx-tile"), "m")
    assert text.count("xrelay_request_tiles() != 0") == 1


@needs_compiler
@pytest.mark.skipif("amx-tile" not in host_features(), reason="this process may not use AMX's tiles")
def test_a_c_program_that_uses_tiles(tmp_path: Path):
    x = relay.var("x", shape=(32, 64), dtype="uint8")
    y = relay.nn.dense(x, relay.const(np.full((32, 64), 2, np.int8)), out_dtype="int32")
    compiled = xrelay.compile(relay.IRModule.from_expr(y))
    compiled.export(tmp_path / "m.o", header=tmp_path / "m.h")
    printed = compile_and_run(tmp_path, {"main.c": TILES_MAIN}, str(tmp_path / "m.weights"))
    np.testing.assert_array_equal(np.array(printed.split(), np.int32), np.full(32, 2 * 64 * 3))


@needs_compiler
def test_a_c_program_that_finds_no_weights(adder: CompiledModel, tmp_path: Path):
    adder.export(tmp_path / "m.o", header=tmp_path / "m.h")
    with pytest.raises(subprocess.CalledProcessError, match="status 2"):
        compile_and_run(tmp_path, {"main.c": MAIN}, str(tmp_path / "nothing"))


_ENDS_OF_COMMENTS = (
    "*/ {0} /*",
    "*\\\n/ {0} /*",
    "*\\\r\n/ {0} /*",
    "*\\ \n/ {0} /*",
    "*??/\n/ {0} /*",
    "*/*/ {0} /*/",
    "/*/ {0} /*",
    "*\u2028/ {0} \u202e/*",
)
_RESERVED_NAMES = [
    "NULL", "EOF", "I", "INT32_MAX", "L_tmpnam", "PRId64", "SIGINT", "_Bool", "_start", "__x", "and", "asm",
    "bool", "context", "complex", "char8_t", "class", "errno", "false", "free", "int", "int8_t", "linux",
    "memset", "m0_run", "nullptr", "operator", "own", "path", "requires", "size", "size_t", "stdin",
    "thread_local", "true", "typeof", "unix", "weights", "xrelay_context", "xor",
]  # fmt: skip
_DIALECTS = (
    *(pytest.param(each, marks=needs_compiler) for each in ("c99", "gnu99", "c11", "c17", "gnu17")),
    *(pytest.param(each, marks=needs_cxx_compiler) for each in ("c++17", "gnu++17")),
)


def _models(name: str) -> Iterator[ModelMetadata]:
    """Models in which inputs, outputs, weights, dimensions and extents are called `name`."""
    fixed, opened = TensorSpec(name, "float32", (2,)), TensorSpec(name, "float32", (name, f"2 * {name}"))
    listed, memory = TensorSpec(name, "float32", (name,), containers=("sequence",)), MemoryInfo(uncounted=(name,))
    yield ModelMetadata((fixed,), (fixed, fixed), weights=(fixed,), memory=memory)
    yield ModelMetadata((opened,), (opened,), dims=(name,), memory=memory)
    yield ModelMetadata((listed,), (listed, TensorSpec(name, "int64", ("?",))))


@pytest.mark.parametrize("standard", _DIALECTS)
def test_headers_of_strange_names_compile(tmp_path: Path, standard: str):
    dtypes = ["float16", "bfloat16", "bool", "int64", "float64", "uint8", "int4", "float32", "int16"]
    ends = [each.format("int x[-1];") for each in _ENDS_OF_COMMENTS]
    names = [*_RESERVED_NAMES, *ends, "a b", "a_b", "für", "", "0", "{0} %s"]
    specs = tuple(TensorSpec(name, dtypes[number % len(dtypes)], (2,)) for number, name in enumerate(names))
    models = [ModelMetadata(specs, specs[::-1], weights=specs)]
    models += [model for name in names for model in _models(name)]
    for number, model in enumerate(models):
        (tmp_path / f"m{number}.h").write_text(header_text(model, f"m{number}", allocates=number % 3 == 0))
    source = tmp_path / f"main{'.cc' if '++' in standard else '.c'}"
    source.write_text("".join(f'#include "m{number}.h"\n#include "m{number}.h"\n' for number in range(len(models))))
    check_syntax(source, standard)


def test_names_that_headers_use_get_a_prefix():
    names = ["NULL", "PRId64", "m_run", "memset", "X1", "Yes", "_start", "class_"]
    assert [c_identifier(name, set(), prefix="m") for name in names] == [
        *("x_NULL", "x_PRId64", "x_m_run", "x_memset", "X1", "Yes", "x__start", "class_")
    ]


def test_text_in_comments_is_escaped():
    assert comment_text("/conv*/1\n??/ü [2 * n]") == "/conv%2A/1%0A%3F%3F/%C3%BC [2 * n]"


def test_the_header_documents_the_order(adder: CompiledModel):
    text = header_text(adder.artifact.metadata, "m")
    order = re.findall(r"args\[(\d)\]  (\w+)", text)
    assert order == [("0", "input"), ("1", "input"), ("2", "output"), ("3", "weight"), ("4", "arena")]
    assert "#define M_ARENA_SIZE 400u" in text
    assert "#define M_WEIGHTS_SIZE 448u" in text


def test_the_file_of_weights(adder: CompiledModel, tmp_path: Path):
    adder.export(tmp_path / "m.o", header=tmp_path / "m.h")
    data = (tmp_path / "m.weights").read_bytes()
    assert len(data) == 448
    np.testing.assert_array_equal(np.frombuffer(data[:400], np.float32), np.arange(100))


def test_a_model_without_weights_has_no_file(
    build_model: Callable[[str, ModelMetadata], CompiledModel], tmp_path: Path
):
    model = build_model("define i32 @xrelay_entry(ptr %c, ptr %a) {\n  ret i32 0\n}\n", ModelMetadata((), ()))
    model.export(tmp_path / "m.o", header=tmp_path / "m.h")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["m.h", "m.o"]


def test_identifiers_do_not_meet():
    taken: set[str] = set()
    assert [c_identifier(name, taken) for name in ("a.b", "a_b", "int", "1x", "")] == [
        "a_b",
        "a_b_2",
        "x_int",
        "x_1x",
        "x_",
    ]


def test_no_linker(adder: CompiledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(ArtifactError, match="2 object files and no 'ld'"):
        adder.export(tmp_path / "m.o", header=tmp_path / "m.h")


def test_a_folder_that_is_not_there(adder: CompiledModel, tmp_path: Path):
    with pytest.raises(ArtifactError, match="cannot"):
        adder.export(tmp_path / "no" / "m.o", header=tmp_path / "m.h")


TWO = """
#include "first.h"
#include "second.h"
int main(int argc, char **argv) {
  float x[100], y[100], a[100], b[100];
  void *one = first_load_weights(argv[1]), *two = other_load_weights(argv[2]);
  void *arena = first_new_arena();
  int32_t status;
  if (one == NULL || two == NULL || arena == NULL || argc != 3) return 2;
  for (int i = 0; i < 100; ++i) { x[i] = i; y[i] = 1; }
  status = first_run(x, y, a, one, arena, 1) + other_run(a, x, b, two, arena, 1);
  for (int i = 0; i < 100; ++i) printf("%.9g\\n", b[i]);
  return status;
}
"""


@needs_compiler
def test_two_models_in_one_program(adder: CompiledModel, tmp_path: Path):
    adder.export(tmp_path / "first.o", header=tmp_path / "first.h")
    adder.export(tmp_path / "second.o", header=tmp_path / "second.h", name="other")
    (tmp_path / "main.c").write_text(TWO)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(tmp_path), "-o", str(tmp_path / "main")]
    files = [str(tmp_path / name) for name in ("main.c", "first.o", "second.o")]
    subprocess.run([COMPILER or "", *flags, *files, "-lm"], check=True, timeout=60)
    weights = [str(tmp_path / f"{name}.weights") for name in ("first", "second")]
    command = [str(tmp_path / "main"), *weights]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    i = np.arange(100)
    np.testing.assert_array_equal(np.array(done.stdout.split(), np.float32), (i + 1 + i) + i + i)


def test_every_symbol_is_named_after_the_model(adder: CompiledModel, tmp_path: Path):
    adder.export(tmp_path / "m.o", header=tmp_path / "m.h", name="int")
    assert {name.split("_")[1] for name in defined_symbols((tmp_path / "m.o").read_bytes())} == {"int"}
    assert "int32_t x_int_entry(void *ctx, void **args);" in (tmp_path / "m.h").read_text()


def test_kernels_have_their_readable_names(tmp_path: Path):
    x = relay.var("x", shape=(4, 8))
    compiled = xrelay.compile(relay.IRModule.from_expr(relay.exp(relay.nn.softmax(x))))
    compiled.export(tmp_path / "m.o", header=tmp_path / "m.h")
    symbols = defined_symbols((tmp_path / "m.o").read_bytes())
    assert {f"m__{kernel.symbol}" for kernel in compiled.artifact.metadata.kernels} <= symbols
    assert not any("xrelay_kernel_" in symbol for symbol in symbols)


def test_renaming_changes_the_names_asked_for_alone(adder: CompiledModel):
    entry, kernel = adder.artifact.objects
    (symbol,) = defined_symbols(kernel)
    renamed = rename_symbols(entry, {symbol: "a_much_longer_name_than_before", "nothing": "x"}, public=())
    assert defined_symbols(renamed) == defined_symbols(entry)
    assert b"a_much_longer_name_than_before\0" in renamed
    assert defined_symbols(rename_symbols(kernel, {symbol: "k"}, public=("k",))) == {"k"}


def test_what_is_no_elf_file():
    with pytest.raises(ArtifactError, match="not 64-bit ELF"):
        defined_symbols(b"\xcf\xfa\xed\xfe")
