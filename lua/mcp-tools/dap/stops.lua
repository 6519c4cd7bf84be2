--- Answers of the tools at a stop, at the end, and for a running program.
local asking = require('mcp-tools.dap.asking')
local breakpoints = require('mcp-tools.dap.breakpoints')
local debuggers = require('mcp-tools.dap.debuggers')
local program_output = require('mcp-tools.dap.program_output')
local sessions = require('mcp-tools.dap.sessions')
local shown = require('mcp-tools.dap.shown')
local task = require('mcp-tools.task')
local terminal = require('mcp-tools.dap.terminal')

local M = {}

local CONTEXT = 3 -- source lines before and after
local MOST_VARIABLES = 30
local LONGEST_VALUE = 200 -- characters
local LONGEST_TEXT = 2000 -- of an exception's description
local LAST_LINES = 20 -- of output, at the end
local FEW_LINES = 5 -- of output, before the end

-- Advice for a program that has not stopped before the deadline.
local HINTS = {
  launch = 'the debugger is still starting the program (it may be building it): call dap_wait_until_paused; '
    .. 'do not start it again',
  attach = 'the debugger has not attached yet; if nothing listens at that address, call dap_terminate, '
    .. 'else dap_wait_until_paused',
  running = 'the program runs on: call dap_wait_until_paused to wait on, dap_program_output to see what it prints, '
    .. 'dap_set_breakpoint to stop it at a line, or dap_terminate; do not repeat this call',
}

local INPUT = '; dap_send_input if it waits for input'

-- The scopes of the frame's own variables, the innermost first.
local function locals_of(scopes, patterns)
  if patterns then
    return vim.tbl_filter(function(scope)
      return vim.iter(patterns):any(function(pattern)
        return scope.name:find(pattern) ~= nil
      end)
    end, scopes)
  end
  for _, scope in ipairs(scopes) do
    if scope.presentationHint == 'locals' or scope.name == 'Locals' then
      return { scope }
    end
  end
  for _, scope in ipairs(scopes) do
    if not scope.expensive and scope.presentationHint ~= 'registers' then
      return { scope }
    end
  end
  return {}
end

--- The local variables of a frame, or those with these names: values by name, cut short; and how many more there are.
function M.variables(record, frame, call, names)
  local debugger = debuggers.known(record.type, record.adapter)
  local scopes = asking.ask(record, 'scopes', { frameId = frame.id }, call)
  local values, count, left_out
  for _, scope in ipairs(scopes and locals_of(scopes.scopes or {}, debugger.scopes) or {}) do
    local answer = asking.ask(record, 'variables', { variablesReference = scope.variablesReference }, call)
    if answer and not values then
      values, count, left_out = vim.empty_dict(), 0, 0
    end
    for _, variable in ipairs(answer and answer.variables or {}) do
      local is_wanted = not names or vim.list_contains(names, variable.name)
      local is_shown = is_wanted
        and not shown.is_hidden(variable, debugger.hidden or {})
        and values[variable.name] == nil
      if is_shown and count < MOST_VARIABLES then
        values[variable.name] = shown.cut(variable.value or '', LONGEST_VALUE)
        count = count + 1
      elseif is_shown then
        left_out = left_out + 1
      end
    end
  end
  return values, left_out or 0
end

-- The exception, as described by the adapter.
local function exception(record, stop, call)
  local session = record.session
  if not (session and session.capabilities.supportsExceptionInfoRequest) then
    return nil
  end
  local info = asking.ask(record, 'exceptionInfo', { threadId = stop.thread_id }, call)
  if not info then
    return nil
  end
  local name = info.details and info.details.typeName or info.exceptionId or ''
  local reason = info.description or (info.details and info.details.message) or ''
  local parts = vim.tbl_filter(function(part)
    return part ~= ''
  end, { not vim.startswith(reason, name) and name or '', reason })
  return shown.cut(table.concat(parts, ': '), LONGEST_TEXT)
end

-- Leave out what the exception already contains.
local function drop_repeated(answer)
  for _, key in ipairs({ 'description', 'text' }) do
    if answer.exception and answer[key] and answer.exception:find(answer[key], 1, true) then
      answer[key] = nil
    end
  end
end

