"""One server for a team: `--backend index` on HTTP, with a token for each person, limits, metrics and a log."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from click.testing import CliRunner, Result
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from ruamel.yaml import YAML

from index.scip_files import DEFINITION, document, go_symbol, occurrence, write
from lsp_mcp.cli.main import main
from lsp_mcp.index.gathering import gather
from lsp_mcp.index.store import IndexStore
from mcp_process import BOUND, MODES, PROGRAM, Mode

for package in ("limits", "prometheus_client"):
    pytest.importorskip(package, reason="limits, prometheus-client: the extra `team`")

TOP = Path(__file__).parent.parent.parent
SECRET = "SecretlyNamed"
SYMBOL = go_symbol("example.com/a", f"{SECRET}().")
HTTP = ("--transport", "http", "--port", "0")


class Team:
    """A running server and what it wrote."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        self.lines: list[str] = []
        self._process = process
        self._reading = threading.Thread(target=self._read)
        self._reading.start()
        self.address = f"http://127.0.0.1:{process.stdout.readline().rpartition(' ')[2].strip()}"

    def _read(self) -> None:
        assert self._process.stderr
        self.lines += self._process.stderr

    def end(self) -> list[dict[str, Any]]:
        """Its log, once it has ended."""
        self._process.terminate()
        self._process.wait(BOUND)
        self._reading.join(BOUND)
        return [json.loads(line) for line in self.lines]


@contextmanager
def serving(url: str, *flags: str, words: tuple[str, ...] = HTTP, **env: str) -> Iterator[Team]:
    command = [PROGRAM, *words, "--backend", "index", "--index-store", url, *flags]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env={**os.environ, **env}, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield Team(process)
        finally:
            process.kill()


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'index.sqlite3'}"


def token(*words: str, url: str) -> Result:
    return CliRunner().invoke(main, ["token", *words, "--index-store", url])


def added(name: str, url: str) -> str:
    return str(json.loads(token("add", name, "--json", url=url).output)["token"])


def bearing(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}", "Accept": "application/json, text/event-stream"}


def push(url: str, folder: Path) -> None:
    store = IndexStore(url)
    part = document("a.go", occurrence(SYMBOL, 2, 5, 12, DEFINITION), occurrence(SYMBOL, 4, 1, 8))
    store.push(gather(write(folder / "a.scip", part), None, with_text=False), "example.com/a", "abc")
    store.close()


def post(team: Team, secret: str, **headers: str) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    return httpx2.post(f"{team.address}/mcp", json=body, headers={**bearing(secret), **headers}, timeout=BOUND)


def ask(team: Team, secret: str, tool: str, *, mode: Mode = "legacy", **arguments: Any) -> str:
    """The answer to a person."""
    return asyncio.run(asyncio.wait_for(answer(team, secret, mode, tool, arguments), BOUND))


async def answer(team: Team, secret: str, mode: Mode, tool: str, arguments: dict[str, Any]) -> str:
    async with (
        httpx2.AsyncClient(headers=bearing(secret), timeout=BOUND) as http,
        Client(streamable_http_client(f"{team.address}/mcp", http_client=http), mode=mode) as client,
    ):
        assert all(one.annotations and one.annotations.read_only_hint for one in (await client.list_tools()).tools)
        result = await client.call_tool(tool, arguments)
        return "\n".join(block.text for block in result.content if block.type == "text")


@pytest.mark.parametrize("mode", MODES)
def test_everybody_with_a_token_is_answered_in_full_and_only_reads(url: str, mode: Mode, tmp_path: Path) -> None:
    push(url, tmp_path)
    secrets = [added(name, url) for name in ("ada", "bob")]
    with serving(url) as team:
        for secret in (*secrets, secrets[0]):  # nothing is "as before" what somebody else was told
            said = ask(team, secret, "find_symbol_references_by_anchor", mode=mode, symbol_anchor=SECRET)
            assert "Found 2 references" in said and "only 1 indexed repository is known" in said
        refused = ask(team, secrets[1], "edit_symbol", mode=mode, target=SECRET, action="delete")
        assert "it only reads" in refused


