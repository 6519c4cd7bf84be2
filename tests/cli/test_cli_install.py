"""`lsp-mcp install`, with a small maker of programs in place of a real one."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.cli_helpers import DRIVER, Programs, Run, start
from lsp_mcp.cli.install import _swap, _workshop

BOUND = 60  # seconds for one process: a hang, not a measurement
MAKER = """
echo "called $*" >> "$HOME/calls"
echo "downloading $2"
echo "compiling" >&2
{ echo '#!/bin/sh'; echo 'echo fakels version 1.2.3'; } > "$MAKER_TARGET/fakels"
/bin/chmod +x "$MAKER_TARGET/fakels"
"""
HANGING_MAKER = """
echo half > "$MAKER_TARGET/fakels"
echo started $$
exec /bin/sleep 600
"""


@pytest.fixture
def servers(tmp_path: Path) -> Path:
    """Where servers are installed."""
    return tmp_path / "servers"


def install(adapters: Path, *words: str) -> tuple[int, str, str]:
    """Exit status, stdout, stderr of `lsp-mcp install`."""
    process = start(adapters, "install", *words)
    output, errors = process.communicate(timeout=BOUND)
    return process.returncode, output, errors


def until_started(process: "subprocess.Popen[str]") -> int:
    """Waits until the hanging maker runs; its process id."""
    assert process.stderr
    line = next(line for line in process.stderr if line.strip().startswith("started"))
    return int(line.split()[1])


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_server_comes_into_a_folder_of_its_own(fake_adapters: Path, programs: Programs, servers: Path) -> None:
    programs("maker", MAKER)
    status, output, errors = install(fake_adapters, "fake")
    assert (status, output) == (0, output)
    assert re.fullmatch(rf"fake 1\.2\.3 is installed in {servers}/fake-1\.2\.3 \(\d+ s\)\n", output)
    assert [path.name for path in servers.iterdir()] == ["fake-1.2.3"]
    assert subprocess.check_output([servers / "fake-1.2.3" / "fakels"], text=True) == "fakels version 1.2.3\n"
    assert errors == "installing fake 1.2.3: maker make fakels@1.2.3\n  downloading fakels@1.2.3\n  compiling\n"


def test_what_is_there_is_not_installed_again(fake_adapters: Path, programs: Programs, home: Path) -> None:
    programs("maker", MAKER)
    install(fake_adapters, "fake")
    status, output, errors = install(fake_adapters, "fake")
    assert (status, errors) == (0, "")
    assert output.endswith("/fake-1.2.3\n")
    assert (home / "calls").read_text() == "called make fakels@1.2.3\n"


def test_force_installs_again(fake_adapters: Path, programs: Programs, servers: Path) -> None:
    programs("maker", MAKER)
    install(fake_adapters, "fake")
    (servers / "fake-1.2.3" / "left over").touch()
    status, _, _ = install(fake_adapters, "fake", "--force")
    assert status == 0
    assert [path.name for path in servers.rglob("*")] == ["fake-1.2.3", "fakels"]


def test_scripts_get_json(fake_adapters: Path, programs: Programs, servers: Path) -> None:
    programs("maker", MAKER)
    program = str(servers / "fake-1.2.3" / "fakels")
    (first,) = json.loads(install(fake_adapters, "fake", "--json")[1])
    assert first.pop("seconds") >= 0
    assert first == {"name": "fake", "version": "1.2.3", "program": program}
    (second,) = json.loads(install(fake_adapters, "fake", "--json")[1])
    assert second["seconds"] is None
    (listed,) = json.loads(install(fake_adapters, "--json")[1])
    assert listed == {
        "name": "fake",
        "version": "1.2.3",
        "title": "Fake, a server for tests",
        "program": program,
    }


def test_without_a_name_it_lists_what_can_be_installed(run: Run) -> None:
    result = run("install")
    assert result.exit_code == 0
    assert re.search(
        r"^gopls \d+\.\d+\.\d+ +gopls, the Go language server: not (installed$|needed, )", result.output, re.M
    )
    assert "lsp-mcp install NAME" in result.stderr


def test_the_list_names_a_server_that_is_found_elsewhere(fake_adapters: Path, programs: Programs) -> None:
    assert install(fake_adapters)[1] == "fake 1.2.3  Fake, a server for tests: not installed\n"
    programs("fakels", "#!/bin/sh\n")
    status, output, _ = install(fake_adapters)
    assert status == 0
    assert re.fullmatch(r"fake 1\.2\.3  Fake, a server for tests: not needed, /\S+/fakels is used\n", output)


def test_an_unknown_server_is_named_with_those_that_there_are(run: Run) -> None:
    result = run("install", "goplz")
    assert result.exit_code == 2
    assert result.stderr == "lsp-mcp: unknown language server or debugger 'goplz'; did you mean gopls?\n"


def test_a_missing_maker_is_an_error_that_says_how_to_get_it(
    fake_adapters: Path, programs: Programs, servers: Path
) -> None:
    status, _, errors = install(fake_adapters, "fake")
    assert status == 1
    assert errors == "lsp-mcp: fake is installed with maker, which is missing. To get it, ask the fairies for a maker\n"
    assert list(servers.iterdir()) == []


def test_a_failure_ends_with_the_last_lines_and_leaves_nothing(
    fake_adapters: Path, programs: Programs, servers: Path
) -> None:
    lines = "; ".join(f"echo line {number}" for number in range(100))
    programs("maker", f'echo half > "$MAKER_TARGET/fakels"; {lines}; echo no network >&2; exit 3')
    status, output, errors = install(fake_adapters, "fake")
    assert (status, output) == (1, "")
    message = errors[errors.index("lsp-mcp:") :]
    assert message.startswith(
        "lsp-mcp: fake was not installed: maker make fakels@1.2.3 exited with status 3\n  | line 89\n"
    )
    assert message.endswith("\n  | line 99\n  | no network\n")
    assert list(servers.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 0", "the command created no fakels in"),
        (
            'printf "#!/bin/sh\\necho wrong machine >&2; exit 7" > "$MAKER_TARGET/fakels"; '
            '/bin/chmod +x "$MAKER_TARGET/fakels"',
            "the new program fails with exit status 7\n  | wrong machine",
        ),
    ],
)
def test_what_does_not_run_is_not_installed(
    script: str, message: str, fake_adapters: Path, programs: Programs, servers: Path
) -> None:
    programs("maker", script)
    status, _, errors = install(fake_adapters, "fake")
    assert status == 1
    assert f"lsp-mcp: fake was not installed: {message}" in errors
    assert list(servers.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_an_error_that_names_the_variable(
    fake_adapters: Path, programs: Programs, servers: Path
) -> None:
    programs("maker", MAKER)
    servers.write_text("a file\n")
    status, _, errors = install(fake_adapters, "fake")
    assert status == 2
    assert f"{servers} cannot be written" in errors
    assert "LSP_MCP_SERVERS" in errors
    assert servers.read_text() == "a file\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_installation_leaves_everything_as_it_was(
    number: signal.Signals, fake_adapters: Path, programs: Programs, servers: Path
) -> None:
    programs("maker", MAKER)
    install(fake_adapters, "fake")
    programs("maker", HANGING_MAKER)
    process = start(fake_adapters, "install", "fake", "--force")
    maker = until_started(process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=BOUND)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "interrupted; fake is unchanged"  # below what told how long it takes
    assert not is_running(maker)
    assert [path.name for path in servers.rglob("*")] == ["fake-1.2.3", "fakels"]
    assert "1.2.3" in (servers / "fake-1.2.3" / "fakels").read_text()


def test_what_a_killed_installation_left_goes_with_the_next_one(
    fake_adapters: Path, programs: Programs, servers: Path
) -> None:
    programs("maker", HANGING_MAKER)
    process = start(fake_adapters, "install", "fake")
    until_started(process)
    process.kill()
    process.communicate(timeout=BOUND)
    (left,) = servers.iterdir()
    assert (left / "new" / "fakels").read_text() == "half\n"
    programs("maker", MAKER)
    assert install(fake_adapters, "fake")[0] == 0
    assert [path.name for path in servers.iterdir()] == ["fake-1.2.3"]


def test_what_a_killed_installation_was_replacing_is_put_back_by_the_next_one(
    fake_adapters: Path, programs: Programs, servers: Path
) -> None:
    programs("maker", MAKER)
    install(fake_adapters, "fake")
    killed = servers / ".fake-1.2.3.0a1b2c3d.installing"
    (killed / "new").mkdir(parents=True)
    (servers / "fake-1.2.3").rename(killed / "old")  # it did nothing after this
    programs("maker", "echo no network; exit 1")
    assert install(fake_adapters, "fake", "--force")[0] == 1
    assert [path.name for path in servers.rglob("*")] == ["fake-1.2.3", "fakels"]


def test_installations_in_two_containers_that_share_the_folder_do_not_remove_each_others_work(
    servers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Process ids repeat there, and none is known to the other."""
    monkeypatch.setattr("os.getpid", lambda: 1)
    with _workshop(servers / "fake-1") as one, _workshop(servers / "fake-1") as other:
        assert one != other and one.exists() and other.exists()
        for workshop in (one, other):
            (workshop / "new" / "fakels").touch()
            _swap(workshop, servers / "fake-1")
    assert [path.name for path in servers.rglob("*")] == ["fake-1", "fakels"]


