--- The command `:McpTools`. Nothing is loaded before it is used, and nothing is started but by it.
if vim.g.loaded_mcp_tools then
  return
end
vim.g.loaded_mcp_tools = true

local function say(text)
  vim.notify('mcp-tools: ' .. text, vim.log.levels.INFO)
end

-- Who asks for a bridge by hand wants to know when it is ready.
local function say_when_ready()
  vim.api.nvim_create_autocmd('User', {
    group = vim.api.nvim_create_augroup('McpToolsCommand', { clear = true }),
    pattern = 'McpToolsReady',
    once = true,
    callback = function(event)
      say(('the bridge is ready at http://127.0.0.1:%d/mcp; see :McpTools status'):format(event.data.port))
    end,
  })
end

local function duration(seconds)
  if seconds < 60 then
    return seconds .. ' s'
  elseif seconds < 3600 then
    return ('%d min'):format(seconds / 60)
  end
  return ('%d h %d min'):format(seconds / 3600, seconds % 3600 / 60)
end

-- How clients that are not integrated get in. Here, and nowhere else, the token is shown.
local function how_to_register(url)
  local header = 'Authorization: Bearer ' .. require('mcp-tools.bridge').get_token()
  return {
    'clients   ' .. url,
    '          ' .. header,
    'Claude Code:',
    ('  claude mcp add --transport http nvim %s --header "%s"'):format(url, header),
  }
end

local function status_lines()
  local status = require('mcp-tools.bridge').status()
  local lines = { 'bridge    ' .. status.state }
  local function add(name, value)
    if value then
      table.insert(lines, ('%-9s %s'):format(name, value))
    end
  end
  add('port', status.port)
  add('process', status.pid)
  add('uptime', status.uptime and duration(status.uptime))
  add('restarts', status.restarts > 0 and status.restarts)
  add('tools', require('mcp-tools.registry').count())
  add('problem', status.problem)
  if status.url then
    vim.list_extend(lines, how_to_register(status.url))
  elseif status.state == 'stopped' then
    table.insert(lines, 'Start it: :McpTools start')
  elseif status.problem then
    table.insert(lines, 'See :checkhealth mcp-tools')
  end
  return lines
end

local function tool_lines()
  local tools = require('mcp-tools.registry').list()
  local names = vim.tbl_keys(tools)
  table.sort(names)
  if #names == 0 then
    return { 'No tools are registered; see :help mcp-tools-setup' }
  end
  return vim.tbl_map(function(name)
    return ('nvim_%-28s %s'):format(name, tools[name].description:match('[^\n]*'))
  end, names)
end

-- Not kept by :messages, where the token would stay.
local function show(lines)
  vim.api.nvim_echo({ { table.concat(lines, '\n') } }, false, {})
end

local actions = {
  start = function()
    local bridge = require('mcp-tools.bridge')
    local port = bridge.get_port()
    if port then
      return say(('the bridge is running at http://127.0.0.1:%d/mcp'):format(port))
    end
    say_when_ready()
    bridge.start()
  end,
  stop = function()
    require('mcp-tools.bridge').stop()
  end,
  restart = function()
    say_when_ready()
    require('mcp-tools.bridge').restart()
  end,
  status = function()
    show(status_lines())
  end,
  tools = function()
    show(tool_lines())
  end,
}

local function names()
  local known = vim.tbl_keys(actions)
  table.sort(known)
  return known
end

vim.api.nvim_create_user_command('McpTools', function(command)
  local name = command.args == '' and 'status' or command.args
  if actions[name] then
    actions[name]()
  else
    local message = 'mcp-tools: unknown command :McpTools %s; available: %s'
    vim.notify(message:format(name, table.concat(names(), ', ')), vim.log.levels.ERROR)
  end
end, {
  nargs = '?',
  desc = 'MCP tools of this Neovim: start, stop, restart, status, tools',
  complete = function(lead)
    return vim.tbl_filter(function(name)
      return vim.startswith(name, lead)
    end, names())
  end,
})
