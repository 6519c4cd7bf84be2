"""C++ programs whose threads meet breakpoints while one of them is stepped, with the real lldb-dap."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugging.debuggers import build_cpp, skip_without
from debugging.desk import desk, unhurried

skip_without("lldb_dap", "cxx")

SOURCE = """#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
std::atomic<int> total{0};
int scaled(int id, int i) {
  int v = id * 10 + i;
  return v;
}
void worker(int id) {
  for (int i = 0; i < 50; i++) {
    int v = scaled(id, i);
    std::this_thread::yield();
    total += v % 7;
  }
}
int main() {
  std::vector<std::thread> all;
  for (int id = 1; id <= 4; id++) all.emplace_back(worker, id);
  for (auto &one : all) one.join();
  std::printf("total %d\\n", total.load());
}
"""
RETURN, ADD, JOIN = 8, 14, 20


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("threads")
    (root / "workers.cpp").write_text(SOURCE)
    build_cpp(root, root / "workers.cpp")
    return root


@unhurried
async def test_a_thread_whose_condition_is_false_never_stops_a_step_of_another_one(root: Path) -> None:
    async with desk(root) as d:
        stop = await d.start(program="workers", breakpoints=[f"workers.cpp:{ADD} if id == 2"])
        for _ in range(15):
            assert stop["state"] == "stopped", stop
            assert "breakpoint" in stop["reason"] or stop["reason"] == "step", stop
            if stop["reason"] == "breakpoint 1":
                assert (await d.evaluate(expression="id"))["value"] == "2"
            stop = await d.step(times=3)


@unhurried
async def test_of_threads_that_reach_a_breakpoint_together_each_is_told(root: Path) -> None:
    async with desk(root) as d:
        stop = await d.start(program="workers", breakpoints=[f"workers.cpp:{ADD}"])
        told = 0
        while stop["state"] == "stopped":
            assert stop["reason"] == "breakpoint 1"
            beside = [
                note for note in stop.get("notes", ()) if f"stopped too: breakpoint 1 workers.cpp:{ADD}: " in note
            ]
            told += 1 + len(beside)
            stop = await d.continue_()
        assert (told, stop["exit_code"]) == (4 * 50, 0)


@unhurried
async def test_a_log_point_prints_among_the_output_of_the_program_at_any_line(root: Path) -> None:
    async with desk(root) as d:
        await d.breakpoints(at=f"workers.cpp:{RETURN}", log="v is {v}")
        await d.breakpoints(at=f"workers.cpp:{JOIN}", log="joining")
        end = await d.start(program="workers")
        assert end["exit_code"] == 0
        lines = (await d.output(limit=1000))["output"]
        assert sorted(line for line in lines if line.startswith("v is")) == sorted(
            f"v is {worker * 10 + i}" for worker in range(1, 5) for i in range(50)
        )
        assert "joining" in lines
        assert lines[-1].startswith("total "), "what the debugger itself says is not among it"
