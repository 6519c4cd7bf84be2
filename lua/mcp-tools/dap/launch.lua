--- Starts a program under its debugger, and reports why it did not start.
local asking = require('mcp-tools.dap.asking')
local chosen = require('mcp-tools.dap.chosen')
local configuration = require('mcp-tools.dap.configuration')
local debuggers = require('mcp-tools.dap.debuggers')
local ending = require('mcp-tools.dap.ending')
local focus = require('mcp-tools.dap.focus')
local following = require('mcp-tools.dap.following')
local interruptions = require('mcp-tools.dap.interruptions')
local named = require('mcp-tools.dap.named')
local program_output = require('mcp-tools.dap.program_output')
local programs = require('mcp-tools.dap.programs')
local running = require('mcp-tools.dap.running')
local sessions = require('mcp-tools.dap.sessions')
local stops = require('mcp-tools.dap.stops')
local task = require('mcp-tools.task')

local M = {}

local LAST_LINES = 30 -- of output, in an error
local LONGEST_LINE = 500

local TRIES = 60 -- to connect to an adapter that was just started, each 250 ms: some are slow the first time

local starting = false -- one at a time, otherwise they cannot be distinguished

local function refuse_second(args)
  if starting then
    task.fail('another dap_run is in progress: call dap_wait_until_paused, or dap_status')
  end
  local live = sessions.live()
  if #live > 0 and not args.alongside then
    task.fail(
      'a debug session is already running (%s, %s): call dap_terminate first, or pass alongside=true to debug both',
      live[1].name,
      live[1].state
    )
  end
end

-- The record of the session that has been started since; nil if there is none yet.
local function started_since(known)
  for _, record in ipairs(sessions.all()) do
    if not known[record.id] and record.family.members[1] == record then
      record.quiet, record.ours = true, true
      return record
    end
  end
end

-- The stderr of an adapter that died; nvim-dap keeps it in a file, and removes the file if all went well.
local function last_words(type_name, since)
  local path = ('%s/dap-%s-stderr.log'):format(vim.fn.stdpath('log'), type_name)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.mtime.sec < since then
    return {} -- of an earlier run
  end
  local ok, lines = pcall(vim.fn.readfile, path, '', -LAST_LINES)
  return ok and lines or {}
end

