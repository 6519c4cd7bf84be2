--- The debug session for a call: the named one, else nvim-dap's choice.
local sessions = require('mcp-tools.dap.sessions')
local task = require('mcp-tools.task')

local M = {}

--- The argument of the tools.
M.ARG = { type = 'string', description = 'its name, if several run' }

-- The session of a family that is spoken of: the one that is stopped, else the last that runs; the first may only have
-- started others.
local function speaker(record)
  if record.family.members[1] ~= record then
    return record -- named by itself
  end
  local stopped = sessions.stopped_in(record.family)
  for index = #record.family.members, 1, -1 do
    local member = record.family.members[index]
    if not stopped and not sessions.is_over(member) then
      return member
    end
  end
  return stopped or record
end

--- The record of the session called `name`, or of the current one without a name; nil if there is none at all. Ends the
--- tool if none, or more than one, has that name.
function M.record(name)
  if not name then
    return sessions.current()
  end
  local live, over = {}, nil
  for _, record in ipairs(sessions.all()) do
    local label, has_ended = sessions.label(record), sessions.is_over(record)
    if label == name and (not has_ended or label ~= record.name) then
      return speaker(record)
    elseif record.name == name and not has_ended then
      live[#live + 1] = record
    elseif record.name == name and (not over or record.ended > over.ended) then
      over = record
    end
  end
  local labels = vim.tbl_map(sessions.label, #live > 0 and live or sessions.all())
  if #live > 0 then
    task.fail('%d sessions are called %q: %s', #live, name, table.concat(labels, ', '))
  end
  return over
    or task.fail('unknown session %q; available: %s', name, #labels > 0 and table.concat(labels, ', ') or 'none')
end

return M
