--- The tools that Neovim offers to MCP clients: what is registered, and calls of it.
---
--- A tool is a table (see `:help mcp-tools-register`):
---   name         letters, digits, `_`, `.`, `-`; clients see it as `nvim_<name>`
---   description  what it does, for the model that calls it
---   args         by name: { type, description, required, default, enum, items, properties }
---   execute      function(args) that returns the result, or
---                function(args, done, call) that calls `done(result)` or `done(nil, message)` later
---   timeout      milliseconds until a call that has not called `done` fails; 0: never. Default: 5 minutes
---   extra        undeclared arguments: true: passed on; nil: passed on, with a remark for the caller; false: refused
---   read_only, destructive, title   hints for the client
local json = require('mcp-tools.json')
local schema = require('mcp-tools.schema')

local M = {}

local DEFAULT_TIMEOUT = 300000 -- milliseconds
local LONGEST_NAME = 123 -- MCP allows 128, and clients see `nvim_` before it

local tools = {} -- by name
local telling = false

-- Bridges listen to this event; it comes once for many changes in a row.
local function changed()
  if telling then
    return
  end
  telling = true
  vim.schedule(function()
    telling = false
    vim.api.nvim_exec_autocmds('User', { pattern = 'McpToolsChanged', modeline = false })
  end)
end

local function check_definition(tool)
  local function need(condition, message)
    if not condition then
      error('mcp-tools: ' .. message, 0)
    end
  end
  need(type(tool) == 'table', 'a tool is a table; see :help mcp-tools-register')
  need(type(tool.name) == 'string' and tool.name ~= '', 'a tool needs a name')
  need(
    tool.name:match('^[%w_.-]+$') and #tool.name <= LONGEST_NAME,
    ('%q cannot name a tool: at most %d letters, digits, _, . and - can'):format(tool.name, LONGEST_NAME)
  )
  need(type(tool.description) == 'string' and tool.description ~= '', tool.name .. ' needs a description')
  need(vim.is_callable(tool.execute), tool.name .. ' needs a function `execute`')
  need(tool.args == nil or type(tool.args) == 'table', tool.name .. ': `args` must be a table')
  need(
    tool.timeout == nil or (type(tool.timeout) == 'number' and tool.timeout >= 0),
    tool.name .. ': `timeout` must be milliseconds'
  )
  need(tool.title == nil or type(tool.title) == 'string', tool.name .. ': `title` must be text')
  for _, hint in ipairs({ 'extra', 'read_only', 'destructive' }) do
    need(tool[hint] == nil or type(tool[hint]) == 'boolean', ('%s: `%s` must be true or false'):format(tool.name, hint))
  end
  -- One tool that cannot be listed would hide all the others.
  local problem = json.problem(tool.args, 'args') or schema.check(tool.args or {})
  need(not problem, problem and (tool.name .. ': ' .. problem))
end

local function milliseconds_of(tool)
  return tool.timeout == math.huge and 0 or tool.timeout or DEFAULT_TIMEOUT
end

--- Register a tool, replacing one of that name. Raises an error if the definition is wrong.
---@param tool mcp-tools.Tool
function M.register(tool)
  check_definition(tool)
  tools[tool.name] = vim.tbl_extend('force', {}, tool, { args = vim.deepcopy(tool.args or {}) })
  changed()
end

--- Remove a tool. Calls that are under way go on.
---@param name string
---@return boolean # whether there was one
function M.unregister(name)
  local known = tools[name] ~= nil
  tools[name] = nil
  if known then
    changed()
  end
  return known
end

--- Whether there is a tool of that name.
---@param name string
---@return boolean
function M.has(name)
  return tools[name] ~= nil
end

--- The time limit of the tool's calls in milliseconds, 0 for none; nil if there is no such tool.
---@param name string
---@return number?
function M.timeout_of(name)
  return tools[name] and milliseconds_of(tools[name])
end

--- The number of tools.
---@return integer
function M.count()
  return vim.tbl_count(tools)
end

--- All tools by name, without their functions, for JSON.
---@return table<string, mcp-tools.ListedTool>
function M.list()
  local listed = {}
  for name, tool in pairs(tools) do
    listed[name] = {
      name = name,
      title = tool.title,
      description = tool.description,
      args = vim.deepcopy(tool.args),
      timeout = M.timeout_of(name),
      extra = tool.extra,
      read_only = tool.read_only,
      destructive = tool.destructive,
    }
  end
  return listed
end

