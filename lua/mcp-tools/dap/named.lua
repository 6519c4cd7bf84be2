--- The user's configurations: `dap.configurations`, and `.vscode/launch.json` in the working directory.
local task = require('mcp-tools.task')

local M = {}

local NEEDED = { 'type', 'request', 'name' }

local function of_the_workspace()
  local ok, found = pcall(function()
    return require('dap.ext.vscode').getconfigs()
  end)
  if not ok then
    task.fail('cannot read .vscode/launch.json: %s', tostring(found))
  end
  return found
end

-- All of them, each once: users give several file types the same list.
local function all()
  local found = {}
  local function add(list)
    for _, one in ipairs(list) do
      local known = vim.iter(found):any(function(other)
        return vim.deep_equal(other, one)
      end)
      if not known then
        found[#found + 1] = one
      end
    end
  end
  for _, list in pairs(require('dap').configurations) do
    add(list)
  end
  add(of_the_workspace())
  return found
end

local function names_of(list)
  local names = vim.tbl_map(function(one)
    return ('%q (%s, %s)'):format(tostring(one.name), tostring(one.type), tostring(one.request))
  end, list)
  table.sort(names)
  return #names > 0 and table.concat(names, ', ') or 'none'
end

local function find(name, type_name)
  local configured = all()
  local found = vim.tbl_filter(function(one)
    return one.name == name and (not type_name or one.type == type_name)
  end, configured)
  if #found == 0 then
    task.fail('unknown configuration %q; available: %s', name, names_of(configured))
  elseif #found > 1 then
    task.fail('%d configurations are called %q: %s; pass `type` too', #found, name, names_of(found))
  end
  return found[1]
end

--- The configuration for a call of `dap_run`: the keys of the named one, overridden by those in the call.
function M.completed(args)
  local whole = {}
  if args.configuration then
    for key, value in pairs(find(args.configuration, args.type)) do
      whole[key] = vim.deepcopy(value)
    end
  end
  for key, value in pairs(args) do
    whole[key] = value
  end
  whole.configuration = nil
  for _, key in ipairs(NEEDED) do
    if type(whole[key]) ~= 'string' then
      task.fail(
        'missing required argument: %s (or pass `configuration`, a name in dap.configurations or .vscode/launch.json)',
        key
      )
    end
  end
  return whole
end

return M
