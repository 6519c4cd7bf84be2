--- Identifies the debugger of an adapter, to find its entry in `adapters`.
local adapters = require('mcp-tools.dap.adapters')

local M = {}

local UNKNOWN = { types = {}, defaults = {} }

local function command_of(adapter)
  if type(adapter) ~= 'table' then
    return '' -- a function makes it; its type's name must do
  end
  local program = type(adapter.executable) == 'table' and adapter.executable or adapter
  local words = { type(program.command) == 'string' and program.command or '' }
  vim.list_extend(words, type(program.args) == 'table' and program.args or {})
  return table.concat(vim.tbl_map(tostring, words), ' ')
end

--- The entry of the debugger that configurations of this type use; empty if there is none.
function M.known(type_name, adapter)
  local command = command_of(adapter)
  for _, one in pairs(adapters) do
    if command ~= '' and command:find(one.command, 1, true) then
      return one
    end
  end
  for _, one in pairs(adapters) do
    if vim.list_contains(one.types, type_name) then
      return one
    end
  end
  return UNKNOWN
end

--- Why there is no adapter of this type, and what to do.
function M.missing(type_name, configured)
  local names = vim.tbl_keys(configured)
  table.sort(names)
  local wanted = M.known(type_name)
  for _, name in ipairs(names) do
    if wanted ~= UNKNOWN and M.known(name, configured[name]) == wanted then
      return ('unknown debug adapter %q; %q is the same debugger: use that as `type`'):format(type_name, name)
    end
  end
  local list = #names > 0 and table.concat(names, ', ') or 'none'
  local message = 'unknown debug adapter %q; configured in this Neovim: %s. To configure one: %s'
  return message:format(type_name, list, wanted.example or ':help dap-adapter')
end

return M
