--- Programs that an adapter asks us to start, without a terminal: this gives us their output, process and exit code,
--- which some adapters report incompletely.
local program_output = require('mcp-tools.dap.program_output')
local sessions = require('mcp-tools.dap.sessions')

local M = {}

--- Whether the session that a tool is starting now has such a program.
M.wanted = false

local function environment(asked)
  local env = {}
  for name, value in pairs(type(asked) == 'table' and asked or {}) do
    env[name] = value ~= vim.NIL and tostring(value) or nil
  end
  return next(env) and env or nil
end

-- Neovim ends its jobs when it quits, but not when it is killed: the kernel then ends the program, if it supports that.
local function command_of(words)
  if vim.fn.executable('setpriv') == 0 then
    return words
  end
  return vim.list_extend({ 'setpriv', '--pdeathsig', 'KILL', '--' }, words)
end

local function start(session, request)
  local record, asked = sessions.of(session), request.arguments
  local program = { running = true }
  local function printed(category)
    return function(_, chunks)
      program_output.add(record.output, category, table.concat(chunks, '\n'))
    end
  end
  local ok, job = pcall(vim.fn.jobstart, command_of(asked.args), {
    cwd = type(asked.cwd) == 'string' and asked.cwd ~= '' and asked.cwd or nil,
    env = environment(asked.env),
    stdin = 'null',
    on_stdout = printed('stdout'),
    on_stderr = printed('stderr'),
    on_exit = function(_, code)
      program.running = false
      record.pid = nil
      sessions.exited(record, code)
      sessions.changed()
    end,
  })
  if not ok or job <= 0 then
    session:response(request, { success = false, message = ok and 'the program is not executable' or tostring(job) })
    return
  end
  program.job = job
  record.family.program = program
  record.pid = vim.fn.jobpid(job)
  session:response(request, { success = true, body = { processId = record.pid } })
end

--- Start the program of this session here when its adapter asks for it. A nvim-dap that has no such handlers (the one
--- of 2026-06 has) starts it in a terminal.
function M.take_over(session)
  local handlers = (session.handlers or {}).reverse_requests
  if handlers then
    handlers.runInTerminal = vim.schedule_wrap(start)
  end
end

return M
