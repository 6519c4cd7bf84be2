--- Updates the records of `sessions` from the events of nvim-dap's listeners.
local debuggers = require('mcp-tools.dap.debuggers')
local functions = require('mcp-tools.dap.functions')
local program_output = require('mcp-tools.dap.program_output')
local programs = require('mcp-tools.dap.programs')
local sessions = require('mcp-tools.dap.sessions')
local shown = require('mcp-tools.dap.shown')

local M = {}

local KEY = 'mcp-tools'
local FRAMES = 20 -- requested at a stop: enough to find the program's own frame below those of a runtime
local FRAME_WITHIN = 5000 -- milliseconds; after that a stop is reported without its frame

-- Our own requests that resume a program, as keys; all others come from the user.
local own = setmetatable({}, { __mode = 'k' })

--- `arguments` are of a request of ours.
function M.is_ours(arguments)
  own[arguments] = true
  return arguments
end

--- nvim-dap must also know that the thread is no longer stopped, or it ignores the next stop.
function M.forget_stop(session, thread_id)
  pcall(vim.fn.sign_unplace, session.sign_group)
  session.stopped_thread_id = nil
  local thread = session.threads and session.threads[thread_id]
  if thread then
    thread.stopped = false
  end
end

-- nvim-dap resumes a second thread that stops while it shows another. Such a stop does not count.
local function is_passed_over(session, body)
  local shown = session.stopped_thread_id
  if not shown or shown == body.threadId or (body.reason == 'pause' and not body.allThreadsStopped) then
    return false
  end
  return require('dap').defaults[session.config.type].auto_continue_if_many_stopped
end

local function is_own_code(record, frame)
  local path = frame.source and frame.source.path
  if not path or frame.presentationHint == 'subtle' or frame.source.presentationHint == 'deemphasize' then
    return false
  end
  for _, pattern in ipairs(debuggers.known(record.type, record.adapter).not_it or {}) do
    if path:find(pattern, 1, true) then
      return false
    end
  end
  return vim.uv.fs_stat(path) ~= nil
end

-- The frame to show: the top one, or for an exception, the program's own frame that raised it.
local function shown_frame(record, stop, frames)
  if stop.reason ~= 'breakpoint' and stop.reason ~= 'step' then
    for _, frame in ipairs(frames) do
      if is_own_code(record, frame) then
        return frame
      end
    end
  end
  return frames[1]
end

-- Continue a program that is only exiting, if a tool asked for uncaught exceptions; else call `show`.
local function unless_it_ends(session, record, stop, show)
  local plain = debuggers.known(record.type, record.adapter).plain_end
  local wanted = (record.family.members[1].args or {}).break_on_exceptions or {}
  if not (plain and stop.reason == 'exception' and vim.list_contains(wanted, 'uncaught') and stop.thread_id) then
    return show()
  end
  session:request('exceptionInfo', { threadId = stop.thread_id }, function(_, info)
    if not info or not tostring(info.exceptionId):find(plain) or record.stop ~= stop then
      return show()
    end
    M.forget_stop(session, stop.thread_id)
    record.state, record.stop = 'running', nil
    session:request('continue', M.is_ours({ threadId = stop.thread_id }), function() end)
    sessions.changed()
  end)
end

-- Requests thread and frame, after nvim-dap has requested the same: it then has its answers before we have ours, and
-- a caller that resumes the program cannot overtake it.
local function complete(session, record, stop)
  local function ready()
    if not stop.ready then
      stop.ready = true
      sessions.changed()
    end
  end
  vim.defer_fn(ready, FRAME_WITHIN)
  session:request('threads', nil, function(_, response)
    local threads = response and response.threads or {}
    stop.thread_id = stop.thread_id or (threads[1] and threads[1].id)
    if not stop.thread_id then
      return ready()
    end
    local arguments = { threadId = stop.thread_id, startFrame = 0, levels = FRAMES }
    session:request('stackTrace', arguments, function(_, answer)
      local frames = answer and answer.stackFrames or {}
      stop.top, stop.frames = frames[1], frames
      if stop.top then
        table.insert(record.family.stopped_in, stop.top.name)
      end
      local path = stop.top and stop.top.source and stop.top.source.path
      if path then
        record.family.hits[('%s:%d'):format(path, stop.top.line)] = true
      end
      stop.frame = shown_frame(record, stop, frames)
      ready()
    end)
  end)
