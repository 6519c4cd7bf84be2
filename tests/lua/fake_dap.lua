--- A stand-in for nvim-dap's API, driven by specs: `require('fake_dap').install()`. It does what the tools rely on, in
--- nvim-dap's order: listeners before, its own handling, listeners after, each message in a turn of its own; a stop is
--- shown only after threads and frames were asked for.
---
--- The program does nothing by itself: `session:stop{…}`, `:print`, `:exit(code)` make it. Requests are answered by
--- `dap.answers[command](session, arguments)`, which returns a body, or nil and a message, or NOTHING.
local M = {}

local NOTHING = {} -- an answer that does not come
M.NOTHING = NOTHING

local function keyed()
  return setmetatable({}, {
    __index = function(all, key)
      rawset(all, key, {})
      return rawget(all, key)
    end,
  })
end

local function outside_coroutines()
  local _, is_main = coroutine.running()
  assert(is_main, 'nvim-dap would take the coroutine for its own')
end

local function call_all(listeners, ...)
  for key, listener in pairs(listeners) do
    if listener(...) then
      listeners[key] = nil -- as nvim-dap has it
    end
  end
end

local function fake_breakpoints()
  local kept = {} -- by buffer, by line
  local B = {}
  function B.set(options, buffer, line)
    for name, value in pairs(options) do
      assert(type(value) == 'string', name .. ' must be a string')
    end
    kept[buffer] = kept[buffer] or {}
    kept[buffer][line] = {
      buf = buffer,
      line = line,
      condition = options.condition,
      hitCondition = options.hit_condition,
      logMessage = options.log_message,
    }
  end
  function B.remove(buffer, line)
    local was = kept[buffer] and kept[buffer][line]
    if was then
      kept[buffer][line] = nil
    end
    return was ~= nil
  end
  function B.get(buffer)
    local found = {}
    for number, lines in pairs(kept) do
      if buffer == nil or buffer == number then
        found[number] = vim.tbl_values(lines)
      end
    end
    return found
  end
  function B.clear()
    kept = {}
  end
  return B
end

local Session = {}
Session.__index = Session

local words = {
  __tostring = function(problem)
    return problem.message
  end,
}

-- A message of the adapter, handled in a turn of its own.
function Session:_event(name, body)
  vim.schedule(function()
    local listeners = self.dap.listeners
    call_all(listeners.before['event_' .. name], self, body)
    local handler = self['_on_' .. name]
    if handler then
      handler(self, body)
    end
    call_all(listeners.after['event_' .. name], self, body)
  end)
end

function Session:request(command, arguments, callback)
  assert(callback, 'a request in a coroutine needs a callback')
  assert(not self.closed, 'the session is closed')
  table.insert(self.requests, { command = command, arguments = arguments })
  local answer = self.dap.answers[command]
  local body, problem = nil, nil
  if answer then
    body, problem = answer(self, arguments)
  end
  if body == NOTHING then
    return
  end
  vim.schedule(function()
    if self.closed then
      return -- nobody answers any more
    end
    local err = problem and setmetatable(type(problem) == 'table' and problem or { message = problem }, words) or nil
    local response = not err and (body or {}) or nil
    call_all(self.dap.listeners.before[command], self, err, response, arguments)
    callback(err, response)
    call_all(self.dap.listeners.after[command], self, err, response, arguments)
  end)
end

function Session:set_breakpoints(by_buffer, done)
  outside_coroutines()
  for buffer, list in pairs(by_buffer) do
    local path = vim.api.nvim_buf_get_name(buffer)
    local arguments = {
      source = { path = path },
      breakpoints = vim.tbl_map(function(one)
        return {
          line = one.line,
          condition = one.condition,
          hitCondition = one.hitCondition,
          logMessage = one.logMessage,
        }
      end, list),
    }
    self:request('setBreakpoints', arguments, done or function() end)
  end
  if done and next(by_buffer) == nil then
    done()
  end
end

function Session:close()
  if self.closed then
    return
  end
  self.closed = true
  for _, on_close in pairs(self.on_close) do
    on_close(self)
  end
  self.dap._sessions[self.id] = nil
  self.dap.set_session(nil)
end

function Session:disconnect(options)
  self:request('disconnect', options, function()
    self:close()
  end)
end

function Session:_on_terminated()
  self:close()
end

function Session:_on_stopped(body)
  self:request('threads', nil, function()
    self.stopped_thread_id = body.threadId
    self.threads[body.threadId] = { id = body.threadId, stopped = true }
    self:request('stackTrace', { threadId = body.threadId, startFrame = 0 }, function(_, response)
      self.current_frame = response and response.stackFrames[1]
      local switchbuf = self.dap.defaults[self.config.type].switchbuf
      if type(switchbuf) ~= 'function' then
        self.dap.jumps = self.dap.jumps + 1
      end
    end)
  end)
end

--- The program stops: { line, path, reason, thread, text, name }.
function Session:stop(at)
  at = at or {}
  local line = at.line or 1
  local frame = { id = 1000 + line, name = at.name or 'main', line = line, source = at.path and { path = at.path } }
  self.frames = at.frames or { frame }
  self:_event('stopped', {
    reason = at.reason or 'breakpoint',
    threadId = at.thread or 1,
    text = at.text,
    description = at.description,
    allThreadsStopped = true,
  })
