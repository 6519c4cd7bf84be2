--- Breakpoints: nvim-dap's own, so that the user sees its signs, and what the adapter made of them.
local asking = require('mcp-tools.dap.asking')
local buffers = require('mcp-tools.dap.buffers')
local debuggers = require('mcp-tools.dap.debuggers')
local following = require('mcp-tools.dap.following')
local functions = require('mcp-tools.dap.functions')
local sessions = require('mcp-tools.dap.sessions')
local shown = require('mcp-tools.dap.shown')
local task = require('mcp-tools.task')

local M = {}

local BOUND_WITHIN = 5000 -- milliseconds that adapters have to bind breakpoints
local LONGEST_TEXT = 100
local QUICKFIX = 'DAP Breakpoints' -- nvim-dap's title of the list

local function kept()
  return require('dap.breakpoints')
end

-- nvim-dap's breakpoints of a buffer, by line.
local function in_buffer(buffer)
  local found = kept().get(buffer)[buffer] or {}
  table.sort(found, function(one, other)
    return one.line < other.line
  end)
  return found
end

-- Sessions that are ready for breakpoints; nvim-dap sends all of them to a session that is still starting.
local function told()
  return vim.tbl_filter(function(record)
    return record.state == 'running' or record.state == 'stopped'
  end, sessions.live())
end

-- Send the breakpoints of these buffers to all debug sessions, and wait for the results.
local function send(list, call)
  local waiting = {} -- by record, by path: what was bound before
  for _, record in ipairs(told()) do
    waiting[record] = {}
    for _, buffer in ipairs(list) do
      local path = vim.api.nvim_buf_get_name(buffer)
      waiting[record][path] = record.bound[path] or false
    end
    asking.outside(function()
      for _, buffer in ipairs(list) do
        record.session:set_breakpoints({ [buffer] = in_buffer(buffer) })
      end
    end)
  end
  if vim.fn.getqflist({ title = 1 }).title == QUICKFIX then
    require('dap').list_breakpoints(false)
  end
  asking.wait(function()
    for record, paths in pairs(waiting) do
      for path, before in pairs(paths) do
        if not sessions.is_over(record) and (record.bound[path] or false) == before then
          return false
        end
      end
    end
    return true
  end, BOUND_WITHIN, call)
end

local function given(text)
  return text ~= nil and text ~= '' and text or nil
end

-- What sessions have made of a breakpoint: of one and those that it started, the one that runs the code has bound it.
local function bound_by(records, path, line)
  local found
  for _, record in ipairs(records) do
    local one = record.bound[path] and record.bound[path][line]
    if one and not (found and found.verified) then
      found = one
    end
  end
  return found
end

-- The result for a breakpoint, as a sentence and in numbers.
local function binding(path, line)
  local records = told()
  if #records == 0 then
    return { verified = false, status = 'not bound yet: no program runs under the debugger' }
  end
  local got = bound_by(records, path, line)
  if got then
    local moved = got.line and got.line ~= line and got.line or nil
    local status = not got.verified and 'not bound'
      or moved and ('the adapter moved it to line %d'):format(moved)
      or 'bound'
    return { verified = got.verified == true, bound_line = moved, message = given(got.message), status = status }
  end
  return { verified = false, status = 'not bound yet: the adapter has not answered' }
end

local function described(breakpoint)
  local path = vim.api.nvim_buf_get_name(breakpoint.buf)
  local text = vim.api.nvim_buf_get_lines(breakpoint.buf, breakpoint.line - 1, breakpoint.line, false)[1] or ''
  local answer = binding(path, breakpoint.line)
  answer.at = ('%s:%d'):format(shown.path(path), breakpoint.line)
  answer.filename = shown.path(path)
  answer.line = breakpoint.line
  answer.text = shown.cut(vim.trim(text), LONGEST_TEXT)
  answer.condition = given(breakpoint.condition)
  answer.hit_condition = given(breakpoint.hitCondition)
  answer.log_message = given(breakpoint.logMessage)
  return answer
