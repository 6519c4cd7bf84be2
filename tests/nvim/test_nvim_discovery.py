"""Where Neovims listen: how a target is spelled, which are found on this machine, which of them live."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.bounded import bounded, steps
from lsp_mcp.errors import CallerError, UnavailableError
from lsp_mcp.nvim import discovery
from lsp_mcp.nvim.address import Address, check_socket, connection_id, parse_address
from lsp_mcp.nvim.discovery import alive, discover

NVIM = shutil.which("nvim")
NOT_INHERITED = ("NVIM", "NVIM_LISTEN_ADDRESS", "XDG_RUNTIME_DIR", "TMPDIR")

needs_nvim = pytest.mark.skipif(NVIM is None, reason="nvim is not installed")
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a Neovim with some arguments; it runs when this returns, and is killed with its children at the end."""
    started: list[subprocess.Popen[str]] = []
    home = {f"XDG_{name}_HOME": str(tmp_path / "home") for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}

    def start_(*args: str, **environ: str) -> subprocess.Popen[str]:
        assert NVIM
        command = [NVIM, "--headless", "--clean", *args, "+lua io.stdout:write('up\\n') io.stdout:flush()"]
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=tmp_path,
            env=inherited | home | environ,
            process_group=0,
        )
        started.append(child)
        assert child.stdout and child.stdout.readline() == "up\n"
        return child

    yield start_
    for child in started:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


@pytest.fixture
def listen() -> Iterator[Callable[[Path], socket.socket]]:
    """Listen on a socket, in this process, until the end of the test."""
    opened: list[socket.socket] = []

    def listen_(path: Path) -> socket.socket:
        path.parent.mkdir(parents=True, exist_ok=True)
        server = socket.socket(socket.AF_UNIX)
        opened.append(server)
        server.bind(str(path))
        server.listen()
        return server

    yield listen_
    for server in opened:
        server.close()


def below(folder: Path, found: list[Address]) -> list[Address]:
    """Those in `folder`: other Neovims of this machine are none of the test's business."""
    return [target for target in found if target.path and target.path.is_relative_to(folder)]


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return int(server.getsockname()[1])


# --- connection ids ------------------------------------------------------------------------------


def test_a_connection_id_is_the_beginning_of_the_hash_of_the_target() -> None:
    assert connection_id("/tmp/x") == "f34717e"
    assert Address("/tmp/x", path=Path("/tmp/x")).connection_id == "f34717e"


@given(st.text())
def test_a_connection_id_is_seven_hex_digits_and_always_the_same(text: str) -> None:
    assert len(connection_id(text)) == 7
    assert set(connection_id(text)) <= set("0123456789abcdef")
    assert connection_id(text) == connection_id(text)


# --- spelling ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown", "address"),
    [
        ("localhost:6666", "localhost:6666", ("localhost", 6666)),
        ("127.0.0.1:06666", "127.0.0.1:6666", ("127.0.0.1", 6666)),
        ("[::1]:6666", "[::1]:6666", ("::1", 6666)),
        ("::1:6666", "[::1]:6666", ("::1", 6666)),  # as Neovim spells it
        ("[0:0::0001]:1", "[::1]:1", ("::1", 1)),
        ("[fe80::1%eth0]:65535", "[fe80::1%eth0]:65535", ("fe80::1%eth0", 65535)),
        ("nvim:6666", "nvim:6666", ("nvim", 6666)),
    ],
)
def test_a_host_and_a_port_are_tcp(text: str, shown: str, address: tuple[str, int]) -> None:
    target = parse_address(text)
    assert (target.text, target.tcp, target.path) == (shown, address, None)


