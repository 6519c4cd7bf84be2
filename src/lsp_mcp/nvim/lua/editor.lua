-- What the person sees: windows, the cursor, the buffer list.
local M = ...

--- The buffer that a caller names by its number, 0 for the current one; nil if there is none.
local function buffer_of(number)
  number = number == 0 and vim.api.nvim_get_current_buf() or number
  return vim.api.nvim_buf_is_valid(number) and number or nil
end

--- A buffer by its number: number, name (empty if it has none), and whether it is loaded and has unsaved changes.
function M.buffer(number)
  local buffer = buffer_of(number)
  if not buffer then
    return vim.NIL
  end
  return {
    number = buffer,
    name = vim.api.nvim_buf_get_name(buffer),
    type = vim.bo[buffer].buftype,
    loaded = vim.api.nvim_buf_is_loaded(buffer),
    modified = vim.bo[buffer].modified,
  }
end

--- The numbers of the buffers that exist.
function M.buffer_numbers()
  return vim.tbl_filter(function(buffer)
    return vim.bo[buffer].buflisted or vim.api.nvim_buf_is_loaded(buffer)
  end, vim.api.nvim_list_bufs())
end

--- The listed buffers, and those that are loaded with unsaved changes.
function M.list()
  local found = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buffer].buflisted or vim.bo[buffer].modified then
      found[#found + 1] = {
        id = buffer,
        name = vim.api.nvim_buf_get_name(buffer),
        line_count = vim.api.nvim_buf_line_count(buffer),
        loaded = vim.api.nvim_buf_is_loaded(buffer),
        modified = vim.bo[buffer].modified,
      }
    end
  end
  return found
end

--- Where the cursor is: its buffer, the line from 1 and the byte in it from 0, and the line's text.
function M.cursor()
  local buffer = vim.api.nvim_get_current_buf()
  local cursor = vim.api.nvim_win_get_cursor(0)
  return {
    number = buffer,
    window = vim.api.nvim_get_current_win(),
    name = vim.api.nvim_buf_get_name(buffer),
    row = cursor[1],
    byte = cursor[2],
    line = vim.api.nvim_get_current_line(),
  }
end

-- Whether a window shows files, any of them: no terminal, quickfix list, help or popup.
local function is_ordinary(window)
  return vim.api.nvim_win_get_config(window).relative == ''
    and vim.bo[vim.api.nvim_win_get_buf(window)].buftype == ''
    and not vim.wo[window].winfixbuf
    and not vim.wo[window].previewwindow
end

-- The window to show a buffer in: the current one, else the last ordinary one.
local function window_for(buffer)
  local current = vim.api.nvim_get_current_win()
  if vim.api.nvim_win_get_buf(current) == buffer or is_ordinary(current) then
    return current
  end
  local last = vim.fn.win_getid(vim.fn.winnr('#'))
  for _, window in ipairs({ last, unpack(vim.api.nvim_tabpage_list_wins(0)) }) do
    if window ~= 0 and is_ordinary(window) then
      return window
    end
  end
  error("no window can show a file: all are terminals, lists or help, or have 'winfixbuf'; open one with :new", 0)
end

--- Show a buffer, or a file, with the cursor at a line from 0 and a byte in it from 0: in the current window, or the last
--- one that shows files. Who types into a terminal goes on doing so. While a question is asked (confirm(), a swap file),
--- which keeps no request out, nothing is shown: nobody would see it before the answer.
function M.navigate(number, name, row, byte)
  local mode = vim.api.nvim_get_mode().mode
  if vim.startswith(mode, 'r') then
    return { waiting = mode }
  end
  local buffer = M.given(number) or vim.fn.bufadd(name)
  local shortmess = vim.o.shortmess
  vim.opt.shortmess:append('A') -- no question about a swap file
  local ok, err = pcall(vim.fn.bufload, buffer)
  vim.o.shortmess = shortmess
  if not ok then
    error(err, 0)
  end
  local window, typing = window_for(buffer), vim.api.nvim_get_mode().mode == 't'
  vim.api.nvim_win_call(window, function()
    vim.cmd(typing and "mark '" or "normal! m'") -- there is no :normal in terminal mode
  end)
  vim.bo[buffer].buflisted = true
  if vim.api.nvim_win_get_buf(window) ~= buffer then
    vim.api.nvim_win_set_buf(window, buffer)
  end
  vim.api.nvim_win_set_cursor(window, { row + 1, byte })
  if not typing then
    vim.api.nvim_set_current_win(window)
  end
  local line = vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1]
  return { name = vim.api.nvim_buf_get_name(buffer), line = line or '' }
end

local MOST = 200000 -- values in one answer

-- A copy of `value` that msgpack can carry, or an error that says what in it cannot be.
local function plain(value, where, within, count)
  count[1] = count[1] + 1
  if count[1] > MOST then
    error(('what it returns has more than %d values; return less of it'):format(MOST), 0)
  end
  local kind = type(value)
  if kind ~= 'table' then
    if kind == 'function' or kind == 'thread' or (kind == 'userdata' and value ~= vim.NIL) then
      error(('%s is a %s, which cannot be returned'):format(where, kind), 0)
    end
    return value
  end
  if within[value] then
    error(('%s is a table that contains itself'):format(where), 0)
  end
  within[value] = true
  local copy, numbers, others, largest = {}, 0, 0, 0
  for key, part in pairs(value) do
    if type(key) == 'number' and key >= 1 and key % 1 == 0 then
      numbers, largest = numbers + 1, math.max(largest, key)
    elseif type(key) == 'string' then
      others = others + 1
    else
      error(('%s has a key that is a %s'):format(where, type(key)), 0)
    end
    copy[key] = plain(part, ('%s[%s]'):format(where, vim.inspect(key)), within, count)
  end
  within[value] = nil
  if numbers > 0 and others > 0 then
    error(('%s is a list and has names too'):format(where), 0)
  end
  if largest > 2 * numbers + 16 then
    error(('%s is a list with holes: %d values up to index %d'):format(where, numbers, largest), 0)
  end
  return next(copy) == nil and getmetatable(value) == getmetatable(vim.empty_dict()) and vim.empty_dict() or copy
end

--- Run a person's Lua; its first result.
function M.run(code)
  local chunk, err = loadstring(code, '=exec_lua')
  if not chunk then
    error(err, 0)
  end
  return plain(chunk(), 'what it returns', {}, { 0 })
end

--- What Neovim says is wrong in a buffer, as `vim.diagnostic` has it: lines and bytes from 0.
function M.diagnostics(number)
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(number ~= vim.NIL and number or nil)) do
    found[#found + 1] = {
      bufnr = one.bufnr,
      lnum = one.lnum,
      col = one.col,
      end_lnum = one.end_lnum,
      end_col = one.end_col,
      severity = one.severity,
      message = one.message,
      source = one.source,
      code = one.code,
    }
  end
  return found
end

--- LSP `FormattingOptions` for a file, as the person has set them.
function M.formatting(name)
  local buffer = 0
  for _, number in ipairs(vim.api.nvim_list_bufs()) do
    buffer = vim.api.nvim_buf_get_name(number) == name and number or buffer
  end
  local options = buffer > 0 and vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer] or vim.go
  return {
    tabSize = options.shiftwidth > 0 and options.shiftwidth or options.tabstop,
    insertSpaces = options.expandtab,
  }
end
