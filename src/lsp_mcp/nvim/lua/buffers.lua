-- The buffers of this Neovim, and how they stand to the files on disk.
local M = ...

local uv = vim.uv
local seen = {} -- by buffer: what `stat` said of its file when they were last compared; '' for no file
local digests = {} -- by buffer with unsaved changes: of the file that they are changes of
local hidden = {} -- buffers that were loaded by us, and have no swap file
local detached = {} -- by buffer: the clients that were taken away from it because its file was deleted
M.detached = detached
local LARGE = 1024 * 1024 -- bytes; larger buffers are only read if a question is about them
local CONFLICT = 'lsp_mcp_conflict' -- a variable of the buffer, so that every connection sees it

-- Bytes of a buffer's text.
local function size(buffer)
  return vim.api.nvim_buf_get_offset(buffer, vim.api.nvim_buf_line_count(buffer))
end

local function text(buffer)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  if #lines == 1 and lines[1] == '' then
    return { text = '' } -- servers are told of one empty line: the same text until something is inserted
  end
  local ending = ({ dos = '\r\n', mac = '\r' })[vim.bo[buffer].fileformat] or '\n'
  for _, line in ipairs(lines) do
    if line:find('%z') then
      return { text = '', binary = true }
    end
  end
  return { text = table.concat(lines, ending) .. (vim.bo[buffer].eol and ending or '') }
end

--- The text of a buffer as its servers have it. Raises nothing: `binary` if it is none.
function M.text(buffer)
  if size(buffer) <= LARGE then
    return text(buffer)
  end
  return M.at_work(vim.api.nvim_buf_get_name(buffer), function()
    return text(buffer)
  end)
end

local function of_a_file(buffer)
  return vim.api.nvim_buf_is_loaded(buffer)
    and vim.bo[buffer].buftype == ''
    and vim.api.nvim_buf_get_name(buffer) ~= ''
    and not vim.api.nvim_buf_get_name(buffer):find('^%a[%w+.-]+://')
end

-- What stands in a file, as a hash; nil if that would take long.
local function digest(name)
  local stat = uv.fs_stat(name)
  if stat and stat.size > LARGE then
    return nil
  end
  local file = stat and io.open(name, 'rb')
  if not file then
    return ''
  end
  local content = file:read('*a')
  file:close()
  return vim.fn.sha256(content or '')
end

--- Neovim's own look at the file, without its questions: an unmodified buffer is read again. Why it would have asked.
function M.check(buffer)
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

--- Read the files of these buffers again, which have no unsaved changes.
function M.read_again(buffers)
  for _, buffer in ipairs(buffers) do
    if vim.api.nvim_buf_is_loaded(buffer) and not vim.bo[buffer].modified then
      local listed = vim.bo[buffer].buflisted
      M.keeping_views(buffer, function()
        vim.api.nvim_buf_call(buffer, function()
          vim.cmd('silent! keepalt keepjumps lockmarks edit!')
        end)
      end)
      vim.bo[buffer].buflisted = listed
    end
  end
end

--- Run `callback` with the views of all windows on a buffer as they were afterwards.
function M.keeping_views(buffer, callback)
  local views = {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    views[window] = vim.api.nvim_win_call(window, vim.fn.winsaveview)
  end
  local ok, err = pcall(callback)
  for window, view in pairs(views) do
    if vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window) == buffer then
      vim.api.nvim_win_call(window, function()
        vim.fn.winrestview(view)
      end)
    end
  end
  if not ok then
    error(err, 0)
  end
end

local function detach(buffer)
  detached[buffer] = detached[buffer] or {}
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer })) do
    table.insert(detached[buffer], client.id)
    vim.lsp.buf_detach_client(buffer, client.id)
  end
end

local function attach(buffer)
  local ids = detached[buffer]
  detached[buffer] = nil
  for _, id in ipairs(ids or {}) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.lsp.get_client_by_id(id) then
      vim.lsp.buf_attach_client(buffer, id)
    end
  end
end

