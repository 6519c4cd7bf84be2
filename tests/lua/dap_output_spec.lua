-- What programs print, kept within bounds.
local output = require('mcp-tools.dap.program_output')
local spec = require('spec')
local it, equal = spec.it, spec.equal

it('chunks that end anywhere become lines, each category by itself', function()
  local ring = output.new()
  output.add(ring, 'stdout', 'one\ntw')
  output.add(ring, 'stderr', 'oops\n')
  output.add(ring, 'stdout', 'o\r\n\nthree')
  equal({ 'one', 'two', 'oops', '', 'three' }, output.texts(ring, 10))
  equal({ 'one', 'two', '', 'three' }, output.texts(ring, 10, 'stdout'))
  equal({ 'oops' }, output.texts(ring, 10, 'stderr'))
end)

it('only the last lines are given, with how many there are', function()
  local ring = output.new()
  output.add(ring, 'stdout', 'a\nb\nc\n')
  local lines, total = output.tail(ring, 2)
  equal({ 'b', 'c' }, { lines[1].text, lines[2].text })
  equal(3, total)
  equal({}, output.texts(ring, 0))
end)

it('telemetry is only given if it is asked for', function()
  local ring = output.new()
  output.add(ring, 'telemetry', 'x\n')
  equal({}, output.texts(ring, 9))
  equal({ 'x' }, output.texts(ring, 9, 'telemetry'))
end)

it('there are never more lines or bytes than the bounds', function()
  local ring = output.new()
  for index = 1, 5000 do
    output.add(ring, 'stdout', ('line %d\n'):format(index))
  end
  equal(3000, ring.dropped)
  equal({ 'line 5000' }, output.texts(ring, 1))
  for _ = 1, 200 do
    output.add(ring, 'stdout', ('x'):rep(3000) .. '\n')
  end
  assert(ring.bytes <= 256 * 1024)
  equal(nil, ring.lines[ring.first - 1])
end)

it('an endless line is cut between characters', function()
  local ring = output.new()
  for _ = 1, 5000 do
    output.add(ring, 'stdout', 'aä€')
  end
  local text = output.texts(ring, 1)[1]
  assert(#text < 4200 and vim.endswith(text, '…'))
  equal(true, pcall(vim.json.decode, vim.json.encode(text)))
  equal(text, vim.fn.iconv(text, 'utf-8', 'utf-8'))
end)