def test_a_path_is_a_socket_whether_or_not_it_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "here.sock").touch()
    (tmp_path / "odd:1").touch()
    places: dict[str, str | Path] = {
        "/a/b.sock": "/a/b.sock",
        "//a/./b.sock": "//a/b.sock",  # two slashes are the system's to explain (POSIX)
        "./b:6666": tmp_path / "b:6666",
        "a/../b.sock": tmp_path / "b.sock",
        "here.sock": tmp_path / "here.sock",
        "odd:1": tmp_path / "odd:1",
        "~/nvim.sock": tmp_path / "home" / "nvim.sock",
        "/tmp/nvim-mcp.%home%me.12.sock": "/tmp/nvim-mcp.%home%me.12.sock",
    }
    for text, path in places.items():
        assert parse_address(text) == Address(str(path), path=Path(path)), text


def test_a_parent_folder_of_a_link_is_where_the_link_leads(tmp_path: Path) -> None:
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    assert parse_address(f"{tmp_path}/link/../x.sock").path == tmp_path / "far" / "x.sock"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("/tmp/a\0b", "NUL"),
        ("/tmp/\udcff", "Unicode"),
        ("localhost:0", "ports are 1 to 65535"),
        ("localhost:65536", "ports are 1 to 65535"),
        ("localhost:" + "9" * 5000, "ports are 1 to 65535"),
        ("[::1]:99999", "ports are 1 to 65535"),
        ("localhost", "neither"),
        ("localhost:", "neither"),
        ("localhost:http", "neither"),
        (":6666", "neither"),
        ("6666", "neither"),
        ("::1", "neither"),
        ("[localhost]:6666", "neither"),
        ("fe80::1%:6666", "neither"),
        ("a b:6666", "neither"),
        ("-x:6666", "neither"),
        ("localhost:٦٦٦٦", "neither"),
        ("no-such.sock", "neither"),
        ("~no-such-user-here/x", "unknown user"),
        ("tcp://localhost:6666", "Leave out 'tcp://'"),
        ("unix:/tmp/x", "Leave out 'unix:/'"),
    ],
)
def test_what_is_not_a_target_is_refused_with_what_to_give_instead(text: str, says: str) -> None:
    with pytest.raises(CallerError) as caught:
        parse_address(text)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 1000
    str(caught.value).encode()


names = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1).filter(
    lambda x: x not in {".", ".."}
)
hosts = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?", fullmatch=True)


@given(st.lists(names, min_size=1))
def test_an_absolute_path_is_its_own_text(parts: list[str]) -> None:
    text = "/" + "/".join(parts)
    assert parse_address(text) == Address(text, path=Path(text))
    assert parse_address(parse_address(text).text) == parse_address(text)


