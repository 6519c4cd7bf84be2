-- The tools over the real nvim-dap and real debuggers: those that the environment names (NVIM_DAP_PATH and, each by
-- itself, DEBUGPY_PYTHON, DLV, LLDB_DAP). Each finds the bug of a small program.
local fake = require('fake_dap') -- for its files only
local spec = require('spec')
local it, equal, contains, call = spec.it, spec.equal, spec.contains, spec.call

if not vim.env.NVIM_DAP_PATH then
  io.write('skipped: NVIM_DAP_PATH is not set\n')
  vim.cmd('qall!')
end
vim.opt.runtimepath:append(vim.env.NVIM_DAP_PATH)
vim.o.columns, vim.o.lines = 120, 40

local PYTHON = {
  ['buggy.py'] = [[
import sys


def average(values):
    total = 0
    for value in values:
        total += value
    return total / len(values)


def main():
    print("first", average([1, 2, 3]))
    print("second", average([]))


main()]],
  ['exits.py'] = 'import sys\nprint("bye")\nsys.exit(3)',
  ['loop.py'] = 'import time\nn = 0\nwhile True:\n    n += 1\n    time.sleep(0.02)',
  ['parent.py'] = [[
import subprocess
import sys

print(subprocess.run([sys.executable, "child.py"], capture_output=True, text=True).stdout.strip())
print("parent")]],
  ['child.py'] = 'print("child")',
  ['big.py'] = 'big = list(range(270))\nprint(len(big))',
  ['syntax.py'] = 'def (',
  ['asks.py'] = 'name = input("name? ")\nprint("hello", name)',
}

local GO = {
  ['go.mod'] = 'module example.com/buggy\n\ngo 1.21',
  ['cmd/buggy/main.go'] = [[
package main

import "fmt"

func average(values []int) int {
	total := 0
	for _, value := range values {
		total += value
	}
	return total / len(values)
}

func main() {
	fmt.Println("first", average([]int{1, 2, 3}))
	fmt.Println("second", average(nil))
}]],
  ['bad/main.go'] = 'package main\n\nfunc main() {\n\tundefinedThing()\n}',
}

local CPP = {
  ['main.cpp'] = [[
#include <cstdio>
#include <stdexcept>

static int half(int value) {
  if (value % 2 != 0) {
    throw std::runtime_error("odd");
  }
  return value / 2;
}

int main() {
  std::printf("first %d\n", half(4));
  std::fflush(stdout);
  std::printf("second %d\n", half(3));
}]],
}

local function start(files)
  local dap = require('dap')
  for _, session in pairs(dap.sessions()) do -- of a spec that failed
    session:close()
  end
  spec.eventually(function()
    return dap.session() == nil
  end)
  require('dap.breakpoints').clear()
  local root = fake.files(files)
  require('mcp-tools').setup({ tools = { dap = true } })
  return root
end

-- The configuration of a run, and the adapters.
local function run(more)
  return call('dap_run', vim.tbl_extend('force', { request = 'launch', name = 'demo', wait_until_paused = true }, more))
end

-- What the user sees.
local function view()
  return { vim.api.nvim_list_wins(), vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0) }
end

local dap = require('dap')

it('of an adapter that ends before it listens no placeholder is shown', function()
  start(PYTHON)
  dap.adapters.ends = {
    type = 'server',
    port = '${port}',
    executable = { command = 'sh', args = { '-c', 'exit 3', '${port}' } },
    options = { max_retries = 1 },
  }
  local _, message = call('dap_run', { type = 'ends', request = 'launch', name = 'demo', program = 'buggy.py' })
  contains(message, 'the program did not start')
  equal(nil, message:match('%${port}'))
end)

