local spec = require('spec')
local it, equal, contains = spec.it, spec.equal, spec.contains

-- What a tool that declares `args` gets for `given`: the arguments, or nil and the problem.
local function apply(args, given)
  local schema = require('mcp-tools.schema')
  equal(nil, schema.check(args))
  local filled, problem = schema.apply({ args = args }, given)
  return filled, problem
end

-- The same for one argument `a`.
local function one(declared, value)
  local filled, problem = apply({ a = declared }, { a = value })
  if problem then
    return nil, problem
  end
  return filled.a
end

it('values of the declared type are taken as they are', function()
  equal('5', one({ type = 'string' }, '5'))
  equal('', one({ type = 'string' }, ''))
  equal(1.5, one({ type = 'number' }, 1.5))
  equal(-3, one({ type = 'integer' }, -3))
  equal(false, one({ type = 'boolean' }, false))
  equal({ 1, 'a' }, one({ type = 'array' }, { 1, 'a' }))
  equal({}, one({ type = 'array' }, {}))
  equal({ x = 1 }, one({ type = 'object' }, { x = 1 }))
  equal({}, one({ type = 'object' }, {}))
end)

it('values of another type are refused with the value', function()
  for _, case in ipairs({
    { 'string', 5, 'a must be a string, and is 5' },
    { 'number', true, 'a must be a number, and is true' },
    { 'integer', 2.5, 'a must be an integer, and is 2.5' },
    { 'integer', math.huge, 'a must be an integer, and is' },
    { 'boolean', 1, 'a must be a boolean, and is 1' },
    { 'array', { x = 1 }, 'a must be an array, and is { x = 1 }' },
    { 'object', { 1 }, 'a must be an object, and is { 1 }' },
    { 'object', 'text', 'a must be an object, and is "text"' },
  }) do
    local value, problem = one({ type = case[1] }, case[2])
    equal(nil, value)
    contains(problem, case[3])
  end
end)

it('a long value is not repeated in full', function()
  local _, problem = one({ type = 'integer' }, ('x'):rep(10000))
  equal(true, #problem < 200)
end)

it('numbers, booleans, lists and objects may come as text', function()
  equal(20, one({ type = 'integer' }, '20'))
  equal(-1.5, one({ type = 'number' }, '-1.5'))
  equal(true, one({ type = 'boolean' }, 'true'))
  equal(false, one({ type = 'boolean' }, 'false'))
  equal({ 1, 2 }, one({ type = 'array' }, '[1, 2]'))
  equal({ x = { 1 } }, one({ type = 'object' }, '{"x": [1]}'))
end)

it('text that is none is refused', function()
  equal(nil, (one({ type = 'integer' }, '2.5')))
  equal(nil, (one({ type = 'number' }, 'nan')))
  equal(nil, (one({ type = 'number' }, 'inf')))
  equal(nil, (one({ type = 'number' }, '')))
  equal(nil, (one({ type = 'boolean' }, 'yes')))
  equal(nil, (one({ type = 'array' }, '[1,')))
  equal(nil, (one({ type = 'object' }, '5')))
end)

it('null is as if it were not given', function()
  equal({ a = 3 }, (apply({ a = { type = 'integer', default = 3 } }, { a = vim.NIL })))
  equal({}, (apply({ a = { type = 'integer' } }, { a = vim.NIL })))
  local _, problem = apply({ a = { type = 'integer', required = true } }, { a = vim.NIL })
  equal('missing required argument: a', problem)
end)

it('false is a default, and a value', function()
  equal({ a = false }, (apply({ a = { type = 'boolean', default = false } }, {})))
  equal({ a = false }, (apply({ a = { type = 'boolean', default = true } }, { a = false })))
end)

it('an enum takes its values only', function()
  local declared = { type = 'string', enum = { 'error', 'warn', '1' } }
  equal('warn', one(declared, 'warn'))
  local _, problem = one(declared, 'fatal')
  equal('a must be one of "error", "warn", "1", and is "fatal"', problem)
  equal(2, one({ type = 'integer', enum = { 1, 2 } }, '2'))
end)

it('a number is taken for text where an enum has it', function()
  equal('1', one({ type = 'string', enum = { 'error', '1' } }, 1))
  contains(select(2, one({ type = 'string', enum = { 'error', '1' } }, 2)), 'a must be a string, and is 2')
end)

it('the items of a list are checked and taken from text, with their number in the message', function()
  local declared = { type = 'array', items = { type = 'integer' } }
  equal({ 1, 2 }, one(declared, { 1, '2' }))
  equal('a[2] must be an integer, and is "x"', select(2, one(declared, { 1, 'x' })))
end)

it('properties get defaults and are checked, at any depth', function()
  local declared = {
    type = 'object',
    properties = {
      name = { type = 'string', required = true },
      at = { type = 'object', properties = { line = { type = 'integer', default = 1 } } },
      tags = { type = 'array', items = { type = 'string', enum = { 'x', 'y' } } },
    },
  }
  equal(
    { name = 'n', at = { line = 1 }, tags = { 'y' }, more = 5 },
    one(declared, { name = 'n', at = {}, tags = { 'y' }, more = 5 })
  )
  equal('missing required argument: a.name', select(2, one(declared, {})))
  equal('a.at.line must be an integer, and is "z"', select(2, one(declared, { name = 'n', at = { line = 'z' } })))
  equal('a.tags[1] must be one of "x", "y", and is "q"', select(2, one(declared, { name = 'n', tags = { 'q' } })))
end)

it('checking does not change what the caller gave', function()
  local given = { a = { line = '3' } }
  local properties = { line = { type = 'integer' }, n = { type = 'integer', default = 1 } }
  apply({ a = { type = 'object', properties = properties } }, given)
  equal({ a = { line = '3' } }, given)
end)

it('a declaration that makes no sense is refused with its path', function()
  local function wrong(part, args)
    contains(require('mcp-tools.schema').check(args), part)
  end
  wrong('args is a list', { { type = 'string' } })
  wrong('args.a must be a table with a type', { a = 'string' })
  wrong('args.a has the type nil; available: array, boolean,', { a = {} })
  wrong('args.a has the type "int"', { a = { type = 'int' } })
  wrong('args.a has "requird"; available: type,', { a = { type = 'string', requird = true } })
  wrong('args.a.description must be text', { a = { type = 'string', description = 5 } })
  wrong('args.a.enum must be a list', { a = { type = 'string', enum = {} } })
  wrong('args.a.items has the type "x"', { a = { type = 'array', items = { type = 'x' } } })
  wrong('args.a.properties must be a table', { a = { type = 'object', properties = 3 } })
  wrong('args.a.properties.b has the type nil', { a = { type = 'object', properties = { b = {} } } })
  wrong('args.a.default must be an integer, and is "x"', { a = { type = 'integer', default = 'x' } })
  wrong('args.a.default must be one of its enum', { a = { type = 'string', enum = { 'x' }, default = 'y' } })
end)
