--- A record of each debug session, made of its events: state, stops, exit code. Records outlive the program, and all
--- questions are answered from them; nothing polls, and nothing here waits.
---
--- A record: id, name, type, request, session (nil after the end), family, state, stop, exit_code, error, output, and
--- ended, its number in the order in which they ended, and
--- pid, the process of a program that was launched, while it is not known to have ended; named_pid, the process that the
--- session's name says.
--- States: initializing, running, stopped, terminated, failed.
--- A family is a session with those that it starts; their stops are numbered together, so a wait sees whichever comes.
--- Its `hits` are the places of stops, PATH:LINE, as keys; `stopped_in` the names of the functions; `program` is what
--- `programs` has started for it.
local debuggers = require('mcp-tools.dap.debuggers')
local program_output = require('mcp-tools.dap.program_output')

local M = {}

local KEPT = 5 -- records of sessions that have ended
local PROGRAM_END = 3000 -- milliseconds for a program to end after its session

local records = {} -- all, oldest first
local by_id = {} -- by nvim-dap's session id
local watchers = {} -- functions, as keys
local ends = 0 -- how many have ended
local settle

--- Whether the program of a record has ended, or never began.
function M.is_over(record)
  return record.state == 'terminated' or record.state == 'failed'
end

--- Notify all watchers of a change.
function M.changed()
  for _, watcher in ipairs(vim.tbl_keys(watchers)) do
    watcher()
  end
end

--- Have `watcher` called at each change; returns a function that ends this.
function M.watch(watcher)
  watchers[watcher] = true
  return function()
    watchers[watcher] = nil
  end
end

local function prune()
  local over = 0
  for index = #records, 1, -1 do
    local record = records[index]
    if M.is_over(record) then
      over = over + 1
      if over > KEPT then
        table.remove(records, index)
        by_id[record.id] = nil
      end
    end
  end
end

--- Remember the buffer of the terminal that nvim-dap has made for a record's program, if it has.
function M.note_terminal(record)
  for _, member in ipairs(record.family.members) do
    record.family.terminal = member.session and member.session.term_buf or record.family.terminal
  end
end

-- The end of a record can be told: also that of the program that was started for it, which is bounded by `finish`.
function settle(record)
  local program = record.family.program
  if program and program.running and not record.family.let_go then
    local unwatch
    unwatch = M.watch(function()
      if not program.running then
        unwatch()
        settle(record)
      end
    end)
    return
  end
  record.settled = true
  record.session = nil
  M.changed()
end

--- The program of a record has ended. Waits briefly for what follows (exit code, last output).
function M.finish(record, state)
  if M.is_over(record) then
    return
  end
  ends = ends + 1
  record.state, record.ended = state, ends
  M.note_terminal(record)
  prune()
  vim.defer_fn(function()
    local program = record.family.program
    if program and program.running and not record.family.let_go then
      vim.defer_fn(function()
        vim.fn.jobstop(program.job) -- nothing if it has ended
      end, PROGRAM_END)
    end
    settle(record)
  end, 150)
end

--- The record of a session, made at its first event.
function M.of(session)
  local record = by_id[session.id]
  if record then
    return record
  end
  local parent = session.parent and M.of(session.parent)
  record = {
    id = session.id,
    session = session,
    name = session.config.name,
    type = session.config.type or (parent and parent.type),
    request = session.config.request,
    adapter = session.adapter,
    config = session.config,
    state = 'initializing',
    family = parent and parent.family or { stops = 0, members = {}, hits = {}, stopped_in = {} },
    output = parent and parent.output or program_output.new(), -- a family shares its output
    bound = {}, -- by path, by requested line: what the adapter made of the breakpoint
    told_bound = {}, -- by the adapter's id of a breakpoint: true if it was bound at some time
    quiet = parent and parent.quiet or false, -- whether its stops leave the user's windows alone
  }
  local pattern = debuggers.known(record.type, record.adapter).pid
  record.named_pid = pattern and tonumber(tostring(record.name):match(pattern)) or nil
  table.insert(record.family.members, record)
  table.insert(records, record)
  by_id[record.id] = record
  -- Called in libuv's context, too: what it calls at once only touches tables.
  session.on_close['mcp-tools'] = function()
    if not M.is_over(record) and not record.launched then
      record.error = record.error or 'the debug adapter ended before the program started'
    end
    M.finish(record, record.launched and 'terminated' or 'failed')
    vim.schedule(M.changed)
  end
  return record
end

--- How the program of a record ended. Any member of a family may report it.
function M.exited(record, code)
  for _, member in ipairs(record.family.members) do
    member.exit_code = code
  end
end

--- All records, oldest first.
function M.all()
  return records
end

--- The records whose program has not ended.
function M.live()
  return vim.tbl_filter(function(record)
    return not M.is_over(record)
  end, records)
end

--- The record of the session that nvim-dap is focused on; if none is, the last one that ended; nil if there was none.
function M.current()
  local focused = require('dap').session()
  local record = focused and M.of(focused)
  if record then
    return record
  end
  local live = M.live()
  local last
  for _, one in ipairs(records) do
    last = (not last or (one.ended or 0) > (last.ended or 0)) and one or last
  end
  return live[#live] or last
end

--- What a session is called: its name, with its number if another one that is under way has the same.
function M.label(record)
  for _, other in ipairs(M.live()) do
    if other ~= record and other.name == record.name and other.family ~= record.family then
      return ('%s#%d'):format(record.name, record.id)
    end
  end
  return record.name
end

--- The stop that a family is at, if its number is above `base` and its frame is known: the record.
function M.stopped_in(family, base)
  for _, member in ipairs(family.members) do
    local stop = member.state == 'stopped' and member.stop
    if stop and stop.ready and stop.number > (base or -1) then
      return member
    end
  end
end

--- Whether all programs of a family have ended and their last output has arrived.
function M.is_settled(family)
  for _, member in ipairs(family.members) do
    if not (M.is_over(member) and member.settled) then
      return false
    end
  end
  return true
end

--- A session continues: it is no longer at a stop.
function M.resumed(record)
  if record.state == 'stopped' then
    record.state = 'running'
    M.changed()
  end
end

return M