local function signature(name)
  local stat = uv.fs_stat(name)
  return stat and ('%d.%d %d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino) or ''
end

local function conflict(buffer, now)
  vim.b[buffer][CONFLICT] = now or nil
end

-- Remember what a buffer's unsaved changes are changes of.
local function remember(buffer, name)
  digests[buffer] = digests[buffer] or digest(name)
end

local function look(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local before, now = seen[buffer], signature(name)
  local modified = vim.bo[buffer].modified
  if detached[buffer] and (now ~= '' or modified) then
    attach(buffer)
  end
  if vim.b[buffer][CONFLICT] and not modified then
    -- The person has undone all changes: what is on disk counts.
    conflict(buffer, nil)
    M.read_again({ buffer })
    before = nil
  end
  if modified and before == now and not vim.b[buffer][CONFLICT] then
    remember(buffer, name)
  end
  if before == now then
    return
  end
  seen[buffer] = now
  local reason = M.check(buffer)
  if modified then
    if reason == 'conflict' or reason == 'changed' then
      -- Neovim calls it a conflict too if a file was only touched. Of a large one that is not looked into.
      conflict(buffer, not digests[buffer] or digest(name) ~= digests[buffer] or nil)
    elseif not reason then
      remember(buffer, name) -- what Neovim has read, and not changed since then
    end
    return
  end
  -- Once for each change of a small file: it may be modified and its file touched before anything is heard of either.
  digests[buffer] = digest(name)
  if now == '' and (reason == 'deleted' or (before or '') ~= '') then
    detach(buffer)
  end
end

M.on({ 'BufWritePost', 'BufReadPost', 'BufUnload' }, function(event)
  local buffer = event.buf
  if vim.api.nvim_buf_is_valid(buffer) then
    conflict(buffer, nil)
  end
  if event.event == 'BufUnload' then
    seen[buffer], digests[buffer], hidden[buffer], detached[buffer] = nil, nil, nil, nil
  else
    digests[buffer] = seen[buffer] and digest(vim.api.nvim_buf_get_name(buffer)) or nil
    attach(buffer)
  end
end)

M.on('BufModifiedSet', function(event)
  local buffer, name = event.buf, vim.api.nvim_buf_get_name(event.buf)
  if seen[buffer] and vim.bo[buffer].modified and signature(name) == seen[buffer] then
    remember(buffer, name)
  end
end)

-- A deleted file is being written again.
M.on({ 'TextChanged', 'TextChangedI' }, function(event)
  if detached[event.buf] and vim.bo[event.buf].modified then
    attach(event.buf)
  end
end)

M.on('BufWinEnter', function(event)
  if hidden[event.buf] then
    hidden[event.buf] = nil
    pcall(function()
      vim.bo[event.buf].swapfile = vim.go.swapfile
    end)
  end
end)

M.at_leave(function()
  for _, buffer in ipairs(vim.tbl_keys(detached)) do
    attach(buffer)
  end
end)

-- Whether a question may be about a buffer's text. A large one is handed over only to be asked about: it takes
-- Neovim's time, which is a person's.
local function matters(buffer, clients)
  if size(buffer) <= LARGE then
    return true
  end
  for _, client in ipairs(clients) do
    if M.follows(client.id) then
      return true
    end
  end
  return vim.bo[buffer].modified and M.follows_filetype(vim.bo[buffer].filetype)
end

--- What a program may know of the buffers of files, after each was compared with its file. `known` has the tick of
--- each buffer (by its number as a string) whose text is known already, `wanted` the numbers of those whose text is
--- wanted even if it is large and no server has it; of others like that it is `withheld`.
function M.sync(known, wanted)
  local found = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if of_a_file(buffer) then
      look(buffer)
      local tick = vim.api.nvim_buf_get_changedtick(buffer)
      local versions = {}
      local clients = vim.lsp.get_clients({ bufnr = buffer })
      for _, client in ipairs(clients) do
        if known[tostring(buffer)] ~= tick then
          M.flush(client, buffer) -- or its server would be told of the present text only later
        end
        local told = M.version_told(client.id, vim.api.nvim_buf_get_name(buffer))
        versions[#versions + 1] = { client.id, told or vim.lsp.util.buf_versions[buffer] or tick }
      end
      local entry = {
        number = buffer,
        name = vim.api.nvim_buf_get_name(buffer),
        tick = tick,
        modified = vim.bo[buffer].modified,
        conflict = vim.b[buffer][CONFLICT] == true,
        gone = detached[buffer] ~= nil,
        versions = versions,
        filetype = vim.bo[buffer].filetype,
      }
      entry.withheld = not vim.list_contains(wanted, buffer) and not matters(buffer, clients)
      if known[tostring(buffer)] ~= tick and not entry.withheld then
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
    hidden[buffer] = true
    vim.cmd(('silent noswapfile call bufload(%d)'):format(buffer))
  end
  return buffer
end
