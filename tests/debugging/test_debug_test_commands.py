"""The command that find_impact names for tests in C++ is what debug_start takes, with the program that has them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from asking import skip_without as skip_without_server
from debugging.debuggers import build_cpp, skip_without
from mcp_process import connected

skip_without_server("clangd")
skip_without("lldb_dap", "cxx")

# As GoogleTest's own macro declares a test, and as its `main` chooses those that run.
HEADER = """#pragma once
#include <string>
#include <vector>
struct Test { std::string name; void (*run)(); };
inline std::vector<Test> tests;
#define TEST(suite, name) \\
  struct suite##_##name##_Test { void TestBody(); }; \\
  static bool of_##suite##_##name = (tests.push_back({#suite "." #name, [] { \\
    suite##_##name##_Test().TestBody(); }}), true); \\
  void suite##_##name##_Test::TestBody()
"""
SEATS = """#include "gtest.h"
int left(int seats, int taken) {
  int rest = seats - taken;
  return rest;
}
TEST(Seats, Left) { left(10, 4); }
TEST(Doors, Open) { tests.clear(); }
int main(int count, char** words) {
  std::string wanted = count > 1 ? std::string(words[1]).substr(15) : "";
  for (auto& one : std::vector<Test>(tests))
    if (wanted.empty() || wanted == one.name) one.run();
}
"""


def test_the_filter_of_find_impact_is_debugged(tmp_path: Path) -> None:
    (tmp_path / "gtest.h").write_text(HEADER)
    (tmp_path / "seats.cpp").write_text(SEATS)
    (tmp_path / "compile_flags.txt").write_text("-std=c++17\n")
    build_cpp(tmp_path, tmp_path / "seats.cpp")
    with connected("--workspace-root", str(tmp_path), "--backend", "clangd", "--toolset", "debug") as server:

        def ask(tool: str, **arguments: Any) -> str:
            result = server.call(tool, **arguments)
            said = str(result.content[0].text)  # type: ignore[union-attr]
            assert not result.is_error, said
            return said

        [command] = re.findall(r"--gtest_filter=[^\"\s]+", ask("find_impact", symbols=["left"]))
        assert command == "--gtest_filter=Seats.Left"
        stop = json.loads(ask("debug_start", test=command, program="seats", breakpoints=["seats.cpp:4"], wait=50))
        assert (stop["at"], stop["variables"]["rest"]) == ("seats.cpp:4", "6")
        assert stop["called_by"][0].startswith("Seats_Left_Test::TestBody")
        ask("debug_stop")
