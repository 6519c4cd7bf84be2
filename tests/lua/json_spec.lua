local spec = require('spec')
local it, equal, contains = spec.it, spec.equal, spec.contains

local function problem(value)
  return require('mcp-tools.json').problem(value)
end

it('values that JSON can hold are accepted', function()
  local nested = { a = { b = { vim.NIL } } }
  for _, value in ipairs({ 'text', 5, -0.5, true, false, {}, { 1, 2 }, nested, vim.empty_dict(), vim.NIL }) do
    equal(nil, problem(value), vim.inspect(value))
  end
  equal(nil, problem(nil))
end)

it('one table in two places is not a cycle', function()
  local shared = { 1 }
  equal(nil, problem({ a = shared, b = { shared, shared } }))
end)

it('what JSON cannot hold is named with its key', function()
  local cycle = {}
  cycle.list = { { me = cycle } }
  for wanted, value in pairs({
    ['result is a function'] = print,
    ['result.a[2].f is a function'] = { a = { 1, { f = print } } },
    ['result.list[1].me contains itself'] = cycle,
    ['result.t is a thread'] = { t = coroutine.create(print) },
    ['result.c is a cdata'] = { c = require('ffi').new('int64_t', 5) },
    ['result.n is inf'] = { n = math.huge },
    ['result[1] is -inf'] = { -math.huge },
    ['result.m has both numbered and named keys'] = { m = { 1, a = 2 } },
    ['result.g is a list with gaps: 2 values, the last at 9'] = { g = { [1] = 1, [9] = 2 } },
    ['result has a key that is a number (0)'] = { [0] = 1 },
    ['result has a key that is a number (1.5)'] = { [1.5] = 1 },
    ['result has a key that is a boolean (true)'] = { [true] = 1 },
  }) do
    equal(wanted, problem(value))
  end
  contains(problem({ x = 0 / 0 }), 'result.x is ')
  contains(problem({ x = vim.uv.new_timer() }), 'result.x is a userdata')
end)

it('a list with an enormous gap is found without filling it', function()
  contains(problem({ [1] = 1, [1e15] = 2 }), 'is a list with gaps: 2 values')
end)

it('what is nested too deeply for any reader is a problem', function()
  local deep = {}
  for _ = 1, 100000 do
    deep = { deep }
  end
  contains(problem(deep), 'is in more than 400 tables')
end)
