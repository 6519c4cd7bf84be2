-- The buffers of this Neovim, and how they stand to the files on disk.
local M = ...

local uv = vim.uv
local conflicts = {} -- buffers whose file was changed while they have unsaved changes
local detached = {} -- by buffer: the clients that were taken away from it because its file is gone

--- The text of a buffer as its servers have it. Raises nothing: `binary` if it is none.
function M.text(buffer)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local ending = ({ dos = '\r\n', mac = '\r' })[vim.bo[buffer].fileformat] or '\n'
  for _, line in ipairs(lines) do
    if line:find('\n', 1, true) then -- how Neovim keeps a NUL
      return { text = '', binary = true }
    end
  end
  return { text = table.concat(lines, ending) .. (vim.bo[buffer].eol and ending or '') }
end

local function of_a_file(buffer)
  return vim.api.nvim_buf_is_loaded(buffer)
    and vim.bo[buffer].buftype == ''
    and vim.api.nvim_buf_get_name(buffer) ~= ''
    and not vim.api.nvim_buf_get_name(buffer):find('^%a[%w+.-]+://')
end

-- Neovim's own look at the file, without its questions: an unmodified buffer is read again.
local function check(buffer)
  local reason
  local autocmd = vim.api.nvim_create_autocmd('FileChangedShell', {
    buffer = buffer,
    callback = function()
      reason = vim.v.fcs_reason
      vim.v.fcs_choice = (reason == 'changed' or reason == 'time') and not vim.bo[buffer].modified and 'reload' or ''
    end,
  })
  pcall(vim.cmd, 'silent! checktime ' .. buffer)
  pcall(vim.api.nvim_del_autocmd, autocmd)
  return reason
end

local function detach(buffer)
  detached[buffer] = detached[buffer] or {}
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer })) do
    table.insert(detached[buffer], client.id)
    vim.lsp.buf_detach_client(buffer, client.id)
  end
end

local function attach(buffer)
  for _, id in ipairs(detached[buffer] or {}) do
    if vim.lsp.get_client_by_id(id) then
      vim.lsp.buf_attach_client(buffer, id)
    end
  end
  detached[buffer] = nil
end

local function look(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local modified = vim.bo[buffer].modified
  local there = uv.fs_stat(name) ~= nil
  if detached[buffer] and (there or modified) then
    check(buffer)
    attach(buffer)
  end
  local reason = check(buffer)
  if modified and (reason == 'conflict' or reason == 'changed' or reason == 'deleted') then
    if not conflicts[buffer] then
      local message = ('lsp-mcp: %s has changed on disk, and has unsaved changes here'):format(name)
      vim.schedule(function()
        vim.notify(message, vim.log.levels.WARN)
      end)
    end
    conflicts[buffer] = true
  elseif not modified then
    conflicts[buffer] = nil
    if not there and not detached[buffer] and #vim.lsp.get_clients({ bufnr = buffer }) > 0 then
      detach(buffer)
    end
  end
end

-- Neovim 0.12 opens a buffer that it reads again with its servers under the version that it had: nobody could tell
-- what they say of the text before from what they say of this one.
M.on('BufReadPre', function(event)
  local versions = vim.lsp.util.buf_versions
  if #vim.lsp.get_clients({ bufnr = event.buf }) > 0 then
    versions[event.buf] = (versions[event.buf] or 0) + 1
  end
end)

M.on({ 'BufWritePost', 'BufReadPost', 'BufUnload' }, function(event)
  conflicts[event.buf] = nil
end)

--- What a program may know of the buffers of files, after each was compared with its file. `known` has the tick of
--- each buffer (by its number as a string) whose text is known already.
function M.sync(known)
  local found = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if of_a_file(buffer) then
      look(buffer)
      local tick = vim.api.nvim_buf_get_changedtick(buffer)
      local clients = {}
      for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer })) do
        clients[#clients + 1] = client.id
      end
      local entry = {
        number = buffer,
        name = vim.api.nvim_buf_get_name(buffer),
        tick = tick,
        modified = vim.bo[buffer].modified,
        conflict = conflicts[buffer] or false,
        gone = detached[buffer] ~= nil,
        version = vim.lsp.util.buf_versions[buffer] or tick,
        clients = clients,
        filetype = vim.bo[buffer].filetype,
      }
      if known[tostring(buffer)] ~= tick then
        local content = M.text(buffer)
        entry.text, entry.binary = content.text, content.binary
      end
      found[#found + 1] = entry
    end
  end
  return found
end

--- Load a file into a buffer that is on no list and in no window; its number. Without a swap file there is nothing to
--- ask about somebody else's.
function M.load(name)
  local buffer = vim.fn.bufadd(name)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    vim.cmd(('silent noswapfile call bufload(%d)'):format(buffer))
  end
  return buffer
end
