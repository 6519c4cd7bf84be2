--- The bridge: the process through which MCP clients reach the tools of this Neovim.
---
--- A run lasts from `start` until `stop`, or until too many crashes end it. It is one process after the other, all with
--- the same token and, where possible, the same port, so that clients find it again after a crash.
local config = require('mcp-tools.config')
local process = require('mcp-tools.process')

local M = {}

--- Milliseconds. `ready`: a bridge that takes longer to get ready is killed. `pause`: before the first restart; doubles
--- each time. `steady`: after that time without a crash the count of crashes starts again.
M.times = { ready = 30000, pause = 500, steady = 60000 }

local KEPT_LINES = 50 -- of stderr
local SHOWN_LINES = 5 -- of stderr, in a message
local EXECUTABLE = vim.fn.has('win32') == 1 and '/.venv/Scripts/lsp-mcp.exe' or '/.venv/bin/lsp-mcp'
local ROOT = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h')

local run -- nil if there is none
local ending -- the process that was told to stop and has not ended
local stderr = {} -- the last lines of the last run
local problem -- why the last run ended by itself

local function call(what, callback, ...)
  local ok, message = pcall(callback, ...)
  if not ok then
    vim.notify(('mcp-tools: %s failed: %s'):format(what, message), vim.log.levels.ERROR)
  end
end

local function announce(event, data)
  local options = { pattern = event, data = data, modeline = false }
  call('an autocommand for ' .. event, vim.api.nvim_exec_autocmds, 'User', options)
end

local function keep(line)
  table.insert(stderr, line)
  if #stderr > KEPT_LINES then
    table.remove(stderr, 1)
  end
end

local function new_token()
  return (vim.uv.random(32):gsub('.', function(byte)
    return ('%02x'):format(byte:byte())
  end))
end

--- The shell command that installs lsp-mcp: from the plugin's checkout, if it is one.
function M.install_command()
  local is_checkout = vim.uv.fs_stat(ROOT .. '/pyproject.toml') ~= nil
  return 'pipx install ' .. (is_checkout and vim.fn.shellescape(ROOT) or 'lsp-mcp')
end

--- The command that starts the bridge, or nil and the reason.
function M.command()
  local set = config.get().bridge
  if set.command then
    return vim.deepcopy(set.command)
  end
  local program = vim.fn.exepath('lsp-mcp')
  if program == '' and vim.fn.executable(ROOT .. EXECUTABLE) == 1 then
    program = ROOT .. EXECUTABLE
  end
  if program == '' then
    return nil, 'cannot start: there is no lsp-mcp on PATH. Get it: ' .. M.install_command()
  end
  return { program, 'bridge', '--log-level', set.log_level }
end

local function ended(this)
  call('on_stop', config.get().on_stop or function() end)
  for _, callback in ipairs(this.on_stop) do
    call('on_stop', callback)
  end
  announce('McpToolsStopped')
end