def test_a_server_that_another_process_installs_in_the_same_moment_stays(
    servers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def after_another(path: Path, new: Path) -> Path:
        if path.name == "new":
            (servers / "fake-1").mkdir()
            (servers / "fake-1" / "fakels").write_text("of the other one")
        return rename(path, new)

    monkeypatch.setattr(Path, "rename", after_another)
    with _workshop(servers / "fake-1") as workshop:
        (workshop / "new" / "fakels").touch()
        _swap(workshop, servers / "fake-1")
    assert [path.name for path in servers.rglob("*")] == ["fake-1", "fakels"]
    assert (servers / "fake-1" / "fakels").read_text() == "of the other one"


def test_folders_that_are_not_of_an_installation_stay(fake_adapters: Path, programs: Programs, servers: Path) -> None:
    (servers / ".cache.1").mkdir(parents=True)
    programs("maker", MAKER)
    assert install(fake_adapters, "fake")[0] == 0
    assert sorted(path.name for path in servers.iterdir()) == [".cache.1", "fake-1.2.3"]


def test_a_terminal_shows_one_line_that_lives(fake_adapters: Path, programs: Programs) -> None:
    programs("maker", MAKER)
    terminal, other_end = pty.openpty()
    command = [sys.executable, "-c", DRIVER, str(fake_adapters), "install", "fake"]
    process = subprocess.Popen(command, stdout=other_end, stderr=other_end, env={**os.environ, "TERM": "xterm"})
    os.close(other_end)
    shown = b""
    try:
        while chunk := os.read(terminal, 4096):
            shown += chunk
    except OSError:  # Linux's end of a terminal
        pass
    os.close(terminal)
    assert process.wait(BOUND) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert "installing fake 1.2.3 0:00:0" in text
    assert text.endswith("s)\r\n")
