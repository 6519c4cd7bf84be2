--- The undo history of a buffer.
local task = require('mcp-tools.task')
local text = require('mcp-tools.text')

local M = {}

local DEEPEST = 30 -- limit on nested branches

local function time(seconds)
  return os.date('!%Y-%m-%dT%H:%M:%SZ', seconds)
end

-- The newest `limit` changes of a branch, and whether any were left out. In Neovim's answer the alternatives to a change
-- form a chain, each nested in the first change of the previous one; the result has them as a list.
local function compact(entries, limit, depth)
  local shown, cut = {}, #entries > limit
  for index = math.max(1, #entries - limit + 1), #entries do
    local entry = entries[index]
    local one = { seq = entry.seq, time = time(entry.time), save = entry.save }
    -- The alternatives to the first change of an alternative are already in the list.
    local other = (index > 1 or depth == 1) and entry.alt or nil
    while other and other[1] do
      one.alternates = one.alternates or {}
      if #one.alternates < limit and depth < DEEPEST then
        local branch, more = compact(other, limit, depth + 1)
        table.insert(one.alternates, branch)
        cut = cut or more
      else
        cut = true
      end
      other = other[1].alt
    end
    shown[#shown + 1] = one
  end
  return shown, cut
end

local undo_tree = {
  name = 'undo_tree',
  description = 'The undo history of a buffer. seq_cur: the current change; entries: the changes, oldest first (save: the '
    .. 'number of the write after it); alternates: the undone branches, each a list of changes. '
    .. 'The editor is not changed.',
  args = {
    bufnr = text.BUFNR,
    limit = { type = 'integer', default = 100, description = 'most changes of each branch, the newest' },
  },
  extra = false,
  read_only = true,
  execute = task.tool(function(args)
    if args.limit < 1 then
      task.fail('limit must be at least 1')
    end
    local buffer = text.loaded_buffer(args.bufnr)
    local tree = vim.fn.undotree(buffer)
    local entries, cut = compact(tree.entries, args.limit, 1)
    return vim.tbl_extend('error', text.named(buffer), {
      seq_cur = tree.seq_cur,
      seq_last = tree.seq_last,
      save_cur = tree.save_cur,
      save_last = tree.save_last,
      modified = vim.bo[buffer].modified,
      time_cur = tree.time_cur > 0 and time(tree.time_cur) or nil,
      entries = entries,
      hint = cut and 'older changes are left out; limit shows more' or nil,
    })
  end),
}

--- The list of tools.
function M.tools()
  return { undo_tree }
end

return M
