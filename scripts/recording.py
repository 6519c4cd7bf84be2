"""Record a shell session with gopls on cobra: `docs/assets/recording.cast` (asciicast 2) and `recording.svg`.

The commands run in a real terminal and really answer; only the typing is ours, and pauses are cut to two seconds.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pyte

TOP = Path(__file__).resolve().parent.parent
TARGET = TOP / "docs" / "assets"
MODULE, VERSION = "github.com/spf13/cobra", "v1.9.1"
COMMANDS = (
    "lsp-mcp call find_symbol_references_by_anchor symbol_anchor=Command.findSuggestions",
    "lsp-mcp call rename_symbol_by_anchor symbol_anchor=legacyArgs new_name=OnlyValidArgs",
    "lsp-mcp call rename_symbol_by_anchor symbol_anchor=legacyArgs new_name=checkArgs",
    "lsp-mcp call check",
)
WIDTH, HEIGHT = 100, 26
PROMPT = "\x1b]133;A\x07"  # printed before each prompt, and shown by no terminal
KEY, PAUSE, READING = 0.02, 2.0, 2.5  # seconds: between keys, of the longest pause, after each answer
_BOUND = 120  # seconds for one command

# The picture: sizes in pixels, colours that are readable on a light and on a dark page.
CHAR, LINE, EDGE = 8.43, 19, 16
BACKGROUND, FOREGROUND = "#161b22", "#e6edf3"
COLOURS = {
    "green": "#7ee787",
    "red": "#ff7b72",
    "brown": "#e3b341",
    "blue": "#79c0ff",
    "cyan": "#a5d6ff",
    "dim": "#8b949e",
}


@dataclass(frozen=True)
class Event:
    """What the terminal printed, seconds after the beginning."""

    time: float
    text: str


def main() -> None:
    """Record, and write both files."""
    with tempfile.TemporaryDirectory() as folder:
        events = list(_shortened(_recorded(_code(Path(folder)))))
    head = {"version": 2, "width": WIDTH, "height": HEIGHT, "title": f"lsp-mcp on {MODULE} {VERSION}"}
    lines = [json.dumps(head), *(json.dumps([round(e.time, 3), "o", e.text], ensure_ascii=False) for e in events)]
    (TARGET / "recording.cast").write_text("\n".join(lines) + "\n", "utf-8")
    (TARGET / "recording.svg").write_text(picture(events), "utf-8")


def _code(folder: Path) -> Path:
    """A copy of the module that may be changed, as a repository."""
    got = subprocess.run(
        ["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"],
        check=True,
        capture_output=True,
        cwd=folder,
        text=True,
    )
    code = folder / "cobra"
    shutil.copytree(json.loads(got.stdout)["Dir"], code)
    for path in (code, *code.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    return code


def _recorded(code: Path) -> Iterator[Event]:
    """The session as it happened."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "TERM": "xterm-256color", "COLUMNS": str(WIDTH), "LINES": str(HEIGHT)}
    env |= {
        "PS1": "\\[" + PROMPT + "\\]\\[\x1b[32m\\]$\\[\x1b[0m\\] ",
        "LSP_MCP_SHARED": "1",
        "BASH_SILENCE_DEPRECATION_WARNING": "1",
    }
    shell, terminal = pty.fork()
    if shell == 0:
        os.chdir(code)
        os.execvpe("bash", ["bash", "--norc", "--noediting"], env)
    _resize(terminal)
    begun = time.monotonic()
    try:
        yield from _until_prompt(terminal, begun)
        for command in COMMANDS:
            for key in command:
                os.write(terminal, key.encode())
                yield from _read(terminal, begun, KEY)
            os.write(terminal, b"\r")
            yield from _until_prompt(terminal, begun)
            time.sleep(READING)
    finally:
        os.close(terminal)
        os.waitpid(shell, 0)
        subprocess.run([str(Path(sys.executable).with_name("lsp-mcp")), "daemon", "stop", str(code)], check=False)


def _resize(terminal: int) -> None:
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))


def _until_prompt(terminal: int, begun: float) -> Iterator[Event]:
    seen = ""
    end = time.monotonic() + _BOUND
    while PROMPT not in seen:
        if time.monotonic() > end:
            raise TimeoutError(f"no prompt after {_BOUND} s; the terminal has: {seen[-500:]!r}")
        for event in _read(terminal, begun, 1):
            seen += event.text
            yield event