-- Whether a tool takes `done`. A callable table must say so itself.
local function is_later(tool)
  if tool.later ~= nil then
    return tool.later
  end
  return type(tool.execute) == 'function' and debug.getinfo(tool.execute, 'u').nparams >= 2
end

-- The text of an error.
local function words(problem)
  local speaks = type(problem) == 'string' or (getmetatable(problem) or {}).__tostring
  return speaks and tostring(problem) or vim.inspect(problem)
end

-- A call that ends once, with a result or an error.
local function new_call(tool, callback)
  local call = { cancelled = false, ended = false }
  local cleanups = {}
  local timer

  --- Have `cleanup` called if the caller cancels or time is up.
  function call.on_cancel(cleanup)
    if call.cancelled then
      pcall(cleanup)
    end
    table.insert(cleanups, cleanup)
  end

  --- Report progress to the caller.
  function call.progress(message)
    if vim.in_fast_event() then
      return vim.schedule(function()
        call.progress(message)
      end)
    end
    if not call.ended and call.on_progress then
      call.on_progress(tostring(message))
    end
  end

  local function finish(result, message)
    call.ended = true
    if timer then
      timer:stop()
      timer:close()
      timer = nil
    end
    callback(result, message)
  end

  local function give_up()
    -- Ended before the tool is notified: a later call of `done` is not an answer.
    call.cancelled, call.ended = true, true
    for _, cleanup in ipairs(cleanups) do
      pcall(cleanup)
    end
  end

  function call.done(result, message)
    -- Callbacks of libuv may not call most of Neovim.
    if vim.in_fast_event() then
      return vim.schedule(function()
        call.done(result, message)
      end)
    end
    if call.ended then
      if not call.cancelled then
        vim.notify(('mcp-tools: %s called `done` more than once'):format(tool.name), vim.log.levels.WARN)
      end
      return
    end
    if message == nil then
      message = json.problem(result)
      message = message and ('%s returned what JSON cannot hold: %s'):format(tool.name, message)
    end
    if message ~= nil then
      finish(nil, words(message))
    else
      finish(result)
    end
  end

  --- The caller has cancelled.
  function call.cancel()
    if not call.ended then
      give_up()
      finish(nil, tool.name .. ' was cancelled')
    end
  end

  function call.start_timer(milliseconds)
    timer = vim.uv.new_timer()
    timer:start(
      milliseconds,
      0,
      vim.schedule_wrap(function()
        if not call.ended then
          give_up()
          finish(nil, ('%s has not answered within %g s'):format(tool.name, milliseconds / 1000))
        end
      end)
    )
  end

  return call
end

local function run(tool, args, call)
  local later = is_later(tool)
  local ok, result, message = xpcall(tool.execute, words, args, call.done, call)
  if not ok then
    call.done(nil, ('%s failed: %s'):format(tool.name, result))
  elseif call.ended then
    return
  elseif result ~= nil or message ~= nil or not later then
    call.done(result, message)
  else
    local timeout = milliseconds_of(tool)
    if timeout > 0 then
      call.start_timer(timeout)
    end
  end
end

local function unknown(name)
  local names = vim.tbl_keys(tools)
  table.sort(names)
  return ('unknown tool %s; available: %s'):format(name, #names > 0 and table.concat(names, ', ') or 'none')
end

--- Call a tool. `done(result, message, remarks)` is called once: `message` says why there is no result, `remarks` is a
--- list of other things that the caller should know. Returns the call: `call.cancel()` ends it.
---
--- Without `done`: returns the result, or nil and the message. A tool that answers later needs `done`.
---@param name string
---@param args? table<string, any>
---@param done? fun(result: any, message: string?, remarks: string[])
---@param on_progress? fun(message: string)
---@return any result The call if `done` is given
---@return string? message
function M.execute(name, args, done, on_progress)
  local tool = tools[name]
  local waits = done ~= nil
  local outcome = {}
  local remarks = {}
  local call = new_call(tool or { name = name }, function(result, message)
    if waits then
      done(result, message, remarks)
    else
      outcome = { ended = true, result = result, message = message }
    end
  end)
  call.on_progress = on_progress
  if not tool then
    call.done(nil, unknown(name))
  else
    local filled, problem, extra = schema.apply(tool, args ~= vim.NIL and args or {})
    if problem then
      call.done(nil, ('%s: %s'):format(name, problem))
    else
      vim.list_extend(remarks, extra)
      run(tool, filled, call)
    end
  end
  if waits then
    return call
  end
  if not outcome.ended then
    call.cancel()
    return nil, name .. ' answers later: pass a function(result, message) as third argument'
  end
  return outcome.result, outcome.message
end

return M
