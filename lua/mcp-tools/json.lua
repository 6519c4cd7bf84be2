--- Checks that values can be written as JSON.
local M = {}

local DEEPEST = 400 -- levels of nesting; encoders and parsers fail at about a thousand

local function at(path, key)
  if type(key) == 'number' then
    return ('%s[%d]'):format(path, key)
  end
  return ('%s.%s'):format(path, key)
end

-- Whether a table is a list, with the keys 1 … n. Nil and the problem if it is neither a list nor an object.
local function kind(value)
  local numbers, names, highest = 0, 0, 0
  for key in next, value do -- `pairs` may call a metatable
    if type(key) == 'number' and key >= 1 and key % 1 == 0 then
      numbers, highest = numbers + 1, math.max(highest, key)
    elseif type(key) == 'string' then
      names = names + 1
    else
      return nil, ('has a key that is a %s (%s)'):format(type(key), tostring(key))
    end
  end
  if numbers > 0 and names > 0 then
    return nil, 'has both numbered and named keys'
  elseif highest ~= numbers then
    return nil, ('is a list with gaps: %d values, the last at %d'):format(numbers, highest)
  end
  return numbers > 0 and 'list' or 'object'
end

local function problem(value, path, parents, depth)
  local is = type(value)
  if value == nil or value == vim.NIL or is == 'string' or is == 'boolean' then
    return nil
  elseif is == 'number' then
    if value ~= value or value == math.huge or value == -math.huge then
      return ('%s is %s'):format(path, tostring(value))
    end
    return nil
  elseif is ~= 'table' then
    return ('%s is a %s'):format(path, is)
  elseif parents[value] then
    return ('%s contains itself'):format(path)
  elseif depth > DEEPEST then
    return ('%s is in more than %d tables'):format(path, DEEPEST)
  end
  local _, wrong = kind(value)
  if wrong then
    return ('%s %s'):format(path, wrong)
  end
  parents[value] = true
  for key, part in next, value do
    local inner = problem(part, at(path, key), parents, depth + 1)
    if inner then
      return inner
    end
  end
  parents[value] = nil
  return nil
end

--- The reason why `value` cannot be JSON, with the key below `name`; nil if it can.
function M.problem(value, name)
  return problem(value, name or 'result', {}, 1)
end

return M
