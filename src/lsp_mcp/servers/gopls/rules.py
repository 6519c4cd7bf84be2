"""What gopls 0.24 needs to load, join and read again: the commands and patterns of Go's modules."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path
from typing import Any

from msgspec import Struct, field


class Companion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document in the workspace root that exists only for the server, opened before one that needs it."""

    file: str  # its name, with a {number} and the {suffix} of the other document
    language: str  # its language identifier
    suffix_pattern: str  # the part of the other's name, without its extension, that is the suffix
    line_pattern: str  # each line of the other's text that it has, too; without these and a suffix, none is needed


class Join(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to join separate projects for the server alone: a private file outside the workspace, named by a variable."""

    variable: str  # environment variable with the file's path; a value set by the user takes precedence
    file: str  # the file's name
    text: str  # the file's text, with {version} and {entries}
    entry: str  # one entry, with {folder}
    version_pattern: str  # group 1 is the version that a marker file requires; the newest is used
    version_default: str
    check_command: tuple[str, ...]  # given `FOLDER/...` for each project: tells whether they load together
    check_problem: str = ""  # output of that command that means they do not
    lock_files: tuple[str, ...] = ()  # files beside the marker that pin a project's dependencies
    # Environment variables whose value, if it matches the pattern, rules joining out.
    decided_by: dict[str, str] = field(default_factory=dict)
    decided_by_files: tuple[str, ...] = ()  # files or folders of a project that rule joining out
    companion: Companion | None = None  # what documents need while projects are joined by the variable


class Projects(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a workspace divides into projects (Go modules, packages …) that the server loads one by one."""

    marker: str  # the file that makes its folder a project
    name_pattern: str  # in the marker file: group 1 is the project's name
    joined_by: str = ""  # the file that joins projects into one workspace; it lists their folders
    join_hint: str = ""  # the command that creates that file; {folders} are the projects' folders
    join_more_hint: str = ""  # the command that adds projects to an existing one
    join: Join | None = None
    alias_pattern: str = ""  # in either file: another `name` for the project in `folder` (named groups)
    implied: tuple[str, ...] = ()  # projects that all others use without declaring it
    ignored_folders: tuple[str, ...] = ()  # name patterns of folders that contain no projects
    # Those of them whose files belong to the project around them once they are open, unless the path of the folder
    # matches `apart_pattern`: imports lead elsewhere there.
    loose_folders: tuple[str, ...] = ()
    apart_pattern: str = ""  # group 1: the folder that `apart_variables` call {folder}
    apart_variables: dict[str, str] = field(default_factory=dict)  # with which the server reads what is there
    # Run in the project's folder; fails with a reason if the project cannot be loaded. {folder}: one with sources.
    check_command: tuple[str, ...] = ()
    # Given folders, prints `FOLDER<tab>ERROR` for packages that cannot be loaded; errors that match `import_problem`
    # make answers incomplete. Run when a file's matches of `import_pattern` have changed.
    import_command: tuple[str, ...] = ()
    import_pattern: str = ""
    import_problem: str = ""
    excluded_command: tuple[str, ...] = ()  # given folders: prints their source files that the build excludes
    # Run in the project's folder: prints all by which the build decides that, apart from files, so that it can be kept.
    # What matches `excluded_unkept` in what it prints makes the build depend on something else as well.
    native_command: tuple[str, ...] = ()  # prints the system of the build, that of this machine, and both processors
    excluded_settings_command: tuple[str, ...] = ()
    excluded_unkept: str = ""
    driver_variable: str = ""  # environment variable with a program of the user's that says what the packages are
    # The server's error for an excluded file that it cannot load even when the file is open. Empty: it loads none.
    left_out_refusal: str = ""
    left_out_pattern: str = ""  # a file's build constraint
    left_out_tag: str = ""  # in that constraint: what a user must set to include the file
    left_out_hint: str = ""  # how to set `{tags}`
    open_to_load: bool = False  # the server loads a project only while one of its files is open

    def ignores(self, file: Path, root: Path) -> bool:
        """Whether `file` is in a folder below `root` that holds no project."""
        if not file.is_relative_to(root):
            return False
        return any(_matches(folder, self.ignored_folders) for folder in file.relative_to(root).parts[:-1])

    def is_loose(self, folder: Path, root: Path) -> bool:
        """Whether files in `folder`, which the build ignores, are read as parts of a project once they are open."""
        if not self.ignores(folder / self.marker, root):
            return False
        inside = folder.relative_to(root)
        ignored = [name for name in inside.parts if _matches(name, self.ignored_folders)]
        is_apart = self.apart(folder, root) is not None
        return all(_matches(name, self.loose_folders) for name in ignored) and not is_apart

    def apart(self, folder: Path, root: Path) -> Path | None:
        """The folder at or above `folder` in which imports lead elsewhere, see `apart_pattern`."""
        if not (self.apart_pattern and folder.is_relative_to(root)):
            return None
        found = re.search(self.apart_pattern, f"{folder.relative_to(root).as_posix()}/")
        return root / found[1] if found else None


def _matches(folder: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(folder, pattern) for pattern in patterns)


class Changes(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be done for the server when files were created or changed, because it does not do it by itself."""

    load_request: str = ""  # sent about each such file: makes the server load the file's package
    load_command_field: str = ""  # if that is a command: the field of its argument with the file's URI
    load_most: int = 0  # if more files than this change at once, everything is reloaded
    # Pattern of its error for a file that the server has read before it was told of it, and so has overlooked. The file
    # is shown empty, then with its text, and the request is repeated.
    overlooked_refusal: str = ""
    settle_request: str = ""  # sent afterwards: makes the server load the packages that depend on those
    settle_params: dict[str, Any] = field(default_factory=dict)
    # Given files, prints those with syntax errors on stderr, before the server does.
    syntax_command: tuple[str, ...] = ()
    goes_by_mtime: bool = False  # the server misses a change to a closed file that keeps its modification time


# With a go.work named by GOWORK, gopls 0.24 roots the view of another system in the folder of the first document that
# needs it, and then asks only that view about every file, because its root is the longest: files of this system have
# `no package metadata`. The first document in the order of paths decides; this one keeps all roots the same.
_COMPANION = Companion(
    file="+{number}{suffix}.h",
    language="go.s",
    suffix_pattern=r"_.*",
    line_pattern=r"(?m)^//(?:go:build|[ \t]*\+build)[ \t].*$",
)

# Modules below one root that use each other are answered for together, by a go.work in our cache.
_JOIN = Join(
    variable="GOWORK",
    file="go.work",
    text="""go {version}

use (
{entries})
""",
    entry="""\t"{folder}"
""",
    version_pattern=r"(?m)^go[ \t]+(\d[^\s]*)",
    version_default="1.18",
    # Replacements that contradict each other end it with a reason; a module that is not on this machine is only
    # printed.
    check_command=("go", "list", "-e", "-deps", "-f", "{{with .Error}}{{.Err}}{{end}}"),
    check_problem="missing go.sum entry|cannot find module|module lookup disabled|no required module provides",
    lock_files=("go.sum",),
    # Vendor folders and -mod=mod mean another thing with a go.work than without.
    decided_by={"GOWORK": ".", "GOFLAGS": "-mod=", "GO111MODULE": "off"},
    decided_by_files=("vendor/modules.txt",),
    companion=_COMPANION,
)

# One Go module is one project: gopls answers for the module of the file that is asked about.
MODULES = Projects(
    marker="go.mod",
    name_pattern=r'(?m)^module[ \t]+"?([^\s"]+)',
    joined_by="go.work",
    join_hint="go work init {folders}",
    join_more_hint="go work use {folders}",
    # The module in a folder that replaces another; its name in go.mod does not matter.
    alias_pattern=r'(?m)^[ \t]*(?:replace[ \t]+)?"?(?P<name>[^\s"]+)"?(?:[ \t]+v\S+)?[ \t]*=>[ \t]*"?(?P<folder>\.{0'
    r',2}/[^\s"]*|\.{1,2}(?=[\s"]|$))',
    implied=("std",),
    ignored_folders=("testdata", "vendor", "_*", ".*"),
    # `go build ./...` leaves them out, but tests build and run what is there. Below `testdata/src` tests of analyzers
    # import by a GOPATH that ends there.
    loose_folders=("testdata", "_*"),
    apart_pattern=r"((?:^|.*/)testdata)/src/",
    apart_variables={"GO111MODULE": "off", "GOPATH": "{folder}", "GOWORK": "off"},
    # Exits with a reason when the project files cannot be read; gopls then knows no packages and just finds nothing.
    # `go list -m` does not see that a go.mod needs `go mod tidy`; with -e, what is wrong with one package does not
    # matter.
    check_command=("go", "list", "-e", "-find", "{folder}"),
    # Of an import cycle that appears while it runs, gopls 0.24 drops packages without a word.
    import_command=(
        "go",
        "list",
        "-e",
        "-test",
        "-f",
        "{{$folder := .Dir}}{{with .Error}}{{$folder}}\t{{$.ImportPath}}: {{.Err}}\n{{end}}",
    ),
    import_pattern=r'(?m)^(?:import[ \t]+)?[ \t]*(?:[\w.]+[ \t]+)?("[^"\n]+"|`[^`\n]+`)[ \t]*(?://.*)?$',
    import_problem="import cycle not allowed",
    # gopls looks into no file that this system, or these build tags, leave out.
    excluded_command=(
        "go",
        "list",
        "-e",
        "-find",
        "-f",
        "{{$folder := .Dir}}{{range .IgnoredGoFiles}}{{$folder}}/{{.}}\n{{end}}",
    ),
    # Whether there is a C compiler decides about CGO_ENABLED, and go.mod about GOVERSION. An overlay replaces texts.
    native_command=("go", "env", "GOOS", "GOHOSTOS", "GOARCH", "GOHOSTARCH"),
    excluded_settings_command=(
        "go",
        "env",
        "GOVERSION",
        "GOOS",
        "GOARCH",
        "CGO_ENABLED",
        "GOFLAGS",
        "GOEXPERIMENT",
        "GOWORK",
        "GOROOT",
    ),
    excluded_unkept=r"-overlay",
    driver_variable="GOPACKAGESDRIVER",
    # Of such a file that is open, gopls 0.24 makes a view for its GOOS and GOARCH, but not for its build tags.
    left_out_refusal="no package metadata",
    # Its own setting for tags is `buildFlags`; this reaches the go command as well, which says what is left out.
    left_out_pattern=r"(?m)(?<=^//go:build )[^\n]*",
    left_out_tag=r"(?<![!\w.])(?!(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|s"
    r"olaris|wasip1|windows|unix|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm|gc|gccgo|cgo|race|m"
    r"san|asan|ignore|go1\.\d+)\b)[A-Za-z_][\w.]*",
    left_out_hint="to take it in, start lsp-mcp with GOFLAGS=-tags={tags}",
    # gopls loads a nested module only while one of its files is open.
    open_to_load=True,
    join=_JOIN,
)

# Told of a file in a new package, or of one whose build constraints changed, gopls 0.24 goes on answering without
# that package, for ever. This command, the cheapest that needs it, makes gopls load it: of a file with 1,500 lines,
# textDocument/documentLink takes 100 ms of CPU, since it looks for addresses in all comments.
CHANGES = Changes(
    load_request="gopls.list_imports",
    load_command_field="URI",
    load_most=20,
    # If gopls 0.24 has read a file before it is told of it, it ignores that, and the file stays in no package, for
    # ever. This happens to a file that is written again while diagnostics of its deletion are published, or that
    # another client asks about.
    overlooked_refusal="no package metadata",
    # What imports that package is then loaded only while the next question is answered, and the answer lacks it. This
    # command asks for no package of all views, so it returns when everything is loaded.
    settle_request="workspace/executeCommand",
    settle_params={"command": "gopls.packages", "arguments": ({"Files": (), "Recursive": False, "Mode": 0},)},
    # Told that a file changed, gopls 0.24 reads it only if its time of modification differs: a text that is put in
    # its place with the old time, as programs that restore times do, is known only once the file is open.
    goes_by_mtime=True,
    syntax_command=("gofmt", "-l"),
)
