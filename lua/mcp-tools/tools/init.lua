--- The built-in tools: a module for each group that the user may turn on.
local config = require('mcp-tools.config')
local registry = require('mcp-tools.registry')

local M = {}

-- By group: the module, which returns a list of tools, or nil and why there are none.
local GROUPS = {
  dap = 'mcp-tools.tools.dap',
  diagnostics = 'mcp-tools.tools.diagnostics',
  lsp = 'mcp-tools.tools.lsp',
  undo = 'mcp-tools.tools.undo',
  test = 'mcp-tools.tools.test',
}

local loaded = {} -- by group: the names of its tools
M.missing = {} -- by group that is wanted: why it has no tools

--- Register the groups that are turned on, and remove those that no longer are.
function M.load()
  for group, wanted in pairs(config.get().tools) do
    if loaded[group] and not wanted then
      vim.tbl_map(registry.unregister, loaded[group])
      loaded[group] = nil
    elseif wanted and not loaded[group] then
      local tools, why = require(GROUPS[group]).tools()
      M.missing[group] = why
      if tools then
        loaded[group] = vim.tbl_map(function(tool)
          registry.register(tool)
          return tool.name
        end, tools)
      end
    end
  end
end

return M
