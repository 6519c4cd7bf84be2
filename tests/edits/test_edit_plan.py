"""`edits.plan`: every form of an LSP WorkspaceEdit, in any code unit, comes to the right texts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.edits.plan import (
    CreateFile,
    DeleteFile,
    EditPlan,
    FileChange,
    RenameFile,
    TextChange,
    plan_workspace_edit,
)
from lsp_mcp.errors import EditError, PathError
from lsp_mcp.text import Json, Point, PositionEncoding, Span, Text
from lsp_mcp.uris import path_uri

A, B, C = Path("/w/a.go"), Path("/w/b.go"), Path("/w/c.go")
GOPLS = PositionEncoding("utf-16", lone_cr_ends_line=False)


def plan(
    edit: Any,
    files: Mapping[Path, str],
    encoding: PositionEncoding = GOPLS,
    versions: Mapping[Path, int] | None = None,
) -> EditPlan:
    def read(path: Path) -> Text:
        if path not in files:
            raise PathError(f"{path} is not there.")
        return Text(files[path])

    return plan_workspace_edit(edit, read, encoding, (versions or {}).get)


def at(line: int, start: int, end: int, new_text: str) -> Json:
    """An LSP TextEdit within one line, in LSP's own numbers."""
    edges = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"range": edges, "newText": new_text}


def document_edit(path: Path, *edits: Json, **identifier: Any) -> Json:
    return {"textDocument": {"uri": path_uri(path), **identifier}, "edits": list(edits)}


def create(path: Path, **options: bool) -> Json:
    return {"kind": "create", "uri": path_uri(path), "options": options}


def rename(old: Path, new: Path, **options: bool) -> Json:
    return {"kind": "rename", "oldUri": path_uri(old), "newUri": path_uri(new), "options": options}


def delete(path: Path, **options: bool) -> Json:
    return {"kind": "delete", "uri": path_uri(path), "options": options}


def documents(*changes: Json) -> Json:
    return {"documentChanges": list(changes)}


def edited(content: str, *edits: Json, encoding: PositionEncoding = GOPLS) -> str:
    """`content` after `edits`; itself if they change nothing."""
    [*changes] = plan({"changes": {path_uri(A): list(edits)}}, {A: content}, encoding).steps
    if not changes:
        return content
    assert isinstance(changes[0], FileChange)
    assert changes[0].before == Text(content)
    return changes[0].after


# --- against a naive model -------------------------------------------------------------------------

WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
encodings = st.builds(PositionEncoding, st.sampled_from(sorted(WIDTHS)), st.booleans())
words = st.text(st.sampled_from("ab é漢😀🇫🇷e\u0301\u200d\u2028\u0085\t"), max_size=4)


@st.composite
def contents(draw: st.DrawFn) -> str:
    ends = draw(st.sampled_from([["\r\n"], ["\n"], ["\r"], ["\r\n", "\n", "\r"]]))
    lines = draw(st.lists(words, max_size=6))
    body = "".join(line + draw(st.sampled_from(ends)) for line in lines) + draw(words)
    return draw(st.sampled_from(["", "\ufeff"])) + body


