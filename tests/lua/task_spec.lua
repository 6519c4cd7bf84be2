local spec = require('spec')
local it, equal, contains, eventually = spec.it, spec.equal, spec.contains, spec.eventually

-- Register a tool `t` that does `work`, and return the module of tasks for it.
local function working(work)
  local task = require('mcp-tools.task')
  require('mcp-tools.registry').register({
    name = 't',
    description = 'a tool',
    execute = task.tool(function(args, call)
      return work(task, args, call)
    end),
  })
end

-- Call `resume` in a moment.
local function soon(resume, ...)
  local values = vim.F.pack_len(...)
  vim.defer_fn(function()
    resume(vim.F.unpack_len(values))
  end, 2)
end

it('a task that does not wait is answered at once, also without `done`', function()
  working(function()
    return { 1 }
  end)
  equal({ 1 }, (require('mcp-tools.registry').execute('t', {})))
end)

it('a task that returns nothing is answered with null, and false stays false', function()
  working(function() end)
  equal(vim.NIL, (spec.call('t')))
  working(function()
    return false
  end)
  equal(false, (spec.call('t')))
end)

it('await returns all that it was resumed with, nils too', function()
  working(function(task)
    local a, b, c = task.await(function(resume)
      soon(resume, 1, nil, 3)
    end)
    return { a, b == nil, c }
  end)
  equal({ 1, true, 3 }, (spec.call('t')))
end)

it('a task waits as often as it likes, in functions that it calls, too', function()
  working(function(task)
    local sum = 0
    local function add(n)
      sum = sum + task.await(function(resume)
        soon(resume, n)
      end)
    end
    for n = 1, 10 do
      add(n)
    end
    return sum
  end)
  equal(55, (spec.call('t')))
end)

it('resuming before await has returned works, and only the first time counts', function()
  working(function(task)
    local first = task.await(function(resume)
      resume('one')
      resume('two')
    end)
    local second = task.await(function(resume)
      soon(resume, 'three')
    end)
    return { first, second }
  end)
  equal({ 'one', 'three' }, (spec.call('t')))
end)

it('resuming from a callback of libuv goes on where all of Neovim may be called', function()
  working(function(task)
    task.await(function(resume)
      local timer = vim.uv.new_timer()
      timer:start(1, 0, function()
        timer:close()
        resume()
      end)
    end)
    return { vim.in_fast_event(), vim.fn.getcwd() ~= '' }
  end)
  equal({ false, true }, (spec.call('t')))
end)

it('fail ends the task with its message and nothing else', function()
  working(function(task)
    task.fail('line %d is past the end', 7)
  end)
  equal('line 7 is past the end', select(2, spec.call('t')))
end)

it('fail takes a message with a percent sign as it is', function()
  working(function(task)
    task.fail('100% wrong')
  end)
  equal('100% wrong', select(2, spec.call('t')))
end)

it('fail after a wait, and while what is waited for is being started, ends the task', function()
  working(function(task)
    task.await(function(resume)
      soon(resume)
    end)
    task.fail('after')
  end)
  equal('after', select(2, spec.call('t')))
  working(function(task)
    task.await(function()
      task.fail('while starting')
    end)
  end)
  equal('while starting', select(2, spec.call('t')))
end)

it('a start that fails after it has resumed answers once', function()
  local went_on = false
  working(function(task)
    task.await(function(resume)
      resume()
      error('broken start', 0)
    end)
    went_on = true
  end)
  equal('broken start', select(2, spec.call('t')))
  vim.wait(30)
  equal(false, went_on)
end)

it('a defect is told with the place where it is', function()
  working(function(task)
    task.await(function(resume)
      soon(resume)
    end)
    local nothing -- luacheck: ignore 221
    return nothing.field
  end)
  local _, message = spec.call('t')
  contains(message, "attempt to index local 'nothing'")
  contains(message, 'task_spec.lua')
end)

it('await_within tells that time is up, or what came in time', function()
  working(function(task)
    local late = { task.await_within(5, function() end) }
    local in_time = {
      task.await_within(20000, function(resume)
        soon(resume, 'a', 'b')
      end),
    }
    return { late, in_time }
  end)
  equal({ { false }, { true, 'a', 'b' } }, (spec.call('t')))
end)

it('what comes after the time is up is not heard', function()
  local answer
  working(function(task)
    local first = task.await_within(1, function(resume)
      answer = resume
    end)
    answer('late')
    local second = task.await(function(resume)
      soon(resume, 'right')
    end)
    return { first, second }
  end)
  equal({ false, 'right' }, (spec.call('t')))
end)

it('a task that was cancelled does not go on', function()
  local answer, went_on, cleaned = nil, false, false
  working(function(task, _, call)
    call.on_cancel(function()
      cleaned = true
    end)
    task.await(function(resume)
      answer = resume
    end)
    went_on = true
  end)
  local message
  local call = require('mcp-tools.registry').execute('t', {}, function(_, problem)
    message = problem
  end)
  call.cancel()
  answer()
  vim.wait(30)
  equal({ 't was cancelled', true, false }, { message, cleaned, went_on })
end)

it('two calls of one task wait on their own', function()
  local resumes = {}
  working(function(task, args)
    return task.await(function(resume)
      resumes[args.n] = resume
    end)
  end)
  local got = {}
  for n = 1, 2 do
    require('mcp-tools.registry').execute('t', { n = n }, function(result)
      got[n] = result
    end)
  end
  resumes[2]('second')
  eventually(function()
    return got[2]
  end)
  equal(nil, got[1])
  resumes[1]('first')
  eventually(function()
    return got[1]
  end)
  equal({ 'first', 'second' }, got)
end)