def test_a_revoked_token_is_refused_from_the_next_request_on(url: str, tmp_path: Path) -> None:
    ada, bob = (added(name, url) for name in ("ada", "bob"))
    with serving(url, LSP_MCP_TOKEN="x" * 32) as team:
        assert [post(team, one).status_code for one in (ada, bob)] == [200, 200]
        assert token("revoke", "ada", url=url).exit_code == 0
        assert [post(team, one).status_code for one in (ada, bob)] == [401, 200]
        # The token of the user who runs it, which has no name and cannot be revoked, is none here.
        assert post(team, "x" * 32).status_code == 401


def test_the_store_keeps_no_token_but_says_whose_there_are(url: str) -> None:
    first = added("ada", url)
    again = token("add", "ada", url=url)
    assert (again.exit_code, "revoke it first" in again.output) == (2, True)
    assert "ada, since 20" in token("list", url=url).output
    assert [one["name"] for one in json.loads(token("list", "--json", url=url).output)["tokens"]] == ["ada"]
    assert first not in token("list", "--json", url=url).output
    if url.startswith("sqlite"):
        assert first.encode() not in Path(url.removeprefix("sqlite:///")).read_bytes()
    assert "ada" in token("revoke", "ada", url=url).output
    assert "who has one: nobody" in token("revoke", "ada", url=url).output
    assert added("ada", url) != first


def test_web_pages_streams_and_requests_without_a_token_are_refused(file: str) -> None:
    ada = added("ada", file)
    with serving(file) as team:
        unknown = post(team, "guessed")
        assert (unknown.status_code, unknown.headers["www-authenticate"]) == (401, "Bearer")
        assert "lsp-mcp token add NAME" in unknown.text
        assert post(team, ada, Origin="http://localhost:1234").status_code == 403
        stream = httpx2.get(f"{team.address}/mcp", headers=bearing(ada), timeout=BOUND)
        assert (stream.status_code, stream.headers["allow"]) == (405, "POST")
        for path in ("/metrics", "/sse", "/messages/"):
            assert httpx2.get(f"{team.address}{path}", timeout=BOUND).status_code == 401


def test_who_asks_too_often_waits_and_others_do_not(file: str) -> None:
    ada, bob = (added(name, file) for name in ("ada", "bob"))
    with serving(file, "--rate-limit", "3") as team:
        found = [post(team, ada) for _ in range(7)]  # two minutes, if the clock passes a full one in between
        refused = [one for one in found if one.status_code == 429]
        assert refused and 1 <= int(refused[0].headers["retry-after"]) <= 60
        assert "more than 3 requests in a minute; try again in" in refused[0].text
        assert post(team, bob).status_code == 200


def test_who_tries_tokens_is_stopped_and_those_who_have_one_at_that_address_are_not(file: str) -> None:
    ada = added("ada", file)
    with serving(file) as team:
        assert post(team, ada).status_code == 200
        with httpx2.Client(base_url=team.address, timeout=BOUND) as client:
            tried = [client.post("/mcp", headers=bearing(f"t{one}")).status_code for one in range(150)]
        assert set(tried) == {401, 429}
        assert post(team, ada).status_code == 200


def test_health_and_metrics_tell_of_the_store_and_the_calls(url: str, tmp_path: Path) -> None:
    push(url, tmp_path)
    ada = added("ada", url)
    with serving(url) as team:
        health = httpx2.get(f"{team.address}/health", timeout=BOUND)
        assert (health.status_code, health.json()) == (200, {"status": "ok", "repositories": 1})
        for name in (SECRET, "nothing"):
            ask(team, ada, "find_symbol_references_by_anchor", symbol_anchor=name)
        post(team, "guessed")
        metrics = httpx2.get(f"{team.address}/metrics", headers=bearing(ada), timeout=BOUND).text
    calls = 'lsp_mcp_calls_total{outcome="%s",tool="find_symbol_references_by_anchor"} 1.0'
    for line in (
        calls % "incomplete",
        calls % "failed",
        'lsp_mcp_http_responses_total{status="401"} 1.0',
        "lsp_mcp_index_store_up 1.0",
        "lsp_mcp_index_repositories 1.0",
    ):
        assert line in metrics
    assert "lsp_mcp_index_oldest_push_timestamp_seconds 1" in metrics and "ada" not in metrics


