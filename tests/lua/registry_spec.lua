local spec = require('spec')
local it, equal, contains, eventually = spec.it, spec.equal, spec.contains, spec.eventually

local function registry()
  return require('mcp-tools.registry')
end

-- Register a tool `t` that has these parts.
local function tool(parts)
  registry().register(vim.tbl_extend('force', { name = 't', description = 'a tool', args = {} }, parts))
end

-- Register a tool `t` that returns the arguments it got.
local function echo(args, extra)
  tool({
    args = args,
    extra = extra,
    execute = function(given)
      return { got = given }
    end,
  })
end

-- Call `t` and wait: { result, message }.
local function answer(args)
  local result, message = spec.call('t', args)
  return { result = result, message = message }
end

-- Start a call of `t`: the call, and a list that gets { result, message } for each time its end is told.
local function begin(args, name)
  local ends = {}
  local call = registry().execute(name or 't', args or {}, function(result, message)
    table.insert(ends, { result = result, message = message })
  end)
  return call, ends
end

-- Let everything happen that is scheduled by now.
local function settle()
  local settled = false
  vim.schedule(function()
    vim.schedule(function()
      settled = true
    end)
  end)
  eventually(function()
    return settled
  end)
end

local function warnings(body)
  local own, heard = vim.notify, {}
  vim.notify = function(message)
    table.insert(heard, message)
  end
  local ok, problem = pcall(body)
  vim.notify = own
  assert(ok, problem)
  return heard
end

it('a tool that returns is answered at once', function()
  local mcp = require('mcp-tools')
  mcp.register({
    name = 'double',
    description = 'twice',
    args = { n = { type = 'number', required = true } },
    execute = function(args)
      return { twice = args.n * 2 }
    end,
  })
  equal({ twice = 6 }, (registry().execute('double', { n = 3 })))
end)

it('with `done` a tool that returns has answered when `execute` returns', function()
  echo({}, true)
  local call, ends = begin({ a = 1 })
  equal({ { result = { got = { a = 1 } } } }, ends)
  equal(true, call.ended)
end)

it('a tool that returns nothing, false or null has that as its result', function()
  local value
  tool({
    execute = function()
      return value
    end,
  })
  for _, returned in ipairs({ false, vim.NIL, {} }) do
    value = returned
    equal({ result = returned }, answer())
  end
  value = nil
  equal({}, answer())
end)

it('defaults are given, and each call gets its own', function()
  tool({
    args = { list = { type = 'array', default = { 1 } }, n = { type = 'integer', default = 0 } },
    execute = function(args)
      table.insert(args.list, 2)
      return args
    end,
  })
  equal({ list = { 1, 2 }, n = 0 }, (spec.call('t')))
  equal({ list = { 1, 2 }, n = 0 }, (spec.call('t', { n = vim.NIL })))
end)

it('null for all arguments is none', function()
  echo({ n = { type = 'integer', default = 3 } })
  equal({ got = { n = 3 } }, (spec.call('t', vim.NIL)))
end)

it('an argument that is missing is named, and the tool does not run', function()
  local ran = false
  tool({
    args = { path = { type = 'string', required = true } },
    execute = function()
      ran = true
    end,
  })
  local result, message = spec.call('t')
  equal({ nil, 't: missing required argument: path', false }, { result, message, ran })
end)

it('an argument of a wrong type is named with its value, and the tool does not run', function()
  local ran = false
  tool({
    args = { n = { type = 'integer' } },
    execute = function()
      ran = true
    end,
  })
  equal('t: n must be an integer, and is "abc"', select(2, spec.call('t', { n = 'abc' })))
  equal('t: n must be an integer, and is 1.5', select(2, spec.call('t', { n = 1.5 })))
  equal(false, ran)
end)

it('arguments that are a list are refused', function()
  echo({}, true)
  equal('t: the arguments must be an object', select(2, spec.call('t', { 1, 2 })))
  equal('t: the arguments must be an object', select(2, spec.call('t', 'text')))
end)

it('an unknown argument is passed on, and the known ones are listed', function()
  echo({ filename = { type = 'string' } })
  local result, _, remarks = spec.call('t', { file_name = 'a', b = 1 })
  equal({ got = { file_name = 'a', b = 1 } }, result)
  equal({
    'unknown argument b; it takes: filename',
    'unknown argument file_name (did you mean filename?); it takes: filename',
  }, remarks)
end)