def naive_position(content: str, offset: int, encoding: PositionEncoding) -> Json:
    """Counted character by character, from the start."""
    codec, width = WIDTHS[encoding.unit]
    line = start = index = 0
    while index < offset:
        step = 2 if content.startswith("\r\n", index) else 1
        if content[index] == "\n" or step == 2 or (content[index] == "\r" and encoding.lone_cr_ends_line):
            line, start = line + 1, index + step
        index += step
    return {"line": line, "character": len(content[start:offset].encode(codec)) // width}


@given(contents(), encodings, st.data())
def test_edits_change_what_they_name_and_nothing_else(
    content: str, encoding: PositionEncoding, data: st.DataObject
) -> None:
    first = 1 if content.startswith("\ufeff") else 0
    places = [o for o in range(first, len(content) + 1) if content[o - 1 : o + 1] != "\r\n"]
    cuts = sorted(data.draw(st.lists(st.sampled_from(places), max_size=8)))
    stretches = list(zip(cuts[::2], cuts[1::2], strict=False))
    new_texts = [data.draw(words | st.sampled_from(["\n", "x\ny\n", "\r\nz", ""])) for _ in stretches]
    order = data.draw(st.permutations(range(len(stretches))))
    # Inserts at one place come before what is replaced there, and in the order of the array.
    expected_order = sorted(order, key=lambda i: (stretches[i], order.index(i)))
    replaced = [stretches[i] for i in expected_order if stretches[i][0] < stretches[i][1]]

    wire = [
        {
            "range": {
                "start": naive_position(content, stretches[i][0], encoding),
                "end": naive_position(content, stretches[i][1], encoding),
            },
            "newText": new_texts[i],
        }
        for i in order
    ]

    line_ends_are_crlf = "\r\n" in content and not set("\r\n") & set(content.replace("\r\n", ""))
    expected, position = "", 0
    for i in expected_order:
        new_text = new_texts[i]
        if line_ends_are_crlf:
            new_text = new_text.replace("\r\n", "\n").replace("\n", "\r\n")
        expected += content[position : stretches[i][0]] + new_text
        position = stretches[i][1]
    expected += content[position:]

    assert len(set(replaced)) == len(replaced)
    assert edited(content, *wire, encoding=encoding) == expected


@given(contents(), encodings, st.data())
def test_the_changes_of_a_plan_lead_from_its_text_before_to_its_text_after(
    content: str, encoding: PositionEncoding, data: st.DataObject
) -> None:
    places = [o for o in range(len(content) + 1) if content[o - 1 : o + 1] != "\r\n"]
    cuts = sorted(data.draw(st.lists(st.sampled_from(places), max_size=6)))
    edits = [
        {
            "range": {
                "start": naive_position(content, s, encoding),
                "end": naive_position(content, e, encoding),
            }
        }
        | {"newText": data.draw(words)}
        for s, e in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    for change in plan({"changes": {path_uri(A): edits}}, {A: content}, encoding).steps:
        assert isinstance(change, FileChange)
        spans = [text_change.span for text_change in change.changes]
        assert spans == sorted(spans)
        result = content
        for text_change in reversed(change.changes):
            assert change.before.slice(text_change.span) == text_change.old_text
            assert text_change.new_text != text_change.old_text
            start, end = map(change.before.point_offset, text_change.span)
            result = result[:start] + text_change.new_text + result[end:]
        assert result == change.after


# --- text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "edit", "expected"),
    [
        ('p("é漢", Foo())\n', at(0, 8, 11, "Renamed"), 'p("é漢", Renamed())\n'),
        ('p("😀", Foo())\n', at(0, 8, 11, "Renamed"), 'p("😀", Renamed())\n'),
        ("a\r\nFoo\r\n", at(1, 0, 3, "Renamed"), "a\r\nRenamed\r\n"),
        ("\ufeffFoo", at(0, 1, 4, "Renamed"), "\ufeffRenamed"),
        ("", at(0, 0, 0, "x"), "x"),
        ("a\u2028Foo", at(0, 2, 5, "Renamed"), "a\u2028Renamed"),
    ],
)
def test_a_name_is_replaced_whatever_stands_before_it(content: str, edit: Json, expected: str) -> None:
    assert edited(content, edit) == expected


def test_a_change_says_where_it_is_in_points_and_what_was_there() -> None:
    [step] = plan({"changes": {path_uri(A): [at(1, 2, 5, "New")]}}, {A: "a\n😀Foo\n"}).steps
    change = TextChange(Span(Point(2, 2), Point(2, 5)), "Foo", "New")
    assert step == FileChange(A, Text("a\n😀Foo\n"), "a\n😀New\n", (change,))


def test_inserts_at_one_place_keep_the_order_of_the_array_and_come_before_a_replacement_there() -> None:
    assert edited("ab", at(0, 1, 2, "X"), at(0, 1, 1, "1"), at(0, 1, 1, "2"), at(0, 0, 1, "A")) == "A12X"


def test_multi_line_text_takes_the_line_ends_of_a_crlf_document() -> None:
    assert edited("a\r\nb\r\n", at(1, 0, 1, "x\ny\r\nz")) == "a\r\nx\r\ny\r\nz\r\n"


@pytest.mark.parametrize("content", ["a\r\nb\n", "a\nb\n", "a\r\nb\rc", "ab"])
def test_multi_line_text_is_left_alone_where_line_ends_are_mixed_or_not_crlf(content: str) -> None:
    assert edited(content, at(0, 0, 1, "x\ny")) == "x\ny" + content[1:]


def test_a_line_end_is_not_split_by_a_server_that_takes_cr_for_a_character() -> None:
    content = "ab \r\n\r\ncd\r\n"
    assert edited(content, at(0, 2, 4, ""), at(1, 0, 1, "")) == "ab\r\n\r\ncd\r\n"
    assert edited(content, at(0, 4, 4, " // c")) == "ab  // c\r\n\r\ncd\r\n"
    assert edited(content, at(0, 0, 4, "x\r")) == "x\r\n\r\ncd\r\n"
    blank_line_gone = {"start": {"line": 0, "character": 4}, "end": {"line": 1, "character": 1}}
    assert edited(content, {"range": blank_line_gone, "newText": ""}) == "ab \r\ncd\r\n"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (at(0, 0, 0, "// c "), "\ufeff// c ab"),
        (at(0, 0, 2, "x"), "\ufeffxb"),
        (at(0, 0, 3, "\ufeffxy"), "\ufeffxy"),
        (at(0, 0, 1, ""), "\ufeffab"),
    ],
)
def test_a_byte_order_mark_stays_first_and_single(edit: Json, expected: str) -> None:
    assert edited("\ufeffab", edit) == expected


