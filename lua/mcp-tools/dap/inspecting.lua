--- Looking at a program that is stopped: frames, scopes, variables, expressions.
local asking = require('mcp-tools.dap.asking')
local chosen = require('mcp-tools.dap.chosen')
local debuggers = require('mcp-tools.dap.debuggers')
local paging = require('mcp-tools.dap.paging')
local program_output = require('mcp-tools.dap.program_output')
local sessions = require('mcp-tools.dap.sessions')
local shown = require('mcp-tools.dap.shown')
local stops = require('mcp-tools.dap.stops')
local task = require('mcp-tools.task')
local terminal = require('mcp-tools.dap.terminal')

local M = {}

local LONGEST_VALUE = 2000 -- characters, for a single value
local MOST_VARIABLES = 200 -- by default
local MOST_CHARACTERS = 8000 -- of names and values in one answer
local FORM = 40 -- characters that JSON adds to each variable

-- A reference of 0 means that the value has no children.
local function reference(number)
  return number and number > 0 and number or nil
end

local function must(answer, problem)
  return answer or task.fail('%s', problem)
end

--- The frame for a call: by default that of the stop.
function M.frame_id(record, frame_id)
  local frame = record.stop.frame
  return frame_id or (frame and frame.id) or task.fail('the debug adapter did not report a frame; see dap_stacktrace')
end