it('an unknown argument is refused by a tool with extra = false', function()
  echo({ line = { type = 'integer' } }, false)
  equal('t: unknown argument lines (did you mean line?); it takes: line', select(2, spec.call('t', { lines = 3 })))
end)

it('an unknown argument is passed on silently by a tool with extra = true', function()
  echo({}, true)
  local result, _, remarks = spec.call('t', { any = { 1 } })
  equal({ got = { any = { 1 } } }, result)
  equal({}, remarks)
end)

it('an unknown tool is an error that names those there are', function()
  echo({})
  local result, message = spec.call('nope')
  equal(nil, result)
  contains(message, 'unknown tool nope')
  contains(message, 't')
end)

it('an error that is thrown is the answer: text with its place', function()
  tool({
    execute = function()
      error('it broke')
    end,
  })
  local result, message = spec.call('t')
  equal(nil, result)
  contains(message, 't failed: ')
  contains(message, 'registry_spec.lua')
  contains(message, 'it broke')
end)

it('an error that is a table, nil, or knows its words is told', function()
  local thrown
  tool({
    execute = function()
      error(thrown, 0)
    end,
  })
  thrown = { code = 7 }
  contains(select(2, spec.call('t')), 'code = 7')
  thrown = nil
  equal('t failed: nil', select(2, spec.call('t')))
  thrown = setmetatable({}, {
    __tostring = function()
      return 'my words'
    end,
  })
  equal('t failed: my words', select(2, spec.call('t')))
end)

it('nil and a message that are returned are an error', function()
  tool({
    execute = function()
      return nil, 'not today'
    end,
  })
  equal({ message = 'not today' }, answer())
end)

it('a message that is not text is passed on all the same', function()
  tool({
    execute = function(_, done)
      done(nil, { code = 3 })
    end,
  })
  contains(select(2, spec.call('t')), 'code = 3')
end)

it('a tool that recurs for ever is an error', function()
  tool({
    execute = function()
      local function again()
        return 1 + again()
      end
      return again()
    end,
  })
  contains(select(2, spec.call('t')), 'stack overflow')
end)

it('a result that JSON cannot hold is an error that names the key', function()
  local cycle = { a = {} }
  cycle.a.b = cycle
  for part, value in pairs({
    ['result.f is a function'] = { f = print },
    ['result.a.b contains itself'] = cycle,
    ['result has both numbered and named keys'] = { 1, x = 2 },
    ['result.list is a list with gaps'] = { list = { [1] = 1, [5] = 2 } },
    ['result[2] is nan'] = { 1, 0 / 0 },
    ['result.u is a userdata'] = { u = vim.uv.new_timer() },
  }) do
    tool({
      execute = function()
        return value
      end,
    })
    local result, message = spec.call('t')
    equal(nil, result)
    contains((message:gsub('%-nan', 'nan')), 't returned what JSON cannot hold: ' .. part)
  end
end)

it('`done` answers later', function()
  tool({
    execute = function(_, done)
      vim.defer_fn(function()
        done({ late = true })
      end, 5)
    end,
  })
  equal({ result = { late = true } }, answer())
end)

it('`done` may be called before the tool returns', function()
  tool({
    execute = function(_, done)
      done('at once')
    end,
  })
  local _, ends = begin()
  equal({ { result = 'at once' } }, ends)
end)

it('a tool that takes `done` may return its result instead', function()
  tool({
    execute = function(_, _)
      return 5
    end,
  })
  equal(5, (spec.call('t')))
end)

it('`done` that is called twice counts once, and is complained of', function()
  local heard = warnings(function()
    tool({
      execute = function(_, done)
        done(1)
        done(2)
      end,
    })
    local _, ends = begin()
    settle()
    equal({ { result = 1 } }, ends)
  end)
  equal({ 'mcp-tools: t called `done` more than once' }, heard)
end)

it('an error after `done` does not change the answer', function()
  warnings(function()
    tool({
      execute = function(_, done)
        done(1)
        error('too late')
      end,
    })
    local _, ends = begin()
    settle()
    equal({ { result = 1 } }, ends)
  end)
end)

it('a tool that never calls `done` fails after its timeout, and cleans up', function()
  local cleaned = 0
  tool({
    timeout = 20,
    execute = function(_, _, call)
      call.on_cancel(function()
        cleaned = cleaned + 1
      end)
    end,
  })
  local result, message = spec.call('t')
  equal({ nil, 't has not answered within 0.02 s', 1 }, { result, message, cleaned })
end)

