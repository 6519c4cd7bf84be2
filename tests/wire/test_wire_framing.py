"""Framing without I/O: any bodies, cut in any way, behind any header that a server may write."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsp_mcp.wire import framing
from lsp_mcp.wire.framing import MAX_BODY, BrokenStreamError, Framer, frame

BODIES = st.lists(st.binary(max_size=60) | st.just(frame(b"{}")) | st.just(b"Content-Length: 3\r\n\r\n"), max_size=6)
EXTRA = st.sampled_from(
    [b"Content-Type: application/vscode-jsonrpc; charset=utf-8", b"X-Trace: 1", b"content-type:utf8"]
)


@st.composite
def headers(draw: st.DrawFn, length: int) -> bytes:
    """A header for a body of `length` bytes, in one of the forms that are seen."""
    name = draw(st.sampled_from([b"Content-Length", b"content-length", b"CONTENT-LENGTH", b"cOnTeNt-lEnGtH"]))
    colon = draw(st.sampled_from([b": ", b":", b" : ", b":\t"]))
    lines = [
        *draw(st.lists(EXTRA, max_size=2)),
        name + colon + str(length).encode() + draw(st.sampled_from([b"", b" "])),
        *draw(st.lists(EXTRA, max_size=2)),
    ]
    end = draw(st.sampled_from([b"\r\n", b"\n"]))
    return end.join([*lines, b"", b""])


# What a server, or a library in it, may print to its stdout: no header in it, and lines end.
NOISE = st.lists(st.binary(max_size=40).map(lambda line: re.sub(rb"[\r\n:]", b"", line) + b"\n"), max_size=3).map(
    b"".join
)


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """What comes, and the bodies that are in it."""
    bodies = draw(BODIES)
    stream = b"".join(draw(NOISE) + draw(headers(len(body))) + body for body in bodies)
    return stream, bodies


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """`data` in pieces that begin at `places`."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def bodies_of(pieces: list[bytes]) -> list[bytes]:
    framer = Framer()
    return [body for piece in pieces for body in framer.feed(piece)]


@given(streams(), st.lists(st.integers(0, 10_000), max_size=12))
def test_any_bodies_behind_any_headers_come_out_whole_however_the_stream_is_cut(
    stream: tuple[bytes, list[bytes]], places: list[int]
) -> None:
    data, bodies = stream
    assert bodies_of(cut(data, places)) == bodies


@given(streams())
def test_any_bodies_come_out_whole_byte_by_byte(stream: tuple[bytes, list[bytes]]) -> None:
    data, bodies = stream
    assert bodies_of([data[i : i + 1] for i in range(len(data))]) == bodies


@given(st.lists(st.binary(max_size=200), min_size=1))
def test_what_is_framed_here_is_cut_back_to_the_same_bodies(bodies: list[bytes]) -> None:
    assert bodies_of([b"".join(map(frame, bodies))]) == bodies


@given(st.binary(max_size=300))
@example(b"Content-Length: 5\r\n\r\n{")
def test_a_body_comes_out_with_its_last_byte_and_not_before(body: bytes) -> None:
    framer = Framer()
    data = frame(body)
    assert framer.feed(data[:-1]) == []
    assert framer.feed(data[-1:]) == [body]


def test_a_body_without_bytes_is_a_body() -> None:
    assert bodies_of([frame(b"") + frame(b"x")]) == [b"", b"x"]


def test_a_lower_case_header_is_a_header() -> None:
    assert bodies_of([b"content-length: 2\r\n\r\n{}"]) == [b"{}"]


def test_lines_that_are_not_headers_are_passed_over_even_if_they_do_not_end() -> None:
    assert bodies_of([b"Loading ...\n50 %: " + frame(b"{}") + b"done" + frame(b"[]")]) == [b"{}", b"[]"]


def test_a_header_that_stands_in_a_body_is_not_a_header() -> None:
    inner = frame(b"not a message")
    assert bodies_of([frame(inner)]) == [inner]


def test_a_body_of_a_megabyte_in_pieces_of_a_pipe() -> None:
    body = bytes(range(256)) * 4096
    data = frame(body)
    assert bodies_of([data[i : i + 65536] for i in range(0, len(data), 65536)]) == [body]


def test_output_without_end_and_without_a_header_is_broken() -> None:
    framer = Framer()
    with pytest.raises(BrokenStreamError, match="no message header in"):
        for _ in range(100):
            framer.feed(b"I am not a language server\n" * 100)


def test_a_header_that_does_not_end_is_broken() -> None:
    with pytest.raises(BrokenStreamError, match="no message header in"):
        Framer().feed(b"Content-Length: 2\r\n" + b"X: y\r\n" * 20_000)


def test_noise_of_nearly_64_kib_before_a_header_is_passed_over() -> None:
    assert bodies_of([b"x" * 65_000, frame(b"{}")]) == [b"{}"]


@pytest.mark.parametrize("size", [MAX_BODY + 1, 10**10, 10**11, 10**40])
def test_a_length_that_no_message_has_is_broken_at_once(size: int) -> None:
    with pytest.raises(BrokenStreamError, match="was announced"):
        Framer().feed(b"Content-Length: %d\r\n\r\n" % size)


def test_the_greatest_length_is_awaited() -> None:
    assert Framer().feed(b"Content-Length: %d\r\n\r\n{" % MAX_BODY) == []


def test_a_negative_length_is_not_a_header() -> None:
    with pytest.raises(BrokenStreamError):
        Framer().feed(b"Content-Length: -1\r\n\r\n" + b"x" * (framing._MAX_HEADER + 1))
