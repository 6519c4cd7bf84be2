-- Breakpoints and places: over a fake of nvim-dap.
local fake = require('fake_dap')
local spec = require('spec')
local it, equal, contains, call = spec.it, spec.equal, spec.contains, spec.call

local SOURCE = 'total = 0\nfor value in values:\n    total += value\n\nreturn total'
local RUN = { type = 'fake', request = 'launch', name = 'demo', wait_until_paused = true }

local function start()
  return fake.start({ ['a b.py'] = SOURCE, ['twice.py'] = 'x = f()\ny = 1\n  x = f()', ['sub/main.py'] = 'one\ntwo' })
end

it('a breakpoint is set in a file that no buffer holds, and no window moves', function() -- (3)
  start()
  local windows, buffer = vim.api.nvim_list_wins(), vim.api.nvim_get_current_buf()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local result = call('dap_set_breakpoint', {
    filename = 'a b.py',
    line = 3,
    condition = 'value > 2',
    hit_condition = '',
    log_message = vim.NIL,
  })
  equal({ 'a b.py:3', 'value > 2', 'total += value' }, { result.at, result.condition, result.text })
  equal(false, result.verified)
  contains(result.status, 'not bound yet')
  equal(windows, vim.api.nvim_list_wins())
  equal(buffer, vim.api.nvim_get_current_buf())
  equal(cursor, vim.api.nvim_win_get_cursor(0))
  equal(false, vim.bo[vim.fn.bufnr('a b.py')].buflisted)
end)

it('all breakpoints are listed with what they have', function() -- (4)
  start()
  call('dap_set_breakpoint', { filename = 'twice.py', line = 2, log_message = 'y is {y}' })
  call('dap_set_breakpoint', { filename = 'a b.py', line = 3, hit_condition = '>= 2' })
  call('dap_set_breakpoint', { filename = 'a b.py', line = 1, condition = 'c' })
  local list = call('dap_breakpoints').breakpoints
  equal(
    { 'a b.py:1', 'a b.py:3', 'twice.py:2' },
    vim.tbl_map(function(one)
      return one.at
    end, list)
  )
  equal({ 'c', '>= 2', 'y is {y}' }, { list[1].condition, list[2].hit_condition, list[3].log_message })
end)

it('a line that is not there is refused, not clamped', function()
  start()
  local _, message = call('dap_set_breakpoint', { filename = 'a b.py', line = 6 })
  contains(message, 'line 6 is past the end of a b.py: it has 5')
  _, message = call('dap_set_breakpoint', { filename = 'a b.py', line = 0 })
  contains(message, 'lines count from 1')
  equal({}, call('dap_breakpoints').breakpoints)
end)

it('lines that were added on disk since are there', function()
  local _, root = start()
  call('dap_set_breakpoint', { filename = 'a b.py', line = 1 })
  vim.uv.fs_utime(root .. '/a b.py', 1, 1)
  vim.fn.writefile(vim.split(SOURCE .. '\nmore', '\n'), root .. '/a b.py')
  equal('more', call('dap_set_breakpoint', { filename = 'a b.py', line = 6 }).text)
end)