end

local function note_stop(record, body)
  record.launched = true
  record.family.stops = record.family.stops + 1
  record.state = 'stopped'
  record.stop = {
    number = record.family.stops,
    reason = body.reason,
    description = body.description,
    text = body.text,
    thread_id = body.threadId,
    breakpoints = body.hitBreakpointIds,
  }
  record.fresh = record.stop
end

local function on_stopped(session, body)
  local record = sessions.of(session)
  if not (sessions.is_over(record) or is_passed_over(session, body)) then
    note_stop(record, body)
  end
end

local function after_stopped(session)
  local record = sessions.of(session)
  local stop = record.fresh
  record.fresh = nil
  if stop and record.stop == stop and not session.closed then
    unless_it_ends(session, record, stop, function()
      complete(session, record, stop)
    end)
  end
end

local function on_output(session, body)
  local record = sessions.of(session)
  local category = body.category or 'console'
  if not (record.family.program and (category == 'stdout' or category == 'stderr')) then -- which is read there
    program_output.add(record.output, category, body.output or '')
  end
  for _, pattern in ipairs(debuggers.known(record.type, record.adapter).exit or {}) do
    local code = not record.exit_code and category ~= 'stdout' and (body.output or ''):match(pattern)
    if code then
      sessions.exited(record, tonumber(code))
    end
  end
end

local function maybe_running(record, session)
  local needs = session.capabilities.supportsConfigurationDoneRequest
  if record.state == 'initializing' and record.launched and (record.configured or not needs) then
    record.state = 'running'
    sessions.changed()
  end
end

local function on_start(session, problem)
  local record = sessions.of(session)
  if problem then
    record.error = shown.words(problem)
    sessions.finish(record, 'failed')
    record.state = 'failed' -- also if the adapter said that it had terminated first
  else
    record.launched = true
    maybe_running(record, session)
  end
end

local function on_resume(session, problem, _, arguments)
  local record = sessions.of(session)
  if not problem and not (arguments and own[arguments]) then
    -- The user resumed it, and expects to see the next stop. A stop that has arrived since remains.
    record.quiet = false
    if record.stop and record.stop.ready then
      sessions.resumed(record)
    end
  end
end

local function on_set_breakpoints(session, problem, response, arguments)
  local record = sessions.of(session)
  local path = arguments and arguments.source and arguments.source.path
  if not path then
    return
  end
  local bound, before = {}, record.bound[path] or {}
  for index, asked in ipairs(arguments.breakpoints or {}) do
    local got = response and response.breakpoints and response.breakpoints[index]
    local known = before[asked.line]
    -- If the same breakpoints are sent again, js-debug 1.105 answers with none.
    bound[asked.line] = got or not problem and known or { verified = false, message = problem and shown.words(problem) }
    -- The event that says so may have come before the answer.
    local told = record.told_bound[bound[asked.line].id or -1]
    bound[asked.line].was_bound = told or (known and (known.was_bound or known.verified)) or nil
  end
  record.bound[path] = bound
  sessions.changed()
end

local function on_breakpoint(session, body)
  local record = sessions.of(session)
  if body.breakpoint and body.breakpoint.id and body.breakpoint.verified then
    record.told_bound[body.breakpoint.id] = true
  end
  for _, lines in pairs(record.bound) do
    for line, known in pairs(lines) do
      if body.breakpoint and known.id and known.id == body.breakpoint.id then
        -- Some adapters unbind all of them when the program ends.
        local was_bound = known.was_bound or known.verified
        lines[line] = vim.tbl_extend('force', known, body.breakpoint, { was_bound = was_bound })
      end
    end
  end
  sessions.changed()
