"""`relay.vm`: executables of `@main`, called, saved and loaded, as in programs for Relay's virtual machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xrelay
from xrelay import relay
from xrelay.errors import InputError

ROW = np.float32([1, 2, 3])


def executable() -> relay.vm.Executable:
    x, pair = relay.var("x", shape=(relay.Any(),)), relay.TupleType([relay.TensorType((3,)), relay.TensorType(())])
    both, w = relay.var("both", type_annotation=pair), relay.var("w", shape=(3,))
    body = relay.Tuple([x + x, relay.Tuple([both[1], both[0] - w])])
    module = relay.IRModule.from_expr(relay.Function([x, both, w], body))
    return relay.vm.compile(module, target="llvm", params={"w": [1, 1, 1]})


def check(machine: relay.vm.VirtualMachine) -> None:
    doubled, (number, rest) = machine.invoke("main", ROW[:2], (ROW, 7))
    assert (doubled.tolist(), number.tolist(), rest.tolist()) == ([2, 4], 7, [0, 1, 2])


def test_main_is_called_with_arguments_or_those_set_before() -> None:
    exe = executable()
    assert (exe.globals, exe.get_function_params("main")) == (["main"], ["x", "both"])
    machine = relay.vm.VirtualMachine(exe, xrelay.cpu(0))
    check(machine)
    machine.set_input("main", ROW, both=[ROW, 0])
    machine.invoke_stateful("main")
    assert machine.get_outputs()[0].tolist() == [2, 4, 6]
    machine.invoke_stateful("main", ROW[:1], (ROW, 0))
    assert machine.get_outputs()[0].tolist() == [2]
    machine.set_input("main", ROW, both=[ROW, 0])
    assert machine.run()[0].tolist() == [2, 4, 6]
    machine.set_one_input("main", 1, [ROW, 5])
    machine.set_one_input("main", "x", ROW[:2])
    machine.set_one_input("main", x=ROW[:1])
    doubled, (number, _) = machine.invoke("main")
    assert (doubled.tolist(), number.tolist()) == ([2], 5)
    with pytest.raises(InputError, match="there is no parameter 'z'; help: parameters: x, both"):
        machine.set_one_input("main", "z", ROW)
    with pytest.raises(InputError, match="expected one argument to set; help: "):
        machine.set_one_input("main", x=ROW, both=[ROW, 0])
    assert (machine.get_input_index("both"), machine.get_input_index("b")) == (1, -1)


def test_one_value_is_the_output() -> None:
    x = relay.var("x", shape=(3,))
    compiler = relay.vm.VMCompiler()
    compiler.lower(relay.IRModule.from_expr(relay.Function([x], x * x)), "llvm")
    compiler.codegen()
    machine = relay.vm.VirtualMachine(compiler.get_exec())
    assert machine.invoke("main", x=ROW).tolist() == [1, 4, 9]
    assert [each.tolist() for each in machine.get_outputs()] == [[1, 4, 9]]


def test_values_are_copied_to_arrays_that_are_given() -> None:
    machine = relay.vm.VirtualMachine(executable())
    given = [np.empty(2, np.float32), np.empty((), np.float32), np.empty(3, np.float32)]
    machine.invoke_with_outputs("main", {"x": ROW[:2], "both": (ROW, 7)}, given)
    assert [each.tolist() for each in given] == [[2, 4], 7, [0, 1, 2]]
    machine.set_input("main", ROW[1:], (ROW, 8))
    machine.invoke_with_outputs("main", None, given)
    assert given[0].tolist() == [4, 6]
    with pytest.raises(InputError, match="main has 3 outputs, got 1 arrays"):
        machine.invoke_with_outputs("main", None, given[:1])
    with pytest.raises(InputError, match=r"out: expected float32\[2\], got float32\[3\]"):
        machine.invoke_with_outputs("main", None, given[::-1])


@pytest.mark.parametrize("end_to_end", [False, True])
def test_calls_are_timed(end_to_end: bool) -> None:
    machine = relay.vm.VirtualMachine(executable())
    result = machine.benchmark(xrelay.cpu(0), ROW, (ROW, 7), repeat=2, number=1, end_to_end=end_to_end)
    assert (len(result.results), result.min > 0) == (2, True)
    assert machine.get_outputs()[0].tolist() == [2, 4, 6]


def test_what_is_saved_can_be_loaded(tmp_path: Path) -> None:
    code, lib = executable().save()
    lib.save(tmp_path / "lib.xrelay")
    loaded = relay.vm.Executable.load_exec(code, xrelay.load(tmp_path / "lib.xrelay"))
    check(relay.vm.VirtualMachine(loaded))


def test_refused() -> None:
    exe = executable()
    machine = relay.vm.VirtualMachine(exe)
    with pytest.raises(InputError, match=r"has no function 'mian'; help: did you mean 'main'\?"):
        machine.invoke("mian", ROW)
    with pytest.raises(InputError, match="takes 2 arguments"):
        machine.invoke("main")
    with pytest.raises(InputError, match="nothing was lowered"):
        relay.vm.VMCompiler().get_exec()
    texts = (b"{}", b"[" * 100_000, b"[]", b"\xff", b'{"names": 1, "inputs": [], "outputs": []}')
    for code in (*texts, b'{"names": [], "inputs": ["tensor<"], "outputs": []}'):
        with pytest.raises(InputError, match="the bytes are not a saved executable"):
            relay.vm.Executable.load_exec(code, exe.lib)
    with pytest.raises(InputError, match="has 1 names for 0 parameters"):
        relay.vm.Executable.load_exec(b'{"names": ["x"], "inputs": [], "outputs": []}', exe.lib)
    with pytest.raises(InputError, match="is not an executable; help: compile one"):
        relay.vm.VirtualMachine(None)  # pyright: ignore
