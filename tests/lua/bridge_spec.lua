local spec = require('spec')
local equal, contains, eventually = spec.equal, spec.contains, spec.eventually

local FAKE = spec.root .. '/tests/lua/fakes/bridge.py'
local notify = vim.notify
local notes, record

local function started()
  return vim.uv.fs_stat(record) and vim.tbl_map(vim.json.decode, vim.fn.readfile(record)) or {}
end

local function alive(pid)
  return vim.uv.kill(pid, 0) == 0
end

-- One behaviour of the bridge; whatever it has started is gone afterwards.
local function it(sentence, body)
  spec.it(sentence, function()
    notes, record = {}, vim.fn.tempname()
    vim.notify = function(text, level)
      table.insert(notes, { text = text, level = level })
    end
    local bridge = require('mcp-tools.bridge')
    local ok, problem = xpcall(body, debug.traceback, bridge)
    vim.notify = notify
    bridge.stop()
    for _, one in ipairs(started()) do
      eventually(function()
        return not alive(one.pid)
      end, 'the fake ends')
    end
    if not ok then
      error(problem, 0)
    end
  end)
end

-- Have the bridge be the fake, with these options.
local function fake(options, more)
  local command = vim.list_extend({ 'python3', FAKE, '--record', record }, options or {})
  local bridge = vim.tbl_extend('force', { command = command }, (more or {}).bridge or {})
  require('mcp-tools').setup(vim.tbl_extend('force', more or {}, { bridge = bridge }))
end

local function ready(bridge)
  return eventually(bridge.get_port, 'the bridge is ready')
end

local function counter()
  local calls = {}
  return function(...)
    table.insert(calls, { ... })
  end, calls
end

