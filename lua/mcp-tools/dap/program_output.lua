--- The output of a program and its debugger: the last lines, by category, within bounds. Adapters send arbitrary
--- chunks; this module makes lines of them.
local shown = require('mcp-tools.dap.shown')

local M = {}

local MOST_LINES = 2000
local MOST_BYTES = 256 * 1024
local LONGEST_LINE = 4096 -- bytes; the rest is dropped, so that one line cannot displace all others

--- A ring for one debug session.
function M.new()
  return { lines = {}, first = 1, last = 0, bytes = 0, dropped = 0, open = {} }
end

local function drop_oldest(ring)
  local line = ring.lines[ring.first]
  ring.lines[ring.first] = nil
  ring.first = ring.first + 1
  ring.bytes = ring.bytes - #line.text
  ring.dropped = ring.dropped + 1
  if ring.open[line.category] == line then
    ring.open[line.category] = nil
  end
end

local function append(ring, line, text)
  local room = LONGEST_LINE - #line.text
  if #text > room then
    text, line.cut = text:sub(1, math.max(0, room)), true
    text = text:sub(1, #text + vim.str_utf_start(text .. ' ', #text + 1))
  end
  line.text = line.text .. text
  ring.bytes = ring.bytes + #text
end

local function new_line(ring, category)
  local line = { category = category, text = '', at = vim.uv.now() }
  ring.last = ring.last + 1
  ring.lines[ring.last] = line
  return line
end

--- Add a chunk. The position of a line is that of its first chunk.
function M.add(ring, category, chunk)
  local position = 1
  while position <= #chunk do
    local stop = chunk:find('\n', position, true)
    local line = ring.open[category] or new_line(ring, category)
    append(ring, line, (chunk:sub(position, (stop or #chunk + 1) - 1):gsub('\r$', '')))
    ring.open[category] = not stop and line or nil
    position = (stop or #chunk) + 1
  end
  while ring.last - ring.first + 1 > MOST_LINES or ring.bytes > MOST_BYTES do
    drop_oldest(ring)
  end
end

local function wanted(line, category)
  if category == nil or category == 'all' then
    return line.category ~= 'telemetry'
  end
  return line.category == category
end

--- The last `count` lines of a category, oldest first, and how many there are. Nil: of all but telemetry.
function M.tail(ring, count, category)
  local found, total = {}, 0
  for index = ring.last, ring.first, -1 do
    local line = ring.lines[index]
    if wanted(line, category) then
      total = total + 1
      if #found < count then
        table.insert(found, 1, line)
      end
    end
  end
  return found, total
end

--- The same as plain text.
function M.texts(ring, count, category)
  return vim.tbl_map(function(line)
    return line.cut and line.text .. '…' or line.text
  end, (M.tail(ring, count, category)))
end

--- The last `count` lines of the program's output, each cut to `longest`, for an answer about something else.
function M.short(ring, count, longest)
  return vim.tbl_map(function(text)
    return shown.cut(text, longest)
  end, M.texts(ring, count))
end

return M
