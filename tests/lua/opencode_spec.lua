local spec = require('spec')
local equal, contains, eventually = spec.equal, spec.contains, spec.eventually

local FAKES = spec.root .. '/tests/lua/fakes/'
local notify = vim.notify
local notes, bridges, servers

local function lines_of(file)
  return vim.uv.fs_stat(file) and vim.tbl_map(vim.json.decode, vim.fn.readfile(file)) or {}
end

-- A real HTTP server. `got()` returns what was posted.
local function serve(options)
  local record = vim.fn.tempname()
  local server = {}
  function server.got()
    return lines_of(record)
  end
  local command = vim.list_extend({ 'python3', FAKES .. 'opencode.py', '--record', record }, options or {})
  server.process = vim.system(command, {
    stdout = function(_, line)
      server.port = server.port or tonumber(line)
    end,
  })
  table.insert(servers, server.process)
  eventually(function()
    return server.port
  end, 'the server listens')
  server.url = 'http://127.0.0.1:' .. server.port
  return server
end

-- The part of opencode.nvim's state module that is used. `set` is how it changes.
local function new_state(server)
  local subscribers = {}
  local state = { opencode_server = server, current_cwd = '/work/some project' }
  function state.subscribe(key, callback)
    subscribers[key] = subscribers[key] or {}
    if not vim.list_contains(subscribers[key], callback) then
      table.insert(subscribers[key], callback)
    end
  end
  function state.set(key, new)
    local old = state[key]
    state[key] = new
    for _, callback in ipairs(subscribers[key] or {}) do
      vim.schedule(function()
        callback(key, new, old)
      end)
    end
  end
  package.loaded['opencode.state'] = state
  return state
end

local function new_promise()
  local callbacks = {}
  return {
    and_then = function(_, callback)
      table.insert(callbacks, callback)
    end,
    resolve = function()
      vim.tbl_map(vim.schedule, callbacks)
    end,
  }
end

local function setup(on)
  require('mcp-tools').setup({
    integrations = { opencode = on ~= false },
    bridge = { command = { 'python3', FAKES .. 'bridge.py', '--record', bridges } },
  })
end

local function it(sentence, body)
  spec.it(sentence, function()
    notes, servers, bridges = {}, {}, vim.fn.tempname()
    vim.notify = function(text)
      table.insert(notes, text)
    end
    local bridge = require('mcp-tools.bridge')
    bridge.times.pause = 20
    require('mcp-tools.integrations.http').times.pause = 50
    local ok, problem = xpcall(body, debug.traceback, bridge)
    vim.notify = notify
    require('mcp-tools.integrations.opencode').stop()
    package.loaded['opencode.state'] = nil
    bridge.stop()
    for _, process in ipairs(servers) do
      process:kill('sigkill')
    end
    for _, one in ipairs(lines_of(bridges)) do
      eventually(function()
        return vim.uv.kill(one.pid, 0) ~= 0
      end, 'the fake ends')
    end
    if not ok then
      error(problem, 0)
    end
  end)
end

local function registered(server, times)
  return eventually(function()
    local got = server.got()
    return #got >= (times or 1) and got
  end, 'the bridge is registered')
end

it('when a server appears the bridge is started and registered', function(bridge)
  local server, state = serve(), new_state()
  setup()
  equal(false, bridge.is_running())
  state.set('opencode_server', { url = server.url })
  local got = registered(server)[1]
  equal('/mcp', got.path)
  equal({
    name = 'nvim-tools',
    config = {
      type = 'remote',
      url = ('http://127.0.0.1:%d/mcp'):format(bridge.get_port()),
      enabled = true,
      headers = { Authorization = 'Bearer ' .. bridge.get_token() },
    },
  }, got.body)
  equal('application/json', got.headers['content-type'])
  equal('/work/some project', got.headers['x-opencode-directory'])
  equal(nil, got.headers.authorization)
  equal({ {}, {} }, { notes, require('mcp-tools.integrations').missing })
end)

