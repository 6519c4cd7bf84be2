--- Requests to a debug adapter, and waiting for its events: for tools that are tasks. All waits end: at the answer,
--- at the end of the session, at a deadline, or when the caller gives up.
local sessions = require('mcp-tools.dap.sessions')
local shown = require('mcp-tools.dap.shown')
local task = require('mcp-tools.task')

local M = {}

M.WITHIN = 10000 -- milliseconds for an adapter's answer

--- Wait until `condition()` is true, and return what it returned; nil at the deadline.
function M.wait(condition, milliseconds, call)
  local value = condition()
  if value then
    return value
  end
  return task.await(function(resume)
    local timer = vim.uv.new_timer()
    local unwatch
    local function stop()
      unwatch()
      if not timer:is_closing() then
        timer:stop()
        timer:close()
      end
    end
    unwatch = sessions.watch(function()
      local found = condition()
      if found then
        stop()
        resume(found)
      end
    end)
    timer:start(
      math.max(0, milliseconds),
      0,
      vim.schedule_wrap(function()
        stop()
        resume(nil)
      end)
    )
    call.on_cancel(stop)
  end)
end

--- The response to a request; or nil, the reason (the adapter's message if there is one), and whether time was up.
function M.outside(start)
  local ok, problem = task.await(function(resume)
    vim.schedule(function()
      resume(pcall(start))
    end)
  end)
  return ok, problem
end

-- The events that end a request without an answer.
local function session_is_gone(record)
  return sessions.is_over(record) or not record.session or record.session.closed
end

--- The response to a request; or nil, the reason (the adapter's message if there is one), and whether time is up.
function M.ask(record, command, arguments, call, milliseconds)
  milliseconds = milliseconds or M.WITHIN
  if session_is_gone(record) then
    return nil, 'the debug session has ended'
  end
  local session, seq = record.session, record.session.seq
  local answer
  local sent, problem = pcall(session.request, session, command, arguments, function(err, response)
    answer = { err = err, response = response }
    sessions.changed()
  end)
  if not sent then
    return nil, tostring(problem)
  end
  local came = M.wait(function()
    return answer or session_is_gone(record)
  end, milliseconds, call)
  if answer and answer.err then
    return nil, shown.words(answer.err)
  elseif answer then
    return answer.response or {}
  elseif came then
    return nil, 'the debug session ended before it answered'
  end
  if session.capabilities.supportsCancelRequest and seq then
    pcall(session.request, session, 'cancel', { requestId = seq }, function() end)
  end
  return nil, ('the debug adapter has not answered `%s` within %g s'):format(command, milliseconds / 1000), true
end

return M
