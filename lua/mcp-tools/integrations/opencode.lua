--- OpenCode: while opencode.nvim (sudo-tee/opencode.nvim) has a server, the bridge runs and is registered with it.
---
--- opencode.nvim may publish its server before the server has a URL, and keep it after the URL is gone; so what counts is
--- the URL, which is read whenever one of its promises or events reports a change.
local bridge = require('mcp-tools.bridge')
local http = require('mcp-tools.integrations.http')

local M = {}

local NAME = 'nvim-tools' -- as OpenCode knows the bridge
local HOLDER = 'opencode'

local group -- of autocommands; nil unless it is set up
local state -- opencode.nvim's module
local server -- opencode.nvim's server object
local target -- the URL that the bridge is for
local give_up -- cancels the current registration

local function tell(problem)
  vim.notify(('mcp-tools: OpenCode at %s refused the bridge: %s'):format(target, problem), vim.log.levels.WARN)
end

local function cancel()
  if give_up then
    give_up()
    give_up = nil
  end
end

-- OpenCode keeps its MCP servers for each folder. It decodes the header, which can hold only ASCII.
local function directory()
  local folder = state.current_cwd or vim.fn.getcwd()
  return folder:find('[^ -$&-~]') and vim.uri_encode(folder, 'rfc3986') or folder
end

local function user()
  local password = vim.env.OPENCODE_SERVER_PASSWORD
  if password and password ~= '' then
    return (vim.env.OPENCODE_SERVER_USERNAME or 'opencode') .. ':' .. password
  end
end

-- OpenCode answers 200 even if it cannot reach the bridge; the answer contains the real state.
local function refusal(body)
  local ok, answer = pcall(vim.json.decode, body)
  local about = ok and type(answer) == 'table' and answer[NAME]
  if type(about) == 'table' and about.status and about.status ~= 'connected' then
    return tostring(about.error or about.status)
  end
end

local function register()
  local port = bridge.get_port()
  if not target or not port then
    return
  end
  cancel()
  give_up = http.post({
    url = target .. '/mcp',
    user = user(),
    headers = { ['x-opencode-directory'] = directory() },
    body = {
      name = NAME,
      config = {
        type = 'remote',
        url = ('http://127.0.0.1:%d/mcp'):format(port),
        enabled = true,
        headers = { Authorization = 'Bearer ' .. bridge.get_token() },
      },
    },
  }, function(problem, body)
    give_up = nil
    problem = problem or refusal(body)
    if problem then
      tell(problem)
    end
  end)
end

local function leave()
  target = nil
  cancel()
  bridge.release(HOLDER)
end

local function serve(url)
  url = url:gsub('/+$', '')
  if url ~= target then
    target = url
    -- If it is ready already, no event follows.
    local ready = bridge.get_port()
    bridge.start({ holder = HOLDER })
    if ready then
      register()
    end
  end
end

local function look()
  if not group then
    return
  elseif server and server.url then
    serve(server.url)
  else
    leave()
  end
end

-- Have `look` called when one of the server's promises is settled.
local function watch(promise)
  if type(promise) == 'table' and promise.and_then then
    promise:and_then(vim.schedule_wrap(look))
  end
end

local function follow(new)
  if new and new ~= server then
    -- Even at the same URL another server does not know the bridge.
    target = nil
    watch(new.spawn_promise)
    watch(new.shutdown_promise)
  end
  server = new
  look()
end

-- Kept so that opencode.nvim recognizes it.
local function on_server(_, new)
  if group then
    vim.schedule(function()
      follow(new)
    end)
  end
end

--- Begin to watch opencode.nvim. Returns nil, or why it cannot.
function M.setup()
  local found, module = pcall(require, 'opencode.state')
  if not found then
    return 'opencode.nvim is not installed: there is no module opencode.state'
  elseif type(module) ~= 'table' or type(module.subscribe) ~= 'function' then
    return 'this opencode.nvim has no require("opencode.state").subscribe; get github.com/sudo-tee/opencode.nvim'
  elseif vim.fn.executable('curl') ~= 1 then
    return 'there is no curl on PATH'
  end
  state = module
  group = vim.api.nvim_create_augroup('McpToolsOpencode', { clear = true })
  vim.api.nvim_create_autocmd('User', { group = group, pattern = 'McpToolsReady', callback = register })
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = 'OpencodeEvent:custom.server_*',
    callback = vim.schedule_wrap(look),
  })
  state.subscribe('opencode_server', on_server)
  state.subscribe('current_cwd', register)
  follow(state.opencode_server)
end

--- No longer watch it.
function M.stop()
  if group then
    vim.api.nvim_del_augroup_by_id(group)
    group = nil
    leave()
    server = nil
  end
end

return M
