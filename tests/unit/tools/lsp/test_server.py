"""`xrelay-lsp` over standard input and output, with a client as an editor has it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeAlias

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from xrelay.tools.lsp.server import main

URI = "file:///net.mlir"
VALID = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.nn.relu(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


class Editor(LanguageClient):
    """A client that keeps diagnostics and messages."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.published = asyncio.Queue[list[lsp.Diagnostic]]()
        self.messages: list[str] = []

        def keep(params: lsp.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(list(params.diagnostics))

        def show(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)

        self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(keep)
        self.feature(lsp.WINDOW_SHOW_MESSAGE)(show)

    async def open(self, text: str) -> list[lsp.Diagnostic]:
        """Opens a document and returns its diagnostics."""
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(URI, "mlir", 1, text)))
        return await asyncio.wait_for(self.published.get(), 60)

    async def change(self, text: str) -> list[lsp.Diagnostic]:
        """Replaces the document and returns its diagnostics."""
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        document = lsp.VersionedTextDocumentIdentifier(2, URI)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))
        return await asyncio.wait_for(self.published.get(), 60)


Steps: TypeAlias = Callable[[Editor, list[lsp.Diagnostic]], Awaitable[None]]
Session: TypeAlias = Callable[[str, Steps], None]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """Yields a function that opens a document in a server, which all tests share, and runs a session of an editor."""
    editor = Editor()

    async def start() -> None:
        untyped: Any = editor
        await untyped.start_io(sys.executable, "-m", "xrelay.tools.lsp.server", "--stdio")
        await editor.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))

    async def run(text: str, steps: Steps) -> None:
        await steps(editor, await editor.open(text))
        editor.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(URI)))

    async def stop() -> None:
        await editor.shutdown_async(None)
        editor.exit(None)
        await editor.stop()

    with asyncio.Runner() as runner:
        runner.run(start())
        yield lambda text, steps: runner.run(run(text, steps))
        runner.run(stop())


def at(line: int, column: int) -> tuple[lsp.TextDocumentIdentifier, lsp.Position]:
    return lsp.TextDocumentIdentifier(URI), lsp.Position(line, column)


def test_diagnostics_follow_changes(session: Session) -> None:
    async def steps(editor: Editor, first: list[lsp.Diagnostic]) -> None:
        assert first == []
        (unknown,) = await editor.change(VALID.replace("relay.nn.relu(%x)", "relay.nn.rellu(%x)"))
        assert (unknown.range.start.line, unknown.range.start.character) == (1, 2)
        assert "relay.nn.relu" in unknown.message
        (wrong,) = await editor.change(VALID.replace("%y : tensor<4xf32>\n}", "%y : tensor<5xf32>\n}"))
        assert wrong.range.start.line == 3
        assert await editor.change(VALID) == []

    session(VALID, steps)


def test_names_ops_and_completion(session: Session) -> None:
    async def steps(editor: Editor, first: list[lsp.Diagnostic]) -> None:
        hover = await editor.text_document_hover_async(lsp.HoverParams(*at(1, 12)))
        assert hover is not None
        assert "relay.nn.relu" in str(hover.contents)
        value = await editor.text_document_hover_async(lsp.HoverParams(*at(3, 15)))
        assert value is not None
        assert "tensor<4xf32>" in str(value.contents)
        found = await editor.text_document_definition_async(lsp.DefinitionParams(*at(3, 15)))
        assert isinstance(found, lsp.Location)
        assert found.range == lsp.Range(lsp.Position(1, 2), lsp.Position(1, 4))
        uses = await editor.text_document_references_async(lsp.ReferenceParams(lsp.ReferenceContext(False), *at(1, 3)))
        assert [use.range.start.line for use in uses or ()] == [2, 3]
        symbols = await editor.text_document_document_symbol_async(lsp.DocumentSymbolParams(at(0, 0)[0]))
        assert [each.name for each in symbols or ()] == ["@main"]

    session(VALID, steps)


def labels(found: Sequence[lsp.CompletionItem] | lsp.CompletionList | None) -> list[str]:
    assert found is not None
    assert not isinstance(found, lsp.CompletionList)
    return [item.label for item in found]


def test_completion_of_ops_attributes_and_values(session: Session) -> None:
    text = VALID.replace("  func.return", "  %w = relay.nn.soft\n  %v = relay.nn.softmax(%y) {\n  func.return %")

    async def steps(editor: Editor, first: list[lsp.Diagnostic]) -> None:
        assert first
        ops = await editor.text_document_completion_async(lsp.CompletionParams(*at(3, 20)))
        assert "relay.nn.softmax" in labels(ops)
        assert "relay.nn.relu" not in labels(ops)
        names = await editor.text_document_completion_async(lsp.CompletionParams(*at(4, 29)))
        assert "axis" in labels(names)
        values = await editor.text_document_completion_async(lsp.CompletionParams(*at(5, 15)))
        assert {"%x", "%y", "%z"} <= set(labels(values))

    session(text, steps)


def test_pass_as_code_action(session: Session) -> None:
    async def steps(editor: Editor, first: list[lsp.Diagnostic]) -> None:
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        context = lsp.CodeActionContext([])
        found = await editor.text_document_code_action_async(lsp.CodeActionParams(at(0, 0)[0], whole, context))
        actions = {each.title: each for each in found or () if isinstance(each, lsp.CodeAction)}
        done = await editor.code_action_resolve_async(actions["run relay-dead-code-elimination"])
        assert done.edit is not None
        assert done.edit.changes is not None
        (change,) = done.edit.changes[URI]
        assert "%y" in change.new_text
        assert "%z" not in change.new_text
        await editor.change(VALID + "}")
        refused = await editor.code_action_resolve_async(actions["run relay-dead-code-elimination"])
        assert refused.edit is None
        assert editor.messages

    session(VALID, steps)


@pytest.mark.parametrize(
    ("flag", "code", "out", "err"),
    [
        ("--help", 0, "usage: xrelay-lsp", ""),
        ("--help-me", 2, "", "xrelay-lsp: error: "),
    ],
)
def test_flags(flag: str, code: int, out: str, err: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([flag])
    said = capsys.readouterr()
    assert ended.value.code == code
    assert (said.out[: len(out) or None], said.err[: len(err) or None]) == (out, err)