it('breakpoints follow their lines when a file is edited on disk, and go with a line that is gone', function()
  local _, root = start()
  call('dap_set_breakpoint', { filename = 'a b.py', line = 3, condition = 'value > 2' })
  call('dap_set_breakpoint', { filename = 'a b.py', line = 5 })
  vim.uv.fs_utime(root .. '/a b.py', 1, 1)
  vim.fn.writefile(vim.split('import os\n\n' .. SOURCE:gsub('return total', 'print(total)'), '\n'), root .. '/a b.py')
  local list = call('dap_breakpoints').breakpoints
  equal({ 'a b.py:5', 'value > 2' }, { list[1].at, list[1].condition })
  equal(1, #list)
end)

it('a text that is expected of the line is checked before anything is set', function()
  start()
  local _, message = call('dap_set_breakpoint', { filename = 'a b.py', line = 3, expect = 'nothing' })
  contains(message, 'line 3 of a b.py is "total += value", without "nothing"')
  equal({}, call('dap_breakpoints').breakpoints)
  equal('a b.py:3', call('dap_set_breakpoint', { filename = 'a b.py', line = 3, expect = 'total' }).at)
end)

it('breakpoints on functions are sent to each session, listed, and told if never hit', function()
  local dap = fake.start({ ['a b.py'] = SOURCE })
  dap.capabilities = { supportsFunctionBreakpoints = true }
  local sent
  dap.answers.setFunctionBreakpoints = function(_, arguments)
    sent = arguments.breakpoints
    return { breakpoints = vim.tbl_map(function()
      return { verified = true }
    end, sent) }
  end
  equal('not bound yet: no program runs under the debugger', call('dap_set_breakpoint', { ['function'] = 'f' }).status)
  local _, message = call('dap_set_breakpoint', { ['function'] = 'f', line = 1 })
  contains(message, 'pass either `function` or `line`')
  call('dap_run', vim.tbl_extend('force', RUN, { wait_until_paused = false }))
  equal({ { name = 'f' } }, sent)
  equal('bound', call('dap_breakpoints').breakpoints[1].status)
  dap.started[1]:exit(0)
  equal({ 'f' }, call('dap_wait_until_paused').never_hit)
  _, message = call('dap_remove_breakpoint', { ['function'] = 'g' })
  contains(message, 'no breakpoint on the function "g"; functions with breakpoints: f')
  equal('f', call('dap_remove_breakpoint', { ['function'] = 'f' }).removed)
  equal({}, call('dap_breakpoints').breakpoints)
end)

it('a file that is not there is an error that says where it was looked for', function()
  local _, root = start()
  local _, message = call('dap_set_breakpoint', { filename = 'nope.py', line = 1 })
  contains(message, 'there is no file ' .. root .. '/nope.py')
  vim.fn.bufadd(root .. '/sub/main.py')
  _, message = call('dap_set_breakpoint', { filename = 'main.py', line = 1 })
  contains(message, 'did you mean ' .. root .. '/sub/main.py')
  _, message = call('dap_set_breakpoint', { filename = 'sub', line = 1 })
  contains(message, 'not a file')
end)

it('an anchor is a place, its file decoded', function()
  start()
  equal('a b.py:3', call('dap_set_breakpoint', { anchor = 'py://a%20b.py#3:5' }).at)
  local _, message = call('dap_set_breakpoint', { anchor = 'a b.py:3' })
  contains(message, 'is not an anchor')
  _, message = call('dap_set_breakpoint', { anchor = 'py://a%20b.py#0:1' })
  contains(message, 'count from 1')
  _, message = call('dap_set_breakpoint', { anchor = 'py://a%20b.py#9:1' })
  contains(message, 'past the end')
end)

it('a statement is a place if it is there once', function()
  start()
  equal(3, call('dap_set_breakpoint', { filename = 'a b.py', statement = '  total  += value' }).line)
  equal(2, call('dap_set_breakpoint', { filename = 'a b.py', statement = 'for value' }).line)
  local _, message = call('dap_set_breakpoint', { filename = 'twice.py', statement = 'x = f()' })
  contains(message, '2 lines of twice.py')
  contains(message, '\n1: x = f()\n3: x = f()')
  _, message = call('dap_set_breakpoint', { filename = 'a b.py', statement = 'total -= value' })
  contains(message, 'no line of a b.py')
  contains(message, '3: total += value')
end)

it('a place is said once', function()
  start()
  local function refused(args)
    local result, message = call('dap_set_breakpoint', args)
    equal(nil, result)
    return message
  end
  contains(refused({ filename = 'a b.py' }), 'missing location')
  contains(refused({ filename = 'a b.py', line = 1, statement = 'x' }), 'pass only one location')
  contains(refused({ line = 1 }), '`line` needs a `filename`')
end)

it('removing removes, and never adds one', function() -- (2)
  start()
  call('dap_set_breakpoint', { filename = 'a b.py', line = 3 })
  equal('a b.py:3', call('dap_remove_breakpoint', { filename = 'a b.py', line = 3 }).removed)
  local _, message = call('dap_remove_breakpoint', { filename = 'a b.py', line = 3 })
  contains(message, 'there is no breakpoint at a b.py:3; it has no breakpoints')
  call('dap_set_breakpoint', { filename = 'a b.py', line = 1 })
  _, message = call('dap_remove_breakpoint', { filename = 'a b.py', line = 3 })
  contains(message, 'it has breakpoints at line 1')
  equal(1, #call('dap_breakpoints').breakpoints)
end)

it('clearing clears all, and tells the adapter', function()
  local dap = start()
  dap.on_launch = function(session)
    session:stop()
  end
  call('dap_set_breakpoint', { filename = 'a b.py', line = 3 })
  call('dap_run', RUN)
  equal({ removed = { 'a b.py:3' } }, call('dap_clear_breakpoints'))
  local requests = dap.started[1].requests
  equal({}, requests[#requests].arguments.breakpoints)
  equal({ removed = {} }, call('dap_clear_breakpoints'))
end)

it('where the adapter bound a breakpoint is said: moved, refused, changed later', function()
  local dap = start()
  dap.on_launch = function(session)
    session:stop()
  end
  dap.answers.setBreakpoints = function(_, arguments)
    return {
      breakpoints = vim.tbl_map(function(one)
        if one.line == 1 then
          return { verified = false, id = 1, message = 'no code' }
        end
        return { verified = true, line = one.line == 4 and 5 or one.line, id = one.line }
      end, arguments.breakpoints),
    }
  end
  call('dap_run', RUN)
  local moved = call('dap_set_breakpoint', { filename = 'a b.py', line = 4 })
  equal({ 5, true }, { moved.bound_line, moved.verified })
  contains(moved.status, 'moved it to line 5')
  local refused = call('dap_set_breakpoint', { filename = 'a b.py', line = 1 })
  equal({ false, 'no code' }, { refused.verified, refused.message })
  dap.started[1]:_event('breakpoint', { reason = 'changed', breakpoint = { id = 1, verified = true, line = 2 } })
  spec.eventually(function()
    return call('dap_breakpoints').breakpoints[1].bound_line == 2
  end)
  equal('a b.py:4', call('dap_remove_breakpoint', { filename = 'a b.py', line = 5 }).removed)
end)

it('a condition that the debugger cannot check is warned of', function()
  local dap = start()
  dap.capabilities.supportsConditionalBreakpoints = nil
  call('dap_run', vim.tbl_extend('force', RUN, { wait_until_paused = false }))
  local set = call('dap_set_breakpoint', { filename = 'a b.py', line = 1, condition = 'c' })
  contains(set.warning, 'does not support conditions')
end)

local function lines_sent(session)
  local sent = {}
  for _, request in ipairs(session.requests) do
    if request.command == 'setBreakpoints' then
      local lines = vim.tbl_map(function(one)
        return one.line
      end, request.arguments.breakpoints)
      table.sort(lines)
      sent[#sent + 1] = lines
    end
  end
  return sent
end

it('dap_run_to stops there, and leaves the breakpoints as they were', function()
  local dap, root = start()
  dap.on_launch = function(session)
    session:stop({ line = 1, path = root .. '/a b.py' })
  end
  call('dap_set_breakpoint', { filename = 'a b.py', line = 2 })
  call('dap_run', RUN)
  local session = dap.started[1]
  dap.answers.continue = function()
    session:stop({ line = 5, path = root .. '/a b.py' })
  end
  local result = call('dap_run_to', { filename = 'a b.py', statement = 'return total' })
  equal({ 'a b.py:5', true }, { result.at, result.reached })
  spec.eventually(function()
    return #lines_sent(session) == 3
  end)
  equal({ { 2 }, { 2, 5 }, { 2 } }, lines_sent(session))
  equal(1, #call('dap_breakpoints').breakpoints)
end)

it('dap_run_to says if it stopped before, or if it cannot stop there', function()
  local dap, root = start()
  dap.on_launch = function(session)
    session:stop({ line = 1, path = root .. '/a b.py' })
  end
  call('dap_run', RUN)
  local session = dap.started[1]
  dap.answers.continue = function()
    session:stop({ line = 2, path = root .. '/a b.py' })
  end
  local result = call('dap_run_to', { filename = 'a b.py', line = 5 })
  equal({ 'a b.py:2', false }, { result.at, result.reached })
  dap.answers.setBreakpoints = function(_, arguments)
    return {
      breakpoints = vim.tbl_map(function()
        return { verified = false, message = 'no statement' }
      end, arguments.breakpoints),
    }
  end
  local _, message = call('dap_run_to', { filename = 'a b.py', line = 4 })
  contains(message, 'cannot stop at a b.py:4: no statement')
  equal('stopped', call('dap_status').state)
end)

it('a file that another Neovim has open gets its breakpoint, too, and nobody is asked', function()
  local _, root = start()
  local swaps = vim.fn.tempname()
  vim.fn.mkdir(swaps, 'p')
  local options = 'set updatecount=1 directory=' .. swaps .. '//'
  local job = vim.system({ vim.v.progpath, '--clean', '--headless', '--cmd', options, root .. '/twice.py' })
  vim.o.directory, vim.o.updatecount = swaps .. '//', 1
  spec.eventually(function()
    return #vim.fn.readdir(swaps) > 0
  end, 'a swap file')
  local result, message = call('dap_set_breakpoint', { filename = 'twice.py', line = 2 })
  job:kill('sigterm')
  vim.o.updatecount = 0
  equal(nil, message)
  equal('twice.py:2', result.at)
end)

it('the breakpoints of one file are removed, those of others stay', function()
  local dap = fake.start({ ['a.txt'] = 'one\ntwo', ['b.txt'] = 'one\ntwo' })
  for _, line in ipairs({ 1, 2 }) do
    call('dap_set_breakpoint', { filename = 'a.txt', line = line })
    call('dap_set_breakpoint', { filename = 'b.txt', line = line })
  end
  call('dap_run', { type = 'fake', request = 'launch', name = 'demo' })
  equal({ 'a.txt:1', 'a.txt:2' }, call('dap_clear_breakpoints', { filename = 'a.txt' }).removed)
  local sent = dap.started[1].requests[#dap.started[1].requests]
  equal({ 'setBreakpoints', {} }, { sent.command, sent.arguments.breakpoints })
  equal(2, #call('dap_breakpoints').breakpoints)
  equal({}, call('dap_clear_breakpoints', { filename = 'a.txt' }).removed)
  local _, message = call('dap_clear_breakpoints', { filename = 'no.txt' })
  contains(message, 'there is no file')
end)
