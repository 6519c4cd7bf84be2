"""Only `text` counts: nowhere else is 1 added to, or taken from, a line or a character."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "lsp_mcp"
COUNTED = re.compile(r"(\w*_)?(line|lineno|lnum|line_number|row|character|char|column|col)", re.IGNORECASE)


def words(node: ast.expr) -> Iterator[str]:
    """What an operand is called: `x`, `a.x`, `a["x"]`, `a.get("x", …)`, or one of these in `int(…)`."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            yield word
        case ast.Subscript(slice=ast.Constant(value=str(word))):
            yield word
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(word)), *_]):
            yield word
        case ast.Call(func=ast.Name(id="int"), args=[argument]):
            yield from words(argument)


def counts(code: str) -> list[int]:
    """The lines of `code`, from 1, on which a line or a character is moved by one."""
    found = []
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.BinOp(left=operand, op=ast.Add() | ast.Sub(), right=ast.Constant(value=1)):
                pass
            case ast.BinOp(left=ast.Constant(value=1), op=ast.Add(), right=operand):
                pass
            case ast.AugAssign(target=operand, op=ast.Add() | ast.Sub(), value=ast.Constant(value=1)):
                pass
            case _:
                continue
        if any(COUNTED.fullmatch(word) for word in words(operand)):
            found.append(node.lineno)
    return found


def test_only_text_moves_a_line_or_a_character_by_one() -> None:
    wrong = [
        f"{path.relative_to(SOURCE.parent)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != SOURCE / "text.py"
        for line in counts(path.read_text("utf-8"))
    ]
    assert wrong == [], "let lsp_mcp.text convert: it knows both conventions"


@pytest.mark.parametrize(
    "code",
    [
        "line + 1",
        "1 + start_line",
        "point.character - 1",
        'position["line"] + 1',
        'int(position.get("character", 0)) - 1',
        "row += 1",
    ],
)
def test_the_rule_sees_a_count(code: str) -> None:
    assert counts(code) == [1]


@pytest.mark.parametrize("code", ["index + 1", "len(line) + 1", "line + 2", "lines[-1]", "line + other", "offset - 1"])
def test_the_rule_leaves_other_sums_alone(code: str) -> None:
    assert counts(code) == []
