--- Running to a place, by a temporary breakpoint.
local breakpoints = require('mcp-tools.dap.breakpoints')
local running = require('mcp-tools.dap.running')
local sessions = require('mcp-tools.dap.sessions')

local M = {}

-- Whether the program is at the line of a place. Adapters spell paths in their own ways, but not names.
local function is_at(frame, place, line)
  local path = frame and frame.source and frame.source.path
  return path ~= nil and frame.line == line and vim.fs.basename(path) == vim.fs.basename(place.path)
end

--- Resume a stopped program up to a place. Other breakpoints may stop it first; the answer says whether it got there.
function M.run(place, args, call)
  local record = running.stopped(call, args.session)
  local release, line = breakpoints.hold_at(record, place, call)
  local ok, base = pcall(running.resume, record, 'continue', call)
  if not ok then
    release()
    error(base, 0)
  end
  -- Not after the wait: it must also be removed if nobody waits, or if the caller gives up.
  local unwatch
  unwatch = sessions.watch(function()
    if sessions.is_over(record) or sessions.stopped_in(record.family, base) then
      unwatch()
      release()
    end
  end)
  local answer, stopped = running.answer(record, base, args, call)
  if stopped then
    answer.reached = is_at(stopped.stop.top, place, line)
    answer.bound_line = line ~= place.line and line or nil
    answer.hint = not answer.reached and 'it stopped before; call dap_run_to again to go on' or nil
  end
  return answer
end

return M
