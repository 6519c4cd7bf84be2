--- Breakpoints that stay at their lines when a file is edited on disk: Neovim leaves signs at the numbers of their lines.
local buffers = require('mcp-tools.dap.buffers')

local M = {}

local function text_of(lines)
  return table.concat(lines, '\n') .. '\n'
end

-- The line in the new text for line `number` of the old one; nil if it is gone.
local function moved(number, changes)
  local shift = 0
  for _, change in ipairs(changes) do
    local old_start, old_count, _, new_count = unpack(change)
    local first = old_count == 0 and old_start + 1 or old_start
    if number < first then
      break
    elseif number < first + old_count then
      return nil
    end
    shift = shift + new_count - old_count
  end
  return number + shift
end

-- Reload the file of a buffer if it has changed, and move the breakpoints with it.
local function follow(kept, buffer, list)
  local path = vim.api.nvim_buf_get_name(buffer)
  if not vim.api.nvim_buf_is_loaded(buffer) or not vim.uv.fs_stat(path) then
    return false
  end
  local before = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  buffers.load(path)
  local after = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  if vim.deep_equal(before, after) then
    return false
  end
  local changes = vim.text
      and vim.text.diff
      and vim.text.diff(text_of(before), text_of(after), { result_type = 'indices' })
    or vim.diff(text_of(before), text_of(after), { result_type = 'indices' })
  for _, one in ipairs(kept.get(buffer)[buffer] or {}) do
    kept.remove(buffer, one.line)
  end
  for _, one in ipairs(list) do
    local line = moved(one.line, changes)
    if line then
      kept.set({
        condition = one.condition,
        hit_condition = one.hitCondition,
        log_message = one.logMessage,
      }, buffer, line)
    end
  end
  return true
end

--- Move all breakpoints with edits of their files. Returns the buffers whose breakpoints may have moved.
function M.follow()
  local kept = require('dap.breakpoints')
  local changed = {}
  for buffer, list in pairs(kept.get()) do
    if #list > 0 and follow(kept, buffer, list) then
      changed[#changed + 1] = buffer
    end
  end
  return changed
end

return M