if vim.env.DEBUGPY_PYTHON then
  dap.adapters.debugpy = { type = 'executable', command = vim.env.DEBUGPY_PYTHON, args = { '-m', 'debugpy.adapter' } }
  local function python(more)
    return run(vim.tbl_extend('force', { type = 'debugpy' }, more))
  end

  it("debugpy: the bug of a program is found, and the user's window does not move", function()
    start(PYTHON)
    vim.cmd('edit exits.py')
    local before = view()
    local set = call('dap_set_breakpoint', {
      filename = 'buggy.py',
      statement = 'return total / len(values)',
      condition = 'not values',
    })
    contains(set.status, 'not bound yet')
    local stop = python({ program = 'buggy.py' })
    equal({ 'breakpoint', 'buggy.py:8', 'average' }, { stop.reason, stop.at, stop['function'] })
    equal({ values = '[]', total = '0' }, vim.tbl_extend('force', {}, stop.variables))
    equal('0', call('dap_evaluate', { expression = 'len(values)' }).result)
    local _, message = call('dap_evaluate', { expression = 'len(' })
    contains(message, 'SyntaxError')
    equal(
      { 'average', 'main', '<module>' },
      vim.tbl_map(function(frame)
        return frame.name
      end, call('dap_stacktrace').frames)
    )
    local raised = call('dap_continue', { wait_until_paused = true })
    equal({ 'exception', 'ZeroDivisionError: division by zero', 2 }, { raised.reason, raised.exception, raised.stop })
    equal(before, view())
    local ended = call('dap_continue', { wait_until_paused = true })
    equal({ 'terminated', 1, 'first 2.0' }, { ended.state, ended.exit_code, ended.output[1] })
    contains(table.concat(call('dap_program_output', { category = 'stderr' }).lines, '\n'), 'ZeroDivisionError')
    equal(before, view())
  end)

  it('debugpy: steps, and a breakpoint that is moved', function()
    start(PYTHON)
    call('dap_set_breakpoint', { filename = 'buggy.py', line = 12 })
    python({ program = 'buggy.py' })
    local inside = call('dap_step_into')
    equal({ 'step', 'average' }, { inside.reason, inside['function'] })
    equal('buggy.py:8', call('dap_run_to', { filename = 'buggy.py', line = 8 }).at)
    equal('main', call('dap_step_out')['function'])
    local moved = call('dap_set_breakpoint', { filename = 'buggy.py', line = 10 })
    assert(moved.bound_line and moved.bound_line ~= 10, vim.inspect(moved))
    equal('terminated', call('dap_terminate').state)
  end)

  it('debugpy: sys.exit is understandable, and its exit code is told', function()
    start(PYTHON)
    local stop = python({ program = 'exits.py' })
    contains(stop.exception, 'SystemExit')
    contains(stop.note, 'sys.exit')
    equal(3, call('dap_continue', { wait_until_paused = true }).exit_code)
    equal({ 'bye' }, call('dap_program_output').lines)
  end)

  it('debugpy: a program without end is pending; it is stopped by a breakpoint, and ended', function()
    start(PYTHON)
    local pending = python({ program = 'loop.py', wait_timeout_ms = 1500 })
    equal(true, pending.pending)
    spec.eventually(function()
      return call('dap_status').state == 'running'
    end)
    equal(true, call('dap_set_breakpoint', { filename = 'loop.py', line = 4 }).verified)
    equal('loop.py:4', call('dap_wait_until_paused').at)
    local _, message = call('dap_evaluate', { expression = '[0 for i in iter(int, 1)]', timeout_ms = 500 })
    contains(message, 'has no value after')
    equal('terminated', call('dap_terminate').state)
  end)

  it('debugpy: a program that starts another one ends, and none is started for the child', function()
    start(PYTHON)
    local ended = python({ program = 'parent.py' })
    equal({ 'terminated', 0, { 'child', 'parent' } }, { ended.state, ended.exit_code, ended.output })
  end)

  it('debugpy: a running program is paused, and one of its variables is set', function()
    start(PYTHON)
    equal(true, python({ program = 'loop.py', wait_timeout_ms = 0 }).pending)
    call('dap_wait_until_paused', { timeout_ms = 0 })
    spec.eventually(function()
      return call('dap_status').state == 'running'
    end)
    local stop = call('dap_pause')
    equal({ 'pause', 'stopped' }, { stop.reason, stop.state })
    equal('loop.py', stop.at:match('^[^:]*'))
    equal('-5', call('dap_set_variable', { name = 'n', value = '-5' }).value)
    equal('-5', call('dap_evaluate', { expression = 'n' }).result)
    equal('terminated', call('dap_terminate').state)
  end)

  it('debugpy: a program in a terminal gets its input', function()
    start(PYTHON)
    local before = view()
    local waits = python({ program = 'asks.py', console = 'integratedTerminal', wait_timeout_ms = 0 })
    equal(true, waits.pending)
    spec.eventually(function()
      return vim.inspect(call('dap_program_output')):find('name?', 1, true)
    end, 'it asks')
    equal(4, call('dap_send_input', { text = 'Ada\n' }).sent)
    local ended = call('dap_wait_until_paused')
    equal({ 'terminated', 0 }, { ended.state, ended.exit_code })
    contains(vim.inspect(ended), 'hello Ada')
    equal(before, view())
  end)

  it('debugpy: exceptions are chosen, and breakpoints that were never hit are told', function()
    start(PYTHON)
    call('dap_set_breakpoint', { filename = 'buggy.py', line = 8, condition = '1 == 2' })
    local ended = python({ program = 'buggy.py', break_on_exceptions = { 'none' } })
    equal({ 'terminated', 1 }, { ended.state, ended.exit_code })
    equal({ 'buggy.py:8 (condition 1 == 2)' }, ended.never_hit)
    call('dap_set_breakpoint', { filename = 'buggy.py', line = 8 })
    equal('buggy.py:8', call('dap_restart').at)
    equal('breakpoint', call('dap_restart').reason)
    equal('terminated', call('dap_terminate').state)
    call('dap_clear_breakpoints')
    local exits = { type = 'debugpy', request = 'launch', name = 'exits', program = '${workspaceFolder}/exits.py' }
    dap.configurations.python = { exits }
    local again = { configuration = 'exits', break_on_exceptions = { 'none' }, wait_until_paused = true }
    equal(3, call('dap_run', again).exit_code)
    again.break_on_exceptions = { 'uncaught' } -- sys.exit is none
    equal(3, call('dap_run', again).exit_code)
    dap.configurations.python = nil
    equal('exception', python({ program = 'buggy.py', break_on_exceptions = { 'raised' } }).reason)
    equal('terminated', call('dap_terminate').state)
  end)

  it('debugpy: elements are those that were asked for', function()
    start(PYTHON)
    call('dap_set_breakpoint', { filename = 'big.py', line = 2 })
    python({ program = 'big.py' })
    local big = call('dap_evaluate', { expression = 'big' }).variables_reference
    local page = call('dap_variables', { variables_reference = big, start = 90, count = 2 })
    equal(
      { '90', '91' },
      vim.tbl_map(function(one)
        return one.value
      end, page.variables)
    )
    local function elements(reference, from, count)
      local found = call('dap_variables', { variables_reference = reference, start = from, count = count })
      return vim.tbl_map(function(one)
        return { one.name, one.value }
      end, found.variables), found.hint
    end
    -- debugpy has the first 100 of a list and 500 of a dictionary.
    equal({ { '250', '250' }, { '251', '251' } }, (elements(big, 250, 2)))
    local last, hint = elements(big, 268, 9)
    equal({ { '268', '268' }, { '269', '269' } }, last)
    equal(nil, hint)
    local _, message = call('dap_variables', { variables_reference = big, start = 270 })
    contains(message, 'there is no element 270')
    local table_ = call('dap_evaluate', { expression = '{f"k{n}": n for n in range(600)}' }).variables_reference
    equal({ { "'k598'", '598' }, { "'k599'", '599' } }, (elements(table_, 598, 9)))
    contains(call('dap_variables', { variables_reference = table_, count = 3 }).hint, 'pass start=3')
    equal('terminated', call('dap_terminate').state)
  end)

  it('debugpy: a program that does not compile ends with the reason', function()
    start(PYTHON)
    local ended = python({ program = 'syntax.py' })
    equal({ 'terminated', 1 }, { ended.state, ended.exit_code })
    contains(table.concat(ended.output, '\n'), 'SyntaxError')
  end)
