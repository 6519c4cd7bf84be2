local spec = require('spec')
local it, equal, contains, eventually = spec.it, spec.equal, spec.contains, spec.eventually

local FAKE = spec.root .. '/tests/lua/fakes/bridge.py'

-- The report, as the user reads it.
local function report()
  vim.cmd('silent checkhealth mcp-tools')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  vim.cmd('silent bwipeout!')
  return text
end

local function setup(options)
  require('mcp-tools').setup(
    vim.tbl_deep_extend('force', { bridge = { command = { 'python3', FAKE } } }, options or {})
  )
end

-- A PATH with nothing on it but these programs, each a shell script.
local function with_path(programs, body)
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder)
  for name, script in pairs(programs) do
    vim.fn.writefile({ '#!/bin/sh', script }, folder .. '/' .. name)
    vim.uv.fs_chmod(folder .. '/' .. name, 493)
  end
  local path = vim.env.PATH
  vim.env.PATH = folder
  local ok, problem = pcall(body)
  vim.env.PATH = path
  if not ok then
    error(problem, 0)
  end
end

it('all is well', function()
  setup()
  require('mcp-tools').register({ name = 'one', description = 'does', execute = function() end })
  local text = report()
  local parts = { 'OK Neovim', 'OK bridge.command: python3', '1 registered', ':McpTools start', 'opencode is off' }
  for _, part in ipairs(parts) do
    contains(text, part)
  end
  equal(nil, text:find('ERROR', 1, true), text)
end)

it('the program is found, and its version told', function()
  with_path({ ['lsp-mcp'] = 'echo lsp-mcp, version 1.2.3' }, function()
    require('mcp-tools').setup()
    contains(report(), 'lsp-mcp (lsp-mcp, version 1.2.3)')
  end)
end)

it('a program that does not work is told of', function()
  with_path({ ['lsp-mcp'] = 'echo no python >&2; exit 4' }, function()
    require('mcp-tools').setup()
    local text = report()
    contains(text, 'exit code 4: no python')
    contains(text, 'pipx reinstall lsp-mcp')
  end)
end)

it('a command that is not there is told of, with how to get it', function()
  require('mcp-tools').setup({ bridge = { command = { '/nowhere/bridge' } } })
  local text = report()
  contains(text, '/nowhere/bridge cannot be run')
  contains(text, 'pipx install ')
end)

it('a bridge that runs is told of, without its token', function()
  setup()
  local bridge = require('mcp-tools.bridge')
  bridge.start()
  local port = eventually(bridge.get_port)
  local text = report()
  local token = bridge.get_token()
  bridge.stop()
  contains(text, ('it runs at http://127.0.0.1:%d/mcp'):format(port))
  equal(nil, text:find(token, 1, true))
end)

it('a bridge that failed is told of, with what it said last', function()
  local notify = vim.notify
  vim.notify = function() end
  local command = { 'python3', FAKE, '--fail', '3', '--say', 'no module named snake' }
  require('mcp-tools').setup({ bridge = { command = command, restarts = 0 } })
  local bridge = require('mcp-tools.bridge')
  bridge.start()
  eventually(function()
    return not bridge.is_running()
  end)
  vim.notify = notify
  local text = report()
  contains(text, 'ended with exit code 3')
  contains(text, 'no module named snake')
  contains(text, 'MCP_PORT=0 python3 ' .. FAKE)
end)

it('without tools it says how to get some', function()
  setup()
  contains(report(), 'none is registered')
end)

it('a group of tools that is missing is told of', function()
  setup()
  require('mcp-tools.tools').missing.lsp = 'there is a reason'
  contains(report(), 'the group lsp has no tools: there is a reason')
end)

it('debugging needs nvim-dap and adapters', function()
  package.loaded.dap = nil
  setup()
  equal(nil, report():find('debugging', 1, true))
  require('mcp-tools.config').set({ tools = { dap = true } })
  contains(report(), 'git clone https://github.com/mfussenegger/nvim-dap')
  package.loaded.dap = { adapters = {} }
  contains(report(), 'pip install debugpy')
  package.loaded.dap = { adapters = { python = {}, delve = {} } }
  contains(report(), 'debug adapters: delve, python')
  package.loaded.dap = nil
end)

it('the integration needs opencode.nvim and curl', function()
  setup({ integrations = { opencode = true } })
  contains(report(), 'git clone https://github.com/sudo-tee/opencode.nvim')
  package.loaded['opencode.state'] = { subscribe = function() end }
  setup({ integrations = { opencode = true } })
  contains(report(), 'OK opencode')
  with_path({}, function()
    contains(report(), 'apt install curl')
  end)
  package.loaded['opencode.state'] = nil
end)