it('it is started with socket, port and token, and says when it is ready', function(bridge)
  fake()
  local on_ready, calls = counter()
  equal(false, bridge.is_running())
  equal(nil, bridge.get_token())
  bridge.start({ on_ready = on_ready })
  equal(true, bridge.is_running())
  equal(nil, bridge.get_port())
  local port = ready(bridge)
  equal({ { port } }, calls)
  local one = started()[1]
  equal(0, one.port)
  equal(bridge.get_token(), one.token)
  equal(true, bridge.get_token():match('^%x+$') ~= nil and #bridge.get_token() == 64)
  equal(vim.v.servername, one.socket)
  equal(false, table.concat(one.argv, ' '):find(one.token, 1, true) ~= nil)
  equal({}, notes)
end)

it('the public functions are those of the bridge', function(bridge)
  fake()
  local mcp = require('mcp-tools')
  mcp.start({ nvim_socket = '/tmp/some.socket' })
  local port = ready(bridge)
  equal({ true, port, bridge.get_token() }, { mcp.is_running(), mcp.get_port(), mcp.get_token() })
  equal('/tmp/some.socket', started()[1].socket)
  mcp.stop()
  equal(false, mcp.is_running())
end)

it('its announcement may come in any pieces', function(bridge)
  fake({ '--split' })
  bridge.start()
  local port = ready(bridge)
  local tcp = vim.uv.new_tcp()
  local problem = 'no answer'
  tcp:connect('127.0.0.1', port, function(why)
    problem = why
  end)
  eventually(function()
    return problem == nil
  end, 'someone listens on the whole number')
  tcp:close()
end)

it('starting twice starts one process, and tells both', function(bridge)
  fake()
  local first, first_calls = counter()
  local second, second_calls = counter()
  local third, third_calls = counter()
  bridge.start({ on_ready = first })
  bridge.start({ on_ready = second })
  local port = ready(bridge)
  bridge.start({ on_ready = third })
  equal({ { { port } }, { { port } }, { { port } } }, { first_calls, second_calls, third_calls })
  equal(1, #started())
end)

it('the functions of the configuration are called too', function(bridge)
  local on_ready, readies = counter()
  local on_stop, stops = counter()
  fake({}, { on_ready = on_ready, on_stop = on_stop })
  bridge.start()
  local port = ready(bridge)
  bridge.stop()
  bridge.stop()
  eventually(function()
    return #stops > 0
  end)
  equal({ { { port } }, { {} } }, { readies, stops })
end)

it('stopping when nothing runs does nothing', function(bridge)
  fake()
  bridge.stop()
  equal({ false, 'stopped' }, { bridge.is_running(), bridge.status().state })
end)

it('stopping ends the process, and tells once', function(bridge)
  fake()
  local on_stop, stops = counter()
  bridge.start({ on_stop = on_stop })
  ready(bridge)
  bridge.stop()
  equal({ false }, { bridge.is_running() })
  equal({ nil, nil }, { bridge.get_port(), bridge.get_token() })
  eventually(function()
    return #stops > 0 and not alive(started()[1].pid)
  end)
  vim.wait(50)
  equal(1, #stops)
  equal({}, notes)
end)

it('one that ignores SIGTERM is killed', function(bridge)
  require('mcp-tools.process').patience = 100
  fake({ '--stubborn' })
  local on_stop, stops = counter()
  bridge.start({ on_stop = on_stop })
  ready(bridge)
  bridge.stop()
  eventually(function()
    return #stops == 1 and not alive(started()[1].pid)
  end)
end)

it('the children of a wrapper end with it', function(bridge)
  fake()
  local command = table.concat(require('mcp-tools.config').get().bridge.command, ' ')
  require('mcp-tools').setup({ bridge = { command = { 'sh', '-c', command .. '; exit 3' } } })
  local on_stop, stops = counter()
  bridge.start({ on_stop = on_stop })
  ready(bridge)
  bridge.stop()
  eventually(function()
    return #stops == 1 and not alive(started()[1].pid)
  end)
end)

it('stopping during the start', function(bridge)
  fake()
  local on_ready, readies = counter()
  local on_stop, stops = counter()
  bridge.start({ on_ready = on_ready, on_stop = on_stop })
  bridge.stop()
  eventually(function()
    return #stops == 1
  end)
  equal({}, readies)
end)

it('starting during the stop waits for the old process', function(bridge)
  fake()
  local events = {}
  bridge.start({
    on_stop = function()
      table.insert(events, 'stop')
    end,
  })
  ready(bridge)
  local token = bridge.get_token()
  bridge.stop()
  bridge.start({
    on_ready = function()
      table.insert(events, 'ready')
    end,
  })
  equal(true, bridge.is_running())
  ready(bridge)
  equal({ 'stop', 'ready' }, events)
  equal(2, #started())
  equal(false, token == bridge.get_token())
end)

it('stop, start and stop again in one go', function(bridge)
  fake()
  local on_ready, readies = counter()
  local on_stop, stops = counter()
  bridge.start({ on_stop = on_stop })
  ready(bridge)
  bridge.stop()
  bridge.start({ on_ready = on_ready, on_stop = on_stop })
  bridge.stop()
  eventually(function()
    return #stops == 2 and not alive(started()[1].pid)
  end)
  equal({ {}, 1, false }, { readies, #started(), bridge.is_running() })
end)

it('stopping in on_ready', function(bridge)
  fake()
  local second, second_calls = counter()
  local on_stop, stops = counter()
  bridge.start({
    on_ready = function()
      bridge.stop()
    end,
    on_stop = on_stop,
  })
  bridge.start({ on_ready = second })
  eventually(function()
    return #stops == 1
  end)
  equal({ {}, false }, { second_calls, bridge.is_running() })
  equal({}, notes)
end)

it('an on_ready that fails is told of, and the others are called', function(bridge)
  fake()
  local second, calls = counter()
  bridge.start({
    on_ready = function()
      error('my mistake')
    end,
  })
  bridge.start({ on_ready = second })
  ready(bridge)
  equal({ 1, 1 }, { #calls, #notes })
  contains(notes[1].text, 'my mistake')
end)

it('after a crash it is started again, with the same port and token', function(bridge)
  bridge.times.pause = 20
  fake()
  local on_ready, readies = counter()
  local on_stop, stops = counter()
  bridge.start({ on_ready = on_ready, on_stop = on_stop })
  local port, token = ready(bridge), bridge.get_token()
  vim.uv.kill(started()[1].pid, 'sigkill')
  eventually(function()
    return #readies == 2
  end, 'it is ready again')
  equal({ { port }, { port } }, readies)
  equal({ port, token }, { started()[2].port, started()[2].token })
  equal({ port, token, 1 }, { bridge.get_port(), bridge.get_token(), bridge.status().restarts })
  equal({ {}, {} }, { stops, notes })
end)

it('if its port is taken by another process, it gets a new one', function(bridge)
  bridge.times.pause = 20
  fake({ '--refuse-port' }, { bridge = { restarts = 1 } })
  local on_ready, readies = counter()
  bridge.start({ on_ready = on_ready })
  local port = ready(bridge)
  vim.uv.kill(started()[1].pid, 'sigkill')
  eventually(function()
    return #readies == 2
  end, 'it is ready again')
  equal(
    { 0, port, 0 },
    vim.tbl_map(function(one)
      return one.port
    end, started())
  )
  equal({}, notes)
end)

it('a bridge that crashes again and again is given up, and the user told why', function(bridge)
  bridge.times.pause = 10
  local on_stop, stops = counter()
  fake({ '--fail', '3', '--say', 'no module named snake' }, { bridge = { restarts = 2 } })
  bridge.start({ on_stop = on_stop })
  eventually(function()
    return #stops > 0
  end)
  equal({ 3, 1, 1, false }, { #started(), #stops, #notes, bridge.is_running() })
  equal(vim.log.levels.ERROR, notes[1].level)
  for _, part in ipairs({ 'exit code 3', 'no module named snake', ':checkhealth mcp-tools' }) do
    contains(notes[1].text, part)
  end
  local status = bridge.status()
  equal({ 'failed', 'ended with exit code 3' }, { status.state, status.problem })
end)

it('one that has run for long may crash as often as a new one', function(bridge)
  bridge.times.pause, bridge.times.steady = 10, 0
  fake({}, { bridge = { restarts = 1 } })
  local on_ready, readies = counter()
  bridge.start({ on_ready = on_ready })
  for round = 1, 3 do
    eventually(function()
      return #readies == round
    end, 'round ' .. round)
    vim.uv.kill(started()[round].pid, 'sigkill')
  end
  eventually(function()
    return #readies == 4
  end)
  equal({}, notes)
end)

it('stopping in the pause before a restart', function(bridge)
  bridge.times.pause = 60000
  fake()
  local on_stop, stops = counter()
  bridge.start({ on_stop = on_stop })
  ready(bridge)
  vim.uv.kill(started()[1].pid, 'sigkill')
  eventually(function()
    return bridge.status().state == 'waiting'
  end)
  equal({ true, nil }, { bridge.is_running(), bridge.get_port() })
  bridge.stop()
  equal({ 1, 1, false }, { #stops, #started(), bridge.is_running() })
end)

it('one that never becomes ready is killed, and counts as a crash', function(bridge)
  bridge.times.ready = 300
  fake({ '--mute' }, { bridge = { restarts = 0 } })
  bridge.start()
  local pid = bridge.status().pid
  eventually(function()
    return #notes > 0
  end)
  contains(notes[1].text, 'was not ready within 0.3 s')
  equal(false, alive(pid))
end)

it('a restart by hand keeps port and token, and does not count as a stop', function(bridge)
  fake()
  local on_ready, readies = counter()
  local on_stop, stops = counter()
  bridge.start({ on_ready = on_ready, on_stop = on_stop })
  local port, token = ready(bridge), bridge.get_token()
  bridge.restart()
  equal({ true, nil }, { bridge.is_running(), bridge.get_port() })
  eventually(function()
    return #readies == 2
  end)
  equal({ port, token, 0 }, { bridge.get_port(), bridge.get_token(), #stops })
  equal(0, bridge.status().restarts)
end)

it('a restart of what does not run is a start', function(bridge)
  fake()
  bridge.restart()
  ready(bridge)
end)

it('it ends when the last who wanted it lets go', function(bridge)
  fake()
  bridge.start({ holder = 'one' })
  bridge.start()
  ready(bridge)
  bridge.release('one')
  bridge.release('one')
  equal(true, bridge.is_running())
  bridge.stop()
  eventually(function()
    return not alive(started()[1].pid)
  end)
  bridge.start({ holder = 'one' })
  ready(bridge)
  bridge.release('another')
  equal(true, bridge.is_running())
  bridge.release('one')
  equal(false, bridge.is_running())
end)

it('of what it says on stderr the last lines are kept', function(bridge)
  fake({ '--lines', '60' })
  bridge.start()
  ready(bridge)
  eventually(function()
    return bridge.status().stderr[50] == 'line 60'
  end)
  equal({ 50, 'line 11' }, { #bridge.status().stderr, bridge.status().stderr[1] })
end)

it('the status tells all but the token', function(bridge)
  fake()
  bridge.start()
  local port = ready(bridge)
  local status = bridge.status()
  equal({ 'ready', port, 0, 0 }, { status.state, status.port, status.uptime, status.restarts })
  equal(('http://127.0.0.1:%d/mcp'):format(port), status.url)
  equal(started()[1].pid, status.pid)
  equal(nil, vim.inspect(status):find(bridge.get_token(), 1, true))
end)

it('without the program the user is told how to get it, and nothing is raised', function(bridge)
  local path = vim.env.PATH
  local executable = vim.fn.executable
  vim.env.PATH = '/nowhere'
  vim.fn.executable = function()
    return 0
  end
  local on_stop, stops = counter()
  bridge.start({ on_stop = on_stop })
  vim.env.PATH, vim.fn.executable = path, executable
  equal({ 1, 1, false }, { #notes, #stops, bridge.is_running() })
  contains(notes[1].text, 'pipx install ' .. vim.fn.shellescape(spec.root))
end)

it('lsp-mcp on PATH is what is run, with the log level', function(bridge)
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder)
  vim.fn.writefile({ '#!/bin/sh', 'exit 0' }, folder .. '/lsp-mcp')
  vim.uv.fs_chmod(folder .. '/lsp-mcp', 493)
  local path = vim.env.PATH
  vim.env.PATH = folder .. ':' .. path
  require('mcp-tools').setup({ bridge = { log_level = 'warn' } })
  local command = bridge.command()
  vim.env.PATH = path
  equal({ folder .. '/lsp-mcp', 'bridge', '--log-level', 'warn' }, command)
end)

it('a command that does not exist is told of', function(bridge)
  require('mcp-tools').setup({ bridge = { command = { '/nowhere/bridge' } } })
  bridge.start()
  equal({ 1, false }, { #notes, bridge.is_running() })
  contains(notes[1].text, '/nowhere/bridge')
end)

it('it goes with Neovim, which does not wait for it', function()
  local script = vim.fn.tempname() .. '.lua'
  local done = vim.fn.tempname()
  vim.fn.writefile({
    ('vim.opt.runtimepath:prepend(%q)'):format(spec.root),
    ('local command = { "python3", %q, "--record", %q, "--stubborn" }'):format(FAKE, record),
    'local mcp = require("mcp-tools")',
    ('local function on_stop() vim.fn.writefile({ "stopped" }, %q) end'):format(done),
    'mcp.setup({ bridge = { command = command }, on_stop = on_stop })',
    'mcp.start()',
    'assert(vim.wait(20000, function() return mcp.get_port() ~= nil end))',
    'vim.cmd("qall!")',
  }, script)
  local result = vim.system({ vim.v.progpath, '--clean', '--headless', '-l', script }, { text = true }):wait(30000)
  equal(0, result.code, result.stderr)
  equal({ 'stopped' }, vim.fn.readfile(done))
  -- The fake ignores SIGTERM, and Neovim has not waited until it could be killed.
  equal(true, alive(started()[1].pid))
  vim.uv.kill(started()[1].pid, 'sigkill')
end)

it('the command starts, shows, restarts and stops it', function(bridge)
  vim.g.loaded_mcp_tools = nil
  vim.cmd.source(spec.root .. '/plugin/mcp-tools.lua')
  fake()
  equal({ 'restart', 'start', 'status', 'stop', 'tools' }, vim.fn.getcompletion('McpTools ', 'cmdline'))
  equal({ 'start', 'status', 'stop' }, vim.fn.getcompletion('McpTools st', 'cmdline'))
  vim.cmd('McpTools start')
  local port = ready(bridge)
  equal(1, #notes)
  equal(vim.log.levels.INFO, notes[1].level)
  contains(notes[1].text, tostring(port))
  local shown = vim.fn.execute('McpTools status')
  local add = 'claude mcp add --transport http nvim http://127.0.0.1:%d/mcp --header "Authorization: Bearer %s"'
  contains(shown, add:format(port, bridge.get_token()))
  contains(shown, 'tools     0')
  require('mcp-tools').register({ name = 'twice', description = 'Doubles.\nMore.', execute = function() end })
  contains(vim.fn.execute('McpTools tools'), 'nvim_twice')
  vim.cmd('McpTools restart')
  eventually(function()
    return #started() == 2 and bridge.get_port()
  end)
  vim.cmd('McpTools stop')
  equal(false, bridge.is_running())
  contains(vim.fn.execute('McpTools'), 'McpTools start')
  vim.cmd('McpTools nonsense')
  contains(notes[#notes].text, 'nonsense')
end)
