--- Resuming a program, and waiting for its next stop.
local asking = require('mcp-tools.dap.asking')
local chosen = require('mcp-tools.dap.chosen')
local events = require('mcp-tools.dap.events')
local sessions = require('mcp-tools.dap.sessions')
local stops = require('mcp-tools.dap.stops')
local task = require('mcp-tools.task')

local M = {}

local ACKNOWLEDGED_WITHIN = 5000 -- milliseconds until a request to resume is assumed to be accepted

local function how_it_ended(record)
  local code = record.exit_code and (' with exit code %d'):format(record.exit_code) or ''
  return record.state == 'failed' and ('failed: %s'):format(record.error or 'no reason given') or 'ended' .. code
end

--- The record of a program that has not ended, of the session `name` if given. Ends the tool if there is none.
function M.live(name)
  local record = chosen.record(name)
  if not record then
    task.fail('no debug session; start one with dap_run')
  elseif sessions.is_over(record) then
    task.fail(
      'the program (%s) has %s: dap_program_output shows what it printed; start it again with dap_run',
      record.name,
      how_it_ended(record)
    )
  end
  return record
end

--- The record of a program that is stopped, with its frame known. Ends the tool if there is none.
function M.stopped(call, name)
  local record = M.live(name)
  if record.state == 'stopped' then
    asking.wait(function()
      return record.state ~= 'stopped' or record.stop.ready
    end, asking.WITHIN, call)
    record = M.live(name)
  end
  if record.state == 'initializing' then
    task.fail('the program (%s) is still starting: call dap_wait_until_paused first', record.name)
  elseif record.state ~= 'stopped' then
    task.fail(
      'the program (%s) is running: call dap_wait_until_paused, or dap_set_breakpoint in what it runs',
      record.name
    )
  end
  return record
end

--- Wait until a session or one that it started stops after stop number `base`, or has ended, and tell it.
--- `promised`: the milliseconds that the caller has said, if some of them are gone.
function M.await_stop(record, base, milliseconds, call, promised)
  local family = record.family
  local stopped
  asking.wait(function()
    stopped = sessions.stopped_in(family, base)
    return stopped or sessions.is_settled(family)
  end, milliseconds, call)
  if stopped and stopped.state == 'stopped' then
    return stops.stopped(stopped, call), stopped
  elseif sessions.is_settled(family) then
    return stops.ended(record)
  end
  return stops.pending(record, promised or milliseconds)
end

--- Resume a stopped record by a request. Ends the tool with the adapter's message if it refuses. Returns the number of
--- its current stop: read before the request, so that no later stop can be missed.
function M.resume(record, command, call)
  local session, stop = record.session, record.stop
  local base = record.family.stops
  if not stop.thread_id then
    task.fail('the debug adapter did not report which thread stopped')
  end
  local arguments = { threadId = stop.thread_id }
  if command ~= 'continue' then
    arguments.granularity = require('dap').defaults[record.type].stepping_granularity
  end
  events.forget_stop(session, stop.thread_id)
  record.quiet = true
  record.state = 'running'
  local _, problem, late = asking.ask(record, command, events.is_ours(arguments), call, ACKNOWLEDGED_WITHIN)
  if problem and not late and not sessions.is_over(record) then
    if record.stop == stop then
      record.state = 'stopped'
      session.stopped_thread_id = stop.thread_id
    end
    task.fail('%s is not possible: %s', command, problem)
  end
  return base
end

-- The running session of a family: the one started last, since the first may only start others.
local function running_one(family)
  for index = #family.members, 1, -1 do
    if family.members[index].state == 'running' then
      return family.members[index]
    end
  end
end

--- Pause a running program, and return the stop. Ends the tool with the adapter's message if it refuses.
function M.pause(args, call)
  local record = M.live(args.session)
  local base = record.family.stops
  local stopped = sessions.stopped_in(record.family)
  local running = running_one(record.family)
  if stopped or not running then
    return (M.await_stop(record, -1, args.wait_timeout_ms, call))
  end
  local answer = asking.ask(running, 'threads', nil, call, ACKNOWLEDGED_WITHIN)
  local thread = answer and answer.threads and answer.threads[1]
  -- Without a thread: debuggers that list none while a program runs stop all of them.
  local arguments = { threadId = thread and thread.id or 0 }
  local _, problem, late = asking.ask(running, 'pause', arguments, call, ACKNOWLEDGED_WITHIN)
  if problem and not late and not sessions.is_over(running) then
    task.fail('cannot pause the program: %s', problem)
  end
  return (M.await_stop(record, base, args.wait_timeout_ms, call))
end

--- The answer of a tool that has resumed a program: its next stop, or just that it runs.
function M.answer(record, base, args, call)
  if args.wait_until_paused then
    return M.await_stop(record, base, args.wait_timeout_ms, call)
  end
  return {
    state = record.state,
    name = record.name,
    hint = 'dap_wait_until_paused waits for the next stop, or the end',
  }
end

return M