def _read(terminal: int, begun: float, patience: float) -> Iterator[Event]:
    """What comes within `patience` seconds, and what comes with it."""
    while select.select([terminal], [], [], patience)[0]:
        text = os.read(terminal, 65536).decode("utf-8", "replace")
        yield Event(time.monotonic() - begun, text)
        patience = 0.005


def _shortened(events: Iterator[Event]) -> Iterator[Event]:
    """The same with no pause longer than PAUSE seconds, but for READING."""
    last = now = 0.0
    for event in events:
        now += min(event.time - last, max(PAUSE, READING))
        last = event.time
        yield Event(now, event.text)


def picture(events: list[Event]) -> str:
    """An SVG that plays `events` in a loop; who wants no motion sees the end."""
    frames = _frames(events)
    total = frames[-1][0] + 4
    rows: dict[str, str] = {}
    shown = []
    for index, (begin, lines) in enumerate(frames):
        end = frames[index + 1][0] if index + 1 < len(frames) else total
        uses = "".join(
            f'<use href="#{rows.setdefault(line, f"r{len(rows)}")}" y="{number * LINE}"/>'
            for number, line in enumerate(lines)
            if line
        )
        shown.append((begin, end, uses))
    defs = "".join(f'<text id="{name}" x="{EDGE}" y="{EDGE + 14}">{line}</text>' for line, name in rows.items())
    groups = "".join(
        f'<g class="f{" l" if index + 1 == len(shown) else ""}" style="animation-name:f{index}">{uses}</g>'
        for index, (_, _, uses) in enumerate(shown)
    )
    keys = "".join(_keyframes(i, begin / total * 100, end / total * 100) for i, (begin, end, _) in enumerate(shown))
    width, height = round(WIDTH * CHAR + 2 * EDGE), HEIGHT * LINE + 2 * EDGE
    font = "14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
    style = [
        f"text{{font:{font};white-space:pre;fill:{FOREGROUND}}}.b{{font-weight:bold}}",
        *(f".{name}{{fill:{colour}}}" for name, colour in COLOURS.items()),
        f".f{{visibility:hidden;animation:{total:.2f}s step-end infinite}}",
        keys,
        "@media (prefers-reduced-motion:reduce){.f{animation:none}.l{visibility:visible}}",
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"<title>A terminal session with lsp-mcp</title><style>{''.join(style)}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/><defs>{defs}</defs>{groups}</svg>\n'
    )


def _keyframes(index: int, begin: float, end: float) -> str:
    before = "0%{visibility:hidden}" if begin > 0 else ""
    after = f"{end:.3f}%{{visibility:hidden}}" if end < 100 else "100%{visibility:visible}"
    return f"@keyframes f{index}{{{before}{begin:.3f}%{{visibility:visible}}{after}}}"


def _frames(events: list[Event]) -> list[tuple[float, list[str]]]:
    """The screen whenever it changed, at most twelve times a second: the lines as SVG."""
    screen = pyte.Screen(WIDTH, HEIGHT)
    stream = pyte.Stream(screen)
    frames: list[tuple[float, list[str]]] = []
    for event in events:
        stream.feed(event.text)
        lines = [_line(screen, row) for row in range(HEIGHT)]
        if frames and event.time - frames[-1][0] < 1 / 12:
            frames[-1] = (frames[-1][0], lines)
        elif not frames or lines != frames[-1][1]:
            frames.append((event.time if frames else 0.0, lines))
    return frames


def _line(screen: pyte.Screen, row: int) -> str:
    cells = [screen.buffer[row][column] for column in range(WIDTH)]
    pieces: list[tuple[str, str]] = []
    for cell in cells:
        style = " ".join(name for name in (cell.fg if cell.fg in COLOURS else "", "b" if cell.bold else "") if name)
        if pieces and pieces[-1][0] == style:
            pieces[-1] = (style, pieces[-1][1] + cell.data)
        else:
            pieces.append((style, cell.data))
    if pieces:
        pieces[-1] = (pieces[-1][0], pieces[-1][1].rstrip())
    spans = (f'<tspan class="{style}">{escape(text)}</tspan>' if style else escape(text) for style, text in pieces)
    return re.sub(r" +$", "", "".join(spans))


if __name__ == "__main__":
    main()
