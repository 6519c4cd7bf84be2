--- Ending a debug session.
local asking = require('mcp-tools.dap.asking')
local interruptions = require('mcp-tools.dap.interruptions')
local sessions = require('mcp-tools.dap.sessions')
local stops = require('mcp-tools.dap.stops')
local task = require('mcp-tools.task')

local M = {}

local ENDS_WITHIN = 8000 -- milliseconds; nvim-dap itself closes after 3 s without an answer
local QUIET_FOR = 1000 -- milliseconds after the end in which adapters die

-- The process in a record's name, if it still belongs to the program of that name.
local function named_pid(record)
  local file = record.named_pid and io.open(('/proc/%d/cmdline'):format(record.named_pid), 'rb')
  if not file then
    return nil
  end
  local command = file:read('*a') or ''
  file:close()
  local program = vim.fs.basename((record.name:gsub('%s*%[%d+%]$', '')))
  return command:find(program, 1, true) and record.named_pid
end

--- Kill the programs that were launched for a tool and whose debugger ended without notice: when Neovim quits, nvim-dap
--- kills the debugger after 0.1 s, and a running program would never end.
function M.kill_left(records)
  for _, record in ipairs(records) do
    local pid = record.family.members[1].ours and (record.pid or named_pid(record))
    record.pid, record.named_pid = nil, nil
    if pid and sessions.is_over(record) then
      pcall(vim.uv.kill, pid, 'sigkill')
    end
  end
end

local function end_it(record, call, how)
  if not record then
    task.fail('no debug session: there is nothing to end')
  end
  if sessions.is_over(record) then
    return vim.tbl_extend('force', stops.ended(record), { message = 'the program had ended already' })
  end
  -- nvim-dap reports the end and a killed adapter to the user: two messages cause a prompt in Neovim.
  local messages = interruptions.messages(function() end)
  vim.defer_fn(messages.stop, ENDS_WITHIN + QUIET_FOR)
  record.family.ended_by_tool = true
  local ok, problem = asking.outside(function()
    how(record.session)
  end)
  if not ok then
    task.fail('%s', tostring(problem))
  end
  local done = asking.wait(function()
    return sessions.is_settled(record.family)
  end, ENDS_WITHIN, call)
  if not done then
    for _, member in ipairs(record.family.members) do
      if not sessions.is_over(member) then
        member.session:close()
        sessions.finish(member, 'terminated')
      end
    end
  end
  vim.defer_fn(messages.stop, QUIET_FOR)
  M.kill_left(record.family.members)
  local answer = stops.ended(record)
  local live = sessions.live()
  answer.still_live = #live > 0 and vim.tbl_map(function(one)
    return one.name
  end, live) or nil
  return answer
end

--- End the program and its session.
function M.terminate(record, call)
  return end_it(record, call, function(session)
    local dap = require('dap')
    while session.parent do
      session = session.parent
    end
    dap.set_session(session) -- nvim-dap ends the one that it is focused on
    dap.terminate({ hierarchy = true })
  end)
end

--- End the session, and the program only if requested.
function M.disconnect(record, args, call)
  local answer = end_it(record, call, function(session)
    if not args.terminate_debuggee then
      for _, member in ipairs(record.family.members) do
        member.pid, member.named_pid = nil, nil -- it should keep running
      end
      record.family.let_go = true
    end
    session:disconnect({ terminateDebuggee = args.terminate_debuggee })
  end)
  if not args.terminate_debuggee then
    answer.message = answer.message or 'the debugger has let go; the program itself may run on'
  end
  return answer
end

return M
