local spec = require('spec')
local it, equal, contains = spec.it, spec.equal, spec.contains

-- What `setup` says of the options.
local function refusal(options)
  local ok, message = pcall(require('mcp-tools.config').set, options)
  equal(false, ok, 'it is refused')
  return message
end

it('nothing is on by itself', function()
  require('mcp-tools').setup()
  local config = require('mcp-tools.config').get()
  for _, group in ipairs({ 'tools', 'integrations' }) do
    for name, on in pairs(config[group]) do
      equal(false, on, group .. '.' .. name)
    end
  end
  equal({ 0, 'info', 3 }, { config.bridge.port, config.bridge.log_level, config.bridge.restarts })
  equal({ 0, false }, { require('mcp-tools.registry').count(), require('mcp-tools').is_running() })
end)

it('what is not set keeps its default', function()
  local config = require('mcp-tools.config')
  config.set({ tools = { dap = true }, bridge = { port = 4000, command = { 'one', 'two' } } })
  equal({ true, false }, { config.get().tools.dap, config.get().tools.lsp })
  local bridge = config.get().bridge
  equal({ 4000, 'info', { 'one', 'two' } }, { bridge.port, bridge.log_level, bridge.command })
end)

it('a second setup forgets the first', function()
  local config = require('mcp-tools.config')
  config.set({ tools = { dap = true }, bridge = { command = { 'one', 'two', 'three' } } })
  config.set({ bridge = { command = { 'one' } } })
  equal({ false, { 'one' } }, { config.get().tools.dap, config.get().bridge.command })
end)

it('options that are refused change nothing', function()
  local config = require('mcp-tools.config')
  config.set({ tools = { dap = true } })
  refusal({ tools = { dap = false, nonsense = true } })
  equal(true, config.get().tools.dap)
end)

it('a wrong option is named, with those that exist', function()
  contains(refusal({ tool = {} }), 'unknown option tool; available: bridge, integrations, on_ready, on_stop, tools')
  contains(refusal({ tools = { debug = true } }), 'unknown option tools.debug; available: dap, diagnostics')
  contains(refusal({ bridge = { ports = 1 } }), 'unknown option bridge.ports')
end)

it('a wrong value is named, with what it must be', function()
  for text, options in pairs({
    ['the options must be a table'] = 'dap',
    ['tools must be a table'] = { tools = false },
    ['integrations must be a table'] = { integrations = 'opencode' },
    ['tools.dap must be true or false'] = { tools = { dap = 'yes' } },
    ['integrations.opencode must be true or false'] = { integrations = { opencode = {} } },
    ['bridge.port must be a number'] = { bridge = { port = '80' } },
    ['bridge.port must be a whole number from 0 to 65535'] = { bridge = { port = 70000 } },
    ['bridge.restarts must be a whole number'] = { bridge = { restarts = -1 } },
    ['bridge.log_level must be one of debug, info, warn, error'] = { bridge = { log_level = 'loud' } },
    ['bridge.command must be a table'] = { bridge = { command = 'lsp-mcp bridge' } },
    ['bridge.command must be a list of words, the program first'] = { bridge = { command = {} } },
    ['bridge.command must be a list of words'] = { bridge = { command = { 'lsp-mcp', 1 } } },
    ['on_ready must be a function'] = { on_ready = 'print' },
  }) do
    contains(refusal(options), 'mcp-tools: ' .. text)
  end
end)

it('integrations that are not built in may be named', function()
  require('mcp-tools.config').set({ integrations = { mine = true } })
  equal({ mine = true, opencode = false }, require('mcp-tools.config').get().integrations)
end)

-- The examples in the help that are Lua.
local function examples()
  local found, example = {}, nil
  for _, line in ipairs(vim.fn.readfile(spec.root .. '/doc/mcp-tools.txt')) do
    if line:match('>lua$') then
      example = {}
    elseif example and line:match('^%S') then
      table.insert(found, table.concat(example, '\n'))
      example = nil
    elseif example then
      table.insert(example, line)
    end
  end
  return found
end

it('the examples in the help are Lua', function()
  equal(true, #examples() > 8)
  for _, example in ipairs(examples()) do
    local _, problem = loadstring(example)
    equal(nil, problem, example)
  end
end)

it('the options in the help are those that exist, with their defaults', function()
  for _, example in ipairs(examples()) do
    if example:find('on_stop = nil', 1, true) then
      local defaults = vim.deepcopy(require('mcp-tools.config').get())
      loadstring(example)()
      equal(defaults, require('mcp-tools.config').get())
      return
    end
  end
  error('the help shows no defaults')
end)

it('the tool in the help works', function()
  for _, example in ipairs(examples()) do
    if example:find("name = 'find_lines'", 1, true) then
      loadstring(example)()
    end
  end
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'one', 'two' })
  equal({ { line = 2, text = 'two' } }, (spec.call('find_lines', { pattern = '^t' })))
end)

it('the help has tags', function()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder)
  vim.uv.fs_copyfile(spec.root .. '/doc/mcp-tools.txt', folder .. '/mcp-tools.txt')
  vim.cmd.helptags(folder)
  contains(table.concat(vim.fn.readfile(folder .. '/tags'), '\n'), 'mcp-tools-register\t')
end)
