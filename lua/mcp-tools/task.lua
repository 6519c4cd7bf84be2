--- Asynchronous tools written as sequential code: `task.tool` makes an `execute`, `task.await` waits for a callback.
--- Nothing blocks the editor: the function runs in a coroutine that is suspended until the callback.
local M = {}

-- The message for the caller, if the error was raised by `task.fail`; any other error is a defect.
local function message_of(problem)
  return type(problem) == 'table' and problem.message or nil
end

--- An `execute(args, done, call)` from `work(args, call)`, whose result or error becomes the answer.
---@param work fun(args: table<string, any>, call: mcp-tools.Call): any
---@return mcp-tools.Execute
function M.tool(work)
  return function(args, done, call)
    local thread = coroutine.create(work)
    local over = false -- the awaited operation could not be started
    local function resume(...)
      local ok, result = coroutine.resume(thread, ...)
      if not ok then
        done(nil, message_of(result) or ('%s\n%s'):format(tostring(result), debug.traceback(thread)))
      elseif coroutine.status(thread) == 'dead' then
        done(result == nil and vim.NIL or result)
      else
        -- Suspended in `await`, which has yielded the operation to start.
        local started, problem = pcall(
          result,
          vim.schedule_wrap(function(...)
            if not call.cancelled and not over then
              resume(...)
            end
          end)
        )
        if not started then
          over = true
          done(nil, message_of(problem) or tostring(problem))
        end
      end
    end
    resume(args, call)
  end
end

--- Wait for `start(resume)` to call `resume(...)`, and return its arguments. Only the first call counts.
---@param start fun(resume: fun(...: any))
---@return any ...
function M.await(start)
  return coroutine.yield(function(resume)
    local resumed = false
    start(function(...)
      if not resumed then
        resumed = true
        resume(...)
      end
    end)
  end)
end

--- Like `await`, for at most `milliseconds`; returns whether `resume` was called in time, and then its arguments.
---@param milliseconds number
---@param start fun(resume: fun(...: any))
---@return boolean in_time
---@return any ...
function M.await_within(milliseconds, start)
  return M.await(function(resume)
    local timer = vim.uv.new_timer()
    timer:start(math.max(0, milliseconds), 0, function()
      timer:stop()
      if not timer:is_closing() then
        timer:close()
      end
      resume(false)
    end)
    start(function(...)
      if not timer:is_closing() then
        timer:stop()
        timer:close()
      end
      resume(true, ...)
    end)
  end)
end

--- End the tool with `message` for the caller.
---@param message string
---@param ... any Values for `message`, a format
function M.fail(message, ...)
  error({ message = select('#', ...) > 0 and message:format(...) or message }, 0)
end

return M