@pytest.mark.parametrize(
    "edits",
    [
        [at(0, 0, 3, "x"), at(0, 2, 4, "y")],
        [at(0, 2, 4, "y"), at(0, 0, 3, "x")],
        [at(0, 0, 3, "x"), at(0, 0, 3, "x")],
        [at(0, 0, 3, "x"), at(0, 1, 1, "y")],
    ],
)
def test_edits_that_overlap_are_refused(edits: list[Json]) -> None:
    with pytest.raises(EditError, match=r"a\.go overlaps itself"):
        edited("abcdef", *edits)


@pytest.mark.parametrize(
    "edit",
    [
        at(0, 2, 8, "x"),
        at(2, 0, 0, "x"),
        at(0, -1, 0, "x"),
        at(-1, 0, 0, "x"),
        at(0, 1, 2, "x"),
        at(0, 3, 2, ""),
    ],
    ids=["past the line", "past the text", "before the line", "before the text", "half a pair", "backwards"],
)
def test_a_range_that_is_not_in_the_text_is_refused_and_never_clamped(edit: Json) -> None:
    with pytest.raises(EditError, match=r"a\.go has a range"):
        edited("😀abc\n", edit)


def test_an_edit_that_changes_nothing_is_left_out() -> None:
    steps = plan({"changes": {path_uri(A): [at(0, 0, 1, "a")], path_uri(B): []}}, {A: "a", B: "b"}).steps
    assert steps == ()


# --- forms -----------------------------------------------------------------------------------------


def test_document_changes_are_preferred_where_both_forms_are_there() -> None:
    edit = documents(document_edit(A, at(0, 0, 1, "x"))) | {"changes": {path_uri(A): [at(0, 0, 1, "y")]}}
    assert [step.after for step in plan(edit, {A: "a"}).steps if isinstance(step, FileChange)] == ["x"]


def test_empty_document_changes_do_not_hide_the_other_form() -> None:
    assert plan({"documentChanges": [], "changes": {path_uri(A): [at(0, 0, 1, "y")]}}, {A: "a"}).files == (A,)


