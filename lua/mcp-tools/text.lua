--- Buffers named by callers, and positions in their text.
---
--- Callers count lines and characters from 1, and a character is a Unicode code point. Neovim counts bytes, and a
--- language server code units. Here a byte is the number of bytes before a position, units the number of code units.
local task = require('mcp-tools.task')

local M = {}

local MOST_READ = 10 * 1024 * 1024 -- bytes of a file that no buffer holds

--- A buffer in answers: { file } relative to the working directory, or { bufnr } if it has no file.
function M.named(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if name == '' or vim.bo[buffer].buftype ~= '' then
    return { bufnr = buffer }
  end
  return { file = vim.fs.relpath(vim.fn.getcwd(), name) or name }
end

--- The same in a sentence.
function M.shown(buffer)
  local named = M.named(buffer)
  return named.file or ('buffer %d'):format(buffer)
end

local function known()
  local found = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buffer].buflisted then
      found[#found + 1] = ('%d (%s)'):format(buffer, M.named(buffer).file or 'no file')
    end
  end
  return #found > 0 and table.concat(found, ', ', 1, math.min(#found, 20)) or 'none'
end

--- The buffer for a caller's argument; nil or 0 is the current one. Ends the tool with a message if there is none.
function M.buffer(number)
  if number == nil or number == 0 then
    return vim.api.nvim_get_current_buf()
  elseif not vim.api.nvim_buf_is_valid(number) then
    task.fail('unknown buffer %d; available: %s', number, known())
  end
  return number
end

--- Like `buffer`; also ends the tool if its text is not loaded.
function M.loaded_buffer(number)
  local buffer = M.buffer(number)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    task.fail('buffer %d (%s) is not loaded: open the file in Neovim first', buffer, M.shown(buffer))
  end
  return buffer
end

--- The argument of all tools for one buffer.
M.BUFNR = { type = 'integer', description = 'buffer number; 0 or absent: the current buffer' }

--- A function(buffer, number) that returns the text of a line, from 1, of the buffer if it is loaded, otherwise of the
--- file; nil if there is none. Files are read once.
function M.reader()
  local files = {} -- by buffer
  return function(buffer, number)
    if vim.api.nvim_buf_is_loaded(buffer) then
      return vim.api.nvim_buf_get_lines(buffer, number - 1, number, false)[1]
    end
    if not files[buffer] then
      local path = vim.api.nvim_buf_get_name(buffer)
      local stat = vim.uv.fs_stat(path)
      local ok, lines = false, nil
      if stat and stat.type == 'file' and stat.size <= MOST_READ then
        ok, lines = pcall(vim.fn.readfile, path)
      end
      files[buffer] = ok and lines or {}
    end
    return files[buffer][number]
  end
end

--- The number of code points in a line.
function M.length(line)
  return vim.str_utfindex(line, 'utf-32')
end

--- The byte of a character; nil if the line is not that long. One past the last is its end.
function M.character_byte(line, character)
  if character < 1 or character > M.length(line) + 1 then
    return nil
  end
  return vim.str_byteindex(line, 'utf-32', character - 1, false)
end

--- The character that a byte is in. Positions past the end are the end.
function M.byte_character(line, byte)
  byte = math.max(byte, 0)
  if byte >= #line then
    return M.length(line) + 1
  end
  return vim.str_utfindex(line, 'utf-32', byte + vim.str_utf_start(line, byte + 1), false) + 1
end

--- The code units before a byte in `encoding`: utf-8, utf-16 or utf-32.
function M.byte_units(line, byte, encoding)
  return vim.str_utfindex(line, encoding, byte, false)
end

--- The byte after a number of code units. Positions past the end are the end, as in LSP.
function M.units_byte(line, units, encoding)
  return vim.str_byteindex(line, encoding, units, false)
end

--- The byte of a caller's place in a loaded buffer. Ends the tool if there is no such place.
function M.place_byte(buffer, line, character)
  local lines = vim.api.nvim_buf_line_count(buffer)
  if line < 1 or character < 1 then
    task.fail('lines and characters count from 1: there is no %d:%d', line, character)
  elseif line > lines then
    task.fail('line %d is past the end of %s: it has %d', line, M.shown(buffer), lines)
  end
  local text = vim.api.nvim_buf_get_lines(buffer, line - 1, line, false)[1]
  local byte = M.character_byte(text, character)
  if not byte then
    task.fail(
      'character %d is past the end of line %d of %s: it has %d',
      character,
      line,
      M.shown(buffer),
      M.length(text)
    )
  end
  return byte, text
end

--- A server's position as line and character; the character is nil if there is no such line.
function M.position_place(line_of, buffer, position, encoding)
  local number = position.line + 1
  local text = line_of(buffer, number)
  local character = text and M.byte_character(text, M.units_byte(text, position.character, encoding))
  return number, character
end

return M
