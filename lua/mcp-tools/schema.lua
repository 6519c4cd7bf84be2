--- The arguments of tools: validation of declarations, and of values against them.
local M = {}

local TYPES = { string = true, number = true, integer = true, boolean = true, object = true, array = true }
local PARTS = { 'type', 'description', 'required', 'default', 'enum', 'items', 'properties', 'format' }
local MOST_SHOWN = 60 -- characters of a wrong value

local is_part = {}
for _, part in ipairs(PARTS) do
  is_part[part] = true
end

-- The value, or nil for the null of msgpack and JSON.
local function given(value)
  if value == vim.NIL then
    return nil
  end
  return value
end

local function is_list(value)
  return type(value) == 'table' and (vim.islist(value) or next(value) == nil)
end

local function is_object(value)
  return type(value) == 'table' and (next(value) == nil or not vim.islist(value))
end

local fits = {
  string = function(value)
    return type(value) == 'string'
  end,
  boolean = function(value)
    return type(value) == 'boolean'
  end,
  number = function(value)
    return type(value) == 'number'
  end,
  integer = function(value)
    return type(value) == 'number' and value % 1 == 0
  end,
  array = is_list,
  object = is_object,
}

local function finite(value)
  return value and value == value and math.abs(value) ~= math.huge and value or nil
end

-- Some clients send numbers, booleans and objects as text.
local function from_text(value, wanted)
  if type(value) ~= 'string' or wanted == 'string' then
    return value
  elseif wanted == 'number' or wanted == 'integer' then
    return finite(tonumber(value)) or value -- LuaJIT also accepts `nan` and `inf`
  elseif wanted == 'boolean' then
    if value == 'true' or value == 'false' then
      return value == 'true'
    end
    return value
  end
  local ok, decoded = pcall(vim.json.decode, value, { luanil = { object = true, array = true } })
  return ok and type(decoded) == 'table' and decoded or value
end

local function shown(value)
  local text = type(value) == 'string' and ('%q'):format(value) or vim.inspect(value, { newline = ' ', indent = '' })
  return #text > MOST_SHOWN and text:sub(1, MOST_SHOWN) .. '…' or text
end

local function article(name)
  return (name:match('^[aeiou]') and 'an ' or 'a ') .. name
end

local check_one

local function check_all(declared, path)
  for name, one in pairs(declared) do
    if type(name) ~= 'string' then
      return ('%s is a list; it must be a table by name'):format(path)
    end
    local problem = check_one(one, path .. '.' .. name)
    if problem then
      return problem
    end
  end
end

function check_one(one, path)
  if type(one) ~= 'table' then
    return ('%s must be a table with a type'):format(path)
  elseif not TYPES[one.type] then
    local types = vim.tbl_keys(TYPES)
    table.sort(types)
    return ('%s has the type %s; available: %s'):format(path, shown(one.type), table.concat(types, ', '))
  end
  for part in pairs(one) do
    if not is_part[part] then
      return ('%s has %s; available: %s'):format(path, shown(part), table.concat(PARTS, ', '))
    end
  end
  if one.description ~= nil and type(one.description) ~= 'string' then
    return ('%s.description must be text'):format(path)
  elseif one.enum ~= nil and (not is_list(one.enum) or #one.enum == 0) then
    return ('%s.enum must be a list of values'):format(path)
  elseif one.default ~= nil and not fits[one.type](one.default) then
    return ('%s.default must be %s, and is %s'):format(path, article(one.type), shown(one.default))
  elseif one.default ~= nil and one.enum and not vim.list_contains(one.enum, one.default) then
    return ('%s.default must be one of its enum, and is %s'):format(path, shown(one.default))
  elseif one.items ~= nil then
    return check_one(one.items, path .. '.items')
  elseif one.properties ~= nil then
    if type(one.properties) ~= 'table' then
      return ('%s.properties must be a table by name'):format(path)
    end
    return check_all(one.properties, path .. '.properties')
  end
end

--- The problem of a declaration of arguments; nil if it is valid.
function M.check(args)
  return check_all(args, 'args')
end

local fill

-- `value` converted to the `declared` type, or nil and the reason why it does not fit.
local function fitted(value, declared, path)
  value = from_text(value, declared.type)
  local name = type(value) == 'number' and declared.type == 'string' and tostring(value)
  if name and vim.list_contains(declared.enum or {}, name) then
    value = name
  end
  if not fits[declared.type](value) then
    return nil, ('%s must be %s, and is %s'):format(path, article(declared.type), shown(value))
  end
  if declared.enum and not vim.list_contains(declared.enum, value) then
    local values = table.concat(vim.tbl_map(shown, declared.enum), ', ')
    return nil, ('%s must be one of %s, and is %s'):format(path, values, shown(value))
  end
  if declared.type == 'array' and declared.items then
    local list = {}
    for index, item in ipairs(value) do
      local one, problem = fitted(item, declared.items, ('%s[%d]'):format(path, index))
      if problem then
        return nil, problem
      end
      list[index] = one
    end
    return list
  elseif declared.type == 'object' and declared.properties then
    return fill(value, declared.properties, path .. '.')
  end
  return value
end

-- The values with defaults added and undeclared ones kept; or nil and the problem.
function fill(values, declared, prefix)
  local filled = {}
  for name, value in pairs(values) do
    filled[name] = given(value)
  end
  local names = vim.tbl_keys(declared)
  table.sort(names)
  for _, name in ipairs(names) do
    local one = declared[name]
    if filled[name] ~= nil then
      local value, problem = fitted(filled[name], one, prefix .. name)
      if problem then
        return nil, problem
      end
      filled[name] = value
    elseif one.default ~= nil then
      filled[name] = vim.deepcopy(one.default)
    elseif one.required then
      return nil, ('missing required argument: %s%s'):format(prefix, name)
    end
  end
  return filled
end

-- The declared name most similar to `name`, if any is similar.
local function nearest(name, declared)
  local best, score = nil, 0.5
  for known in pairs(declared) do
    local found = vim.fn.matchfuzzypos({ known }, name)[1]
    local alike = vim.startswith(known, name:sub(1, 3)) or #found > 0
    local ratio = math.min(#known, #name) / math.max(#known, #name)
    if alike and ratio > score then
      best, score = known, ratio
    end
  end
  return best
end

local function unknown(name, declared)
  local names = vim.tbl_keys(declared)
  table.sort(names)
  local near = nearest(name, declared)
  return ('unknown argument %s%s; it takes: %s'):format(
    name,
    near and (' (did you mean %s?)'):format(near) or '',
    #names > 0 and table.concat(names, ', ') or 'none'
  )
end

--- The arguments for `tool.execute`, checked and with defaults, or nil and the problem. Third: remarks on undeclared
--- arguments.
function M.apply(tool, args)
  if type(args) ~= 'table' or (vim.islist(args) and #args > 0) then
    return nil, 'the arguments must be an object', {}
  end
  local remarks = {}
  for name in pairs(args) do
    if not tool.args[name] and tool.extra ~= true then
      local problem = unknown(tostring(name), tool.args)
      if tool.extra == false then
        return nil, problem, {}
      end
      remarks[#remarks + 1] = problem
    end
  end
  table.sort(remarks)
  local filled, problem = fill(args, tool.args, '')
  return filled, problem, remarks
end

return M
