--- Stops caused by a tool do not change the user's windows, cursor and current buffer.
---
--- nvim-dap shows a stop while it handles the response to its `stackTrace` request, and reads `switchbuf` then. So this
--- module sets that option only while this one response is handled; otherwise the user's value applies, and programs
--- that the user resumes jump as usual. The sign of the stop is placed either way. The list of buffers does not change
--- either: nvim-dap adds each buffer in which it shows a stop.
local sessions = require('mcp-tools.dap.sessions')

local M = {}

local function nowhere() end

-- Load a file's buffer silently: nvim-dap would do it at the stop, and another process's swap file would then raise E325
-- (or, with a screen, ask).
local function load(frames)
  for _, frame in ipairs(frames) do
    if frame.source then -- the one that nvim-dap shows
      local path = frame.source.path
      if path and vim.uv.fs_stat(path) then
        pcall(require('mcp-tools.dap.buffers').load, path)
      end
      return
    end
  end
end

-- Remember which buffers are listed; returns a function that removes all others from the list.
local function keep_list()
  local listed = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    listed[buffer] = vim.bo[buffer].buflisted
  end
  return function()
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.bo[buffer].buflisted and not listed[buffer] then
        vim.bo[buffer].buflisted = false
      end
    end
  end
end

local function hidden_terminal()
  return vim.api.nvim_create_buf(true, false)
end

local hiding = {} -- by type: how many have asked for it, and what the user has set

--- Create terminals for programs in the background, until the returned function is called: the user finds them in the
--- list of buffers.
function M.hide_terminals(type_name)
  local defaults = require('dap').defaults[type_name]
  local one = hiding[type_name] or { count = 0, users = rawget(defaults, 'terminal_win_cmd') }
  hiding[type_name] = one
  one.count = one.count + 1
  defaults.terminal_win_cmd = hidden_terminal
  return function()
    one.count = one.count - 1
    if one.count > 0 then
      return
    end
    hiding[type_name] = nil
    if rawget(defaults, 'terminal_win_cmd') == hidden_terminal then
      defaults.terminal_win_cmd = one.users
    end
  end
end

--- Begin to guard the windows.
function M.listen(key)
  local dap = require('dap')
  local restore -- ends the guarding of the current response

  dap.listeners.before.stackTrace[key] = function(session, _, response)
    local record = sessions.of(session)
    if not record.quiet or not record.type then
      return
    end
    load(response and response.stackFrames or {})
    local restore_list = keep_list()
    local defaults = dap.defaults[record.type]
    local users = rawget(defaults, 'switchbuf')
    defaults.switchbuf = nowhere
    local over = false
    local function end_it()
      if over then
        return
      end
      over = true
      restore_list()
      if rawget(defaults, 'switchbuf') == nowhere then
        defaults.switchbuf = users
      end
    end
    restore = end_it
    vim.schedule(end_it) -- `after` is not called if nvim-dap's handler raises an error
  end

  dap.listeners.after.stackTrace[key] = function()
    if restore then
      restore()
      restore = nil
    end
  end
end

return M
