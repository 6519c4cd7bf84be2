--- Tools to test a connection: one answers immediately, one after the person at the editor has answered.
local text = require('mcp-tools.text')

local M = {}

local test_async_prompt = {
  name = 'test_async_prompt',
  description = 'Test of a tool that answers later: the person at the editor chooses an option. '
    .. 'Returns { choice, index }, or { cancelled = true } without a choice.',
  args = {
    prompt = { type = 'string', required = true, description = 'the question' },
    options = { type = 'array', items = { type = 'string' }, required = true, description = 'the choices' },
  },
  extra = false,
  read_only = true,
  execute = function(args, done, call)
    if #args.options == 0 then
      return nil, 'test_async_prompt: options must have at least one'
    end
    -- Neovim's own picker returns when the person has answered; a plugin's may return at once.
    local open, answered = false, false
    call.on_cancel(function()
      if open and not answered and vim.api.nvim_get_mode().mode == 'c' then
        vim.api.nvim_input('<Esc>')
      end
    end)
    -- The caller is told first that the answer comes later.
    vim.schedule(function()
      if call.cancelled then
        return
      end
      open = true
      local ok, problem = pcall(vim.ui.select, args.options, { prompt = args.prompt }, function(choice, index)
        answered = true
        done(choice == nil and { cancelled = true } or { choice = choice, index = index })
      end)
      open = false
      if not ok and not answered then
        done(nil, 'the prompt failed: ' .. tostring(problem))
      end
    end)
  end,
}

local test_sync_buffers = {
  name = 'test_sync_buffers',
  description = 'Test of a tool that answers immediately: the buffers of this Neovim.',
  extra = false,
  read_only = true,
  execute = function()
    local current = vim.api.nvim_get_current_buf()
    return vim.tbl_map(function(buffer)
      local loaded = vim.api.nvim_buf_is_loaded(buffer)
      return {
        bufnr = buffer,
        file = text.named(buffer).file,
        filetype = vim.bo[buffer].filetype,
        listed = vim.bo[buffer].buflisted,
        loaded = loaded,
        modified = vim.bo[buffer].modified,
        lines = loaded and vim.api.nvim_buf_line_count(buffer) or nil,
        current = buffer == current,
      }
    end, vim.api.nvim_list_bufs())
  end,
}

--- The list of tools.
function M.tools()
  return { test_async_prompt, test_sync_buffers }
end

return M
