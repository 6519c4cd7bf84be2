--- MCP tools of this Neovim. See `:help mcp-tools`.
local M = {}

--- Turn on the features named in `options`; everything is off by default.
---@param options? mcp-tools.Options
function M.setup(options)
  require('mcp-tools.config').set(options)
  require('mcp-tools.tools').load()
  require('mcp-tools.integrations').load()
end

--- Register a tool; see `:help mcp-tools-register`.
---@param tool mcp-tools.Tool
function M.register(tool)
  require('mcp-tools.registry').register(tool)
end

--- Remove a tool by name.
---@param name string
---@return boolean # whether there was one
function M.unregister(name)
  return require('mcp-tools.registry').unregister(name)
end

--- All tools by name.
---@return table<string, mcp-tools.ListedTool>
function M.list_tools()
  return require('mcp-tools.registry').list()
end

--- Start the bridge. Has no effect if it already runs.
---@param options? mcp-tools.StartOptions
function M.start(options)
  require('mcp-tools.bridge').start(options)
end

--- Stop the bridge. Has no effect if it does not run.
function M.stop()
  require('mcp-tools.bridge').stop()
end

--- Whether the bridge is running or starting.
---@return boolean
function M.is_running()
  return require('mcp-tools.bridge').is_running()
end

--- The bridge's port on 127.0.0.1; nil until it is ready.
---@return integer?
function M.get_port()
  return require('mcp-tools.bridge').get_port()
end

--- The token that clients must send as `Authorization: Bearer …`; nil until the bridge is started.
---@return string?
function M.get_token()
  return require('mcp-tools.bridge').get_token()
end

return M