it('`done` after the timeout is not heard, nor complained of', function()
  local heard = warnings(function()
    local later
    tool({
      timeout = 10,
      execute = function(_, done)
        later = done
      end,
    })
    local _, ends = begin()
    eventually(function()
      return ends[1]
    end)
    later('late')
    settle()
    equal(1, #ends)
  end)
  equal({}, heard)
end)

it('a timeout of 0 is none', function()
  local finish
  tool({
    timeout = 0,
    execute = function(_, done)
      finish = done
    end,
  })
  local _, ends = begin()
  vim.wait(60)
  equal({}, ends)
  finish('yes')
  equal({ { result = 'yes' } }, ends)
end)

it('cancel ends the call once, cleans up, and later answers are not heard', function()
  local heard = warnings(function()
    local later, cleaned = nil, 0
    tool({
      execute = function(_, done, call)
        later = done
        call.on_cancel(function()
          error('a cleanup that fails does not keep the others from their work')
        end)
        call.on_cancel(function()
          cleaned = cleaned + 1
        end)
      end,
    })
    local call, ends = begin()
    call.cancel()
    call.cancel()
    later('late')
    settle()
    equal({ { message = 't was cancelled' } }, ends)
    equal(1, cleaned)
  end)
  equal({}, heard)
end)

it('a cleanup that calls `done` does not answer a second time', function()
  tool({
    execute = function(_, done, call)
      call.on_cancel(function()
        done(nil, 'from the cleanup')
      end)
    end,
  })
  local call, ends = begin()
  call.cancel()
  settle()
  equal({ { message = 't was cancelled' } }, ends)
end)

it('a cleanup that is given after the cancel runs at once', function()
  local held, cleaned = nil, false
  tool({
    execute = function(_, _, call)
      held = call
    end,
  })
  local call = begin()
  call.cancel()
  held.on_cancel(function()
    cleaned = true
  end)
  equal(true, cleaned)
end)

it('cancel after the end does nothing', function()
  local cleaned = false
  tool({
    execute = function(_, done, call)
      call.on_cancel(function()
        cleaned = true
      end)
      done(1)
    end,
  })
  local call, ends = begin()
  call.cancel()
  equal({ { result = 1 } }, ends)
  equal(false, cleaned)
end)

it('`done` and progress may be called from a callback of libuv', function()
  tool({
    execute = function(_, done, call)
      local timer = vim.uv.new_timer()
      timer:start(1, 0, function()
        timer:close()
        call.progress('half')
        done({ fast = vim.in_fast_event() })
      end)
    end,
  })
  local told, result = {}, nil
  registry().execute('t', {}, function(answer)
    result = { answer, vim.in_fast_event() }
  end, function(message)
    told = { message, vim.in_fast_event() }
  end)
  eventually(function()
    return result
  end)
  equal({ { fast = true }, false }, result)
  equal({ 'half', false }, told)
end)

it('progress is told while the call lasts only', function()
  local held
  tool({
    execute = function(_, done, call)
      held = call
      call.progress('one')
      done(1)
    end,
  })
  local told = {}
  registry().execute('t', {}, function() end, function(message)
    table.insert(told, message)
  end)
  held.progress('two')
  equal({ 'one' }, told)
end)

it('a tool may remove itself while it runs', function()
  tool({
    execute = function(_, done)
      registry().unregister('t')
      vim.schedule(function()
        done('still')
      end)
    end,
  })
  equal('still', (spec.call('t')))
  equal(false, registry().has('t'))
end)

it('a tool of the same name takes the place, and calls that are under way go on', function()
  local finish
  tool({
    execute = function(_, done)
      finish = done
    end,
  })
  local _, ends = begin()
  tool({
    execute = function()
      return 'new'
    end,
  })
  equal('new', (spec.call('t')))
  finish('old')
  equal({ { result = 'old' } }, ends)
  equal(1, registry().count())
end)

it('a tool may call another tool', function()
  tool({
    name = 'inner',
    execute = function(_, done)
      vim.schedule(function()
        done(20)
      end)
    end,
  })
  tool({
    execute = function(_, done)
      registry().execute('inner', {}, function(result, message)
        done(result and result + 1, message)
      end)
    end,
  })
  equal(21, (spec.call('t')))
end)

it('without `done` a tool that answers later is an error, and is cancelled', function()
  local cleaned = false
  tool({
    execute = function(_, _, call)
      call.on_cancel(function()
        cleaned = true
      end)
    end,
  })
  local result, message = registry().execute('t', {})
  equal(nil, result)
  contains(message, 't answers later: pass a function')
  equal(true, cleaned)
end)

it('without `done` errors are returned', function()
  tool({
    execute = function()
      error('no', 0)
    end,
  })
  equal({ nil, 't failed: no' }, { registry().execute('t', {}) })
end)

it('a callable table can be a tool; `later` says that it takes `done`', function()
  local callable = setmetatable({}, {
    __call = function(_, _, done)
      vim.schedule(function()
        done('called')
      end)
    end,
  })
  tool({ execute = callable, later = true })
  equal('called', (spec.call('t')))
end)

it('many changes in a row are one McpToolsChanged, and a call is none', function()
  local events = 0
  local autocommand = vim.api.nvim_create_autocmd('User', {
    pattern = 'McpToolsChanged',
    callback = function()
      events = events + 1
    end,
  })
  for number = 1, 5 do
    tool({ name = 't' .. number, execute = function() end })
  end
  registry().unregister('t1')
  equal(0, events)
  settle()
  equal(1, events)
  spec.call('t2')
  registry().unregister('no such tool')
  settle()
  equal(1, events)
  registry().unregister('t2')
  settle()
  equal(2, events)
  vim.api.nvim_del_autocmd(autocommand)
end)

it('list, has and count show what is registered', function()
  equal({}, registry().list())
  equal({ 0, false }, { registry().count(), registry().has('t') })
  echo({ n = { type = 'integer', default = 1 } })
  equal({ 1, true }, { registry().count(), registry().has('t') })
  equal(true, registry().unregister('t'))
  equal(false, registry().unregister('t'))
  equal(0, registry().count())
end)

it('list has no functions, and changing it changes no tool', function()
  echo({ n = { type = 'integer', default = 1 } }, false)
  local listed = registry().list()
  equal(nil, require('mcp-tools.json').problem(listed))
  equal({ n = { type = 'integer', default = 1 } }, listed.t.args)
  equal({ 't', 'a tool', 300000, false }, { listed.t.name, listed.t.description, listed.t.timeout, listed.t.extra })
  listed.t.args.n.type = 'string'
  equal('integer', registry().list().t.args.n.type)
end)

it('changing a definition after it was registered changes no tool', function()
  local args = { n = { type = 'integer' } }
  echo(args)
  args.n.type = 'nonsense'
  args.more = {}
  equal({ n = { type = 'integer' } }, registry().list().t.args)
end)

it('a definition that makes no sense is refused with what is wrong, and leaves the one before', function()
  echo({})
  local function refused(part, definition)
    local ok, problem = pcall(registry().register, definition)
    equal(false, ok, part)
    contains(problem, 'mcp-tools: ')
    contains(problem, part)
  end
  local run = function() end
  refused('a tool is a table', 'text')
  refused('a tool needs a name', { description = 'x', execute = run })
  refused('cannot name a tool', { name = 'with space', description = 'x', execute = run })
  refused('cannot name a tool', { name = ('x'):rep(124), description = 'x', execute = run })
  refused('t needs a description', { name = 't', execute = run })
  refused('t needs a function `execute`', { name = 't', description = 'x' })
  refused('t needs a function `execute`', { name = 't', description = 'x', execute = 'text' })
  refused('`args` must be a table', { name = 't', description = 'x', execute = run, args = 3 })
  refused('`timeout` must be milliseconds', { name = 't', description = 'x', execute = run, timeout = -1 })
  refused('`title` must be text', { name = 't', description = 'x', execute = run, title = {} })
  refused('`extra` must be true or false', { name = 't', description = 'x', execute = run, extra = 'no' })
  refused('args.n.default is a function', {
    name = 't',
    description = 'x',
    execute = run,
    args = { n = { type = 'string', default = run } },
  })
  refused('args.n has the type', { name = 't', description = 'x', execute = run, args = { n = { type = 'int' } } })
  equal('a tool', registry().list().t.description)
end)

it('calls of one tool do not wait for each other', function()
  local finish = {}
  tool({
    args = { n = { type = 'integer' } },
    execute = function(args, done)
      finish[args.n] = done
    end,
  })
  local _, first = begin({ n = 1 })
  local _, second = begin({ n = 2 })
  finish[2]('b')
  equal({ { result = 'b' } }, second)
  equal({}, first)
  finish[1]('a')
  equal({ { result = 'a' } }, first)
end)