it('a server that is there already is used', function()
  local server = serve()
  new_state({ url = server.url .. '/' })
  setup()
  equal('/mcp', registered(server)[1].path)
end)

it('a server that has no URL yet is used when it has one', function(bridge)
  local server, state = serve(), new_state()
  setup()
  local object = { spawn_promise = new_promise(), shutdown_promise = new_promise() }
  state.set('opencode_server', object)
  vim.wait(50)
  equal(false, bridge.is_running())
  object.url = server.url
  object.spawn_promise.resolve()
  registered(server)
  -- Its end, too, may be told by the promise alone.
  object.url = nil
  object.shutdown_promise.resolve()
  eventually(function()
    return not bridge.is_running()
  end)
end)

it('an event that tells of the URL is enough', function()
  local server, state = serve(), new_state()
  setup()
  local object = {}
  state.set('opencode_server', object)
  vim.wait(20)
  object.url = server.url
  vim.api.nvim_exec_autocmds('User', { pattern = 'OpencodeEvent:custom.server_ready' })
  registered(server)
end)

it('when the server goes, so does the bridge', function(bridge)
  local server, state = serve(), new_state()
  setup()
  state.set('opencode_server', { url = server.url })
  registered(server)
  state.set('opencode_server', nil)
  eventually(function()
    return not bridge.is_running()
  end)
  state.set('opencode_server', { url = server.url })
  registered(server, 2)
end)

