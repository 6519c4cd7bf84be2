--- `:checkhealth mcp-tools`: what is installed, what is missing, and the command that installs it.
local M = {}

local PLUGINS = vim.fn.stdpath('data') .. '/site/pack/plugins/start/'
local GET_DAP = 'git clone https://github.com/mfussenegger/nvim-dap ' .. PLUGINS .. 'nvim-dap'
local GET_OPENCODE = 'git clone https://github.com/sudo-tee/opencode.nvim ' .. PLUGINS .. 'opencode.nvim'
local VERSION_WITHIN = 15000 -- milliseconds

local health = vim.health

local function check_neovim()
  health.start('mcp-tools: Neovim')
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok('Neovim ' .. version)
  else
    health.error('Neovim ' .. version .. ' is too old: 0.11 or newer is needed', {
      'get it from https://github.com/neovim/neovim/releases',
    })
  end
  if vim.v.servername ~= '' then
    health.ok('it listens on ' .. vim.v.servername)
  else
    health.info('it listens on no socket; starting the bridge makes one (by hand: :call serverstart())')
  end
end

-- The output of `program --version`, or nil and the reason.
local function version_of(program)
  local ok, result = pcall(function()
    return vim.system({ program, '--version' }, { text = true, timeout = VERSION_WITHIN }):wait()
  end)
  if not ok then
    return nil, result
  elseif result.code ~= 0 then
    return nil, ('it ended with exit code %d: %s'):format(result.code, vim.trim(result.stderr or ''))
  end
  return vim.trim(result.stdout)
end

local function check_program()
  health.start('mcp-tools: the program of the bridge')
  local bridge = require('mcp-tools.bridge')
  local get_program = { bridge.install_command(), 'or set the option bridge.command' }
  local command, why = bridge.command()
  if not command then
    return health.error('the bridge ' .. why, get_program)
  end
  local program = vim.fn.exepath(command[1])
  if program == '' then
    return health.error(('%s cannot be run'):format(command[1]), get_program)
  elseif require('mcp-tools.config').get().bridge.command then
    return health.ok('bridge.command: ' .. table.concat(command, ' '))
  end
  local version, problem = version_of(program)
  if version then
    health.ok(('%s (%s)'):format(program, version))
  else
    health.error(('%s does not work: %s'):format(program, problem), { 'pipx reinstall lsp-mcp' })
  end
end

local function check_bridge()
  health.start('mcp-tools: the bridge')
  local status = require('mcp-tools.bridge').status()
  if status.state == 'ready' then
    health.ok(('it runs at %s, for %d s, as process %d'):format(status.url, status.uptime, status.pid))
  elseif status.state == 'failed' then
    local command = table.concat(require('mcp-tools.bridge').command() or { 'lsp-mcp bridge' }, ' ')
    health.error('it ' .. status.problem, {
      ':McpTools start',
      ('or in a shell: NVIM_LISTEN_ADDRESS=%s MCP_PORT=0 %s'):format(vim.v.servername, command),
    })
  elseif status.state == 'stopped' then
    health.info('it does not run; an integration starts it, or: :McpTools start')
  else
    health.warn('it is ' .. status.state)
  end
  if status.restarts > 0 then
    health.warn(('it has crashed, and been restarted %d times'):format(status.restarts))
  end
  if #status.stderr > 0 and (status.state ~= 'ready' or status.restarts > 0) then
    health.info('it last said:\n' .. table.concat(status.stderr, '\n'))
  end
end

local function check_tools()
  health.start('mcp-tools: tools')
  local count = require('mcp-tools.registry').count()
  if count > 0 then
    health.ok(('%d registered; they are listed by :McpTools tools'):format(count))
  else
    health.warn('none is registered', {
      "require('mcp-tools').setup({ tools = { dap = true } })",
      ':help mcp-tools-setup and :help mcp-tools-register',
    })
  end
  for group, why in vim.spairs(require('mcp-tools.tools').missing) do
    health.error(('the group %s has no tools: %s'):format(group, why), { ':help mcp-tools-' .. group })
  end
end

local function check_debugging()
  if not require('mcp-tools.config').get().tools.dap then
    return
  end
  health.start('mcp-tools: debugging')
  local found, dap = pcall(require, 'dap')
  if not found then
    return health.error('nvim-dap is not installed', { GET_DAP })
  end
  health.ok('nvim-dap is installed')
  local adapters = vim.tbl_keys(dap.adapters or {})
  table.sort(adapters)
  if #adapters > 0 then
    health.ok('debug adapters: ' .. table.concat(adapters, ', '))
  else
    health.warn('nvim-dap has no debug adapters', {
      ':help dap-adapter',
      'for Python: pip install debugpy',
      'for Go: go install github.com/go-delve/delve/cmd/dlv@latest',
    })
  end
end

local function check_opencode(missing)
  if not missing and vim.fn.executable('curl') == 1 then
    return health.ok('opencode: it waits for a server of opencode.nvim, or has one')
  end
  if not pcall(require, 'opencode.state') then
    health.error('opencode: opencode.nvim is not installed', { GET_OPENCODE })
  elseif vim.fn.executable('curl') ~= 1 then
    health.error('opencode: curl is not installed', { 'apt install curl', 'or: brew install curl' })
  else
    health.error('opencode: ' .. missing)
  end
end

local function check_integrations()
  health.start('mcp-tools: integrations')
  local missing = require('mcp-tools.integrations').missing
  local none = true
  for name, wanted in vim.spairs(require('mcp-tools.config').get().integrations) do
    none = none and not wanted
    if not wanted then
      health.info(name .. ' is off')
    elseif name == 'opencode' then
      check_opencode(missing[name])
    elseif missing[name] then
      health.error(('%s: %s'):format(name, missing[name]), { ':help mcp-tools-integrations' })
    else
      health.ok(name .. ' is set up')
    end
  end
  if none then
    health.info('other clients are registered by hand: :McpTools status says how')
  end
end

--- The entry point of `:checkhealth mcp-tools`.
function M.check()
  health = vim.health
  check_neovim()
  check_program()
  check_bridge()
  check_tools()
  check_debugging()
  check_integrations()
end

return M