end

if vim.env.DLV then
  dap.adapters.go = {
    type = 'server',
    port = '${port}',
    executable = { command = vim.env.DLV, args = { 'dap', '-l', '127.0.0.1:${port}' } },
  }
  local function go(more)
    return run(vim.tbl_extend('force', { type = 'go' }, more))
  end

  it("dlv: the bug of a program is found, and the user's window does not move", function()
    start(GO)
    local before = view()
    call('dap_set_breakpoint', { filename = 'cmd/buggy/main.go', line = 10, condition = 'len(values) == 0' })
    local stop = go({ program = './cmd/buggy' })
    equal({ 'breakpoint', 'cmd/buggy/main.go:10', 'main.average' }, { stop.reason, stop.at, stop['function'] })
    equal('0', stop.variables.total)
    local _, message = call('dap_evaluate', { expression = 'total +' })
    contains(message, 'expected operand')
    local raised = call('dap_continue', { wait_until_paused = true })
    equal({ 'exception', 'cmd/buggy/main.go:10' }, { raised.reason, raised.at })
    contains(raised.exception, 'integer divide by zero')
    local ended = call('dap_continue', { wait_until_paused = true })
    equal({ 'terminated', 2 }, { ended.state, ended.exit_code })
    contains(table.concat(call('dap_program_output').lines, '\n'), 'first 2')
    equal(before, view())
  end)

  it("dlv: a compile error is an error with the compiler's words", function()
    start(GO)
    local _, message = go({ program = './bad' })
    contains(message, 'undefined: undefinedThing')
    _, message = go({ program = './missing' })
    contains(message, 'directory not found')
  end)

  it('dlv: a line without code is refused in its words', function()
    start(GO)
    call('dap_set_breakpoint', { filename = 'cmd/buggy/main.go', line = 14 })
    go({ program = './cmd/buggy' })
    local set = call('dap_set_breakpoint', { filename = 'cmd/buggy/main.go', line = 12 })
    equal(false, set.verified)
    contains(set.message, 'could not find statement')
    equal('main.average', call('dap_step_into')['function'])
    call('dap_terminate')
  end)
end

if vim.env.LLDB_DAP then
  dap.adapters.lldb = { type = 'executable', command = vim.env.LLDB_DAP }

  it("lldb-dap: the bug of a program is found, and the user's window does not move", function()
    local root = start(CPP)
    local built = vim.system({ vim.env.CXX or 'c++', '-g', '-O0', '-o', 'buggy', 'main.cpp' }, { cwd = root }):wait()
    equal(0, built.code, built.stderr)
    local before = view()
    call('dap_set_breakpoint', { filename = 'main.cpp', statement = 'return value / 2;' })
    local stop = run({ type = 'lldb', program = 'buggy' })
    equal({ 'breakpoint', 'main.cpp:8', '4' }, { stop.reason, stop.at, stop.variables.value })
    contains(call('dap_step_out')['function'], 'main')
    local raised = call('dap_continue', { wait_until_paused = true })
    equal({ 'exception', 'main.cpp:6', '3' }, { raised.reason, raised.at, raised.variables.value })
    local ended = call('dap_continue', { wait_until_paused = true })
    equal({ 'terminated', 6, 'SIGABRT' }, { ended.state, ended.exit_code, ended.signal })
    contains(table.concat(ended.output, '\n'), 'odd')
    equal(before, view())
  end)
end
