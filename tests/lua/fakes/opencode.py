"""A stand-in for OpenCode's server: takes any POST, and appends it to `--record` as a line of JSON."""

import argparse
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--record", required=True)
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--status", type=int, default=200)
parser.add_argument("--answer", default='{"nvim-tools": {"status": "connected"}}')
options = parser.parse_args()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with Path(options.record).open("a") as file:
            got = {
                "path": self.path,
                "headers": {name.lower(): value for name, value in self.headers.items()},
                "body": json.loads(body),
            }
            file.write(json.dumps(got) + "\n")
        self.send_response(options.status)
        self.end_headers()
        self.wfile.write(options.answer.encode())

    def log_message(self, *_: object) -> None:
        pass


server = HTTPServer(("127.0.0.1", options.port), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
