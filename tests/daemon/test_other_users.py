"""What other users of the machine, and web pages, can do with a daemon: nothing."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from asking import skip_without
from daemon.test_http_door import TOKEN, listening
from lsp_mcp.door import place
from mcp_process import BOUND
from shared_daemon import Desk

skip_without("gopls")
NOBODY = 65534
CALL = ("call", "list_symbols_in_file", "file_path=a.go")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as a second user")


def as_nobody(ask: Callable[[], bytes]) -> str:
    """What `ask` returns or raises in a process of another user."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            try:
                said = ask()
            except OSError as error:
                said = type(error).__name__.encode()
            os.write(writing, said)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read()
    os.waitpid(child, 0)
    return said.decode()


@needs_root
def test_another_user_can_neither_reach_a_daemon_nor_read_its_log_and_is_refused_if_he_could(desk: Desk) -> None:
    before = os.umask(0)
    try:
        assert desk.run(*CALL).returncode == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(desk.home.stat().st_mode) == 0o700
    (path,), (log,) = desk.home.glob("*.sock"), desk.home.glob("*.log")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600

    def connect() -> bytes:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(BOUND)
            connection.connect(str(path))
            return connection.recv(1000)  # before it says anything

    assert as_nobody(connect) == as_nobody(log.read_bytes) == "PermissionError"
    for opened, mode in ((desk.runtime, 0o755), (desk.home, 0o755), (path, 0o777)):
        opened.chmod(mode)
    try:
        assert as_nobody(connect) == '{"refused": "another user\'s daemon"}\n'
        assert as_nobody(log.read_bytes) == "PermissionError"
    finally:
        for opened in (desk.runtime, desk.home):
            opened.chmod(0o700)
    assert len(desk.status()) == 1


def link(there: Path) -> None:
    (there.parent / "elsewhere").mkdir(mode=0o700)
    there.symlink_to(there.parent / "elsewhere")


def of_another_user(there: Path) -> None:
    there.mkdir(mode=0o700)
    os.chown(there, NOBODY, NOBODY)


def for_a_group(there: Path) -> None:
    there.mkdir()
    there.chmod(0o750)


@pytest.mark.parametrize("plant", [link, for_a_group, Path.touch, pytest.param(of_another_user, marks=needs_root)])
def test_what_another_user_has_put_in_the_place_of_the_folder_is_not_used(
    plant: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as shared:  # a short path: a long one is replaced
        there = Path(shared) / f"lsp-mcp-{os.geteuid()}"
        plant(there)
        monkeypatch.setenv("XDG_RUNTIME_DIR", "")
        monkeypatch.setenv("TMPDIR", shared)
        assert place.folder() is None
        there.rename(Path(shared) / "away")
        assert place.folder() == str(there)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "evil.example:80"}, 400),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"}, 403),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "null"}, 403),
    ],
)
def test_http_requires_the_token_and_refuses_pages(desk: Desk, headers: dict[str, str], status: int) -> None:
    with listening(desk) as port, httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=BOUND) as client:
        for method, path in (("POST", "/mcp"), ("GET", "/mcp"), ("GET", "/sse"), ("POST", "/messages/")):
            assert client.request(method, path, headers=headers).status_code == status