@given(hosts | st.ip_addresses().map(str), st.integers(1, 65535))
def test_an_address_is_found_in_its_own_text(host: str, port: int) -> None:
    target = parse_address(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    assert target.tcp is not None and target.tcp[1] == port
    assert parse_address(target.text) == target


@given(st.text())
def test_any_text_is_a_target_that_reads_back_or_refused(text: str) -> None:
    try:
        target = parse_address(text)
    except CallerError:
        return
    assert (target.path is None) != (target.tcp is None)
    assert parse_address(target.text) == target


# --- checking ------------------------------------------------------------------------------------


def test_a_socket_of_this_user_passes(tmp_path: Path, listen: Callable[[Path], socket.socket]) -> None:
    listen(tmp_path / "s")
    (tmp_path / "link").symlink_to(tmp_path / "s")
    check_socket(tmp_path / "s")
    check_socket(tmp_path / "link")


def test_a_missing_socket_is_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    for path in (tmp_path / "gone", tmp_path / "file" / "x", tmp_path / "dangling"):
        with pytest.raises(UnavailableError, match="nvim --listen"):
            check_socket(path)


def test_a_file_and_a_folder_are_not_sockets(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CallerError, match=r"a file and no socket.*v:servername"):
        check_socket(tmp_path / "file")
    with pytest.raises(CallerError, match=r"a folder.*v:servername"):
        check_socket(tmp_path)


def test_the_socket_of_another_user_is_refused(
    tmp_path: Path, listen: Callable[[Path], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(tmp_path / "nvim.1.0")
    uid = os.getuid() + 54321
    monkeypatch.setattr(os, "getuid", lambda: uid)
    with pytest.raises(CallerError, match=f"not to the user {uid}"):
        check_socket(tmp_path / "nvim.1.0")
    assert below(tmp_path, discover({"XDG_RUNTIME_DIR": str(tmp_path), "NVIM": str(tmp_path / "nvim.1.0")})) == []


def test_a_socket_without_permission_names_the_command_that_gives_it(
    tmp_path: Path, listen: Callable[[Path], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(tmp_path / "s")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may open everything
    with pytest.raises(CallerError, match=r"chmod u\+w"):
        check_socket(tmp_path / "s")


def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", refuse)
        with pytest.raises(CallerError) as caught:
            check_socket(tmp_path / "s")
    assert f"may not look into {tmp_path}" in str(caught.value)


def test_a_path_that_the_system_cannot_connect_to_is_said_to_be_too_long(tmp_path: Path) -> None:
    with pytest.raises(CallerError, match=r"has \d+ bytes.*may have 10[37]\..*ln -s"):
        check_socket(tmp_path / ("ä" * 60))


# --- liveness ------------------------------------------------------------------------------------


@bounded
async def test_what_listens_is_alive_and_what_does_not_is_not(
    tmp_path: Path, listen: Callable[[Path], socket.socket]
) -> None:
    server = listen(tmp_path / "s")
    target = parse_address(str(tmp_path / "s"))
    assert await alive(target)
    connection, _ = server.accept()
    await steps()
    with closing(connection):
        connection.settimeout(0)
        assert connection.recv(1) == b""  # it hung up
    server.close()
    assert (tmp_path / "s").exists()
    assert not await alive(target)
    for text in (f"{tmp_path}/gone", f"{tmp_path}", f"/{'x' * 200}", f"127.0.0.1:{free_port()}", "a..b:1"):
        assert not await alive(parse_address(text)), text


@bounded
async def test_a_tcp_listener_is_alive() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        assert await alive(parse_address(f"localhost:{server.getsockname()[1]}"))


@bounded
async def test_who_does_not_take_the_connection_in_time_is_not_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    async def never(*_: object, **__: object) -> None:
        await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", never)
    assert not await alive(parse_address("127.0.0.1:1"), timeout=0.01)


# --- the usual folders ---------------------------------------------------------------------------


def usual(tmp_path: Path) -> dict[str, str]:
    return {"XDG_RUNTIME_DIR": str(tmp_path / "run"), "TMPDIR": str(tmp_path / "tmp"), "USER": "me"}


def test_sockets_with_the_usual_names_are_found_in_the_usual_folders(
    tmp_path: Path, listen: Callable[[Path], socket.socket]
) -> None:
    places = [
        "run/nvim.12.0",
        "run/nvim-mcp.%home%me%a.13.sock",
        "run/lsp-mcp.sock",
        "tmp/nvim-mcp.%home%me%b.14.sock",
        "tmp/nvim.me/aBc/nvim.15.0",
        "tmp/nvim.me/aBc/name.16.1",  # of `--listen name`
    ]
    for place in [*places, "run/pulse.sock", "run/name.17.0", "tmp/other.me/a/nvim.18.0"]:
        listen(tmp_path / place)
    (tmp_path / "run" / "nvim.19.0").touch()
    (tmp_path / "run" / "nvim.20.0").symlink_to(tmp_path / "run" / "pulse.sock")
    found = below(tmp_path, discover(usual(tmp_path)))
    assert [target.text for target in found] == sorted(str(tmp_path / place) for place in places)
    assert not any(target.enclosing for target in found)


def test_without_proc_the_process_is_read_from_the_name(
    tmp_path: Path, listen: Callable[[Path], socket.socket]
) -> None:
    for place in ("run/nvim.12.0", "run/nvim-mcp.%home%me.13.sock", "run/lsp-mcp.sock"):
        listen(tmp_path / place)
    found = below(tmp_path, discover(usual(tmp_path), proc=tmp_path / "no-proc"))
    assert [(target.path and target.path.name, target.pid) for target in found] == [
        ("lsp-mcp.sock", None),
        ("nvim-mcp.%home%me.13.sock", 13),
        ("nvim.12.0", 12),
    ]


@needs_proc
def test_with_proc_a_name_says_nothing_about_the_process(
    tmp_path: Path, listen: Callable[[Path], socket.socket]
) -> None:
    listen(tmp_path / "run" / f"nvim.{os.getppid()}.0")
    assert [target.pid for target in below(tmp_path, discover(usual(tmp_path)))] == [None]


def test_the_environment_comes_first_and_each_place_once(
    tmp_path: Path, listen: Callable[[Path], socket.socket]
) -> None:
    for place in ("run/nvim.1.0", "run/nvim.2.0", "run/nvim.3.0", "x/other"):
        listen(tmp_path / place)
    (tmp_path / "link").symlink_to(tmp_path / "run")
    environ = usual(tmp_path) | {"NVIM": f"{tmp_path}/link/nvim.3.0", "NVIM_LISTEN_ADDRESS": f"{tmp_path}/x/other"}
    found = below(tmp_path, discover(environ))
    assert [(str(target.path and target.path.relative_to(tmp_path)), target.enclosing) for target in found] == [
        ("link/nvim.3.0", True),
        ("x/other", False),
        ("run/nvim.1.0", False),
        ("run/nvim.2.0", False),
    ]


@pytest.mark.parametrize("nvim", ["", "gone", "/no/such.sock", "x\udcff", "localhost:0", "~no-such-user-here/x"])
def test_an_environment_that_names_nothing_usable_counts_for_nothing(nvim: str, tmp_path: Path) -> None:
    environ = {"NVIM": nvim, "NVIM_LISTEN_ADDRESS": nvim, "TMPDIR": "/no/such", "XDG_RUNTIME_DIR": nvim or "relative"}
    assert discover(environ, proc=tmp_path) == discover({}, proc=tmp_path)


def test_a_name_that_cannot_be_told_to_others_is_left_out(
    tmp_path: Path, listen: Callable[[Path], socket.socket]
) -> None:
    try:
        listen(tmp_path / "run" / "nvim.\udcff.0")
    except OSError:
        return  # this file system has no such names
    assert below(tmp_path, discover(usual(tmp_path))) == []


# --- what Linux tells of processes ---------------------------------------------------------------


class FakeProc:
    """A `/proc` of our own: processes with sockets, and the tables of the network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "net").mkdir(parents=True)
        self.tables: dict[str, list[str]] = {"unix": ["Num …"], "tcp": ["sl …"], "tcp6": ["sl …"]}

    def process(self, pid: int, comm: str, *inodes: int, parent: int = 1, **environ: str) -> None:
        folder = self.folder / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "comm").write_text(f"{comm}\n")
        (folder / "exe").symlink_to(f"/usr/bin/{comm}")
        (folder / "cwd").symlink_to(self.folder.parent)
        (folder / "stat").write_text(f"{pid} (a) b ({comm}) S {parent} 1 1")
        (folder / "environ").write_bytes(b"\0".join(f"{name}={value}".encode() for name, value in environ.items()))
        for number, inode in enumerate(inodes):
            (folder / "fd" / str(number)).symlink_to(f"socket:[{inode}]")

    def unix(self, inode: int, name: object, flags: str = "00010000") -> None:
        self.tables["unix"].append(f"0000000081015c98: 00000002 00000000 {flags} 0001 01 {inode} {name}")

    def tcp(self, inode: int, host: str, port: int, *, state: str = "0A", uid: int | None = None) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        packed = socket.inet_pton(family, host)
        words = [int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4)]
        address = "".join(f"{word:08X}" for word in words) + f":{port:04X}"
        uid = os.getuid() if uid is None else uid
        line = f"   0: {address} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 {uid:5} 0 {inode} 1 0 100"
        self.tables["tcp6" if ":" in host else "tcp"].append(line)

    def discover(self, **environ: str) -> list[Address]:
        for name, lines in self.tables.items():
            (self.folder / "net" / name).write_text("\n".join(lines) + "\n")
        nowhere = {"XDG_RUNTIME_DIR": "/no/such", "TMPDIR": "/no/such"}
        usual = {target.text for target in discover(nowhere, proc=self.folder / "nothing")}
        return [target for target in discover(nowhere | environ, proc=self.folder) if target.text not in usual]


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    return FakeProc(tmp_path / "proc")


def test_addresses_are_read_as_the_kernel_writes_them(proc: FakeProc) -> None:
    proc.process(7, "nvim", 1, 2, 3, 4, 5, 6, 9)
    proc.process(8, "python3", 10)
    proc.tcp(1, "127.0.0.1", 6666)
    proc.tcp(2, "0.0.0.0", 6667)
    proc.tcp(3, "::1", 6668)
    proc.tcp(4, "::", 6669)
    proc.tcp(5, "::ffff:127.0.0.2", 6670)
    proc.tcp(6, "127.0.0.1", 6671, state="01")  # a connection
    proc.tcp(9, "127.0.0.1", 6672, uid=os.getuid() + 1)
    proc.tcp(10, "127.0.0.1", 6673)
    proc.tables["tcp"].append("nonsense")
    assert [(target.text, target.pid) for target in proc.discover()] == [
        ("127.0.0.1:6666", 7),
        ("127.0.0.1:6667", 7),
        ("127.0.0.2:6670", 7),
        ("[::1]:6668", 7),
        ("[::1]:6669", 7),
    ]


def test_sockets_are_read_as_the_kernel_writes_them(
    proc: FakeProc, tmp_path: Path, listen: Callable[[Path], socket.socket]
) -> None:
    for name in ("a b", "relative", "connected", "pythons"):
        listen(tmp_path / name)
    proc.process(7, "nvim", 1, 2, 3, 4, 5)
    proc.process(8, "python3", 6)
    proc.unix(1, tmp_path / "a b")
    proc.unix(2, "./relative")
    proc.unix(3, tmp_path / "connected", flags="00000000")
    proc.unix(4, "@abstract")
    proc.unix(5, f"{tmp_path}/gone")
    proc.unix(6, tmp_path / "pythons")
    proc.tables["unix"] += ["0000000081015c98: 00000002 00000000 00010000 0001 01 77", "of a name with a line break"]
    assert [(target.text, target.pid) for target in proc.discover()] == [
        (f"{tmp_path}/a b", 7),
        (f"{tmp_path}/relative", 7),
    ]


def test_a_neovim_by_another_name_is_known_by_its_file(proc: FakeProc) -> None:
    proc.process(7, "nvim", 1)
    (proc.folder / "7" / "comm").write_text("vim\n")
    proc.tcp(1, "127.0.0.1", 6666)
    assert [target.text for target in proc.discover()] == ["127.0.0.1:6666"]


def test_all_places_of_the_neovims_around_us_come_first_the_nearest_before_the_others(proc: FakeProc) -> None:
    proc.process(os.getpid(), "python3", parent=50)
    proc.process(50, "agent", parent=40, NVIM="localhost:6050")
    proc.process(40, "nvim", 40, 41, parent=30)
    proc.process(30, "sh", parent=20, NVIM="127.0.0.1:6099", NVIM_LISTEN_ADDRESS="127.0.0.1:6060")  # 6099 is dead
    proc.process(20, "nvim", 20, parent=1)
    proc.process(60, "nvim", 50, 60, 61)
    for inode, port in {40: 6040, 41: 6041, 20: 6020, 50: 6050, 60: 6060, 61: 6000}.items():
        proc.tcp(inode, "127.0.0.1", port)
    assert [(target.tcp and target.tcp[1], target.enclosing) for target in proc.discover()] == [
        (6050, True),
        (6040, True),
        (6041, True),
        (6020, True),
        (6000, True),
        (6060, True),
    ]


def test_an_address_in_the_environment_counts_if_this_user_listens_there(proc: FakeProc) -> None:
    proc.tcp(1, "::1", 6666)
    proc.tcp(2, "127.0.0.1", 6667, uid=os.getuid() + 1)
    assert proc.discover(NVIM="localhost:6666") == [parse_address("[::1]:6666")]
    assert proc.discover(NVIM="127.0.0.1:6667") == []
    assert proc.discover(NVIM="127.0.0.1:6668") == []


def test_parents_that_go_in_a_circle_end(proc: FakeProc) -> None:
    proc.process(os.getpid(), "python3", parent=50)
    proc.process(50, "agent", parent=os.getpid())
    assert proc.discover() == []


def test_processes_that_vanish_in_the_meantime_are_left_out(proc: FakeProc) -> None:
    proc.process(os.getpid(), "python3", parent=50)  # which is gone
    proc.process(7, "nvim", 1)
    shutil.rmtree(proc.folder / "7" / "fd")
    (proc.folder / "8").mkdir()
    proc.tcp(1, "127.0.0.1", 6666)
    assert proc.discover() == []


# --- real Neovims --------------------------------------------------------------------------------


@needs_nvim
@needs_proc
@bounded
async def test_a_socket_is_found_wherever_it_is(start: Start, tmp_path: Path) -> None:
    absolute = start("--listen", str(tmp_path / "any where.txt"))
    relative = start("--listen", "./here", "+cd /", PWD=str(tmp_path))  # as a shell starts it
    found = below(tmp_path, discover())
    assert [(target.text, target.pid) for target in found] == [
        (str(tmp_path / "any where.txt"), absolute.pid),
        (str(tmp_path / "here"), relative.pid),
    ]
    for target in found:
        assert await alive(target)
        assert target.path is not None
        check_socket(target.path)


@needs_nvim
@needs_proc
@bounded
async def test_all_places_of_one_neovim_have_its_process(start: Start, tmp_path: Path) -> None:
    port = free_port()
    nvim = start(
        "--listen",
        f"localhost:{port}",
        f"+call serverstart('{tmp_path}/s')",
        "+call serverstart()",
        XDG_RUNTIME_DIR=str(tmp_path),
    )
    found = [target for target in discover() if target.pid == nvim.pid]
    assert [target.path.name if target.path else target.text for target in found] == [
        f"nvim.{nvim.pid}.0",
        "s",
        f"127.0.0.1:{port}",
    ]
    assert [await alive(target) for target in found] == [True, True, True]


@needs_nvim
@bounded
async def test_what_a_killed_neovim_left_behind_is_found_dead(start: Start, tmp_path: Path) -> None:
    nvim = start(XDG_RUNTIME_DIR=str(tmp_path))
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    [living] = below(tmp_path, discover(environ))
    assert await alive(living)
    assert living.pid == nvim.pid
    os.killpg(nvim.pid, signal.SIGKILL)
    nvim.wait()
    [dead] = below(tmp_path, discover(environ))
    assert dead == living
    assert not await alive(dead)
    if sys.platform == "linux":
        assert dead.pid is None


@needs_proc
def test_what_another_program_listens_on_is_not_found(tmp_path: Path, listen: Callable[[Path], socket.socket]) -> None:
    listen(tmp_path / "s")
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        found = discover({})
        assert below(tmp_path, found) == []
        assert server.getsockname() not in [target.tcp for target in found]


SCRIPT = """\
import json, sys
from lsp_mcp.nvim.discovery import discover
first = discover({})[0]
print(json.dumps([first.text, first.pid, first.enclosing]))
"""


@needs_nvim
@needs_proc
def test_a_child_of_a_neovim_finds_it_first_without_being_told(start: Start, tmp_path: Path) -> None:
    start("--listen", str(tmp_path / "a"))
    source = str(Path(discovery.__file__).parents[2])
    command = json.dumps([sys.executable, "-c", SCRIPT])
    outer = start(
        "--listen",
        str(tmp_path / "b"),
        f"+call writefile(systemlist({command}), '{tmp_path}/answer')",
        PYTHONPATH=source,
    )
    answer: Any = json.loads((tmp_path / "answer").read_text())
    assert answer == [str(tmp_path / "b"), outer.pid, True]
    assert stat.S_ISSOCK((tmp_path / "b").stat().st_mode)