def test_two_spellings_of_a_uri_are_one_file_and_its_edits_one_set() -> None:
    path = Path("/w/a b.go")
    edit = {"changes": {"file:///w/a%20b.go": [at(0, 0, 1, "xx")], "file:///w/a b.go": [at(0, 2, 3, "yy")]}}
    [step] = plan(edit, {path: "a b"}).steps
    assert isinstance(step, FileChange)
    assert step.after == "xx yy"


def test_a_plan_counts_its_files_and_edits() -> None:
    edit = documents(
        document_edit(A, at(0, 0, 0, "x"), at(0, 1, 1, "y")),
        document_edit(B, at(0, 0, 0, "x")),
        document_edit(A, at(0, 0, 0, "z")),
    )
    result = plan(edit, {A: "a", B: "b"})
    assert (result.files, result.edit_count) == ((A, B), 4)


def test_annotated_edits_are_edits_and_what_needs_confirming_is_told() -> None:
    edit = documents(
        document_edit(A, at(0, 0, 1, "x") | {"annotationId": "1"}), rename(B, C) | {"annotationId": "3"}
    ) | {
        "changeAnnotations": {
            "1": {"label": "Rename in strings", "needsConfirmation": True},
            "2": {"label": "Rename in code"},
            "3": {"label": "Rename", "description": "in tests too", "needsConfirmation": True},
            "4": {"label": "Outside of the workspace", "needsConfirmation": True},
        }
    }
    result = plan(edit, {A: "a"})
    assert result.files == (A,)
    assert result.confirmations == ("Rename in strings", "Rename: in tests too")


def test_files_are_created_renamed_and_deleted_with_their_options() -> None:
    edit = documents(
        create(A, overwrite=True),
        rename(B, C, ignoreIfExists=True),
        delete(A, recursive=True, ignoreIfNotExists=True),
        {"kind": "create", "uri": path_uri(B)},
    )
    assert plan(edit, {}).steps == (
        CreateFile(A, overwrite=True),
        RenameFile(B, C, ignore_if_exists=True),
        DeleteFile(A, recursive=True, ignore_if_not_exists=True),
        CreateFile(B),
    )


@pytest.mark.parametrize(
    "edit",
    [
        {"changes": {path_uri(A): [{"range": {}, "newText": "x"}]}},
        {"changes": {path_uri(A): [{"range": at(0, 0, 0, "")["range"], "newText": None}]}},
        {"changes": {path_uri(A): [{"range": at(0, 0, 0, "")["range"], "snippet": {"value": "x"}}]}},
        {"changes": {path_uri(A): [at(0, 0, "1", "x")]}},  # type: ignore[arg-type]
        {"changes": [1]},
        {"documentChanges": [{"kind": "chmod", "uri": path_uri(A)}]},
        {"documentChanges": [{"kind": "rename", "oldUri": path_uri(A)}]},
        {"documentChanges": ["x"]},
        {"documentChanges": [{"textDocument": {"uri": None}, "edits": []}]},
    ],
)
def test_a_malformed_edit_is_refused_as_such(edit: Json) -> None:
    with pytest.raises(EditError, match="malformed"):
        plan(edit, {A: "a"})


def test_an_edit_of_something_that_is_not_a_file_is_refused_by_name() -> None:
    with pytest.raises(EditError, match="jdt://contents/x"):
        plan({"changes": {"jdt://contents/x": []}}, {})


# --- order -----------------------------------------------------------------------------------------


def texts(result: EditPlan) -> list[tuple[Path, str, str]]:
    return [(s.path, s.before.content, s.after) for s in result.steps if isinstance(s, FileChange)]


def test_a_second_edit_of_a_file_applies_to_the_result_of_the_first() -> None:
    changes = [at(0, 0, 1, "xyz"), at(0, 2, 3, "!"), at(0, 3, 3, "?")]
    edit = documents(*(document_edit(A, change) for change in changes))
    assert texts(plan(edit, {A: "a"})) == [(A, "a", "xyz"), (A, "xyz", "xy!"), (A, "xy!", "xy!?")]


