"""Whose program is at the other end of a connection: the kernel's table, and when it is not to be believed."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_mcp.tcp_table import Connection, has_table, rows

OURS, THEIRS = ("127.0.0.1", 21700), ("127.0.0.1", 40000)
ESTABLISHED, FIN_WAIT, LISTEN = "01", "04", "0A"
HEADING = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def spelled(address: tuple[str, int]) -> str:
    packed = socket.inet_pton(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, address[0])
    words = [int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4)]
    return f"{''.join(f'{word:08X}' for word in words)}:{address[1]:04X}"


def line(local: tuple[str, int], remote: tuple[str, int], uid: int, inode: int, state: str = ESTABLISHED) -> str:
    queues = "00000000:00000000 00:00000000 00000000"
    return f"   0: {spelled(local)} {spelled(remote)} {state} {queues} {uid:5d} 0 {inode} 1 0000 20 4 30 10 -1\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A table of one connection, from user 1000 to us."""
    for folder in ("net", "sys/kernel", "self"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "sys/kernel/overflowuid").write_text("65534\n")
    (tmp_path / "self/uid_map").write_text("         0          0 4294967295\n")
    (tmp_path / "net/tcp6").write_text(HEADING)
    write(tmp_path, line(OURS, THEIRS, 0, 7), line(THEIRS, OURS, 1000, 8))
    return tmp_path


def write(proc: Path, *lines: str, name: str = "tcp") -> None:
    (proc / "net" / name).write_text(HEADING + "".join(lines))


def peer(proc: Path) -> int | None:
    return Connection(OURS, THEIRS, 7).peer_uid(proc)


def test_the_owner_of_the_other_end_is_its_user(proc: Path) -> None:
    assert peer(proc) == 1000


def test_an_end_that_nobody_holds_any_more_is_not_roots(proc: Path) -> None:
    for inode, state in ((0, ESTABLISHED), (0, FIN_WAIT), (8, FIN_WAIT)):
        write(proc, line(OURS, THEIRS, 0, 7), line(THEIRS, OURS, 0, inode, state))
        assert peer(proc) is None


def test_a_later_connection_between_the_same_ports_is_a_different_one(proc: Path) -> None:
    write(proc, line(OURS, THEIRS, 0, 9), line(THEIRS, OURS, 1000, 8))
    assert peer(proc) is None


def test_an_end_that_is_not_in_the_table_is_nobodys(proc: Path) -> None:
    """It is in another network namespace, or gone."""
    write(proc, line(OURS, THEIRS, 0, 7))
    assert peer(proc) is None
    write(proc, line(THEIRS, OURS, 1000, 8))
    assert peer(proc) is None
    other = ("127.0.0.1", 40001)
    write(proc, line(OURS, THEIRS, 0, 7), line(other, OURS, 1000, 8), line(THEIRS, other, 1000, 8))
    assert peer(proc) is None


def test_ipv4_on_a_socket_of_ipv6_is_found_there(proc: Path) -> None:
    write(proc, line(OURS, THEIRS, 0, 7))
    mapped = [(f"::ffff:{host}", port) for host, port in (THEIRS, OURS)]
    write(proc, line(mapped[0], mapped[1], 1000, 8), name="tcp6")
    assert peer(proc) == 1000


def test_a_user_without_an_id_in_our_namespace_is_nobody(proc: Path) -> None:
    write(proc, line(OURS, THEIRS, 0, 7), line(THEIRS, OURS, 65534, 8))
    assert peer(proc) == 65534
    (proc / "self/uid_map").write_text("         0       1000          1\n")
    assert peer(proc) is None


def test_without_a_table_nobody_is_known(tmp_path: Path) -> None:
    assert peer(tmp_path) is None
    assert not has_table(tmp_path)


def test_lines_that_are_damaged_are_left_out(proc: Path) -> None:
    write(proc, "garbage\n", "   0: zz:zz 0 01\n", line(OURS, THEIRS, 0, 7), line(THEIRS, OURS, 1000, 8))
    assert peer(proc) == 1000
    assert len(list(rows(proc))) == 2


@pytest.fixture(params=[socket.AF_INET, socket.AF_INET6])
def ends(request: pytest.FixtureRequest) -> Iterator[tuple[socket.socket, socket.socket]]:
    """A real connection of this process with itself: the end that was accepted, and the other."""
    if not has_table():
        pytest.skip("this system has no /proc/net/tcp")
    try:
        listening = socket.create_server(
            ("::1" if request.param == socket.AF_INET6 else "127.0.0.1", 0), family=request.param
        )
    except OSError as error:
        pytest.skip(f"this machine has no such address: {error}")
    with listening, socket.create_connection(listening.getsockname()[:2]) as theirs:
        ours, _ = listening.accept()
        with ours:
            yield ours, theirs


def test_a_real_connection_is_this_users(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = ends
    connection = Connection.from_socket(ours)
    assert connection
    assert connection.peer_uid() == os.geteuid()


def test_a_real_connection_whose_other_end_is_closed_is_nobodys(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    connection = Connection.from_socket(ours)
    theirs.close()
    assert connection
    assert connection.peer_uid() is None


def test_a_socket_that_is_closed_or_not_tcp_is_not_a_connection(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = ends
    ours.close()
    assert Connection.from_socket(ours) is None
    one, other = socket.socketpair()
    assert Connection.from_socket(one) is None
    one.close()
    other.close()
