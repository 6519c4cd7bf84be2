"""What `lsp-mcp hook` tells an agent before and after a call of one of the agent's own tools: `answer_event`.

Events are JSON objects on stdin, answered by one on stdout or by nothing; see docs/clients.md. Only a running daemon is
asked: a hook never starts one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from lsp_mcp.door.line import Line, RefusedError
from lsp_mcp.door.place import cache_folder, is_listening, keep_newest
from lsp_mcp.door.request import DaemonRequest, daemon_request, parted

COMMAND = "hook"
WITHIN = "--within"
WITHIN_SECONDS = 2.0  # the time limit for an answer, unless the command line sets another
_MOST_ERRORS = 10  # shown for one file
_MOST_HINTS = 200  # sessions whose hint is remembered
_EDITED = ("file_path", "path")  # arguments that may name the edited file
_HINT = (
    "{name} looks like a symbol: find_symbol_references_by_anchor symbol_anchor={name} of lsp-mcp finds exactly its "
    "uses, find_symbol_definitions_by_name its definition, read_symbol its source. Use grep for text. (Shown once per "
    "session.)"
)
Json = dict[str, Any]


def answer_hook(words: Sequence[str]) -> int | None:
    """Answer the event on stdin, if `words` are those of `lsp-mcp hook`; the exit status, 1 if it is not an event.

    None: the words are wrong, which the command line reports.
    """
    found = parted(words)
    if found is None or found[1] != [COMMAND]:
        return None
    within, flags = WITHIN_SECONDS, list[str]()
    for flag, value in found[0]:
        if flag == WITHIN:
            try:
                within = float(value)
            except ValueError:
                return None
        else:
            flags.append(f"{flag}={value}" if value else flag)
    if not 0 < within < float("inf") or sys.stdin.isatty():
        return None
    signal.signal(signal.SIGALRM, _too_slow)
    signal.setitimer(signal.ITIMER_REAL, within)
    try:
        event = json.load(sys.stdin.buffer)
        context = answer_event(event, flags) if isinstance(event, dict) else ""
    except (ValueError, RecursionError) as error:
        sys.stderr.write(f"lsp-mcp: the hook's input on stdin is not JSON: {error}\n")
        return 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if context:
        output = {"hookEventName": event["hook_event_name"], "additionalContext": context}
        sys.stdout.write(f"{json.dumps({'hookSpecificOutput': output})}\n")
        sys.stdout.flush()
    return 0


def answer_event(event: Mapping[str, Any], flags: Sequence[str]) -> str:
    """The message to the agent about `event`; empty if there is none, or if no daemon with these `flags` runs."""
    arguments = event.get("tool_input")
    if not isinstance(arguments, dict):
        return ""
    if event.get("hook_event_name") == "PostToolUse":
        return _new_errors(arguments, event, flags)
    if event.get("hook_event_name") == "PreToolUse":
        return _hint(arguments, event, flags)
    return ""


def _new_errors(arguments: Json, event: Mapping[str, Any], flags: Sequence[str]) -> str:
    """The errors of the edited file that are new since the baseline, and the remarks on that answer."""
    file = next((arguments[key] for key in _EDITED if isinstance(arguments.get(key), str)), "")
    request = _question(event, [*flags, "call", "check", f"path={file}", "since=start", "--json"]) if file else None
    if request is None:
        return ""
    try:
        line = Line(request, starts=False)
        line.agree()
        answer: Json = {}
        while not answer:
            message = line.message()
            if not message:
                return ""
            answer = {} if "progress" in message else message
        found = json.loads(answer["out"] or "{}")
    except (RefusedError, OSError):
        return ""
    errors = found.get("new", [])
    lines = [_error(one) for one in errors[:_MOST_ERRORS]]
    more = [f"… and {len(errors) - _MOST_ERRORS} more"] if len(errors) > _MOST_ERRORS else []
    unchecked = found.get("message", "").startswith("Not checked")
    head = [f"lsp-mcp check: {found['message']} ({found['status']})"] if unchecked else []
    if errors:
        number = f"{len(errors)} new error{'s' if len(errors) > 1 else ''}"
        head = [f"lsp-mcp check: {number} in {errors[0]['location']['file']}"]
    return "\n".join([*head, *lines, *more, *(answer["err"] if found else [])])


def _error(one: Json) -> str:
    fixes = f" [fix: {'; '.join(one['fixes'])}]" if one.get("fixes") else ""
    location = one["location"]
    return f"{location['line']}:{location['character']}| {one['message']}{fixes}"


def _hint(arguments: Json, event: Mapping[str, Any], flags: Sequence[str]) -> str:
    """A hint at a better way to find a symbol, once per session."""
    from lsp_mcp.door.searches import searched_symbol

    session = event.get("session_id")
    name = searched_symbol(str(event.get("tool_name")), arguments)
    if not name or not isinstance(session, str):
        return ""
    request = _question(event, flags)
    if request is None or not is_listening(request) or not _is_first(session):
        return ""
    return _HINT.format(name=name)


def _is_first(session: str) -> bool:
    """Whether this is the first hint of the agent's `session`; records it."""
    data = session.encode("utf-8", "surrogatepass")
    folder = os.path.join(cache_folder(), "hints")
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        path = os.path.join(folder, f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}")
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        keep_newest([os.path.join(folder, name) for name in os.listdir(folder)], _MOST_HINTS)
    except OSError:
        return False  # it exists, or cannot be stored: then no hint is better than one at each search
    return True


def _question(event: Mapping[str, Any], words: Sequence[str]) -> DaemonRequest | None:
    """The daemon for `words`, in the folder of the event unless they name another."""
    folder = event.get("cwd")
    is_named = any(word.startswith("--workspace-root") for word in words)
    rooted = words if is_named or not isinstance(folder, str) else ["--workspace-root", folder, *words]
    try:
        return daemon_request(rooted)
    except OSError:
        return None


def _too_slow(*_: object) -> None:
    os._exit(0)  # nothing has been written
