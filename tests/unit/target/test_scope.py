"""Targets as contexts: compilation uses the innermost one."""

from __future__ import annotations

from threading import Thread

import numpy as np

import xrelay
from xrelay import relay
from xrelay.target import Target

MODULE = relay.IRModule.from_expr(relay.Function([x := relay.var("x", shape=(4,))], relay.exp(x)))


def test_scopes_nest_and_end() -> None:
    outer, inner = Target.parse("cpu -mcpu=haswell"), Target.parse("cpu -num-threads=1")
    assert Target.current() is None
    with outer:
        assert Target.current() is outer
        with inner as entered:
            assert entered is Target.current() is inner
        assert Target.current() is outer
    assert Target.current() is None


def test_a_scope_is_its_threads_own() -> None:
    seen: list[Target | None] = []
    with Target.parse("cpu"):
        thread = Thread(target=lambda: seen.append(Target.current()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_compiling_inside_a_scope_is_for_its_target() -> None:
    with Target.parse("cpu -mcpu=x86-64"):
        model = xrelay.compile(MODULE)
        named = xrelay.compile(MODULE, target="cpu -mcpu=x86-64-v2")
    assert (model.artifact.metadata.cpu, named.artifact.metadata.cpu) == ("x86-64", "x86-64-v2")
    assert xrelay.compile(MODULE).artifact.metadata.cpu not in ("x86-64", "x86-64-v2")
    np.testing.assert_allclose(model(np.zeros(4, np.float32))[0], np.ones(4))
