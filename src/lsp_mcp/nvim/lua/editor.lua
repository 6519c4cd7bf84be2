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

--- Where the cursor is: its buffer, the line from 0 and the byte in it from 0, and the line's text.
function M.cursor()
  local buffer = vim.api.nvim_get_current_buf()
  local cursor = vim.api.nvim_win_get_cursor(0)
  return {
    number = buffer,
    name = vim.api.nvim_buf_get_name(buffer),
    row = cursor[1] - 1,
    byte = cursor[2],
    line = vim.api.nvim_get_current_line(),
  }
end

--- Show a buffer, or a file, in the current window with the cursor at a line from 0 and a byte in it from 0.
function M.navigate(number, name, row, byte)
  local buffer = M.given(number) or vim.fn.bufadd(name)
  local shortmess = vim.o.shortmess
  vim.opt.shortmess:append('A') -- no question about a swap file
  local ok, err = pcall(vim.fn.bufload, buffer)
  vim.o.shortmess = shortmess
  if not ok then
    error(err, 0)
  end
  vim.cmd("normal! m'")
  vim.bo[buffer].buflisted = true
  if vim.api.nvim_get_current_buf() ~= buffer then
    vim.api.nvim_win_set_buf(0, buffer)
  end
  vim.api.nvim_win_set_cursor(0, { row + 1, byte })
  return { name = vim.api.nvim_buf_get_name(buffer), line = vim.api.nvim_get_current_line() }
end

--- Run a person's Lua; its first result.
function M.run(code)
  local chunk, err = loadstring(code, '=exec_lua')
  if not chunk then
    error(err, 0)
  end
  return chunk()
end
