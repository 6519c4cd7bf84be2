"""A file's language is told by its extension, its name, or the first line of a script."""

import os
from pathlib import Path

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.file_kinds import interpreter, kind_of
from lsp_mcp.sessions.languages import shares

KNOWN = frozenset({".sh", ".txt", "CMakeLists.txt", "Makefile", "Dockerfile.*", ".bashrc", "#!bash", "#!python"})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a/run.sh", ".sh"),
        ("a/RUN.SH", ".sh"),
        ("Makefile", "Makefile"),
        ("a/Makefile", "Makefile"),
        ("Makefile.am", None),
        ("Dockerfile.dev", "Dockerfile.*"),
        ("Dockerfile", None),
        ("home/.bashrc", ".bashrc"),
        ("a/.gitignore", None),
        ("a.sh/README", None),
    ],
)
def test_a_name_tells_the_kind(name: str, kind: str | None) -> None:
    assert kind_of(name, KNOWN) == kind


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("#!/bin/bash\n", "bash"),
        ("#! /usr/bin/env python3\n", "python"),
        ("#!/usr/bin/env -S A=1 /opt/x/python3.12 -E\n", "python"),
        ("#!/usr/bin/perl5.36.0 -w\r\n", "perl"),
        ("#!bash", "bash"),
        ("#!\n", ""),
        ("", ""),
        ("text #!/bin/sh\n", ""),
        ("\n#!/bin/sh\n", ""),
    ],
)
def test_the_first_line_names_the_program_of_a_script(tmp_path: Path, line: str, program: str) -> None:
    (tmp_path / "run").write_text(line)
    assert interpreter(str(tmp_path / "run")) == program


def test_a_script_is_read_again_after_a_change(tmp_path: Path) -> None:
    script = tmp_path / "run"
    script.write_text("#!/bin/bash\n")
    assert kind_of(script, KNOWN) == "#!bash"
    assert kind_of(script, KNOWN, reads=False) is None
    script.write_text("#!/usr/bin/python\n")
    assert kind_of(script, KNOWN) == "#!python"
    script.unlink()
    assert kind_of(script, KNOWN) is None


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run")
    assert kind_of(tmp_path / "run", KNOWN) is None


@pytest.mark.parametrize(
    ("adapter", "name", "language"),
    [
        ("cmake-language-server", "CMakeLists.txt", "CMake"),
        ("bash-language-server", ".bashrc", "Shell"),
        ("ruby-lsp", "Rakefile", "Ruby"),
        ("syntax", "Makefile", "Makefile"),
        ("syntax", "tools.mk", "Makefile"),
        ("syntax", "Dockerfile.dev", "Dockerfile"),
        ("syntax", "BUILD", "Starlark"),
        ("syntax", "meson.build", "Meson"),
    ],
)
def test_files_are_known_by_their_names(adapter: str, name: str, language: str) -> None:
    found = load_adapter(adapter).language_of(Path("/w", name))
    assert found
    assert found.name == language


def test_what_a_build_tool_makes_for_itself_starts_no_server() -> None:
    paths = ["/w/build/CMakeFiles/a.dir/compiler_depend.ts", "/w/build/CMakeFiles/a.dir/cmake_clean.cmake", "/w/a.ts"]
    adapters = [load_adapter("typescript"), load_adapter("cmake-language-server")]
    assert [(one.language, one.files) for one in shares(paths, adapters)] == [("TypeScript", 1)]
