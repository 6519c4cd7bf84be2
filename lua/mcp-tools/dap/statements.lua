--- Lines by their text.
local M = {}

local NEAREST = 3

local function squeezed(text)
  return (vim.trim(text):gsub('%s+', ' '))
end

local function pairs_of(text)
  local found, count = {}, 0
  for index = 1, #text - 1 do
    local pair = text:sub(index, index + 1)
    found[pair] = (found[pair] or 0) + 1
    count = count + 1
  end
  return found, count
end

-- The similarity of two texts, from 0 to 1: the pairs of letters that they share.
local function likeness(one, other)
  local ours, count = pairs_of(one)
  local theirs, others = pairs_of(other)
  local shared = 0
  for pair, times in pairs(ours) do
    shared = shared + math.min(times, theirs[pair] or 0)
  end
  return count + others > 0 and 2 * shared / (count + others) or 0
end

--- The numbers of the lines that equal `statement`, ignoring whitespace; if there are none, of the lines that
--- contain it.
function M.matching(lines, statement)
  local wanted = squeezed(statement)
  local same, containing = {}, {}
  for number, line in ipairs(lines) do
    local text = squeezed(line)
    if text == wanted then
      same[#same + 1] = number
    elseif text:find(wanted, 1, true) then
      containing[#containing + 1] = number
    end
  end
  return #same > 0 and same or containing
end

--- The numbers of the most similar lines.
function M.nearest(lines, statement)
  local wanted = squeezed(statement)
  local scored = {}
  for number, line in ipairs(lines) do
    local score = likeness(wanted, squeezed(line))
    if score > 0.3 then
      scored[#scored + 1] = { number = number, score = score }
    end
  end
  table.sort(scored, function(one, other)
    return one.score > other.score or (one.score == other.score and one.number < other.number)
  end)
  return vim.tbl_map(function(one)
    return one.number
  end, vim.list_slice(scored, 1, NEAREST))
end

return M