--- The frames of a thread, the innermost first.
function M.stack(record, args, call)
  local thread = args.thread_id or record.stop.thread_id
  local asked = { threadId = thread, startFrame = 0, levels = args.levels }
  local answer = must(asking.ask(record, 'stackTrace', asked, call, args.timeout_ms))
  local frames = {}
  for index, frame in ipairs(answer.stackFrames or {}) do
    if args.levels > 0 and index > args.levels then
      break -- some adapters return more than requested
    end
    frames[index] = {
      id = frame.id,
      name = frame.name,
      at = shown.at(frame),
      hint = frame.presentationHint ~= 'normal' and frame.presentationHint or nil,
    }
  end
  local total = answer.totalFrames
  return { thread_id = thread, frames = frames, total_frames = total and total >= #frames and total or #frames }
end

--- The scopes of a frame.
function M.scopes(record, args, call)
  local frame = M.frame_id(record, args.frame_id)
  local answer = must(asking.ask(record, 'scopes', { frameId = frame }, call))
  for _, scope in ipairs(answer.scopes or {}) do
    paging.remember(record.stop, scope.variablesReference, nil, frame)
  end
  return {
    frame_id = frame,
    scopes = vim.tbl_map(function(scope)
      return {
        name = scope.name,
        variables_reference = scope.variablesReference,
        expensive = scope.expensive or nil,
        named_variables = scope.namedVariables,
        indexed_variables = scope.indexedVariables,
      }
    end, answer.scopes or {}),
  }
end

--- The variables behind a reference.
function M.variables(record, args, call)
  local asked = { variablesReference = args.variables_reference }
  local pages = record.session and record.session.capabilities.supportsVariablePaging
  if pages then
    asked.filter, asked.start, asked.count = args.filter, args.start, args.count
  end
  local most = args.count and args.count > 0 and args.count or MOST_VARIABLES
  local debugger = debuggers.known(record.type, record.adapter)
  local all, rest = nil, false
  if not pages and args.start and args.filter ~= 'named' then
    all, rest = paging.by_expression(record, args, debugger, call)
  end
  if not all then
    local answer = must(asking.ask(record, 'variables', asked, call))
    all = answer.variables or {}
    if not pages then
      all, rest = paging.fitting(all, args, debugger)
    end
  end
  local found, room = {}, MOST_CHARACTERS
  local frame = paging.frame(record.stop, args.variables_reference)
  for index, variable in ipairs(all) do
    room = room - math.min(#(variable.value or ''), LONGEST_VALUE) - #variable.name - FORM
    if index > most or (room < 0 and index > 1) then
      break
    end
    paging.remember(record.stop, variable.variablesReference, variable.evaluateName, frame)
    found[index] = {
      name = variable.name,
      value = shown.cut(variable.value or '', LONGEST_VALUE),
      type = variable.type,
      variables_reference = reference(variable.variablesReference),
      evaluate_name = variable.evaluateName ~= variable.name and variable.evaluateName or nil,
      named_variables = variable.namedVariables,
      indexed_variables = variable.indexedVariables,
    }
  end
  local left_out = #all > #found and #all - #found or nil
  local hint = left_out and 'start and count tell which ones' or nil
  if rest and args.filter ~= 'named' then -- their number is unknown
    left_out, hint = nil, ('there are more: pass start=%d'):format((args.start or 0) + #found)
  end
  return { variables = found, left_out = left_out, hint = hint }
end

--- The value of an expression in a frame.
function M.evaluate(record, args, call)
  local debugger = debuggers.known(record.type, record.adapter)
  local asked = {
    expression = args.expression,
    frameId = M.frame_id(record, args.frame_id),
    context = args.context or debugger.context or 'repl',
  }
  local answer, problem, late = asking.ask(record, 'evaluate', asked, call, args.timeout_ms)
  if late then
    task.fail(
      '%q has no value after %g s. The program may still be computing it, and cannot go on until then: '
        .. 'dap_terminate ends it',
      shown.cut(args.expression, 100),
      args.timeout_ms / 1000
    )
  end
  if not answer then
    task.fail('%s', vim.trim(table.concat(shown.without(vim.split(problem, '\n'), debugger.chatter), '\n')))
  end
  paging.remember(record.stop, answer.variablesReference, args.expression, asked.frameId)
  return {
    result = shown.cut(answer.result or '', LONGEST_VALUE),
    type = answer.type,
    variables_reference = reference(answer.variablesReference),
    named_variables = answer.namedVariables,
    indexed_variables = answer.indexedVariables,
  }
end

-- The variable called `name` of a frame, and the reference of the scope that has it.
local function variable_of(record, frame, name, call)
  local scopes = must(asking.ask(record, 'scopes', { frameId = frame }, call)).scopes or {}
  for _, scope in ipairs(scopes) do
    if not scope.expensive then
      local answer = asking.ask(record, 'variables', { variablesReference = scope.variablesReference }, call) or {}
      for _, variable in ipairs(answer.variables or {}) do
        if variable.name == name then
          return scope.variablesReference
        end
      end
    end
  end
end

--- Set a variable, by its scope or as an expression, depending on the adapter.
function M.set_variable(record, args, call)
  local frame = M.frame_id(record, args.frame_id)
  local can = record.session.capabilities
  local scope = can.supportsSetVariable and variable_of(record, frame, args.name, call)
  local answer, problem
  if scope then
    local asked = { variablesReference = scope, name = args.name, value = args.value }
    answer, problem = asking.ask(record, 'setVariable', asked, call)
  elseif can.supportsSetExpression then
    local asked = { frameId = frame, expression = args.name, value = args.value }
    answer, problem = asking.ask(record, 'setExpression', asked, call)
  elseif can.supportsSetVariable then
    task.fail(
      'there is no variable %q in this frame; dap_scopes and dap_variables show those that there are',
      args.name
    )
  else
    task.fail('this debugger cannot set variables; try an assignment with dap_evaluate')
  end
  if not answer then
    task.fail('%s', problem)
  end
  return { name = args.name, value = shown.cut(answer.value or '', LONGEST_VALUE), type = answer.type }
end

--- The threads of a program; the one of the stop is marked.
function M.threads(record, call)
  local answer = must(asking.ask(record, 'threads', nil, call))
  local stop = record.state == 'stopped' and record.stop
  return {
    state = record.state,
    threads = vim.tbl_map(function(thread)
      return { id = thread.id, name = thread.name, stopped_here = stop and stop.thread_id == thread.id or nil }
    end, answer.threads or {}),
  }
end

local function summary(record)
  if record.state == 'stopped' and record.stop.ready then
    return vim.tbl_extend('force', stops.place(record), { name = record.name, type = record.type })
  elseif sessions.is_over(record) then
    return { state = record.state, name = record.name, exit_code = record.exit_code, error = record.error }
  end
  return { state = record.state, name = record.name, type = record.type }
end

-- The names of the adapter's capabilities.
local function abilities(session)
  local names = {}
  for name, value in pairs(session and session.capabilities or {}) do
    if value == true then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

--- What is being debugged, and how it last ended.
function M.status(args)
  local record = sessions.current()
  local live = sessions.live()
  if not record or sessions.is_over(record) then
    return {
      active = false,
      message = 'No active debug session',
      last = record and stops.ended(record) or nil,
      hint = not record and 'start one with dap_run' or nil,
    }
  end
  local answer = summary(record)
  answer.active = true
  answer.stopped_thread_id = record.state == 'stopped' and record.stop.thread_id or nil
  answer.capabilities = args.capabilities and abilities(record.session) or nil
  answer.sessions = #live > 1
      and vim.tbl_map(function(one)
        return vim.tbl_extend('force', summary(one), { session = sessions.label(one) })
      end, live)
    or nil
  return answer
end

--- The last lines that a program printed.
function M.output(args)
  local record = chosen.record(args.session) or task.fail('no debug session; start one with dap_run')
  local lines, total = program_output.tail(record.output, math.max(0, args.lines), args.category)
  return {
    name = record.name,
    state = record.state,
    exit_code = record.exit_code,
    lines = vim.tbl_map(function(line)
      local text = line.cut and line.text .. '…' or line.text
      if not args.include_metadata then
        return text
      end
      return { text = text, category = line.category, age_ms = vim.uv.now() - line.at, cut = line.cut }
    end, lines),
    terminal = terminal.lines(record, math.max(0, args.lines)),
    earlier_lines = total > #lines and total - #lines or nil,
    forgotten_lines = record.output.dropped > 0 and record.output.dropped or nil,
  }
end

return M