end

local function at_line(buffer, line)
  for _, breakpoint in ipairs(in_buffer(buffer)) do
    if breakpoint.line == line then
      return breakpoint
    end
  end
end

-- What the debugger of a session cannot do with such a breakpoint.
local function warning(options)
  for _, record in ipairs(told()) do
    local can = record.session.capabilities
    local missing = {
      options.condition and not can.supportsConditionalBreakpoints and 'conditions',
      options.hit_condition and not can.supportsHitConditionalBreakpoints and 'hit conditions',
      options.log_message and not can.supportsLogPoints and 'log messages',
    }
    for index = 1, 3 do
      if missing[index] then
        return ('the debugger of %s does not support %s of breakpoints'):format(record.name, missing[index])
      end
    end
  end
end

--- Set a breakpoint, replacing an existing one. Ends the tool if the line does not have the text `expect`.
function M.set(place, options, call)
  local expected = given(options.expect)
  if expected and not place.text:find(expected, 1, true) then
    local message = 'line %d of %s is %q, without %q; nothing was set'
    task.fail(message, place.line, shown.path(place.path), vim.trim(place.text), expected)
  end
  options = {
    condition = given(options.condition),
    hit_condition = given(options.hit_condition),
    log_message = given(options.log_message),
  }
  local replaced = at_line(place.buffer, place.line) ~= nil
  kept().set(vim.deepcopy(options), place.buffer, place.line)
  send({ place.buffer }, call)
  local answer = described(at_line(place.buffer, place.line) or task.fail('Neovim could not place the breakpoint'))
  answer.replaced = replaced or nil
  answer.warning = warning(options)
    or vim.bo[place.buffer].modified and 'the buffer has unsaved changes: the program may have other lines'
    or nil
  return answer
end

