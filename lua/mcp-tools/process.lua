--- A child process that is read line by line and can be ended reliably.
local M = {}

--- Milliseconds between SIGTERM and SIGKILL, and then until its end is no longer waited for.
M.patience = 3000

local LONGEST_LINE = 65536 -- bytes; earlier ones are dropped
local WINDOWS = vim.fn.has('win32') == 1

-- Calls `on_line` with whole lines, regardless of chunks, and `on_rest` with an unfinished one.
local function line_reader(on_line, on_rest)
  local rest = ''
  return function(_, chunk)
    local lines = vim.split(rest .. (chunk or ''), '\n', { plain = true })
    rest = table.remove(lines):sub(-LONGEST_LINE)
    for _, line in ipairs(lines) do
      on_line((line:gsub('\r$', '')))
    end
    if not chunk and rest ~= '' and on_rest then
      on_rest(rest)
    end
  end
end

-- Ends it, for its owner.
local function gone(child, how)
  if child.ended then
    return
  end
  child.ended = true
  M.cancel(child.killer)
  child.on_end(how)
end

-- To the whole group: the command may be a wrapper, whose child does the work.
local function signal(child, name)
  if not child.reaped and (WINDOWS or not vim.uv.kill(-child.pid, name)) then
    pcall(child.handle.kill, child.handle, name)
  end
end

--- Stop a timer, if there is one.
function M.cancel(timer)
  if timer and not timer:is_closing() then
    timer:stop()
    timer:close()
  end
end

--- Start `command`. The callbacks: stdout(line) and stderr(line) come from libuv, where most of Neovim may not be called;
--- on_end(how) once, from the main loop. Returns the child, or nil and why it cannot be started.
function M.start(command, env, callbacks)
  local child = { on_end = callbacks.on_end, told = false, ended = false, reaped = false }
  local ok, handle = pcall(vim.system, command, {
    detach = true, -- its own group, see `signal`
    env = env,
    stdout = line_reader(callbacks.stdout),
    stderr = line_reader(callbacks.stderr, callbacks.stderr),
  }, function(result)
    child.reaped = true
    local how = result.signal ~= 0 and ('was ended by signal %d'):format(result.signal)
      or ('ended with exit code %d'):format(result.code)
    vim.schedule(function()
      gone(child, how)
    end)
  end)
  if not ok then
    return nil, handle
  end
  child.handle, child.pid = handle, handle.pid
  return child
end

--- Whether it is running and has not been asked to end.
function M.is_alive(child)
  return not child.told and not child.ended
end

--- Ask it to end, and make it if it does not.
function M.stop(child)
  if not M.is_alive(child) then
    return
  end
  child.told = true
  signal(child, 'sigterm')
  child.killer = vim.defer_fn(function()
    signal(child, 'sigkill')
    -- Its end is not reported while another process holds its pipes.
    child.killer = vim.defer_fn(function()
      gone(child, 'did not end')
    end, M.patience)
  end, M.patience)
end

--- Ask it to end, and treat it as ended immediately.
function M.abandon(child)
  if not child.ended then
    signal(child, 'sigterm')
    child.told = true
    gone(child, 'was left')
  end
end

return M
