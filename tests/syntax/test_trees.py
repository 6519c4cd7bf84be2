"""One parse for each text: `lsp_mcp.syntax.trees`."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.syntax.grammars import Grammar, grammar_of
from lsp_mcp.syntax.trees import Parsed, Trees, parsed
from lsp_mcp.text import Text

PATH = Path("/a/b.go")


def go() -> Grammar:
    grammar = grammar_of("go")
    assert grammar
    return grammar


def test_a_text_is_parsed_once() -> None:
    trees = Trees()
    first = trees.tree_of(Text("package a"), go())
    assert trees.tree_of(Text("package a"), go()) is first
    assert trees.tree_of(Text("package b"), go()) is not first


def test_trees_are_kept_within_a_bound_of_bytes_and_of_number() -> None:
    trees = Trees(most_bytes=1000, most_trees=3)
    for number in range(5):
        trees.tree_of(Text(f"package a{number}"), go())
    assert len(trees) == 3
    trees.tree_of(Text("package a\n" + "// b\n" * 190), go())
    assert len(trees) == 3
    trees.tree_of(Text("package a\n" + "// b\n" * 300), go())
    assert len(trees) == 0


@given(st.lists(st.text(alphabet='{}(é\n x="`', max_size=12), min_size=2, max_size=4))
def test_what_is_parsed_again_after_a_change_has_the_tree_of_the_whole(middles: list[str]) -> None:
    trees = Trees()
    for middle in middles:
        text = Text(f"package a\n\nfunc b() {{\n{middle}\n}}\n\nvar c = 1\n")
        assert shape(trees.tree_of(text, go(), PATH)) == shape(parsed(text, go()))


@given(st.lists(st.sampled_from(["", "N_API ", "N_API A ", "N_API A {", "N_", "}"]), min_size=2, max_size=4))
def test_what_a_parser_is_not_to_see_follows_from_the_whole_text(middles: list[str]) -> None:
    trees, grammar = Trees(), grammar_of("cpp")
    assert grammar
    for middle in middles:
        text = Text(f"class {middle}{{ int b; }};\nint c = 1;\n")
        assert shape(trees.tree_of(text, grammar, PATH)) == shape(parsed(text, grammar))


def shape(tree: Parsed) -> str:
    """All nodes of a tree with their places."""
    nodes, lines = [tree.root], []
    while nodes:
        node = nodes.pop()
        lines.append(f"{node.type} {node.start_byte} {node.end_byte} {node.start_point} {node.end_point}")
        nodes += node.children
    return "\n".join(lines)


@given(st.text(alphabet="aé\n\U0001f600\ud800", max_size=30))
def test_bytes_and_offsets_are_the_same_places(content: str) -> None:
    text = parsed(Text(content), go())
    places = [text.byte(offset) for offset in range(len(content) + 1)]
    assert places == sorted(set(places))
    assert [text.offset(byte) for byte in places] == list(range(len(content) + 1))
