"""clangd with a remote index: its answers are there, and whatever it cannot know is said."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lsp_mcp.cli.main import main
from mcp_process import BOUND, Connected, connected, text

grpc = pytest.importorskip("grpc", reason="grpcio: the extra `remote-index`")

from fakes.remote_index import IndexServer, Ref  # noqa: E402 (grpc may be missing)

WITH_GRPC = Path(__file__).parent.parent / ".tools/servers/clangd-remote-debian/bin/clangd"
# `far.c` uses it without spelling its name, which nothing but an index finds.
SOURCES = {
    "util.h": "int greet(void);\n",
    "util.c": '#include "util.h"\nint greet(void) { return 1; }\n',
    "main.c": '#include "util.h"\nint main(void) { return greet(); }\n',
    "far.c": '#include "util.h"\n#define JOINED(a, b) a##b\nint far(void) { return JOINED(gre, et)(); }\n',
}
PLACES = [Ref("main.c", 1, 24, 29), Ref("util.c", 1, 4, 9), Ref("util.h", 0, 4, 9), Ref("far.c", 2, 24, 30)]


def git(root: Path, *words: str) -> str:
    settings = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *settings, *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for name, source in SOURCES.items():
        (root / name).write_text(source)
    commands = [
        {"directory": str(root), "file": name, "arguments": ["cc", "-c", name]}
        for name in SOURCES
        if name.endswith(".c")
    ]
    (root / "compile_commands.json").write_text(json.dumps(commands))
    (root / ".gitignore").write_text("compile_commands.json\n")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "first")
    return root


@pytest.fixture
def server(root: Path) -> Iterator[IndexServer]:
    made = IndexServer(PLACES, git(root, "rev-parse", "HEAD"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def client(root: Path, server: IndexServer) -> Iterator[Connected]:
    if not WITH_GRPC.exists():
        pytest.skip("clangd with gRPC: scripts/tools.sh clangd_remote")
    flags = ("--backend", "clangd", "--clangd-path", str(WITH_GRPC), "--remote-index", server.address)
    with connected("--workspace-root", str(root), *flags, "--format", "compact") as found:
        yield found


def uses(client: Connected) -> str:
    arguments = {"symbol_anchor": "main.c:2:greet", "wait": True}
    return text(client.call("find_symbol_references_by_anchor", **arguments))


def status(answer: str) -> str:
    return answer.rpartition("status: ")[2]


def test_uses_that_only_the_index_knows_are_found_and_the_answer_is_complete(client: Connected) -> None:
    said = uses(client)
    assert "far.c" in said and "3:25" in said
    assert status(said).startswith("complete") and "is of the workspace's commit, built 2 hours ago" in said


def test_an_index_of_another_commit_or_of_none_is_a_gap(client: Connected, server: IndexServer) -> None:
    server.commit = "0123456789abcdef0123456789abcdef01234567"
    assert "is of commit 0123456789ab, built 2 hours ago; the workspace is at" in status(uses(client))
    server.commit = ""
    assert "does not say of which commit it is" in status(uses(client))


def test_changes_since_the_commit_are_a_gap(client: Connected, root: Path) -> None:
    assert status(uses(client)).startswith("complete")
    (root / "far.c").write_text(SOURCES["far.c"] + "int other(void) { return greet(); }\n")
    said = uses(client)
    assert "does not know the changes of 1 file: far.c" in status(said)
    assert "4:25" in said or "4:26" in said


def test_a_server_that_does_not_answer_is_a_gap_until_clangd_has_it_again(
    client: Connected, server: IndexServer
) -> None:
    assert status(uses(client)).startswith("complete")
    server.stop()
    said = uses(client)
    assert f"the remote index {server.address} does not answer (unavailable)" in status(said)
    assert "main.c" in said and "far.c" not in said
    server.start()
    for _ in range(BOUND):
        server.asked.clear()
        said = uses(client)
        if "far.c" in said:
            break
        # Its own connection is slower to come back than the server, and until then the answer says so.
        assert "clangd has no connection to the remote index" in status(said)
        server.asked.wait(1)
    assert status(said).startswith("complete")


def test_an_answer_that_takes_longer_than_clangd_waits_is_a_gap(client: Connected, server: IndexServer) -> None:
    server.held.clear()
    assert "took longer than the second that clangd waits: its answer may be cut" in status(uses(client))
    server.held.set()


def refused(root: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["warm", "--workspace-root", str(root), *words])


def test_a_program_without_grpc_is_refused_with_the_ways_to_get_one(root: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "clangd"
    wheel.write_text("#!/bin/sh\necho 'clangd version 22.1.1'; echo 'Features: linux'\n")
    wheel.chmod(0o755)
    said = refused(root, "--backend", "clangd", "--clangd-path", str(wheel), "--remote-index", "localhost:1")
    assert said.exit_code == 2
    for part in ("built without gRPC", "lsp-mcp install clangd --remote", "--clangd-path", "says +grpc"):
        assert part in said.output
    said = refused(root, "--backend", "clangd", "--clangd-path", str(wheel), "--remote-index", "index.example.com")
    assert "'index.example.com' is not HOST:PORT" in said.output


def test_servers_that_have_no_remote_index_are_not_given_one(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    said = refused(tmp_path, "--backend", "basedpyright", "--remote-index", "localhost:1")
    assert (said.exit_code, "is used by none of the language servers here: basedpyright" in said.output) == (2, True)


def test_a_project_names_its_index_once_its_user_trusts_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    shipped = Path(__file__).parent.parent / "adapters" / "lsp" / "clangd.toml"
    own = root / ".lsp-mcp" / "adapters" / "clangd.toml"
    own.parent.mkdir(parents=True)
    text = shipped.read_text().replace("toolsets = [", 'remote_index = "not an address"\ntoolsets = [', 1)
    own.write_text(text)
    words = ("doctor", "--workspace-root", str(root), "--backend", "clangd")
    assert "not an address" not in CliRunner().invoke(main, [*words]).output
    assert "not an address" not in refused(root, "--backend", "clangd", "--ready-timeout", "0").output
    assert CliRunner().invoke(main, ["trust", "--workspace-root", str(root)], input="y\n").exit_code == 0
    assert "'not an address' is not HOST:PORT" in refused(root, "--backend", "clangd").output


def test_the_build_with_grpc_comes_from_debian_or_the_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "dirname"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("LSP_MCP_SERVERS", str(tmp_path / "servers"))
    said = CliRunner().invoke(main, ["install", "clangd", "--remote"])
    assert said.exit_code == 1
    assert "apt-get is missing: this needs Debian or Ubuntu" in said.output and "--clangd-path" in said.output
    said = CliRunner().invoke(main, ["install", "gopls", "--remote"])
    assert (said.exit_code, "there is no build of gopls for --remote-index" in said.output) == (2, True)
