--- How answers show files, values and source lines: short, and bounded.
local M = {}

local LONGEST_LINE = 200 -- characters of a source line
local LARGEST_FILE = 10 * 1024 * 1024 -- bytes of a file whose lines are shown

--- `text` with at most `most` characters, and an ellipsis if some are missing.
function M.cut(text, most)
  -- No character is longer than 4 bytes, so this first cut removes nothing that would be shown.
  local short = #text > most * 4 + 4 and text:sub(1, most * 4 + 4) or text
  if vim.fn.strchars(short) <= most then
    return text
  end
  return vim.fn.strcharpart(short, 0, most) .. '…'
end

--- Whether a variable is not the program's own, by patterns of names.
function M.is_hidden(variable, patterns)
  for _, pattern in ipairs(patterns) do
    if variable.name:find(pattern) then
      return true
    end
  end
  return false
end

--- An adapter's message for a failed request. The longer of its two messages has the reason.
function M.words(problem)
  if type(problem) ~= 'table' then
    return tostring(problem)
  end
  local detail = type(problem.body) == 'table' and problem.body.error
  local short = tostring(problem.message or 'the debug adapter gives no reason')
  if type(detail) ~= 'table' or type(detail.format) ~= 'string' then
    return short
  end
  local long = detail.format:gsub('{([%w_]+)}', type(detail.variables) == 'table' and detail.variables or {})
  return #long > #short and long or short
end

--- `lines` without what `chatter` describes: lines that it begins with, and those after them that go on.
function M.without(lines, chatter)
  if not chatter then
    return lines
  end
  local kept, inside = {}, false
  for _, line in ipairs(lines) do
    local begins = false
    for _, pattern in ipairs(chatter.begins) do
      begins = begins or line:find(pattern) ~= nil
    end
    inside = begins or (inside and chatter.goes_on ~= nil and line:find(chatter.goes_on) ~= nil)
    if not inside then
      kept[#kept + 1] = line
    end
  end
  return kept
end

--- A path relative to the working directory if it is below it.
function M.path(path)
  if path == '' then
    return '[no file]'
  end
  return vim.fs.relpath(vim.fn.getcwd(), path) or path
end

--- `FILE:LINE` of a frame; nil if it has no source.
function M.at(frame)
  local source = frame and frame.source
  if not source then
    return nil
  end
  return ('%s:%d'):format(source.path and M.path(source.path) or source.name or '?', frame.line or 0)
end

-- The lines of a file as the debugger knows it: from disk, or from the buffer if there is no file.
local function lines_of(path)
  local stat = vim.uv.fs_stat(path)
  if stat and stat.type == 'file' and stat.size <= LARGEST_FILE then
    local ok, lines = pcall(vim.fn.readfile, path)
    if ok then
      return lines
    end
  end
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(path, '[]{}*?,\\') .. '$')
  if buffer > 0 and vim.api.nvim_buf_is_loaded(buffer) then
    return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  end
end

--- The lines around `line` with their numbers, the line itself marked with an arrow; nil if there is no source.
function M.source(path, line, context)
  local lines = path and lines_of(path)
  if not lines or line < 1 or line > #lines then
    return nil
  end
  local first, last = math.max(1, line - context), math.min(#lines, line + context)
  local width = #tostring(last)
  local shown = {}
  for number = first, last do
    local mark = number == line and '→' or ' '
    local text = M.cut((lines[number]:gsub('\r$', '')), LONGEST_LINE)
    shown[#shown + 1] = ('%s %' .. width .. 'd  %s'):format(mark, number, text)
  end
  return shown
end

return M