end

-- By listener: called before nvim-dap handles the event. No listener may return anything: nvim-dap removes those that
-- return true.
local BEFORE = {
  event_stopped = on_stopped,
  event_output = on_output,
  event_breakpoint = on_breakpoint,
  event_initialized = function(session)
    local record = sessions.of(session)
    if record.was_initialized then
      return
    end
    record.was_initialized = true
    for _, one in ipairs(debuggers.known(record.type, record.adapter).setup or {}) do
      session:request(one[1], one[2], function() end)
    end
    functions.on_initialized(record)
  end,
  event_continued = function(session, body)
    local record = sessions.of(session)
    local stop = record.stop
    local is_other = stop and body.allThreadsContinued == false and body.threadId ~= stop.thread_id
    if stop and stop.ready and not is_other then
      sessions.resumed(record)
    end
  end,
  event_process = function(session, body)
    local record = sessions.of(session)
    record.pid = record.request == 'launch' and body and tonumber(body.systemProcessId) or nil
  end,
  event_exited = function(session, body)
    sessions.of(session).pid = nil
    sessions.exited(sessions.of(session), body and body.exitCode)
  end,
  disconnect = function(session, _, _, arguments)
    if arguments and arguments.terminateDebuggee == false then
      sessions.of(session).pid = nil -- it should keep running
    end
  end,
  event_terminated = function(session)
    local record = sessions.of(session)
    record.pid = nil
    sessions.finish(record, 'terminated')
    sessions.changed()
  end,
  initialize = function(session, problem)
    if problem then
      on_start(session, problem)
      vim.schedule(function()
        session:close() -- nvim-dap only tells the user
      end)
    elseif programs.wanted and not session.parent then
      programs.take_over(session)
    end
  end,
  launch = on_start,
  attach = on_start,
  configurationDone = function(session, problem)
    local record = sessions.of(session)
    record.configured = true
    record.error = problem and shown.words(problem) or record.error
    maybe_running(record, session)
  end,
  setBreakpoints = on_set_breakpoints,
}
for _, command in ipairs({ 'continue', 'next', 'stepIn', 'stepOut', 'stepBack', 'reverseContinue', 'goto' }) do
  BEFORE[command] = on_resume
end

local AFTER = {
  event_stopped = after_stopped,
  -- js-debug 1.105 sends it twice for a child. If it then gets its breakpoints again, it never reports them as bound.
  event_initialized = function(session)
    session.event_initialized = function() end
  end,
}

-- Sessions that already run when the tools are turned on.
local function adopt(session)
  local record = sessions.of(session)
  record.launched = record.launched or session.initialized
  if record.state ~= 'initializing' then
    return
  elseif session.stopped_thread_id then
    note_stop(record, { reason = 'unknown', threadId = session.stopped_thread_id })
    after_stopped(session)
  elseif session.initialized then
    record.state = 'running'
  end
  for _, child in pairs(session.children or {}) do
    adopt(child)
  end
end

--- Listen to nvim-dap from now on. Harmless if called again.
function M.listen()
  local dap = require('dap')
  local function listen(to, handlers)
    for name, handler in pairs(handlers) do
      to[name][KEY] = function(...)
        handler(...)
      end
    end
  end
  listen(dap.listeners.before, BEFORE)
  listen(dap.listeners.after, AFTER)
  dap.listeners.on_session[KEY] = function(_, new)
    if new then
      sessions.of(new)
      sessions.changed()
    end
  end
  require('mcp-tools.dap.focus').listen(KEY)
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = vim.api.nvim_create_augroup('mcp-tools-dap', {}),
    callback = function()
      require('mcp-tools.dap.ending').kill_left(sessions.all())
    end,
  })
  for _, session in pairs(dap.sessions()) do
    adopt(session)
  end
end

return M
