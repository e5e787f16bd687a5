"""`xrelay-lsp`: the language server, over standard input and output.

Diagnostics come from the parser and the verifier after each change. Hovering shows the documentation of an op, or the
line and type of a value. Definitions and uses of names, completion of ops and attributes, symbols, and passes as code
actions work in texts with errors, too; a pass needs a valid text.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Final

from xrelay import __version__

try:
    from lsprotocol import types as lsp
    from pygls.lsp.server import LanguageServer
    from pygls.workspace import TextDocument
except ImportError:
    sys.exit("xrelay-lsp needs pygls: pip install 'xrelay[lsp]'")

from xrelay.errors import XRelayError
from xrelay.lowering.registry import ALL_PASSES
from xrelay.tools.command_line import answer_in_one_line
from xrelay.tools.lsp.analysis import Analysis, Finding, analyse, run_pass
from xrelay.tools.lsp.knowledge import attributes, documentation, known_ops
from xrelay.tools.lsp.names import Name, Names
from xrelay.tools.opt.catalogue import named_pipelines

SOURCE: Final = "xrelay"
_OP: Final = re.compile(r"[a-z_]\w*(?:\.\w+)+")
_WORD_BEFORE: Final = re.compile(r"[\w.]*$")
_OP_BEFORE: Final = re.compile(r"(?:=\s*|^\s*)([a-z_]\w*(?:\.\w+)+)[^{}]*(?:\{[^{}]*)?$")

server = LanguageServer(SOURCE, __version__)


def main(args: Sequence[str] | None = None) -> None:
    """Serves an editor over standard input and output until it disconnects."""
    parser = ArgumentParser(prog="xrelay-lsp", description="A language server for .mlir texts: see docs/editor.md.")
    parser.add_argument("-v", "--version", action="version", version=f"xrelay-lsp {__version__}")
    parser.add_argument("--stdio", action="store_true", help="serve over standard input and output, as without it")
    answer_in_one_line(parser)
    parser.parse_args(args)
    server.start_io()


def _analysis(document: TextDocument) -> Analysis:
    return analyse(document.source, document.path or document.uri)


def _diagnostics(uri: str, findings: Sequence[Finding], document: TextDocument) -> list[lsp.Diagnostic]:
    return [
        lsp.Diagnostic(
            _token_range(document, finding),
            finding.message,
            severity=lsp.DiagnosticSeverity.Error,
            source=SOURCE,
            related_information=[
                lsp.DiagnosticRelatedInformation(lsp.Location(uri, _token_range(document, note)), note.message)
                for note in finding.notes
            ],
        )
        for finding in findings
    ]


def _token_range(document: TextDocument, finding: Finding) -> lsp.Range:
    """Returns the range of the token at a finding."""
    line = document.lines[finding.line] if finding.line < len(document.lines) else ""
    token = re.compile(r"[%@^#!]?[\w.$-]+|\S|$").match(line, min(finding.column, len(line)))
    end = finding.column + 1 if token is None else max(token.end(), finding.column + 1)
    return lsp.Range(lsp.Position(finding.line, finding.column), lsp.Position(finding.line, end))


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
def did_open(ls: LanguageServer, params: lsp.DidOpenTextDocumentParams) -> None:
    """Publishes the diagnostics of an opened document."""
    _publish(ls, params.text_document.uri)


@server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
def did_change(ls: LanguageServer, params: lsp.DidChangeTextDocumentParams) -> None:
    """Publishes the diagnostics of a changed document."""
    _publish(ls, params.text_document.uri)


def _publish(ls: LanguageServer, uri: str) -> None:
    document = ls.workspace.get_text_document(uri)
    found = _diagnostics(uri, _analysis(document).findings, document)
    ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version=document.version))


@server.feature(lsp.TEXT_DOCUMENT_HOVER)
def hover(ls: LanguageServer, params: lsp.HoverParams) -> lsp.Hover | None:
    """Returns the documentation of an op, or the definition and type of a name."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    line = document.lines[params.position.line] if params.position.line < len(document.lines) else ""
    for op in _OP.finditer(line):
        if op.start() <= params.position.character <= op.end() and (text := documentation(op[0])) is not None:
            return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text))
    names = Names(document.source)
    name = names.at(document.offset_at_position(params.position))
    definition = None if name is None else names.definition(name)
    if definition is None:
        return None
    text = _definition_text(document, definition)
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, f"```mlir\n{text}\n```"))


