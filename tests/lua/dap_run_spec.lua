-- Starting programs: over a fake of nvim-dap.
local fake = require('fake_dap')
local spec = require('spec')
local it, equal, contains, call = spec.it, spec.equal, spec.contains, spec.call

local function run(more)
  return call('dap_run', vim.tbl_extend('force', { type = 'fake', request = 'launch', name = 'demo' }, more or {}))
end

local function config_of(dap)
  return dap.started[#dap.started].config
end

it('an adapter that is not configured is an error that lists those that are', function() -- (6)
  fake.start()
  local _, message = run({ type = 'nothing' })
  contains(message, 'unknown debug adapter "nothing"')
  contains(message, 'configured in this Neovim: fake')
  contains(message, ':help dap-adapter')
  local _, known = run({ type = 'python' })
  contains(known, "require('dap').adapters") -- how to configure one
end)

it('an adapter under another name is named', function()
  local dap = fake.start()
  dap.adapters.debugpy = { type = 'executable', command = 'python3', args = { '-m', 'debugpy.adapter' } }
  local _, message = run({ type = 'python' })
  contains(message, '"debugpy" is the same debugger')
end)

it('any further key reaches the adapter, those of the tool do not', function()
  local dap = fake.start()
  run({ module = 'pytest', stopOnEntry = true, nested = { a = { 1, 2 } }, wait_timeout_ms = 9000 })
  local config = config_of(dap)
  equal({ 'pytest', true, { a = { 1, 2 } } }, { config.module, config.stopOnEntry, config.nested })
  equal({ nil, nil, nil }, { config.wait_timeout_ms, config.wait_until_paused, config.alongside })
end)

it("a failed launch has the adapter's words, and what it printed", function() -- (11)
  local dap = fake.start()
  dap.answers.launch = function(session)
    session:print('main.go:4:2: undefined: x\n', 'stderr')
    return nil, { message = 'Failed', body = { error = { format = 'Failed to launch: build error' } } }
  end
  local _, message = run({ wait_until_paused = true })
  contains(message, 'Failed to launch: build error')
  contains(message, 'undefined: x')
  equal('failed', call('dap_status').last.state)
end)

it("an adapter that does not start is an error with nvim-dap's words, and the user is not told", function()
  local dap = fake.start()
  dap.adapters.fake.missing = true
  local told = {}
  local users = vim.notify
  vim.notify = function(text)
    told[#told + 1] = text
  end
  local _, message = run()
  equal({}, told)
  vim.notify('mine')
  vim.notify = users
  equal({ 'mine' }, told)
  contains(message, 'Executable not found')
end)

it('an adapter that refuses to initialize is an error', function()
  local dap = fake.start()
  dap.answers.initialize = function()
    return nil, 'wrong client'
  end
  local _, message = run()
  contains(message, 'wrong client')
end)

it('an adapter that goes away before the program started is an error', function()
  local dap = fake.start()
  dap.answers.launch = function(session)
    vim.schedule(function()
      session:close()
    end)
    return fake.NOTHING
  end
  local _, message = run()
  contains(message, 'the debug adapter ended before the program started')
end)

it('an adapter that does not answer is pending, and can be ended', function()
  local dap = fake.start()
  dap.answers.launch = function()
    return fake.NOTHING
  end
  local result = run({ wait_timeout_ms = 50 })
  equal({ true, 'initializing' }, { result.pending, result.state })
  equal('failed', call('dap_terminate').state)
end)

it('a program that ends before the first stop answers with its exit code and output', function()
  local dap = fake.start()
  dap.on_launch = function(session)
    session:print('done\n')
    session:exit(0)
  end
  local result = run({ wait_until_paused = true })
  equal({ 'terminated', 0, { 'done' } }, { result.state, result.exit_code, result.output })
end)

it('a second session is refused, unless it is wanted', function()
  local dap = fake.start()
  run()
  local _, message = run()
  contains(message, 'dap_terminate first')
  equal(1, #dap.started)
  equal('running', run({ alongside = true }).state)
  equal(2, #call('dap_status').sessions)
end)

it('no value may ask the user', function()
  local dap = fake.start()
  local _, message = run({ program = '${command:pickFile}' })
  contains(message, 'asks the user')
  _, message = run({ nested = { '${input:what}' } })
  contains(message, 'nested.1 has ${input:what}')
  _, message = run({ program = function() end })
  contains(message, 'program')
  dap.adapters.asks = function()
    vim.ui.select({ 'a' }, { prompt = 'Which?' }, function() end)
  end
  _, message = run({ type = 'asks' })
  contains(message, 'Which?')
  equal(0, #dap.started)
end)

it('what a debugger needs is added where nobody has said otherwise', function()
  local dap, root = fake.start({ ['app/main.py'] = 'pass' })
  dap.adapters.debugpy = { type = 'executable', command = 'python3', args = { '-m', 'debugpy.adapter' } }
  run({ type = 'debugpy', program = 'app/main.py', env = { A = 'b' } })
  local config = config_of(dap)
  equal(root .. '/app/main.py', config.program)
  equal({ 'internalConsole', root }, { config.console, config.cwd })
  equal({ A = 'b', PYTHONUNBUFFERED = '1' }, config.env)
  run({ type = 'debugpy', program = 'app/main.py', console = 'externalTerminal', alongside = true })
  equal('externalTerminal', config_of(dap).console)
  run({ type = 'debugpy', request = 'attach', port = 5678, alongside = true })
  equal({ { host = '127.0.0.1', port = 5678 } }, { config_of(dap).connect, config_of(dap).port })
end)

it('a program or directory that is not there is an error that says where it was looked for', function()
  local dap, root = fake.start()
  dap.adapters.debugpy = { type = 'executable', command = 'debugpy-adapter' }
  local _, message = run({ type = 'debugpy', program = 'nope.py' })
  contains(message, 'program not found: ' .. root .. '/nope.py')
  _, message = run({ cwd = 'nope' })
  contains(message, 'directory not found: ' .. root .. '/nope')
end)

it('attaching to a debugger that serves at an address goes there, not to a second debugger', function()
  local dap = fake.start()
  local users = { type = 'executable', command = 'python3', args = { '-m', 'debugpy.adapter' } }
  dap.adapters.debugpy = users
  run({ type = 'debugpy', request = 'attach', port = 5678 })
  equal({ type = 'server', host = '127.0.0.1', port = 5678 }, dap.started[1].adapter)
  equal(users, dap.adapters.debugpy)
end)

it('a program in a terminal of Neovim takes input, any other says how it gets one', function()
  local dap = fake.start()
  dap.adapters['pwa-node'] = { type = 'executable', command = 'node' }
  run({ type = 'pwa-node' })
  local session = dap.started[1]
  local _, message = call('dap_send_input', { text = 'Ada\n' })
  contains(message, 'dap_run as before with console=integratedTerminal')
  session.term_buf = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_call(session.term_buf, function()
    vim.fn.jobstart({ 'sh', '-c', 'read name; echo "hello $name"' }, { term = true })
  end)
  local waiting = call('dap_wait_until_paused', { timeout_ms = 1 })
  contains(waiting.hint, 'dap_send_input')
  equal(4, call('dap_send_input', { text = 'Ada\n' }).sent)
  spec.eventually(function()
    return vim.list_contains(call('dap_program_output').terminal or {}, 'hello Ada')
  end, 'the program answers')
  session:exit(0)
  local ended = call('dap_wait_until_paused')
  assert(vim.list_contains(ended.terminal, 'hello Ada'), vim.inspect(ended))
  run()
  _, message = call('dap_send_input', { text = 'Ada\n' })
  contains(message, 'start it in a terminal of yours and attach to it')
end)

it('a configuration is run by its name, with what the caller says instead', function()
  local dap = fake.start({
    ['app/main.py'] = 'pass',
    ['.vscode/launch.json'] = [[{"configurations": [
      {"name": "app", "type": "fake", "request": "launch", "program": "${workspaceFolder}/app/main.py", "args": ["a"]}
    ]}]],
  })
  package.loaded['dap.ext.vscode'] = {
    getconfigs = function()
      return vim.json.decode(table.concat(vim.fn.readfile('.vscode/launch.json'), '\n')).configurations
    end,
  }
  local mine = { name = 'mine', type = 'fake', request = 'launch', mode = 'x', program = function() end }
  dap.configurations = { c = { mine }, cpp = { mine } }
  equal('running', call('dap_run', { configuration = 'app', args = { 'b' } }).state)
  local config = config_of(dap)
  equal({ vim.fn.getcwd() .. '/app/main.py', { 'b' }, 'app' }, { config.program, config.args, config.name })
  equal(nil, config.configuration)
  local _, message = call('dap_run', { configuration = 'mine', alongside = true })
  contains(message, 'program is a function: pass the value itself')
  call('dap_run', { configuration = 'mine', program = 'main.py', alongside = true })
  equal('x', config_of(dap).mode)
  _, message = call('dap_run', { configuration = 'nothing' })
  contains(message, 'unknown configuration "nothing"; available: "app" (fake, launch), "mine" (fake, launch)')
  dap.configurations.go = { { name = 'mine', type = 'other', request = 'launch' } }
  _, message = call('dap_run', { configuration = 'mine' })
  contains(message, 'pass `type` too')
  _, message = call('dap_run', { type = 'fake', request = 'launch' })
  contains(message, 'missing required argument: name')
end)

it('a program is started again as it was, whether it runs or has ended', function()
  local dap = fake.start()
  run({ module = 'pytest', env = { A = 'b' } })
  equal('running', call('dap_restart', { wait_until_paused = false }).state)
  equal({ 2, 'pytest', { A = 'b' } }, { #dap.started, config_of(dap).module, config_of(dap).env })
  assert(dap.started[1].closed)
  dap.on_launch = function(session)
    session:exit(7)
  end
  dap.started[2]:exit(0)
  call('dap_wait_until_paused')
  equal(7, call('dap_restart').exit_code)
  equal({ 3, 'pytest' }, { #dap.started, config_of(dap).module })
  dap.on_launch = function() end
  run({ request = 'attach', port = 1 })
  local _, message = call('dap_restart')
  contains(message, 'did not start it')
end)

it('each of several sessions is spoken to by its name, and the one that ended last is told', function()
  local dap, root = fake.start()
  dap.on_launch = function(session)
    session:stop({ line = session.id + 1, path = root .. '/main.txt' })
  end
  equal('main.txt:2', run({ name = 'one', wait_until_paused = true }).at)
  local two = run({ name = 'two', wait_until_paused = true, alongside = true })
  equal({ 'main.txt:3', 'two' }, { two.at, two.session })
  equal(
    { 'one', 'two' },
    vim.tbl_map(function(each)
      return each.session
    end, call('dap_status').sessions)
  )
  equal('main.txt:2', call('dap_current_location', { session = 'one' }).at)
  dap.answers.next = function(session)
    session:stop({ line = 5, path = root .. '/main.txt', reason = 'step' })
  end
  local step = call('dap_step_over', { session = 'one' })
  equal({ 'main.txt:5', 'one' }, { step.at, step.session })
  equal('main.txt:3', call('dap_current_location', { session = 'two' }).at)
  local _, message = call('dap_threads', { session = 'three' })
  contains(message, 'unknown session "three"; available: one, two')
  run({ name = 'two', wait_until_paused = true, alongside = true })
  _, message = call('dap_threads', { session = 'two' })
  contains(message, '2 sessions are called "two": two#2, two#3')
  equal('main.txt:4', call('dap_current_location', { session = 'two#3' }).at)
  equal('two', call('dap_terminate', { session = 'two#2' }).name)
  assert(dap.started[2].closed and not dap.started[1].closed and not dap.started[3].closed)
  equal('two', call('dap_terminate', { session = 'two' }).name)
  assert(dap.started[3].closed)
  equal('one', call('dap_terminate').name)
  equal('one', call('dap_status').last.name) -- the first that began ended last
  equal('two', call('dap_program_output', { session = 'two' }).name)
end)

it('the capabilities of the adapter are told if asked for', function()
  fake.start()
  run()
  equal(nil, call('dap_status').capabilities)
  assert(vim.list_contains(call('dap_status', { capabilities = true }).capabilities, 'supportsConditionalBreakpoints'))
end)
