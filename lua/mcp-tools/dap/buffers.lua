--- Buffers of files for breakpoints: loaded, current, and out of the user's sight.
local M = {}

-- Nobody can answer a prompt about a swap file of another Neovim here; with this flag the file is just opened.
local function without_attention(work)
  local users = vim.o.shortmess
  vim.o.shortmess = users:find('A', 1, true) and users or users .. 'A'
  local ok, problem = pcall(work)
  vim.o.shortmess = users
  if not ok then
    error(problem, 0)
  end
end

-- If the file changed on disk, reload it, unless the user has changed the buffer too.
local function refresh(buffer)
  if vim.bo[buffer].modified or vim.bo[buffer].buftype ~= '' then
    return
  end
  local asks = not vim.bo[buffer].autoread
  if asks then
    vim.bo[buffer].autoread = true
  end
  pcall(vim.cmd, ('silent! checktime %d'):format(buffer))
  if asks then
    vim.bo[buffer].autoread = false
  end
end

--- The loaded buffer of a file. No window, no list of buffers and no cursor is touched.
function M.load(path)
  local buffer = vim.fn.bufadd(path)
  without_attention(function()
    if vim.api.nvim_buf_is_loaded(buffer) then
      refresh(buffer)
    else
      vim.fn.bufload(buffer)
    end
  end)
  return buffer
end

--- The buffer of a file if there is one.
function M.existing(path)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer) == path then
      return buffer
    end
  end
end

return M
