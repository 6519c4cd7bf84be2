--- Breakpoints on functions. nvim-dap has none, so they are kept here and sent to each debug session.
local asking = require('mcp-tools.dap.asking')
local sessions = require('mcp-tools.dap.sessions')
local shown = require('mcp-tools.dap.shown')
local task = require('mcp-tools.task')

local M = {}

local BOUND_WITHIN = 5000 -- milliseconds that adapters have to bind breakpoints
local NOT_SUPPORTED = 'this debugger has no breakpoints on functions'

local kept = {} -- name, condition, hitCondition; in the order in which they were set

local function given(text)
  return text ~= nil and text ~= '' and text or nil
end

-- Send all of them to one session; `record.functions` has the result of each, by name.
local function send(record)
  local names = vim.tbl_map(function(one)
    return one.name
  end, kept)
  if not record.session.capabilities.supportsFunctionBreakpoints then
    record.functions = {}
    for _, name in ipairs(names) do
      record.functions[name] = { verified = false, message = NOT_SUPPORTED }
    end
    return
  end
  record.functions = nil
  record.session:request('setFunctionBreakpoints', { breakpoints = vim.deepcopy(kept) }, function(problem, response)
    record.functions = {}
    for index, name in ipairs(names) do
      record.functions[name] = response and response.breakpoints and response.breakpoints[index]
        or { verified = false, message = problem and shown.words(problem) }
    end
    sessions.changed()
  end)
end

--- A session is ready for breakpoints.
function M.on_initialized(record)
  if #kept > 0 then
    send(record)
  end
end

local function send_all(call)
  local waiting = vim.tbl_filter(function(record)
    return record.state == 'running' or record.state == 'stopped'
  end, sessions.live())
  for _, record in ipairs(waiting) do
    asking.outside(function()
      send(record)
    end)
  end
  asking.wait(function()
    return vim.iter(waiting):all(function(record)
      return record.functions ~= nil or sessions.is_over(record)
    end)
  end, BOUND_WITHIN, call)
end

local function described(one)
  local answer = { ['function'] = one.name, condition = given(one.condition), hit_condition = given(one.hitCondition) }
  answer.verified, answer.status = false, 'not bound yet: no program runs under the debugger'
  for _, record in ipairs(sessions.live()) do
    local got = record.functions and record.functions[one.name]
    if got and not answer.verified then
      answer.verified = got.verified == true
      answer.message = given(got.message)
      answer.status = got.verified and 'bound' or 'not bound'
    end
  end
  return answer
end

local function take_out(name)
  for index, one in ipairs(kept) do
    if one.name == name then
      return table.remove(kept, index)
    end
  end
end

--- Set a breakpoint on a function, replacing an existing one.
function M.set(name, options, call)
  if given(options.log_message) then
    task.fail('a function breakpoint cannot log: set `log_message` at a line')
  end
  local replaced = take_out(name) ~= nil
  local one = { name = name, condition = given(options.condition), hitCondition = given(options.hit_condition) }
  kept[#kept + 1] = one
  send_all(call)
  local answer = described(one)
  answer.replaced = replaced or nil
  return answer
end

--- All of them.
function M.all()
  return vim.tbl_map(described, kept)
end

--- Remove the breakpoint on a function. Ends the tool if there is none.
function M.remove(name, call)
  if not take_out(name) then
    local names = vim.tbl_map(function(one)
      return one.name
    end, kept)
    local known = #names > 0 and table.concat(names, ', ') or 'none'
    task.fail('no breakpoint on the function %q; functions with breakpoints: %s', name, known)
  end
  send_all(call)
  return { removed = name }
end

--- Remove all; returns their names.
function M.clear(call)
  local names = vim.tbl_map(function(one)
    return one.name
  end, kept)
  kept = {}
  if #names > 0 then
    send_all(call)
  end
  return names
end

--- The names of those that were bound in a family's programs but never reached.
function M.never_hit(family)
  local found = {}
  for _, one in ipairs(kept) do
    local is_bound = vim.iter(family.members):any(function(record)
      return record.functions and record.functions[one.name] and record.functions[one.name].verified
    end)
    local is_hit = vim.iter(family.stopped_in):any(function(name)
      return name:find(one.name, 1, true) ~= nil
    end)
    if is_bound and not is_hit then
      found[#found + 1] = one.name
    end
  end
  return found
end

return M