-- The last lines of output that are not the debugger's own, cut short, and how many more such there are; nil if none.
local function last_output(record, most, longest)
  local texts = program_output.texts(record.output, math.huge)
  local lines = shown.without(texts, debuggers.known(record.type, record.adapter).chatter)
  local last = vim.list_slice(lines, math.max(1, #lines - most + 1), #lines)
  return vim.tbl_map(function(line)
    return shown.cut(line, longest)
  end, last),
    #lines > #last and #lines - #last or nil
end

local function note_on(record, answer)
  local said = table.concat({ answer.exception or '', answer.description or '', answer.text or '' }, ' ')
  for _, one in ipairs(debuggers.known(record.type, record.adapter).notes or {}) do
    if said:find(one.text, 1, true) then
      return one.note
    end
  end
end

-- What is wrong with the condition of the breakpoint at a stop: adapters stop there without a reason.
local function broken_condition(record, call)
  local top = record.stop.top
  local path = top and top.source and top.source.path
  local condition = path and record.stop.reason ~= 'step' and breakpoints.condition_at(path, top.line)
  if not condition then
    return nil
  end
  local context = debuggers.known(record.type, record.adapter).context or 'repl'
  local arguments = { expression = condition, frameId = top.id, context = context }
  local _, problem, late = asking.ask(record, 'evaluate', arguments, call)
  return problem and not late and ('the condition %s cannot be evaluated: %s'):format(condition, problem) or nil
end

local function more_than_one()
  return #sessions.live() > 1 or nil
end

--- Where a record is stopped, without asking the adapter; `frame`: if it is not the frame of the stop.
function M.place(record, frame)
  local stop = record.stop
  frame = frame or stop.frame
  local is_plain = stop.reason == 'breakpoint' or stop.reason == 'step' -- and said in one word
  return {
    state = 'stopped',
    stop = stop.number,
    reason = stop.reason,
    description = stop.description and not is_plain and shown.cut(stop.description, LONGEST_TEXT) or nil,
    text = stop.text ~= stop.description and stop.text and shown.cut(stop.text, LONGEST_TEXT) or nil,
    at = shown.at(frame),
    ['function'] = frame and frame.name,
    thread_id = stop.thread_id,
    frame_id = frame and frame.id,
    session = more_than_one() and sessions.label(record),
  }
end

-- The requested frame, by its index in the stack from 0; by default that of the stop.
local function frame_of(stop, index)
  if not index then
    return stop.frame
  end
  local frames = stop.frames or {}
  return frames[index + 1] or task.fail('unknown frame %d; the stack has %d, from 0', index, #frames)
end

--- A stop: reason, place, source and variables. `wanted` may have `context_lines`, `frame`, an index in the stack, and
--- `names` of variables.
function M.stopped(record, call, wanted)
  wanted = wanted or {}
  local stop = record.stop
  local frame = frame_of(stop, wanted.frame)
  local answer = M.place(record, frame)
  if not frame then
    answer.hint = 'the debug adapter has not told where; try dap_threads and dap_stacktrace'
    return answer
  end
  if stop.top and stop.top ~= frame and not wanted.frame then
    answer.raised_in = ('%s (%s)'):format(stop.top.name, shown.at(stop.top) or 'no source')
  end
  answer.source = shown.source(frame.source and frame.source.path, frame.line, wanted.context_lines or CONTEXT)
  if stop.reason == 'exception' then
    answer.exception = exception(record, stop, call)
  end
  local left_out
  answer.variables, left_out = M.variables(record, frame, call, wanted.names)
  answer.variables_left_out = left_out > 0 and left_out or nil
  answer.note = broken_condition(record, call) or note_on(record, answer)
  if stop.reason == 'exception' then
    drop_repeated(answer)
    answer.output = last_output(record, FEW_LINES, LONGEST_VALUE) -- some runtimes print the reason
  end
  return answer
end

-- The signal that has ended a program, if it stopped for one and ended with its number: debuggers tell a number only.
local function signal(record)
  local name = record.stop and (record.stop.description or ''):match('%f[%w](SIG%u+)')
  return name and record.exit_code == vim.uv.constants[name] and name or nil
end

--- The end: how, and the last output.
function M.ended(record)
  local output, left_out = last_output(record, LAST_LINES, LONGEST_VALUE * 2)
  local not_bound, never_hit = breakpoints.unused(record)
  return {
    state = record.state,
    name = record.name,
    exit_code = not record.family.ended_by_tool and record.exit_code or nil,
    signal = signal(record),
    error = record.error,
    output = output,
    output_left_out = left_out, -- dap_program_output has them
    terminal = terminal.lines(record, LAST_LINES),
    not_bound = not_bound,
    never_hit = never_hit,
  }
end

--- Still running at the deadline: not an error, and nothing to repeat.
function M.pending(record, milliseconds)
  local hint = HINTS[record.state == 'initializing' and record.request or 'running']
  return {
    pending = true,
    state = record.state,
    name = record.name,
    waited_ms = milliseconds,
    output = (last_output(record, FEW_LINES, LONGEST_VALUE)),
    terminal = terminal.lines(record, FEW_LINES),
    hint = terminal.buffer(record) and hint .. INPUT or hint,
  }
end

return M