def test_the_log_is_json_and_has_neither_code_nor_tokens(file: str, tmp_path: Path) -> None:
    push(file, tmp_path)
    ada = added("ada", file)
    with serving(file, "--log-level", "debug") as team:
        for name in (SECRET, f"{SECRET}Missing"):
            ask(team, ada, "find_symbol_references_by_anchor", symbol_anchor=name)
        post(team, "guessed")
        log = team.end()
    told = [one for one in log if one["event"] != "log"]
    assert [one["event"] for one in told] == ["serving", "call", "call", "refused"]
    assert [(one["person"], one["tool"], one["outcome"]) for one in told[1:3]] == [
        ("ada", "find_symbol_references_by_anchor", "incomplete"),
        ("ada", "find_symbol_references_by_anchor", "failed"),
    ]
    assert told[3]["reason"] == "no valid token"
    everything = json.dumps(log)
    assert not [one for one in (SECRET, ada, "guessed") if one in everything]


def test_without_its_database_it_says_so_and_with_it_again_it_answers(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = str(request.getfixturevalue("postgres").database())
    ada = added("ada", url)
    with Relay(url) as relay, serving(relay.url) as team:
        assert post(team, ada).status_code == 200
        relay.cut()
        assert post(team, ada).status_code == 503
        health = httpx2.get(f"{team.address}/health", timeout=BOUND)
        assert (health.status_code, health.json()["status"]) == (503, "unavailable")
        relay.restore()
        assert post(team, ada).status_code == 200
        assert httpx2.get(f"{team.address}/health", timeout=BOUND).status_code == 200


def test_an_account_of_the_database_that_may_only_read_is_enough(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = str(request.getfixturevalue("postgres").database())
    push(url, tmp_path)
    ada = added("ada", url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS only_reads")
        connection.execute("CREATE ROLE only_reads LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO only_reads")
    try:
        with serving(re.sub(r"//[^@]*@", "//only_reads@", url)) as team:
            said = ask(team, ada, "read_symbol", symbols=[SECRET])
            assert "example.com/a@abc/a.go#3:6" in said
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP OWNED BY only_reads")
            connection.execute("DROP ROLE only_reads")


def test_it_serves_the_index_alone(file: str) -> None:
    refused = CliRunner().invoke(main, [*HTTP, "--backend", "index", "--index-store", file, "--toolset", "board"])
    assert (refused.exit_code, "leave out --toolset board" in refused.output) == (2, True)


def test_the_compose_file_starts_it_with_what_the_image_has(file: str) -> None:
    """What is not tried here is Docker itself."""
    compose = YAML(typ="safe").load(TOP / "compose.yaml")
    service, database = compose["services"]["index"], compose["services"]["postgres"]
    assert service["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert service["environment"]["PGPASSWORD"] == database["environment"]["POSTGRES_PASSWORD"]
    # It is the stage of the image that has a check of its health and the extra of the dependencies.
    stage = re.split(r"^FROM ", (TOP / "Dockerfile").read_text("utf-8"), flags=re.M)
    (image,) = (one for one in stage if one.splitlines()[0].endswith(f" AS {service['build']['target']}"))
    assert 'ENTRYPOINT ["lsp-mcp"]' in image and "[team]" in image and "USER 1000" in image

    words = [one.replace("0.0.0.0", "127.0.0.1").replace("8765", "0") for one in service["command"]]
    store = next(one for one in words if one.startswith("--index-store="))
    assert store == f"--index-store=postgresql://{database['environment']['POSTGRES_USER']}@postgres/lsp_mcp"
    words.remove(store)
    words.remove("--backend=index")  # `serving` passes both
    with serving(file, words=tuple(words)) as team:
        check = json.loads(re.search(r"^HEALTHCHECK .*?CMD (.*)$", image, re.M)[1])  # type: ignore[index]
        program = check[2].replace("http://127.0.0.1:8765", team.address)
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


class Relay:
    """A TCP relay to a database that can be cut."""

    def __init__(self, url: str) -> None:
        host, port = re.search(r"@([^:/]+):(\d+)/", url).groups()  # type: ignore[union-attr]
        self._there = host, int(port)
        self._open: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = url.replace(f"@{host}:{port}/", f"@127.0.0.1:{self._listening.getsockname()[1]}/")
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            if self._is_cut:
                near.close()
                continue
            far = socket.create_connection(self._there)
            self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self) -> None:
        self._is_cut = True
        for one in self._open:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def restore(self) -> None:
        self._is_cut = False

    def __enter__(self) -> Relay:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._listening.close()