def _definition_text(document: TextDocument, definition: Name) -> str:
    """Returns the line of a definition, and the types of the op on it."""
    line = document.source.count("\n", 0, definition.start)
    text = document.lines[line].strip()
    op = _analysis(document).op_at(line) if definition.text[0] == "%" else None
    types = "" if op is None else ", ".join(str(result.type) for result in op.results)
    return f"{text}\n// {types}" if types and types not in text else text


@server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
def definition(ls: LanguageServer, params: lsp.DefinitionParams) -> lsp.Location | None:
    """Returns the definition of the name at a position."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    names = Names(document.source)
    name = names.at(document.offset_at_position(params.position))
    found = None if name is None else names.definition(name)
    return None if found is None else lsp.Location(document.uri, _range(document, found))


@server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
def references(ls: LanguageServer, params: lsp.ReferenceParams) -> list[lsp.Location]:
    """Returns the uses of the name at a position, and its definition if the editor includes it."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    names = Names(document.source)
    name = names.at(document.offset_at_position(params.position))
    found = [] if name is None else names.references(name)
    shown = [each for each in found if params.context.include_declaration or not each.is_definition]
    return [lsp.Location(document.uri, _range(document, each)) for each in shown]


@server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def symbols(ls: LanguageServer, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    """Returns the functions and globals of a document."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    return [
        lsp.DocumentSymbol(each.text, lsp.SymbolKind.Function, _range(document, each), _range(document, each))
        for each in Names(document.source).symbols()
    ]


def _range(document: TextDocument, name: Name) -> lsp.Range:
    line = document.source.count("\n", 0, name.start)
    column = name.start - document.source.rfind("\n", 0, name.start) - 1
    return lsp.Range(lsp.Position(line, column), lsp.Position(line, column + name.end - name.start))


@server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "{", "%", "@"]))
def completion(ls: LanguageServer, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    """Returns the ops whose names begin with the text before the cursor, the attributes of an op, or names."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    line = document.lines[params.position.line] if params.position.line < len(document.lines) else ""
    before = line[: params.position.character]
    if (sigil := re.search(r"[%@][\w$.-]*$", before)) is not None:
        return _names_with(document, sigil[0])
    op = _OP_BEFORE.search(before)
    if op is not None and "{" in before[op.start(1) :]:
        return [
            lsp.CompletionItem(name, kind=lsp.CompletionItemKind.Property, detail=detail)
            for name, detail in attributes(op[1]).items()
        ]
    return _ops_with(_WORD_BEFORE.search(before), params.position)


def _names_with(document: TextDocument, prefix: str) -> list[lsp.CompletionItem]:
    found = {name.text for name in Names(document.source).definitions() if name.text.startswith(prefix[0])}
    return [
        lsp.CompletionItem(text, kind=lsp.CompletionItemKind.Variable, filter_text=text, insert_text=text[1:])
        for text in sorted(found - {prefix})
    ]


def _ops_with(word: re.Match[str] | None, position: lsp.Position) -> list[lsp.CompletionItem]:
    prefix = "" if word is None else word[0]
    start = lsp.Position(position.line, position.character - len(prefix))
    return [
        lsp.CompletionItem(
            name,
            kind=lsp.CompletionItemKind.Function,
            documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, documentation(name) or ""),
            text_edit=lsp.TextEdit(lsp.Range(start, position), name),
        )
        for name in known_ops()
        if name.startswith(prefix)
    ]


@server.feature(
    lsp.TEXT_DOCUMENT_CODE_ACTION,
    lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.RefactorRewrite], resolve_provider=True),
)
def code_actions(ls: LanguageServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Returns an action for each pass and each stage of the compiler; the edit is computed when one is chosen."""
    pipelines = [*(name for name in named_pipelines() if name != "compile"), *ALL_PASSES]
    return [
        lsp.CodeAction(
            f"run {name}", kind=lsp.CodeActionKind.RefactorRewrite, data=f"{name} {params.text_document.uri}"
        )
        for name in pipelines
    ]


@server.feature(lsp.CODE_ACTION_RESOLVE)
def resolve(ls: LanguageServer, action: lsp.CodeAction) -> lsp.CodeAction:
    """Runs the pass of an action and adds its edit; shows the error of a pass that fails."""
    name, _, uri = str(action.data).partition(" ")
    document = ls.workspace.get_text_document(uri)
    try:
        text = run_pass(document.source, document.path or uri, named_pipelines().get(name, name))
    except XRelayError as error:
        ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, error.render()))
        return action
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(len(document.lines), 0))
    action.edit = lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(whole, text)]})
    return action


if __name__ == "__main__":
    main()
