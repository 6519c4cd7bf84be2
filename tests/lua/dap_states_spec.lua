-- The life of a debug session, as the tools tell it: over a fake of nvim-dap.
local fake = require('fake_dap')
local spec = require('spec')
local it, equal, contains, call = spec.it, spec.equal, spec.contains, spec.call

local RUN = { type = 'fake', request = 'launch', name = 'demo' }

local function run(dap, more)
  local result, message = call('dap_run', vim.tbl_extend('force', RUN, more or {}))
  return dap.started[#dap.started], result, message
end

-- A program that is stopped at a line.
local function stopped(line, files)
  local dap, root = fake.start(files)
  dap.on_launch = function(session)
    session:stop({ line = line or 2, path = root .. '/main.txt' })
  end
  local session, result = run(dap, { wait_until_paused = true })
  return dap, session, root, result
end

it('without nvim-dap there are no tools, and why is said', function()
  package.loaded.dap = nil
  package.preload.dap = function()
    error('module dap not found')
  end
  local tools, why = require('mcp-tools.tools.dap').tools()
  package.preload.dap = nil
  equal(nil, tools)
  contains(why, 'nvim-dap is not installed')
end)

it('there are 25 tools', function()
  fake.start()
  equal(25, #require('mcp-tools.tools.dap').tools())
end)

it('without a session, status says so, and the others what to do', function()
  fake.start()
  local status = call('dap_status')
  equal(false, status.active)
  equal('No active debug session', status.message)
  for _, part in ipairs({ 'continue', 'step_over', 'stacktrace', 'threads', 'wait_until_paused', 'program_output' }) do
    local name = 'dap_' .. part
    local _, message = call(name)
    contains(message, 'no debug session; start one with dap_run')
  end
end)

it('a stop has its number, reason, place, source and variables', function()
  local _, _, _, result = stopped(2)
  equal('stopped', result.state)
  equal(1, result.stop)
  equal('breakpoint', result.reason)
  equal('main.txt:2', result.at)
  equal('main', result['function'])
  equal(1, result.thread_id)
  equal(1002, result.frame_id)
  equal('→ 2  two', result.source[2])
  equal('1', result.variables.x)
end)

it('who waits for a program that is stopped is answered at once', function() -- (1)
  local dap, session = stopped()
  local before = vim.uv.now()
  local result = call('dap_wait_until_paused', { timeout_ms = 5000 })
  equal(1, result.stop)
  assert(vim.uv.now() - before < 1000)
  equal(session, dap.session())
end)

it('a step answers with the next stop, not with the one that it leaves', function()
  local dap, session, root = stopped(2)
  dap.answers.next = function()
    session:stop({ line = 3, path = root .. '/main.txt', reason = 'step' })
  end
  local result = call('dap_step_over')
  equal(2, result.stop)
  equal('main.txt:3', result.at)
end)

it('dap_continue says that it runs if it is told not to wait', function()
  local _, session, root = stopped(2)
  equal('running', call('dap_continue', { wait_until_paused = false }).state)
  session:stop({ line = 4, path = root .. '/main.txt' })
  equal('main.txt:4', call('dap_wait_until_paused').at)
end)

it('a stop that comes before the answer to the request to resume is not missed', function()
  local dap, session, root = stopped(2)
  dap.answers.continue = function()
    session:stop({ line = 5, path = root .. '/main.txt' })
    return {}
  end
  equal('main.txt:5', call('dap_continue', { wait_until_paused = true }).at)
end)

it('at the deadline the answer is pending, and no error', function()
  local dap, session = stopped()
  session:print('working\n')
  local result, message = call('dap_continue', { wait_until_paused = true, wait_timeout_ms = 50 })
  equal(nil, message)
  equal(true, result.pending)
  equal('running', result.state)
  contains(result.hint, 'dap_wait_until_paused')
  equal(1, #vim.tbl_filter(function(request)
    return request.command == 'continue'
  end, dap.started[1].requests), 'requests to continue')
end)

it('a program that runs is not asked to continue or step, and no picker opens', function() -- (8)
  local dap = fake.start()
  run(dap)
  for _, name in ipairs({ 'continue', 'step_over', 'step_into', 'step_out', 'stacktrace', 'scopes' }) do
    local _, message = call('dap_' .. name)
    contains(message, 'is running')
    contains(message, 'dap_wait_until_paused')
  end
end)

it('if the adapter refuses to resume, its words are the error, and the program is still stopped', function()
  local dap, session = stopped()
  dap.answers.continue = function()
    return nil, 'no can do'
  end
  local _, message = call('dap_continue')
  contains(message, 'no can do')
  equal('stopped', call('dap_status').state)
  equal(1, session.stopped_thread_id)
end)

it('the output and the exit code of a program outlive it', function() -- (5)
  local dap, session = stopped()
  dap.answers.continue = function()
    session:print('half a ')
    session:print('line\nlast words')
    session:exit(3)
  end
  local result = call('dap_continue', { wait_until_paused = true })
  equal({ 'terminated', 3, { 'half a line', 'last words' } }, { result.state, result.exit_code, result.output })
  equal(nil, dap.session())
  equal({ 'half a line', 'last words' }, call('dap_program_output').lines)
  equal(3, call('dap_wait_until_paused').exit_code)
  local status = call('dap_status')
  equal({ false, 3 }, { status.active, status.last.exit_code })
  local _, message = call('dap_step_over')
  contains(message, 'ended with exit code 3')
  equal('the program had ended already', call('dap_terminate').message)
end)

it('an exit code that comes right behind the end still counts', function()
  local dap, session = stopped()
  dap.answers.continue = function()
    session:_event('terminated', {})
    session:_event('exited', { exitCode = 7 })
  end
  equal(7, call('dap_continue', { wait_until_paused = true }).exit_code)
end)

it('waits do not hold up each other, nor Neovim', function() -- (7)
  local _, session, root = stopped()
  call('dap_continue', { wait_until_paused = false })
  local registry = require('mcp-tools.registry')
  local order = {}
  registry.execute('dap_wait_until_paused', { timeout_ms = 100 }, function()
    table.insert(order, 'short')
  end)
  registry.execute('dap_wait_until_paused', { timeout_ms = 5000 }, function(result)
    table.insert(order, result.at)
  end)
  equal({}, order)
  spec.eventually(function()
    return #order == 1
  end)
  session:stop({ line = 4, path = root .. '/main.txt' })
  spec.eventually(function()
    return #order == 2
  end)
  equal({ 'short', 'main.txt:4' }, order)
end)

it('a wait that is cancelled leaves nothing behind', function()
  local _, session, root = stopped()
  call('dap_continue', { wait_until_paused = false })
  local answered = 0
  local waiting = require('mcp-tools.registry').execute('dap_wait_until_paused', {}, function()
    answered = answered + 1
  end)
  waiting.cancel()
  equal(1, answered)
  session:stop({ line = 4, path = root .. '/main.txt' })
  equal('main.txt:4', call('dap_wait_until_paused').at)
  equal(1, answered)
end)

it("the user's window does not follow what the tools resume, but what the user does", function() -- (3)
  local dap, session, root = stopped()
  equal(0, dap.jumps)
  dap.answers.next = function()
    session:stop({ line = 3, path = root .. '/main.txt' })
  end
  call('dap_step_over')
  equal(0, dap.jumps)
  equal(nil, rawget(dap.defaults.fake, 'switchbuf'))
  session:request('next', { threadId = 1 }, function() end) -- the user's key
  spec.eventually(function()
    return dap.jumps == 1
  end)
end)

it("the user's own steps are noticed", function()
  local dap, session, root = stopped()
  dap.answers.continue = function() end
  session.stopped_thread_id = nil
  session:request('continue', { threadId = 1 }, function() end)
  spec.eventually(function()
    return call('dap_status').state == 'running'
  end)
  session:stop({ line = 5, path = root .. '/main.txt' })
  equal('main.txt:5', call('dap_wait_until_paused').at)
end)

it('a session that the user started before is known', function()
  local dap = fake.install()
  local root = fake.files({ ['main.txt'] = 'one\ntwo' })
  local session = dap.new_session({ type = 'fake', request = 'launch', name = 'mine' })
  session.initialized, session.stopped_thread_id = true, 1
  session.frames = { { id = 9, name = 'f', line = 2, source = { path = root .. '/main.txt' } } }
  require('mcp-tools').setup({ tools = { dap = true } })
  equal('main.txt:2', call('dap_wait_until_paused').at)
end)

it("a stop in a session that the debugger started is the program's", function()
  local dap, root = fake.start()
  dap.on_launch = function(session)
    if not session.parent then
      local child = dap.new_session({ type = 'fake', request = 'launch', name = 'child' }, session)
      child:stop({ line = 3, path = root .. '/main.txt' })
    end
  end
  local _, result = run(dap, { wait_until_paused = true })
  equal('main.txt:3', result.at)
end)

it('listeners stay, whatever they are told', function()
  local dap, session = stopped()
  session:print('x\n')
  session:_event('thread', { reason = 'started', threadId = 2 })
  session:_event('continued', { threadId = 1 })
  spec.eventually(function()
    return call('dap_status').state == 'running'
  end)
  session:exit(0)
  call('dap_wait_until_paused')
  for _, name in ipairs({ 'stopped', 'output', 'continued', 'exited', 'terminated' }) do
    assert(dap.listeners.before['event_' .. name]['mcp-tools'], name)
  end
end)

it("an exception is shown where the program raised it, in the adapter's words", function()
  local dap, root = fake.start()
  dap.capabilities.supportsExceptionInfoRequest = true
  dap.answers.exceptionInfo = function()
    return { exceptionId = 'E', description = 'too bad', breakMode = 'unhandled' }
  end
  dap.on_launch = function(session)
    session:stop({
      reason = 'exception',
      frames = {
        { id = 1, name = 'raise', line = 1, source = { path = '/nowhere/lib.txt' } },
        { id = 2, name = 'work', line = 4, source = { path = root .. '/main.txt' } },
      },
    })
  end
  local _, result = run(dap, { wait_until_paused = true })
  equal({ 'main.txt:4', 'E: too bad' }, { result.at, result.exception })
  equal('raise (/nowhere/lib.txt:1)', result.raised_in)
end)

it('many and long variables are cut, and how many are missing is said', function()
  local dap = stopped()
  dap.answers.variables = function()
    local list = { { name = 'long', value = ('ä'):rep(1000) } }
    for index = 1, 49 do
      list[#list + 1] = { name = 'v' .. index, value = tostring(index) }
    end
    return { variables = list }
  end
  local result = call('dap_current_location', { context_lines = 1 })
  equal(20, result.variables_left_out)
  equal(('ä'):rep(200) .. '…', result.variables.long)
  equal(3, #result.source)
end)

it("an expression that is wrong gets the adapter's words, one without end a deadline", function()
  local dap = stopped()
  dap.answers.evaluate = function()
    local reason = { format = 'expected operand at {place}', variables = { place = '1:4' } }
    return nil, { message = 'no', body = { error = reason } }
  end
  local _, message = call('dap_evaluate', { expression = 'a +' })
  equal('expected operand at 1:4', message)
  dap.answers.evaluate = function()
    return fake.NOTHING
  end
  _, message = call('dap_evaluate', { expression = 'loop()', timeout_ms = 50 })
  contains(message, 'has no value after 0.05 s')
  equal('stopped', call('dap_status').state)
end)

it('a program that ends while a question is open ends the question', function()
  local dap, session = stopped()
  dap.answers.evaluate = function()
    session:exit(1)
    return fake.NOTHING
  end
  local _, message = call('dap_evaluate', { expression = 'exit()' })
  contains(message, 'ended before it answered')
end)

it('frames, scopes, variables and threads', function()
  stopped()
  equal({ { id = 1002, name = 'main', at = 'main.txt:2' } }, call('dap_stacktrace').frames)
  equal('Locals', call('dap_scopes').scopes[1].name)
  equal({ { name = 'x', value = '1', type = 'int' } }, call('dap_variables', { variables_reference = 7 }).variables)
  equal({ { id = 1, name = 'main', stopped_here = true } }, call('dap_threads').threads)
end)

it('dap_terminate ends the session', function()
  local _, session = stopped()
  equal('terminated', call('dap_terminate').state)
  equal(true, session.closed)
end)

it('dap_disconnect ends the session, and the program only if so wanted', function()
  local _, session = stopped()
  equal('terminated', call('dap_disconnect', { terminate_debuggee = false }).state)
  equal({ command = 'disconnect', arguments = { terminateDebuggee = false } }, session.requests[#session.requests])
end)

it('arguments that a tool does not take are refused', function()
  fake.start()
  local _, message = call('dap_continue', { wait = true })
  contains(message, 'unknown argument wait')
end)