--- All breakpoints, by file and line, then those on functions.
function M.all(call)
  send(following.follow(), call)
  local found = {}
  for _, list in pairs(kept().get()) do
    for _, breakpoint in ipairs(list) do
      found[#found + 1] = described(breakpoint)
    end
  end
  table.sort(found, function(one, other)
    if one.filename ~= other.filename then
      return one.filename < other.filename
    end
    return one.line < other.line
  end)
  return vim.list_extend(found, functions.all())
end

--- The condition of the breakpoint at a line; nil if there is none.
function M.condition_at(path, line)
  local buffer = buffers.existing(path)
  local breakpoint = buffer and at_line(buffer, line)
  return breakpoint and given(breakpoint.condition)
end

--- What became of the breakpoints of a program that has ended: those that the adapter did not bind, if it never stopped,
--- and those that were bound and never reached, or whose condition was never true. Lists; nil if empty.
function M.unused(record)
  local family = record.family
  local not_bound, never_hit = {}, {}
  local undecided = debuggers.known(record.type, record.adapter).undecided
  for buffer, list in pairs(kept().get()) do
    local path = vim.api.nvim_buf_get_name(buffer)
    for _, one in ipairs(list) do
      local got = bound_by(family.members, path, one.line)
      local at = ('%s:%d'):format(shown.path(path), one.line)
      local condition = given(one.condition)
      local is_undecided = got and undecided and tostring(got.message):find(undecided) ~= nil
      local was_bound = got and (got.verified or got.was_bound or is_undecided)
      if got and not was_bound and family.stops == 0 then
        local why = given(got.message)
        not_bound[#not_bound + 1] = at .. (why and ': ' .. why or '')
      elseif was_bound and not given(one.logMessage) then
        if not family.hits[('%s:%d'):format(path, got.line or one.line)] then
          never_hit[#never_hit + 1] = at .. (condition and (' (condition %s)'):format(condition) or '')
        end
      end
    end
  end
  vim.list_extend(never_hit, functions.never_hit(family))
  table.sort(not_bound)
  table.sort(never_hit)
  return #not_bound > 0 and not_bound or nil, #never_hit > 0 and never_hit or nil
end

local function lines_in(buffer)
  local list = vim.tbl_map(function(breakpoint)
    return tostring(breakpoint.line)
  end, in_buffer(buffer))
  return #list > 0 and 'it has breakpoints at line ' .. table.concat(list, ', ') or 'it has no breakpoints'
end

-- The breakpoint that the adapter moved to `line`.
local function moved_to(buffer, line)
  local path = vim.api.nvim_buf_get_name(buffer)
  for _, breakpoint in ipairs(in_buffer(buffer)) do
    if binding(path, breakpoint.line).bound_line == line then
      return breakpoint
    end
  end
end

--- Remove the breakpoint of a line. Ends the tool with those that are there if there is none.
function M.remove(path, line, call)
  local buffer = buffers.existing(path)
  if not buffer then
    task.fail('there is no breakpoint in %s; dap_breakpoints lists all', shown.path(path))
  end
  local breakpoint = at_line(buffer, line) or moved_to(buffer, line)
  if not breakpoint then
    task.fail('there is no breakpoint at %s:%d; %s', shown.path(path), line, lines_in(buffer))
  end
  kept().remove(buffer, breakpoint.line)
  send({ buffer }, call)
  return { removed = ('%s:%d'):format(shown.path(path), breakpoint.line), left_in_file = #in_buffer(buffer) }
end

--- Remove all breakpoints, or all of one file.
function M.clear(path, call)
  local list, removed = {}, {}
  local only = path and buffers.existing(path)
  for buffer, found in pairs(path and { [only or 0] = only and in_buffer(only) or {} } or kept().get()) do
    if #found > 0 then
      list[#list + 1] = buffer
      for _, breakpoint in ipairs(found) do
        removed[#removed + 1] = ('%s:%d'):format(shown.path(vim.api.nvim_buf_get_name(buffer)), breakpoint.line)
      end
    end
  end
  if not path then
    kept().clear()
    vim.list_extend(removed, functions.clear(call))
  elseif only then
    for _, breakpoint in ipairs(in_buffer(only)) do
      kept().remove(only, breakpoint.line)
    end
  end
  send(list, call)
  table.sort(removed)
  return { removed = removed }
end

-- The breakpoints of a buffer in the form of a request, with an additional one without conditions.
local function with_one_more(buffer, line)
  local path = vim.api.nvim_buf_get_name(buffer)
  local list = {}
  for _, breakpoint in ipairs(in_buffer(buffer)) do
    if breakpoint.line ~= line then
      list[#list + 1] = {
        line = breakpoint.line,
        condition = breakpoint.condition,
        hitCondition = breakpoint.hitCondition,
        logMessage = breakpoint.logMessage,
      }
    end
  end
  list[#list + 1] = { line = line }
  return { source = { path = path, name = vim.fs.basename(path) }, breakpoints = list, sourceModified = false }
end

--- Have one session stop at a place, too, until the function that this returns is called; nobody else sees it. Second:
--- the line where it will stop. Ends the tool if the adapter finds no code there.
function M.hold_at(record, place, call)
  local function restore()
    vim.schedule(function()
      if record.session and not record.session.closed then
        record.session:set_breakpoints({ [place.buffer] = in_buffer(place.buffer) })
      end
    end)
  end
  local arguments = with_one_more(place.buffer, place.line)
  local answer, problem = asking.ask(record, 'setBreakpoints', arguments, call)
  local got = answer and answer.breakpoints and answer.breakpoints[#arguments.breakpoints] or {}
  if not answer or got.verified == false then
    restore()
    task.fail(
      'the program cannot stop at %s:%d: %s',
      shown.path(place.path),
      place.line,
      problem or given(got.message) or 'the debugger finds no code there'
    )
  end
  return restore, got.line or place.line
end

return M
