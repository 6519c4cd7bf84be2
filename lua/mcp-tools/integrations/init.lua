--- Programs with which the bridge registers itself: a module `mcp-tools.integrations.<name>` for each.
---
--- Such a module has `setup()`, which begins to watch for its program and returns nil, or why it cannot; and may have
--- `stop()`, which ends that.
local config = require('mcp-tools.config')

local M = {}

local loaded = {} -- by name: the module
M.missing = {} -- name of a requested integration → why it is inactive

-- Nil, or why it is inactive. A failing integration must not end the user's configuration.
local function start(name)
  local found, integration = pcall(require, 'mcp-tools.integrations.' .. name)
  if not found then
    return ('cannot load integration %s: %s'):format(name, integration)
  end
  local ok, problem = pcall(integration.setup)
  if not ok then
    return ('the integration %s failed: %s'):format(name, problem)
  elseif problem == nil then
    loaded[name] = integration
  end
  return problem
end

local function stop(name)
  local integration = loaded[name]
  loaded[name] = nil
  if integration.stop then
    integration.stop()
  end
end

--- Set up the enabled ones, and stop the others.
function M.load()
  local wanted = config.get().integrations
  M.missing = {}
  for _, name in ipairs(vim.tbl_keys(loaded)) do
    if not wanted[name] then
      stop(name)
    end
  end
  for name, on in pairs(wanted) do
    if on and not loaded[name] then
      M.missing[name] = start(name)
    end
  end
end

return M