it('a bridge that was started by hand is registered at once, and stays', function(bridge)
  local server, state = serve(), new_state()
  setup()
  bridge.start()
  eventually(bridge.get_port)
  state.set('opencode_server', { url = server.url })
  registered(server)
  state.set('opencode_server', nil)
  vim.wait(50)
  equal({ true, 1 }, { bridge.is_running(), #server.got() })
end)

it('a bridge that was stopped and started by hand is registered again', function(bridge)
  local server, state = serve(), new_state()
  setup()
  state.set('opencode_server', { url = server.url })
  registered(server)
  bridge.stop()
  bridge.start()
  registered(server, 2)
end)

it('after a crash of the bridge it is registered again', function(bridge)
  local server, state = serve(), new_state()
  setup()
  state.set('opencode_server', { url = server.url })
  registered(server)
  vim.uv.kill(bridge.status().pid, 'sigkill')
  local got = registered(server, 2)
  equal(('http://127.0.0.1:%d/mcp'):format(bridge.get_port()), got[2].body.config.url)
end)

it('a server at another URL is registered again, with the same bridge', function(bridge)
  local first, second, state = serve(), serve(), new_state()
  setup()
  state.set('opencode_server', { url = first.url })
  registered(first)
  local pid = bridge.status().pid
  state.set('opencode_server', { url = second.url })
  registered(second)
  equal({ 1, pid }, { #first.got(), bridge.status().pid })
end)

it('another server at the same URL is registered, the same one only once', function()
  local server, state = serve(), new_state()
  setup()
  local first = { url = server.url }
  state.set('opencode_server', first)
  registered(server)
  state.set('opencode_server', first)
  vim.wait(50)
  equal(1, #server.got())
  state.set('opencode_server', { url = server.url })
  registered(server, 2)
end)

it('in another folder it is registered again', function()
  local server, state = serve(), new_state()
  setup()
  state.set('opencode_server', { url = server.url })
  registered(server)
  state.set('current_cwd', '/work/ö')
  equal('/work/%c3%b6', registered(server, 2)[2].headers['x-opencode-directory']:lower())
end)

it('the password of the server is sent if there is one', function()
  vim.env.OPENCODE_SERVER_PASSWORD = 'se"cr\\et'
  local server, state = serve(), new_state()
  setup()
  state.set('opencode_server', { url = server.url })
  local got = registered(server)[1]
  vim.env.OPENCODE_SERVER_PASSWORD = nil
  equal('Basic ' .. vim.base64.encode('opencode:se"cr\\et'), got.headers.authorization)
end)

it('no token is seen in the words of a command', function(bridge)
  local system = vim.system
  local words = {}
  vim.system = function(command, ...)
    vim.list_extend(words, command)
    return system(command, ...)
  end
  local server, state = serve(), new_state()
  setup()
  state.set('opencode_server', { url = server.url })
  registered(server)
  vim.system = system
  contains(table.concat(words, ' '), 'curl -q --config -')
  equal(nil, table.concat(words, ' '):find(bridge.get_token(), 1, true))
end)

it('a server that refuses is told of once, with status and body', function()
  local server, state = serve({ '--status', '400', '--answer', 'what is this' }), new_state()
  setup()
  state.set('opencode_server', { url = server.url })
  eventually(function()
    return #notes > 0
  end)
  vim.wait(50)
  equal({ 1, 1 }, { #notes, #server.got() })
  contains(notes[1], 'status 400: what is this')
  contains(notes[1], server.url)
end)

it('a server that cannot reach the bridge is told of', function()
  local answer = '{"nvim-tools": {"status": "failed", "error": "no route"}}'
  local server, state = serve({ '--answer', answer }), new_state()
  setup()
  state.set('opencode_server', { url = server.url })
  eventually(function()
    return #notes > 0
  end)
  contains(notes[1], 'no route')
end)

it('a server that does not listen yet is tried again', function()
  local before = serve()
  local port = before.port
  before.process:kill('sigkill')
  before.process:wait()
  local state = new_state()
  local system, tries = vim.system, 0
  vim.system = function(command, ...)
    tries = tries + (command[1] == 'curl' and 1 or 0)
    return system(command, ...)
  end
  setup()
  state.set('opencode_server', { url = before.url })
  eventually(function()
    return tries == 2
  end)
  local server = serve({ '--port', tostring(port) })
  registered(server)
  vim.system = system
  equal({}, notes)
end)

it('a server that never listens is given up', function()
  require('mcp-tools.integrations.http').times.pause = 5
  local before = serve()
  before.process:kill('sigkill')
  before.process:wait()
  local state = new_state()
  setup()
  state.set('opencode_server', { url = before.url })
  eventually(function()
    return #notes > 0
  end)
  contains(notes[1], 'curl ended with exit code 7')
end)

it('turned off, it no longer does anything', function(bridge)
  local server, state = serve(), new_state()
  setup()
  state.set('opencode_server', { url = server.url })
  registered(server)
  setup(false)
  equal(false, bridge.is_running())
  state.set('opencode_server', { url = server.url })
  vim.wait(50)
  equal({ false, 1 }, { bridge.is_running(), #server.got() })
  setup()
  registered(server, 2)
end)

it('without opencode.nvim it says so, and setup goes on', function()
  setup()
  contains(require('mcp-tools.integrations').missing.opencode, 'not installed')
  package.loaded['opencode.state'] = {}
  setup()
  contains(require('mcp-tools.integrations').missing.opencode, 'sudo-tee/opencode.nvim')
  equal({}, notes)
end)

it('an integration of the user is set up like those that are built in', function()
  local events = {}
  package.loaded['mcp-tools.integrations.mine'] = {
    setup = function()
      table.insert(events, 'setup')
    end,
    stop = function()
      table.insert(events, 'stop')
    end,
  }
  package.loaded['mcp-tools.integrations.broken'] = {
    setup = function()
      error('my mistake')
    end,
  }
  local mcp = require('mcp-tools')
  mcp.setup({ integrations = { mine = true, broken = true, unknown = true } })
  mcp.setup({ integrations = { mine = true, broken = true, unknown = true } })
  equal({ 'setup' }, events)
  local missing = require('mcp-tools.integrations').missing
  contains(missing.broken, 'my mistake')
  contains(missing.unknown, 'cannot load integration unknown')
  mcp.setup({})
  equal({ { 'setup', 'stop' }, {} }, { events, require('mcp-tools.integrations').missing })
end)
