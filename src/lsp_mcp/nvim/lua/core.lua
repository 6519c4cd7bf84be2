-- What the other parts use. M is the table of one connection; M.channel is its channel.
-- Nothing here waits: what takes time is answered later, by M.tell.
local M = ...

M.group = vim.api.nvim_create_augroup('lsp-mcp-' .. M.channel, { clear = true })

--- Send a notification to lsp-mcp; false if it is gone.
function M.tell(...)
  return (pcall(vim.rpcnotify, M.channel, 'lsp-mcp', ...))
end

--- The result of `callback`, which may take long. lsp-mcp is told that Neovim is busy with its own request, on the file
--- `what`; that notification is sent before Lua goes on.
function M.at_work(what, callback)
  M.tell('working', what)
  local ok, result = pcall(callback)
  M.tell('working', vim.NIL)
  if not ok then
    error(result, 0)
  end
  return result
end

--- Whether lsp-mcp is still connected. Channel numbers are never given twice.
function M.connected()
  return vim.api.nvim_get_chan_info(M.channel).id ~= nil
end

--- Run `callback` at an event while lsp-mcp is there; of a User event, `pattern` is the name.
function M.on(events, callback, pattern)
  vim.api.nvim_create_autocmd(events, {
    group = M.group,
    pattern = pattern,
    callback = function(event)
      if M.gone or not M.connected() then
        M.leave()
        return true
      end
      callback(event)
    end,
  })
end

local undone = {} -- the functions that undo it

--- Have `callback` called when this connection ends.
function M.at_leave(callback)
  table.insert(undone, callback)
end

--- Take back what this connection has done to the language clients. Harmless if called twice.
function M.leave()
  if M.gone then
    return
  end
  M.gone = true
  pcall(M.close_documents)
  for i = #undone, 1, -1 do
    pcall(undone[i])
  end
  pcall(vim.api.nvim_del_augroup_by_id, M.group)
  _G.lsp_mcp[M.channel] = nil
end

-- Nothing tells Lua that a connection has ended. It is noticed when the next one comes, if not earlier.
vim.api.nvim_create_autocmd('ChanOpen', {
  group = M.group,
  callback = function()
    -- Scheduled: the end may have come in the same moment, and is read then.
    vim.schedule(function()
      if not M.gone and not M.tell() then
        M.leave()
      end
    end)
  end,
})

--- nil for what JSON's or msgpack's null became.
function M.given(value)
  if value == vim.NIL then
    return nil
  end
  return value
end

--- Seconds of this machine's monotonic clock: nobody sets it.
function M.now()
  return vim.uv.hrtime() / 1e9
end

--- The result of a function, unless it is later than `deadline`: by then the caller has been told that it was not done.
function M.in_time(deadline, name, ...)
  if M.now() > deadline then
    error('too late: it was not done', 0)
  end
  return M[name](...)
end

--- Facts about this Neovim, for people.
function M.about()
  return {
    cwd = vim.fn.getcwd(),
    pid = vim.fn.getpid(),
    servername = vim.v.servername,
    version = tostring(vim.version()),
    now = M.now(),
  }
end
