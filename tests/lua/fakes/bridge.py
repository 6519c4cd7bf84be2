"""A stand-in for `lsp-mcp bridge`: listens on MCP_PORT, says so, and ends on SIGTERM.

Options make it misbehave; `--record FILE` appends a line of JSON for each start.
"""

import argparse
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--record")
parser.add_argument("--mute", action="store_true", help="never say that it is ready")
parser.add_argument("--split", action="store_true", help="write one character after the other")
parser.add_argument("--stubborn", action="store_true", help="ignore SIGTERM")
parser.add_argument("--fail", type=int, help="end with this exit code at once")
parser.add_argument("--fail-again", type=int, help="the same, but not at the first start")
parser.add_argument("--refuse-port", action="store_true", help="fail if a port is asked for")
parser.add_argument("--say", action="append", default=[], help="a line on stderr")
parser.add_argument("--lines", type=int, default=0, help="so many lines on stderr")
parser.add_argument("rest", nargs="*")
options = parser.parse_args()

if options.stubborn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))

asked = int(os.environ["MCP_PORT"])
first = True
if options.record:
    record = Path(options.record)
    first = not record.exists()
    with record.open("a") as file:
        started = {
            "pid": os.getpid(),
            "port": asked,
            "token": os.environ["LSP_MCP_TOKEN"],
            "socket": os.environ["NVIM_LISTEN_ADDRESS"],
            "argv": sys.argv,
        }
        file.write(json.dumps(started) + "\n")

for line in [*options.say, *(f"line {number}" for number in range(1, options.lines + 1))]:
    print(line, file=sys.stderr, flush=True)

if options.fail is not None:
    sys.exit(options.fail)
if options.fail_again is not None and not first:
    sys.exit(options.fail_again)
if options.refuse_port and asked:
    print("address in use", file=sys.stderr)
    sys.exit(98)

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", asked))
listener.listen()
if not options.mute:
    text = f"starting\nMCP server listening on port {listener.getsockname()[1]}\n"
    for chunk in text if options.split else [text]:
        sys.stdout.write(chunk)
        sys.stdout.flush()
        if options.split:
            time.sleep(0.002)
while True:
    signal.pause()
