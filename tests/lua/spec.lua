--- Specs: `it('sentence', function() … end)`, run by `nvim -l tests/lua/spec.lua SPEC`. Each loads the modules again.
local root = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h')
vim.opt.runtimepath:prepend(root)
package.path = root .. '/tests/lua/?.lua;' .. package.path

local WITHIN = 20000 -- milliseconds that `eventually` waits at most

local M = { root = root, failed = 0, ran = 0 }
package.loaded.spec = M
local only = vim.env.ONLY -- a part of the sentence

--- Fails unless both are the same.
function M.equal(wanted, got, what)
  if not vim.deep_equal(wanted, got) then
    error(('%swanted %s\ngot    %s'):format(what and what .. ': ' or '', vim.inspect(wanted), vim.inspect(got)), 2)
  end
end

--- Fails unless `text` has `part` in it.
function M.contains(text, part)
  if not tostring(text):find(part, 1, true) then
    error(('wanted %q in\n%s'):format(part, vim.inspect(text)), 2)
  end
end

--- Wait until `condition()` is true, and return what it returned; fails after a bound.
function M.eventually(condition, what)
  local value
  local ok = vim.wait(WITHIN, function()
    value = condition()
    return value
  end, 5)
  if not ok then
    error('it did not happen: ' .. (what or 'a condition'), 2)
  end
  return value
end

--- Call a registered tool and wait for its answer: result, message, remarks.
function M.call(name, args)
  local outcome
  require('mcp-tools.registry').execute(name, args or {}, function(result, message, remarks)
    outcome = { result = result, message = message, remarks = remarks }
  end)
  M.eventually(function()
    return outcome
  end, name .. ' answers')
  return outcome.result, outcome.message, outcome.remarks
end

--- One behaviour.
function M.it(sentence, body)
  if only and not sentence:find(only, 1, true) then
    return
  end
  for name in pairs(package.loaded) do
    if vim.startswith(name, 'mcp-tools') then
      package.loaded[name] = nil
    end
  end
  M.ran = M.ran + 1
  local ok, trace = xpcall(body, debug.traceback)
  io.write(ok and 'ok      ' or 'FAILED  ', sentence, '\n')
  if not ok then
    M.failed = M.failed + 1
    io.write((trace:gsub('[^\n]+', '        %0')), '\n')
  end
end

local file = _G.arg[1]
if file then
  dofile(file)
  io.write(('%d ran, %d failed\n'):format(M.ran, M.failed))
  vim.cmd(M.failed == 0 and M.ran > 0 and 'qall!' or 'cquit!')
end
return M
