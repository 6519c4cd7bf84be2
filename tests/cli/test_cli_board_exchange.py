"""`lsp-mcp board export` and `import`, as a person or a script runs them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.cli_helpers import Run
from lsp_mcp.cli import board as serving

NEOVA = Path(__file__).parent.parent / "fixtures" / "neova"


def test_a_neova_board_goes_in_and_out(run: Run, project: Path, tmp_path: Path) -> None:
    done = run("board", "import", NEOVA / ".neova")
    assert done.exit_code == 0, done.output
    assert "  tasks      5 created, 0 updated, 0 unchanged\n" in done.stdout
    assert "stages.json: Code review names the activity no-such-activity" in done.stderr
    done = run("board", "export", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "5 tasks, 5 stages, 3 standards, 3 snippets. Files: 12 written, 0 unchanged, 0 deleted." in done.stdout
    assert (tmp_path / "out" / "tasks" / "1730979999999-0a review-the-cache.md").is_file()
    again = run("board", "import", tmp_path / "out")
    assert "  tasks      0 created, 0 updated, 5 unchanged\n" in again.stdout


def test_scripts_get_json(run: Run, project: Path, tmp_path: Path) -> None:
    shutil.copytree(NEOVA, tmp_path / "neova")
    (tmp_path / "neova" / ".neova" / "tasks" / "broken.json").write_text("{")
    done = run("board", "import", tmp_path / "neova", "--json")
    assert done.exit_code == 1, "a file could not be used"
    said = json.loads(done.stdout)
    assert said["source"] == "neova"
    assert said["tasks"] == {"created": 5, "updated": 0, "unchanged": 0, "skipped": 0}
    assert [one["file"] for one in said["broken"]] == ["tasks/broken.json"]
    done = run("board", "export", "out", "--json")
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert said["folder"] == str(project / "out")
    assert len(said["written"]) == 12


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_flags_of_servers_may_stand_anywhere(run: Run, project: Path, tmp_path: Path, place: int) -> None:
    other = tmp_path / "other"
    other.mkdir()
    words = [["board"], ["import"], [str(NEOVA)]]
    words.insert(place, ["--workspace-root", str(other)])
    assert run(*(word for some in words for word in some)).exit_code == 0
    assert (other / ".lsp-mcp" / "board.sqlite3").is_file()
    assert not (project / ".lsp-mcp").exists()


def test_the_store_may_be_named(run: Run, project: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'mine.sqlite3'}"
    assert run("board", "--store", store, "import", NEOVA).exit_code == 0
    assert run("board", "export", "out", "--store", store).exit_code == 0
    assert not (project / ".lsp-mcp").exists()


def test_an_export_of_no_board_makes_none(run: Run, project: Path) -> None:
    done = run("board", "export", "out")
    assert done.exit_code == 2
    assert f"there is no board for {project} yet" in done.stderr
    assert [path.name for path in project.iterdir()] == ["go.mod"]


def test_an_import_of_nothing_makes_no_board(run: Run, project: Path, tmp_path: Path) -> None:
    for folder, message in ((tmp_path / "nowhere", "does not exist"), (project, "has no board")):
        done = run("board", "import", folder)
        assert done.exit_code == 2
        assert message in done.stderr
    assert [path.name for path in project.iterdir()] == ["go.mod"]


def test_what_is_newer_on_the_board_is_named(run: Run, project: Path) -> None:
    run("board", "import", NEOVA)
    run("board", "export", "out")
    (file,) = Path("out/tasks").glob("1730979999999-0a*")
    text = file.read_text("utf-8")
    file.write_text(text.replace("Review the cache", "Review it"), "utf-8")
    refused = run("board", "export", "out")
    assert refused.exit_code == 2
    assert "edited since the last export" in refused.stderr
    assert "  tasks      0 created, 1 updated, 4 unchanged\n" in run("board", "import", "out").stdout
    file.write_text(text, "utf-8")
    skipped = run("board", "import", "out")
    assert skipped.exit_code == 0
    assert "0 created, 0 updated, 4 unchanged, 1 skipped" in skipped.stdout
    assert "the board has a newer 1730979999999-0a (revision 3)" in skipped.stderr
    assert "1 updated" in run("board", "import", "out", "--force").stdout
    assert run("board", "export", "out", "--force").exit_code == 0


def test_the_board_without_a_command_serves(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[object] = []
    monkeypatch.setattr(
        serving, "run_board", lambda flags, _, **given: served.append((flags.workspace_root, flags.form, given))
    )
    monkeypatch.setattr(serving, "run_stdio", lambda flags: served.append((flags.workspace_root, flags.form, "stdio")))
    monkeypatch.setattr(
        serving, "new_link", lambda flags, _, *, port, dev, name: f"http://{flags.workspace_root}:{port}/{dev}/{name}"
    )
    assert run("--format", "compact", "board", "--workspace-root", "X").exit_code == 0
    assert run("--format", "compact", "board", "--dev", "--port", "5", "--no-open").exit_code == 0
    assert run("--workspace-root", "Y", "board", "--mcp").exit_code == 0
    assert run("board", "--link", "--port", "7").stdout == "http://.:7/False/None\n"
    as_ada = run("board", "--link", "--as", "Ada", "--port", "7", "--json")
    assert json.loads(as_ada.stdout) == {"link": "http://.:7/False/Ada"}
    assert served == [
        ("X", "compact", {"port": None, "dev": False, "opens": True, "name": None}),
        (".", "compact", {"port": 5, "dev": True, "opens": False, "name": None}),
        ("Y", "compact", "stdio"),
    ]


def test_json_of_the_board_is_refused_where_it_has_no_meaning(run: Run, project: Path) -> None:
    for words in (["--json"], ["--mcp", "--json"], ["--json", "export", "out"]):
        done = run("board", *words)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "--json goes with --link, or after a command" in done.stderr


def test_the_program_itself_does_it(project: Path, tmp_path: Path) -> None:
    def lsp_mcp(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from lsp_mcp.cli.main import main; main()", *words]
        return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)

    assert lsp_mcp("board", "import", str(NEOVA)).returncode == 0
    done = lsp_mcp("board", "export", "out")
    assert (done.returncode, done.stderr) == (0, "")
    refused = lsp_mcp("board", "export", str(NEOVA / ".neova"))
    assert refused.returncode == 2
    assert refused.stderr.startswith("lsp-mcp: ") and "Traceback" not in refused.stderr