local function give_up(this, why)
  run, problem = nil, why
  local lines = vim.list_slice(stderr, math.max(1, #stderr - SHOWN_LINES + 1))
  table.insert(lines, 1, 'mcp-tools: the bridge ' .. why)
  table.insert(lines, 'See :checkhealth mcp-tools')
  vim.notify(table.concat(lines, '\n'), vim.log.levels.ERROR)
  ended(this)
end

local spawn

local function crashed(this, child, how)
  local refused = not child.ready and child.port ~= this.wanted_port
  if this.again or refused then
    -- A restart was requested, or its port is no longer free.
    this.port = not refused and this.port or nil
    this.again = false
    return spawn(this)
  end
  if child.ready and vim.uv.now() - child.since >= M.times.steady then
    this.crashes = 0
  end
  this.crashes = this.crashes + 1
  if this.crashes > config.get().bridge.restarts then
    return give_up(this, how)
  end
  this.state = 'waiting'
  this.pause = vim.defer_fn(function()
    if run == this and this.state == 'waiting' then
      this.restarts = this.restarts + 1
      spawn(this)
    end
  end, M.times.pause * 2 ^ (this.crashes - 1))
end

-- A process has ended.
local function gone(child, how)
  process.cancel(child.timer)
  local this = child.run
  if run == this then
    this.child = nil
    return crashed(this, child, child.late and ('was not ready within %g s'):format(M.times.ready / 1000) or how)
  end
  ending = nil
  ended(this)
  if run and not run.child then
    spawn(run)
  end
end

local function became_ready(child, port)
  local this = child.run
  if run ~= this or child.ready or not process.is_alive(child) then
    return
  end
  process.cancel(child.timer)
  child.ready, child.since = true, vim.uv.now()
  this.state, this.port = 'ready', port
  for _, callback in ipairs(vim.list_extend({ config.get().on_ready }, this.on_ready)) do
    if process.is_alive(child) then
      call('on_ready', callback, port)
    end
  end
  if process.is_alive(child) then
    announce('McpToolsReady', { port = port })
  end
end

function spawn(this)
  local command, why = M.command()
  if not command then
    return give_up(this, why)
  end
  local wanted = this.port or this.wanted_port
  local env = { NVIM_LISTEN_ADDRESS = this.socket, MCP_PORT = tostring(wanted), LSP_MCP_TOKEN = this.token }
  local child
  child, why = process.start(command, env, {
    stdout = function(line)
      local port = tonumber(line:match('MCP server listening on port (%d+)%s*$'))
      if port then
        vim.schedule(function()
          became_ready(child, port)
        end)
      end
    end,
    stderr = keep,
    on_end = function(how)
      gone(child, how)
    end,
  })
  if not child then
    return give_up(this, 'cannot start: ' .. why)
  end
  this.child, this.state, this.command = child, 'starting', command
  child.run, child.port = this, wanted
  child.timer = vim.defer_fn(function()
    if not child.ready and process.is_alive(child) then
      child.late = true
      process.stop(child)
    end
  end, M.times.ready)
end

local function join(this, options)
  this.holders[options.holder or 'user'] = true
  table.insert(this.on_stop, options.on_stop)
  table.insert(this.on_ready, options.on_ready)
  if options.on_ready and this.state == 'ready' then
    call('on_ready', options.on_ready, this.port)
  end
end

-- VimLeavePre: nothing waits for the process, and its end cannot be observed.
local function leave()
  M.stop()
  if ending then
    process.abandon(ending)
  end
end

--- Start the bridge, or use the one that runs. `options`: nvim_socket, port, on_ready(port), which is called
--- whenever a process is ready (after a crash again), on_stop(), and holder: the name of its user, for `release`.
function M.start(options)
  options = options or {}
  if run then
    return join(run, options)
  end
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = vim.api.nvim_create_augroup('McpToolsBridge', { clear = true }),
    callback = leave,
  })
  local socket = options.nvim_socket or vim.v.servername
  run = {
    state = 'starting', -- then ready; waiting: for the end of a pause
    socket = socket ~= '' and socket or vim.fn.serverstart(),
    wanted_port = options.port or config.get().bridge.port,
    token = new_token(),
    crashes = 0, -- in a row
    restarts = 0,
    holders = {},
    on_ready = {},
    on_stop = {},
  }
  stderr, problem = {}, nil
  join(run, options)
  if not ending then
    spawn(run)
  end
end

--- Stop the bridge. Harmless if it does not run.
function M.stop()
  local this = run
  if not this then
    return
  end
  run = nil
  process.cancel(this.pause)
  if this.child then
    ending = this.child
    process.stop(this.child)
  else
    ended(this)
  end
end

--- Start a new process; token and port stay the same for clients. Starts the bridge if it is not running.
function M.restart()
  local this = run
  if not this then
    return M.start()
  end
  this.crashes = 0
  if this.child then
    this.again, this.state = true, 'starting'
    process.stop(this.child)
  elseif this.state == 'waiting' then
    process.cancel(this.pause)
    spawn(this)
  end
end

--- Stop the bridge if nobody but `holder` has started it.
function M.release(holder)
  if run and run.holders[holder] then
    run.holders[holder] = nil
    if next(run.holders) == nil then
      M.stop()
    end
  end
end

--- Whether it is running or starting.
function M.is_running()
  return run ~= nil
end

--- Its port on 127.0.0.1; nil unless it is ready.
function M.get_port()
  return run and run.state == 'ready' and run.port or nil
end

--- The token that clients must send as `Authorization: Bearer …`; nil if it does not run.
function M.get_token()
  return run and run.token
end

--- Its status without the token: state (stopped, starting, ready, waiting, failed), port, url, pid, uptime
--- in seconds, restarts, socket, command, problem (why it failed), stderr (its last lines).
function M.status()
  local this, port = run or {}, M.get_port()
  local child = this.child or {}
  return {
    state = this.state or (problem and 'failed' or 'stopped'),
    port = port,
    url = port and ('http://127.0.0.1:%d/mcp'):format(port),
    pid = child.pid,
    uptime = port and math.floor((vim.uv.now() - child.since) / 1000),
    restarts = this.restarts or 0,
    socket = this.socket,
    command = this.command,
    problem = problem,
    stderr = vim.deepcopy(stderr),
  }
end

return M