end

--- The program prints.
function Session:print(text, category)
  self:_event('output', { category = category or 'stdout', output = text })
end

--- The program ends.
function Session:exit(code)
  if code then
    self:_event('exited', { exitCode = code })
  end
  self:_event('terminated', {})
end

-- What the adapter answers unless a spec says otherwise.
local function answers()
  return {
    initialize = function()
      return {}
    end,
    setBreakpoints = function(_, arguments)
      return {
        breakpoints = vim.tbl_map(function(one)
          return { verified = true, line = one.line, id = one.line }
        end, arguments.breakpoints),
      }
    end,
    threads = function()
      return { threads = { { id = 1, name = 'main' } } }
    end,
    stackTrace = function(session)
      return { stackFrames = session.frames or {}, totalFrames = #(session.frames or {}) }
    end,
    scopes = function()
      return { scopes = { { name = 'Locals', variablesReference = 7, presentationHint = 'locals' } } }
    end,
    variables = function()
      return { variables = { { name = 'x', value = '1', type = 'int', variablesReference = 0 } } }
    end,
    evaluate = function(_, arguments)
      return { result = arguments.expression, variablesReference = 0 }
    end,
  }
end

--- Put a fresh fake in nvim-dap's place. `dap.on_launch(session)` is called when a program starts.
function M.install()
  local dap = {
    adapters = { fake = { type = 'executable', command = 'fake-adapter' } },
    configurations = {},
    listeners = { before = keyed(), after = keyed(), on_config = {}, on_session = {} },
    defaults = setmetatable({}, {
      __index = function(all, key)
        rawset(all, key, { stepping_granularity = 'statement', auto_continue_if_many_stopped = true })
        return rawget(all, key)
      end,
    }),
    answers = answers(),
    capabilities = { supportsConfigurationDoneRequest = true, supportsConditionalBreakpoints = true },
    on_launch = function() end,
    jumps = 0, -- how often the user's window would have been taken to a stop
    started = {}, -- all sessions
    _sessions = {},
  }
  local focused
  local next_id = 1

  function dap.session()
    return focused
  end
  function dap.sessions()
    return dap._sessions
  end
  function dap.set_session(session)
    local old = focused
    focused = session or select(2, next(dap._sessions))
    for _, listener in pairs(dap.listeners.on_session) do
      listener(old, focused)
    end
  end
  function dap.list_breakpoints() end

  --- A session as the user would start it; `dap.run` does the rest of the way, too.
  function dap.new_session(config, parent)
    local session = setmetatable({
      id = next_id,
      dap = dap,
      config = config,
      adapter = dap.adapters[config.type],
      capabilities = {},
      threads = {},
      children = {},
      parent = parent,
      on_close = {},
      requests = {},
      seq = 1,
    }, Session)
    next_id = next_id + 1
    table.insert(dap.started, session)
    if not parent then
      dap._sessions[session.id] = session
      dap.set_session(session)
    end
    return session
  end

  local function initialize(session)
    session:request('initialize', {}, function(problem)
      if problem then
        return
      end
      session.capabilities = vim.deepcopy(dap.capabilities)
      session:request(session.config.request, session.config, function(launch_problem)
        if launch_problem then
          vim.notify('Error on launch: ' .. launch_problem.message, vim.log.levels.ERROR, { title = 'DAP' })
          session:close()
        else
          dap.on_launch(session)
        end
      end)
      session:_event('initialized', {})
    end)
  end

  function Session:_on_initialized()
    if self.closed then
      return
    end
    self:set_breakpoints(package.loaded['dap.breakpoints'].get(), nil)
    self:request('configurationDone', nil, function()
      self.initialized = true
    end)
  end

  function dap.run(config, options)
    outside_coroutines()
    assert(options.new, 'nvim-dap would restart a session of the same name')
    local adapter = dap.adapters[config.type]
    local function run(resolved)
      if resolved.missing then
        vim.notify('Executable not found', vim.log.levels.ERROR)
        return
      end
      initialize(dap.new_session(config))
    end
    if type(adapter) == 'function' then
      adapter(run, config)
    else
      run(adapter)
    end
  end

  function dap.continue()
    error('dap.continue opens a picker unless the program is stopped')
  end

  function dap.terminate()
    outside_coroutines()
    focused:request('terminate', {}, function()
      local session = focused
      if session then
        session:close()
      end
    end)
  end

  package.loaded.dap = dap
  package.loaded['dap.breakpoints'] = fake_breakpoints()
  return dap
end

--- A directory with files: { name = text }; it becomes the working directory.
function M.files(by_name)
  local root = vim.fn.resolve(vim.fn.tempname())
  for name, text in pairs(by_name) do
    vim.fn.mkdir(vim.fs.dirname(root .. '/' .. name), 'p')
    vim.fn.writefile(vim.split(text, '\n'), root .. '/' .. name)
  end
  vim.fn.chdir(root)
  return root
end

--- The tools over a fresh fake, in a directory with these files: the fake, and the directory.
function M.start(by_name)
  local dap = M.install()
  require('mcp-tools').setup({ tools = { dap = true } })
  return dap, M.files(by_name or { ['main.txt'] = 'one\ntwo\nthree\nfour\nfive' })
end

return M