def test_an_edit_after_a_rename_addresses_the_content_by_its_new_name() -> None:
    edit = documents(document_edit(A, at(0, 0, 1, "x")), rename(A, B), document_edit(B, at(0, 1, 1, "y")))
    assert texts(plan(edit, {A: "a"})) == [(A, "a", "x"), (B, "x", "xy")]


def test_an_edit_after_the_rename_of_a_folder_addresses_the_files_in_it() -> None:
    edit = documents(rename(Path("/w/p"), Path("/w/q")), document_edit(Path("/w/q/f.go"), at(0, 0, 1, "x")))
    assert texts(plan(edit, {Path("/w/p/f.go"): "a"})) == [(Path("/w/q/f.go"), "a", "x")]


def test_files_that_change_places_keep_their_own_content() -> None:
    edit = documents(rename(A, C), rename(B, A), rename(C, B), document_edit(A, at(0, 1, 1, "!")))
    assert texts(plan(edit, {A: "a", B: "b"})) == [(A, "b", "b!")]


def test_an_edit_of_a_file_just_created_starts_from_nothing() -> None:
    edit = documents(create(A), document_edit(A, at(0, 0, 0, "x")), rename(A, B), document_edit(B, at(0, 1, 1, "y")))
    assert texts(plan(edit, {})) == [(A, "", "x"), (B, "x", "xy")]


def test_an_edit_of_a_file_that_is_there_and_not_created_again_starts_from_its_content() -> None:
    edit = documents(create(A, ignoreIfExists=True), document_edit(A, at(0, 1, 1, "x")))
    assert texts(plan(edit, {A: "a"})) == [(A, "a", "ax")]
    edit = documents(create(A, overwrite=True, ignoreIfExists=True), document_edit(A, at(0, 0, 0, "x")))
    assert texts(plan(edit, {A: "a"})) == [(A, "", "x")]


def test_a_rename_that_is_skipped_since_the_target_is_there_moves_no_content() -> None:
    edit = documents(rename(A, B, ignoreIfExists=True), document_edit(B, at(0, 1, 1, "x")))
    assert texts(plan(edit, {A: "a", B: "b"})) == [(B, "b", "bx")]


@pytest.mark.parametrize("gone", [rename(A, B), delete(A), delete(Path("/w"), recursive=True)])
def test_an_edit_of_what_the_edit_itself_took_away_is_refused(gone: Json) -> None:
    with pytest.raises(EditError, match=r"a\.go after renaming or deleting"):
        plan(documents(gone, document_edit(A, at(0, 0, 1, "x"))), {A: "a"})


# --- versions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("identifier", [{"version": 7}, {"version": None}, {"version": 0}, {}])
def test_an_edit_for_this_version_or_for_none_is_taken(identifier: Json) -> None:
    edit = documents(document_edit(A, at(0, 0, 1, "x"), **identifier))
    assert plan(edit, {A: "a"}, versions={A: 7}).files == (A,)


@pytest.mark.parametrize("versions", [{A: 8}, {}])
def test_an_edit_for_another_version_is_refused_by_name(versions: Mapping[Path, int]) -> None:
    with pytest.raises(EditError, match=r"a\.go changed since"):
        plan(documents(document_edit(A, at(0, 0, 1, "x"), version=7)), {A: "a"}, versions=versions)


def test_the_version_after_a_rename_is_that_of_the_document_before_it() -> None:
    edit = documents(rename(A, B), document_edit(B, at(0, 0, 1, "x"), version=7))
    assert plan(edit, {A: "a"}, versions={A: 7}).files == (B,)


def test_a_file_that_cannot_be_read_is_the_readers_error() -> None:
    with pytest.raises(PathError, match=r"a\.go"):
        plan({"changes": {path_uri(A): [at(0, 0, 0, "x")]}}, {})
