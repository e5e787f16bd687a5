"""`xrelay.compile`: sources, options, dumps, caches, and its errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import registrations
from xrelay.api.codegen import llvm_texts
from xrelay.api.model_key import content_digest, model_key
from xrelay.errors import InputError, LoweringError, ModelImportError, ParseError, VerificationError, XRelayError
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module

TEXT = """func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = relay.add(%x, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = relay.nn.relu(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}
"""


@pytest.fixture
def inputs() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((4, 8)).astype(np.float32) for _ in range(2)]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XRELAY_CACHE", "1")
    monkeypatch.setattr(registrations, "_modules", set[str]())  # other tests of this process may have registered things
    return tmp_path / "cache"


def module() -> ModuleOp:
    return parse_module(full_context(), TEXT, "t.mlir")


def model(open_batch: bool = False) -> onnx.ModelProto:
    shape = ["n" if open_batch else 4, 8]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("p", "q", "sum")]
    graph = helper.make_graph([helper.make_node("Add", ["p", "q"], ["sum"], "adder")], "adding", values[:2], values[2:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def check(compiled: xrelay.CompiledModel, inputs: list[np.ndarray]) -> None:
    outputs = compiled.run(inputs)
    np.testing.assert_allclose(outputs[0], inputs[0] + inputs[1], rtol=1e-6)
    if len(outputs) > 1:
        np.testing.assert_allclose(outputs[1], np.maximum(inputs[0] + inputs[1], 0), rtol=1e-6)


def test_every_kind_of_source(tmp_path: Path, inputs: list[np.ndarray]) -> None:
    (tmp_path / "m.mlir").write_text(TEXT)
    onnx.save(model(), tmp_path / "m.onnx")
    paths = (tmp_path / "m.mlir", str(tmp_path / "m.mlir"), tmp_path / "m.onnx")
    for source in (module(), *paths, model(), model().SerializeToString()):
        check(xrelay.compile(source, cache=False), inputs)


def test_a_module_is_not_changed() -> None:
    given = module()
    before = print_module(given)
    xrelay.compile(given, cache=False)
    assert print_module(given) == before


def test_names_come_from_the_source() -> None:
    compiled = xrelay.compile(model(), cache=False)
    assert (compiled.input_names, compiled.output_names) == (["p", "q"], ["sum"])
    assert compiled.artifact.metadata.name == "adding"
    assert [kernel.sources for kernel in compiled.artifact.metadata.kernels] == [("adder",)]


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
def test_every_opt_level(opt_level: int, inputs: list[np.ndarray]) -> None:
    check(xrelay.compile(module(), opt_level=opt_level, cache=False), inputs)


def test_open_shapes(inputs: list[np.ndarray]) -> None:
    check(xrelay.compile(model(open_batch=True), shapes={"p": (4, 8), "q": (4, 8)}, cache=False), inputs)
    # Without shapes the names of the model's extents are kept, and each call determines their sizes.
    open_batch = xrelay.compile(model(open_batch=True), cache=False)
    assert open_batch.artifact.metadata.dims
    check(open_batch, inputs)


def test_stages_are_dumped_and_can_be_compiled_again(tmp_path: Path, inputs: list[np.ndarray]) -> None:
    xrelay.compile(module(), dump_stages=tmp_path, cache=False)
    names = [path.name for path in sorted(tmp_path.iterdir())]
    assert names[:2] == ["00_imported.mlir", "01_typed.mlir"]
    assert {"09_llvm.mlir", "10_native.ll", "11_native.s", "timing.txt"} <= set(names)
    check(xrelay.compile(tmp_path / "00_imported.mlir", cache=False), inputs)


def test_progress_is_told_in_order() -> None:
    told: list[tuple[int, int, str]] = []
    xrelay.compile(module(), cache=False, progress=lambda done, total, step: told.append((done, total, step)))
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1][0] == told[-1][1]


def test_second_compilation_comes_from_the_cache(cache: Path, tmp_path: Path, inputs: list[np.ndarray]) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(TEXT)
    steps: list[str] = []
    for _ in range(2):
        check(xrelay.compile(path, progress=lambda done, total, step: steps.append(step)), inputs)
    assert steps.count("typed") == 1
    (entry,) = (cache / "models").rglob("*.xrelay")
    entry.write_bytes(entry.read_bytes()[:100])
    check(xrelay.compile(path, progress=lambda done, total, step: steps.append(step)), inputs)
    assert steps.count("typed") == 2


def test_the_key_depends_on_everything_that_matters(cache: Path, tmp_path: Path) -> None:
    host = xrelay.Target.host()
    other = xrelay.Target.parse("cpu -mcpu=x86-64")
    path = tmp_path / "m.mlir"
    path.write_text(TEXT)
    keys = [
        model_key(content_digest(path), host, 3, None),
        model_key(content_digest(path), host, 2, None),
        model_key(content_digest(path), other, 3, None),
        model_key(content_digest(model()), host, 3, None),
        model_key(content_digest(model()), host, 3, {"p": (4, 8)}),
        model_key(content_digest(module()), host, 3, None),
    ]
    path.write_text(TEXT.replace("relay.add", "relay.multiply"))
    keys.append(model_key(content_digest(path), host, 3, None))
    assert len(set(keys)) == len(keys)
    assert None not in keys
    path.write_bytes(b"\0 location \0")
    assert model_key(content_digest(path.rename(tmp_path / "external.onnx")), host, 3, None) is None


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("func.func @main(", ParseError, r"bad\.mlir:1:"),
        (TEXT.replace("%a, %b :", "%b, %a :"), None, ""),
        (TEXT.replace("relay.nn.relu(%a)", "relay.nn.relu(%c)"), ParseError, "%c"),
        (TEXT.replace("-> tensor<4x8xf32>\n", "-> tensor<4x9xf32>\n", 1), XRelayError, r"bad\.mlir:"),
        (TEXT.replace("@main", "@other"), InputError, "@other"),
        ("builtin.module {}", InputError, "no functions"),
    ],
)
def test_wrong_text(tmp_path: Path, text: str, error: type[XRelayError] | None, message: str) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(text)
    if error is None:
        xrelay.compile(path, cache=False)
        return
    with pytest.raises(error, match=message):
        xrelay.compile(path, cache=False)


def test_use_before_definition(tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    lines = TEXT.splitlines()
    path.write_text("\n".join([lines[0], lines[2], lines[1], *lines[3:]]))
    with pytest.raises(VerificationError, match=r"bad\.mlir:2:3: relay\.nn\.relu uses %a"):
        xrelay.compile(path, cache=False)


def test_flags_are_on_or_off() -> None:
    wrong: Any = "/tmp/cache"
    with pytest.raises(InputError, match=r"^cache is '/tmp/cache', which is neither True nor False$"):
        xrelay.compile(module(), cache=wrong)
    with pytest.raises(InputError, match=r"^integers is '/tmp/cache'"):
        xrelay.compile(module(), integers=wrong)


def test_wrong_options(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="opt_level"):
        xrelay.compile(module(), opt_level=4, cache=False)
    with pytest.raises(InputError, match="target"):
        xrelay.compile(module(), target="gpu", cache=False)
    with pytest.raises(InputError, match="threads"):
        xrelay.compile(module(), threads=0, cache=False)
    with pytest.raises(InputError, match="shapes"):
        xrelay.compile(module(), shapes={"x": (1,)}, cache=False)
    with pytest.raises(InputError, match=r"neither an \.onnx nor an \.mlir file; help: .* xrelay\.load reads compiled"):
        xrelay.compile(tmp_path / "model.pb", cache=False)
    with pytest.raises(InputError, match=r"string .* model; help: "):
        xrelay.compile(str(module()), cache=False)
    with pytest.raises(ModelImportError):
        xrelay.compile(tmp_path / "none.onnx", cache=False)
    with pytest.raises(ModelImportError, match="shapes names 'z'"):
        xrelay.compile(model(), shapes={"z": (1,)}, cache=False)


@pytest.mark.parametrize("name", ["n" * 300, f"{'n' * 300}.mlir", f"{'n' * 300}.onnx", f"{'d' * 100}/" * 60])
def test_paths_that_are_too_long(name: str) -> None:
    with pytest.raises(XRelayError, match=r"File name too long|neither an \.onnx nor an \.mlir file"):
        xrelay.compile(name)


def test_each_kernel_is_a_piece_of_code_of_its_own() -> None:
    text = """
llvm.func internal @table_user(%p: !llvm.ptr) -> i32 { %c = llvm.mlir.constant(0 : i32) : i32
  llvm.return %c : i32 }
llvm.func @k0(%p: !llvm.ptr) -> i32 { %r = llvm.call @table_user(%p) : (!llvm.ptr) -> i32
  llvm.return %r : i32 }
llvm.func @k1(%p: !llvm.ptr) -> i32 { %r = llvm.call @outside(%p) : (!llvm.ptr) -> i32
  llvm.return %r : i32 }
llvm.func @k2(%p: !llvm.ptr) -> i32 { %r = llvm.call @outside(%p) : (!llvm.ptr) -> i32
  llvm.return %r : i32 }
llvm.func @outside(!llvm.ptr) -> i32
llvm.func @main(%p: !llvm.ptr) -> i32 { %0 = llvm.call @k0(%p) : (!llvm.ptr) -> i32
  %1 = llvm.call @k1(%p) : (!llvm.ptr) -> i32
  %2 = llvm.call @k2(%p) : (!llvm.ptr) -> i32
  llvm.return %2 : i32 }
"""
    texts = [piece.text for piece in llvm_texts(parse_module(full_context(), text, "t.mlir"), xrelay.Target.host())]
    defined = [sorted(line.split("@")[1].split("(")[0] for line in t.splitlines() if "define" in line) for t in texts]
    assert defined == [["main"], ["k0", "table_user"], ["k1"], ["k2"]]
    assert all("declare i32 @outside" in texts[number] for number in (2, 3))
    assert all(f"declare i32 @k{number}" in texts[0] for number in range(3))
    assert "\n".join(texts).count("declare i32 @outside") == 2


@pytest.mark.parametrize(
    ("kind", "reads", "parts"),
    [
        ("vector<4xf32>", "", [["k", "vectors"], ["numbers"]]),
        ("f32", "", [["k", "numbers", "vectors"]]),
        ("vector<4xf32>", "%t = llvm.mlir.addressof @table : !llvm.ptr", [["k", "numbers", "vectors"]]),
    ],
    ids=["both kinds", "numbers alone", "a table of both"],
)
def test_code_of_numbers_leaves_code_of_vectors(kind: str, reads: str, parts: list[list[str]]) -> None:
    """LLVM has a pipeline for each; the one for scalar code is slow on vector code."""
    text = f"""
llvm.mlir.global internal @table() : i32
llvm.func @k(%p: !llvm.ptr) -> i32 {{
  %r = llvm.call @numbers(%p) : (!llvm.ptr) -> i32
  %s = llvm.call @vectors(%p) : (!llvm.ptr) -> i32
  llvm.return %s : i32 }}
llvm.func @numbers(%p: !llvm.ptr) -> i32 {{
  %t = llvm.mlir.addressof @table : !llvm.ptr
  %f = llvm.load %p : !llvm.ptr -> f32
  llvm.store %f, %p : f32, !llvm.ptr
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32 }}
llvm.func @vectors(%p: !llvm.ptr) -> i32 {{
  {reads}
  %f = llvm.load %p : !llvm.ptr -> {kind}
  llvm.store %f, %p : {kind}, !llvm.ptr
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32 }}
"""
    texts = [piece.text for piece in llvm_texts(parse_module(full_context(), text, "t.mlir"), xrelay.Target.host())]
    defined = [sorted(line.split("@")[1].split("(")[0] for line in t.splitlines() if "define" in line) for t in texts]
    assert defined == parts
    assert ["@table = " in each for each in texts] == ["numbers" in names for names in parts]


COUNTER = "llvm.br ^l(%r : i32) ^l(%j: i32): llvm.store %j, %p : i32, !llvm.ptr"
AGAIN = """%s = llvm.call @{callee}(%p) : (!llvm.ptr) -> i32
  %again = llvm.icmp "eq" %s, %j : i32
  llvm.cond_br %again, ^l(%s : i32), ^e ^e:"""
EXIT_BEFORE = """llvm.br ^l ^x: llvm.store %r, %p : i32, !llvm.ptr llvm.return %r : i32
  ^l: %fails = llvm.icmp "eq" %r, %r : i32
  llvm.cond_br %fails, ^x, ^e ^e:"""


@pytest.mark.parametrize(
    ("stored", "is_glue"),
    [
        ("", True),
        ("llvm.store %r, %p : i32, !llvm.ptr", True),
        ("%f = llvm.mlir.constant(0.0 : f32) : f32 llvm.store %f, %p : f32, !llvm.ptr", False),
        (COUNTER + AGAIN.format(callee="k"), True),
        (COUNTER + AGAIN.format(callee="outside"), False),
        (EXIT_BEFORE, True),
    ],
)
def test_what_only_calls_kernels_is_glue(stored: str, is_glue: bool) -> None:
    text = f"""
llvm.func @outside(!llvm.ptr) -> i32
llvm.func @k(%p: !llvm.ptr) -> i32 {{ %c = llvm.mlir.constant(0 : i32) : i32
  llvm.return %c : i32 }}
llvm.func @main(%p: !llvm.ptr) -> i32 {{ %r = llvm.call @k(%p) : (!llvm.ptr) -> i32
  {stored}
  llvm.return %r : i32 }}
llvm.func @xrelay_entry(%p: !llvm.ptr) -> i32 {{ %r = llvm.call @main(%p) : (!llvm.ptr) -> i32
  llvm.return %r : i32 }}
"""
    pieces = llvm_texts(parse_module(full_context(), text, "t.mlir"), xrelay.Target.host())
    assert [piece.is_glue for piece in pieces] == [is_glue, False]


def test_an_extent_from_which_no_size_follows_is_refused_with_the_input() -> None:
    type = "tensor<?xf32, #relay.dims<n * m>>"
    text = f"func.func @main(%x: {type}) -> {type} {{\n func.return %x : {type}\n}}"
    with pytest.raises(LoweringError, match=r"input 'x' is .* whose shape is not known when compiling"):
        xrelay.compile(parse_module(full_context(), text, "t.mlir"), cache=False)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([1], r"shapes is \[1\], .*"),
        ("p:4x8", "shapes is 'p:4x8', .*"),
        ({5: (4, 8)}, "shapes: 5 is .*"),
        ({"p": 5.0}, r"'p' has 5\.0, .*"),
        ({"p": None}, "'p' has None, .*"),
        ({"p": "48"}, "'p' has '48', .*"),
        ({"p": (4, 8.0)}, r"'p' has the extent 8\.0, .*"),
        ({"p": (True, 8)}, "'p' has the extent True, .*"),
        ({"p": ("n", 8), "q": (None, 8)}, "'q' has the extent None, .*"),
    ],
)
def test_shapes_that_are_none(shapes: object, message: str, cache: bool) -> None:
    with pytest.raises(InputError, match=message):
        xrelay.compile(model(open_batch=True), shapes=shapes, cache=cache)  # pyright: ignore[reportArgumentType]


def test_a_shape_with_a_fraction_leaves_no_trace(inputs: list[np.ndarray]) -> None:
    """8.0 equals 8, so a type with it once replaced the right one in every later compilation."""
    with pytest.raises(InputError):
        xrelay.compile(model(open_batch=True), shapes={"p": (4, 8.0), "q": (4, 8)}, cache=False)  # pyright: ignore
    check(xrelay.compile(model(), cache=False), inputs)


@pytest.mark.parametrize("extents", [(np.int64(4), 8), np.array([4, 8]), [4, np.uint8(8)], range(4, 9, 4)])
def test_shapes_of_other_integers(extents: object, inputs: list[np.ndarray]) -> None:
    shapes = {"p": extents, "q": extents}
    check(xrelay.compile(model(open_batch=True), shapes=shapes, cache=False), inputs)  # pyright: ignore


@pytest.mark.parametrize("path", [5, None, b"bytes", "zero\0byte", ["m.xrelay"]])
def test_paths_that_are_none(tmp_path: Path, path: object) -> None:
    compiled = xrelay.compile(model(), cache=False)
    for use in (
        lambda: xrelay.load(path),  # pyright: ignore
        lambda: compiled.save(path),  # pyright: ignore
        lambda: compiled.export(path, header=tmp_path / "m.h"),  # pyright: ignore
        lambda: compiled.export(tmp_path / "m.o", header=path),  # pyright: ignore
        lambda: xrelay.compile(path, dump_stages="zero\0byte"),  # pyright: ignore
        lambda: xrelay.compile(model(), dump_stages=[5], cache=False),  # pyright: ignore
    ):
        with pytest.raises(InputError) as caught:
            use()
        assert "\n" not in str(caught.value)
