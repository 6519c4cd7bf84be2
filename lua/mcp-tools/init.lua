--- MCP tools of this Neovim. See `:help mcp-tools`.
local M = {}

--- Turn on what the user wants. Nothing is on by itself.
function M.setup(options)
  require('mcp-tools.config').set(options)
  require('mcp-tools.tools').load()
  require('mcp-tools.integrations').load()
end

--- Register a tool; see `:help mcp-tools-register`.
function M.register(tool)
  require('mcp-tools.registry').register(tool)
end

--- Remove a tool by name; whether there was one.
function M.unregister(name)
  return require('mcp-tools.registry').unregister(name)
end

--- All tools by name.
function M.list_tools()
  return require('mcp-tools.registry').list()
end

--- Start the bridge. `options`: nvim_socket, port, on_ready(port), on_stop(). Harmless if it runs.
function M.start(options)
  require('mcp-tools.bridge').start(options)
end

--- Stop the bridge. Harmless if it does not run.
function M.stop()
  require('mcp-tools.bridge').stop()
end

--- Whether the bridge runs, or is being started.
function M.is_running()
  return require('mcp-tools.bridge').is_running()
end

--- The bridge's port on 127.0.0.1; nil until it is ready.
function M.get_port()
  return require('mcp-tools.bridge').get_port()
end

--- What clients must send as `Authorization: Bearer …`; nil until it is started.
function M.get_token()
  return require('mcp-tools.bridge').get_token()
end

return M
