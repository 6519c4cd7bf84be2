"""An index server as clangd asks it: one set of references for every symbol, and what its monitor says."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent import futures
from typing import Any, NamedTuple

import grpc

from index.scip_files import field

INDEX, MONITOR = "clang.clangd.remote.v1.SymbolIndex", "clang.clangd.remote.v1.Monitor"
REFERENCE = 4  # the kind of a use
END = field(2, field(1, 0))  # the last message of a stream: there are no more


class Ref(NamedTuple):
    """A use: file below the root, line and columns from 0."""

    file: str
    line: int
    start: int
    end: int


class IndexServer:
    """Serves on `port`, which stays the same when it is stopped and started again."""

    def __init__(self, refs: Sequence[Ref], commit: str, age: int = 7200) -> None:
        self.refs = refs
        self.commit = commit
        self.age = age
        self.port = 0
        self.held = threading.Event()  # references are held back until it is set
        self.held.set()
        self.asked = threading.Event()
        self._server: Any = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        self._server = grpc.server(futures.ThreadPoolExecutor(8))
        streams = {"Refs": self._refs, "Lookup": _nothing, "FuzzyFind": _nothing, "Relations": _nothing}
        index = {name: grpc.unary_stream_rpc_method_handler(answer) for name, answer in streams.items()}
        monitor = {"MonitoringInfo": grpc.unary_unary_rpc_method_handler(self._monitor)}
        self._server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler(*one) for one in ((INDEX, index), (MONITOR, monitor))]
        )
        self.port = self._server.add_insecure_port(f"127.0.0.1:{self.port}")
        self._server.start()

    def stop(self) -> None:
        self.held.set()
        self._server.stop(None).wait()

    def _refs(self, request: bytes, context: Any) -> Iterator[bytes]:
        self.asked.set()
        self.held.wait()
        for one in self.refs:
            start, end = (field(1, one.line) + field(2, column) for column in (one.start, one.end))
            place = field(1, start) + field(2, end) + field(3, one.file)
            yield field(1, field(1, place) + field(2, REFERENCE))
        yield END

    def _monitor(self, request: bytes, context: Any) -> bytes:
        commit = field(3, self.commit) if self.commit else b""
        return field(1, 60) + field(2, self.age) + commit


def _nothing(request: bytes, context: Any) -> Iterator[bytes]:
    yield END