local function add(parts, text)
  text = vim.trim(text)
  for _, part in ipairs(parts) do
    if part:find(text, 1, true) then
      return
    end
  end
  parts[#parts + 1] = text
end

-- Ends the tool with all messages of the adapter and nvim-dap.
local function fail(config, record, messages)
  local parts = {}
  add(parts, record and record.error or '')
  for _, message in ipairs(messages) do
    -- nvim-dap repeats the adapter's error in fewer words.
    local repeats = record and record.error and vim.startswith(message.text, 'Error on ')
    if (message.level >= vim.log.levels.WARN or not record) and not repeats then
      add(parts, (message.text:gsub(':%${port}', ', the port that was given to it')))
    end
  end
  if record then
    add(parts, table.concat(program_output.short(record.output, LAST_LINES, LONGEST_LINE), '\n'))
  end
  add(parts, table.concat(last_words(config.type, messages.since), '\n'))
  parts = vim.tbl_filter(function(part)
    return part ~= ''
  end, parts)
  local reasons = #parts > 0 and table.concat(parts, '\n') or 'the debug adapter gives no reason'
  task.fail('the program did not start: %s', reasons)
end

-- `adapter` with more attempts to connect, if nvim-dap starts it first; the user's own setting has priority.
local function patient(adapter)
  if type(adapter) ~= 'table' or type(adapter.executable) ~= 'table' or (adapter.options or {}).max_retries then
    return adapter
  end
  return vim.tbl_deep_extend('force', adapter, { options = { max_retries = TRIES } })
end

local function start(config, messages)
  local asked
  messages.since = os.time()
  asking.outside(function()
    messages.all = true -- some of nvim-dap's have no title
    local ok, problem
    local adapters = require('dap').adapters
    local users = adapters[config.type]
    adapters[config.type] = configuration.remote_adapter(config, users) or patient(users)
    ok, problem, asked = interruptions.without_questions(function()
      require('dap').run(config, { filetype = vim.bo.filetype, new = true })
    end)
    adapters[config.type] = users
    messages.all = false
    if not ok then
      messages[#messages + 1] = { text = tostring(problem), level = vim.log.levels.ERROR }
    end
  end)
  if asked then
    task.fail('the configuration of %q asks the user (%s): pass that value in the call', config.type, vim.trim(asked))
  end
end

local function await_session(config, known, messages, milliseconds, call)
  local function has_failed()
    for _, message in ipairs(messages) do
      if message.level >= vim.log.levels.ERROR or message.text == 'Run aborted' then
        return true
      end
    end
    return false -- adapters that are functions, and users' hooks in configurations, may take long
  end
  asking.wait(function()
    return started_since(known) or has_failed()
  end, milliseconds, call)
  return started_since(known) or fail(config, nil, messages)
end

local function run(args, call, messages)
  local adapter = require('dap').adapters[args.type]
  local config, is_started = configuration.from(args, adapter)
  following.follow() -- nvim-dap sends the breakpoints
  local known = {}
  for _, record in ipairs(sessions.all()) do
    known[record.id] = true
  end
  local deadline = vim.uv.now() + args.wait_timeout_ms
  local function left()
    return math.max(0, deadline - vim.uv.now())
  end
  programs.wanted = is_started
  start(config, messages)
  local record = await_session(config, known, messages, left(), call)
  record.args = args -- dap_restart takes them
  asking.wait(function()
    return record.settled or (record.state ~= 'initializing' and not sessions.is_over(record))
  end, left(), call)
  if record.state == 'failed' then
    fail(config, record, messages)
  elseif record.state == 'initializing' then
    return stops.pending(record, args.wait_timeout_ms)
  elseif args.wait_until_paused then
    return (running.await_stop(record, 0, left(), call, args.wait_timeout_ms))
  elseif record.state == 'terminated' then
    return stops.ended(record)
  end
  return running.answer(record, 0, args, call)
end

-- Make nvim-dap request the caller's exception filters instead of the user's; returns a function that restores them.
local function choose_exceptions(args, adapter)
  local wanted = args.break_on_exceptions
  if not wanted then
    return function() end
  end
  local defaults = require('dap').defaults[args.type]
  local users = rawget(defaults, 'exception_breakpoints')
  defaults.exception_breakpoints = configuration.exception_filters(wanted, args.type, adapter)
  return function()
    defaults.exception_breakpoints = users
  end
end

-- Call `show` once no started program can still ask for its terminal: some ask after the deadline.
local function when_started(show)
  local unwatch
  local over = false -- a check may be pending when another one has ended this
  local function check()
    if over then
      return
    end
    for _, record in ipairs(sessions.live()) do
      if record.ours and record.state == 'initializing' then
        return
      end
    end
    over = true
    unwatch()
    show()
  end
  unwatch = sessions.watch(vim.schedule_wrap(check))
  check()
end

local function start_one(args, call)
  local adapters = require('dap').adapters
  local adapter = adapters[args.type]
  if type(adapter) ~= 'table' and type(adapter) ~= 'function' then
    task.fail('%s', debuggers.missing(args.type, adapters))
  end
  refuse_second(args)
  starting = true
  local show_exceptions = choose_exceptions(args, adapter)
  local messages = interruptions.messages(sessions.changed)
  local show_terminals = focus.hide_terminals(args.type)
  local function over()
    starting, programs.wanted = false, false
    when_started(show_terminals)
    show_exceptions()
    messages.stop()
  end
  call.on_cancel(over)
  local ok, answer = xpcall(run, function(problem)
    return type(problem) == 'string' and debug.traceback(problem) or problem
  end, args, call, messages)
  over()
  if not ok then
    error(answer, 0)
  end
  if type(args.preLaunchTask) == 'string' then
    local message = 'nvim-dap does not run preLaunchTask %q: if no plugin does, run it first, then dap_restart'
    answer.task_note = message:format(args.preLaunchTask)
  end
  return answer
end

--- Start a program. Ends the tool with the reasons if it does not start; a program that ends at once did start.
function M.run(args, call)
  return start_one(named.completed(args), call)
end

-- What started a record: the arguments of the tool, or the user's configuration.
local function started_with(record)
  local first = record.family.members[1]
  if first.request == 'attach' then
    task.fail('the debugger attached to %s and did not start it: call dap_disconnect, then dap_run', first.name)
  end
  return vim.deepcopy(first.args or first.config)
end

--- Start the program again in the same way, with the current breakpoints; end it first if it is running.
function M.restart(args, call)
  local record = chosen.record(args.session) or task.fail('no debug session; start one with dap_run')
  local whole = started_with(record)
  whole.wait_until_paused, whole.wait_timeout_ms = args.wait_until_paused, args.wait_timeout_ms
  whole.alongside = true -- with other running programs
  refuse_second(whole) -- before anything is ended
  if not sessions.is_over(record) then
    ending.terminate(record, call)
  end
  return start_one(whole, call)
end

return M
