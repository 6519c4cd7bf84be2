--- The Neovim terminal in which nvim-dap runs a program, if the adapter asks for one: the program's standard input,
--- and its output if the adapter sends no output events.
local debuggers = require('mcp-tools.dap.debuggers')
local program_output = require('mcp-tools.dap.program_output')
local sessions = require('mcp-tools.dap.sessions')
local task = require('mcp-tools.task')

local M = {}

--- The buffer of the terminal of a record's family; nil if there is none.
function M.buffer(record)
  sessions.note_terminal(record)
  local buffer = record.family.terminal
  if not buffer or not vim.api.nvim_buf_is_valid(buffer) then
    return nil
  end
  return buffer
end

--- The last `count` lines of the terminal, if the adapter does not send the program's output; else nil.
function M.lines(record, count)
  local buffer = M.buffer(record)
  if not buffer or #program_output.texts(record.output, 1, 'stdout') > 0 then
    return nil
  end
  for _, other in ipairs(sessions.all()) do
    -- nvim-dap reuses a terminal for the next program.
    if other.family ~= record.family and other.id > record.id and M.buffer(other) == buffer then
      return nil
    end
  end
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  while #lines > 0 and vim.trim(lines[#lines]) == '' do
    table.remove(lines)
  end
  return #lines > 0 and vim.list_slice(lines, math.max(1, #lines - count + 1)) or nil
end

local function no_terminal(record)
  local key = debuggers.known(record.type, record.adapter).terminal
  local way = key
      and ('call dap_terminate, then dap_run as before with %s: then it has a terminal to type into'):format(key)
    or 'let it read a file, or start it in a terminal of yours and attach to it'
  task.fail('cannot write to the standard input of the program (%s); %s', record.name, way)
end

--- Type `text` into the terminal of a program that has not ended.
function M.send(record, text)
  local buffer = M.buffer(record) or no_terminal(record)
  local ok, problem = pcall(vim.api.nvim_chan_send, vim.bo[buffer].channel, text)
  if not ok then
    task.fail('the terminal of the program (%s) no longer takes input: %s', record.name, tostring(problem))
  end
  return {
    sent = #text,
    name = record.name,
    state = record.state,
    hint = record.state == 'stopped' and 'the program is stopped: it reads this after dap_continue'
      or 'dap_wait_until_paused waits for the next stop or the end, dap_program_output shows what it prints',
  }
end

return M
