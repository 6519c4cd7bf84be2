-- Changes of buffers: one undo step each, no window moves.
local M = ...

--- What speaks against changing these buffers; nil if nothing does. Each is { number, tick }.
function M.refuses(buffers)
  for _, buffer in ipairs(buffers) do
    if not vim.api.nvim_buf_is_loaded(buffer.number) then
      return { number = buffer.number, reason = 'is not loaded any more' }
    elseif vim.api.nvim_buf_get_changedtick(buffer.number) ~= buffer.tick then
      return { number = buffer.number, reason = 'was changed meanwhile; ask again' }
    elseif not vim.bo[buffer.number].modifiable then
      return { number = buffer.number, reason = "cannot be changed ('nomodifiable')" }
    elseif vim.bo[buffer.number].readonly then
      return { number = buffer.number, reason = "is read-only ('readonly')" }
    end
  end
end

--- Take back the last change of each of these buffers.
function M.undo(buffers)
  for _, buffer in ipairs(buffers) do
    vim.api.nvim_buf_call(buffer, function()
      vim.cmd('silent! undo')
    end)
  end
end

--- Change buffers, all of them or none: each is { number, tick, edits = LSP TextEdits in UTF-16, after = its text then }.
--- nil, or which one refuses and why.
function M.edit(buffers)
  local refused = M.refuses(buffers)
  if refused then
    return refused
  end
  local changed = {}
  for _, buffer in ipairs(buffers) do
    -- Or it would become one undo step with what was typed, or edited by us, just before.
    vim.bo[buffer.number].undolevels = vim.bo[buffer.number].undolevels
    changed[#changed + 1] = buffer.number
    local ok, err = pcall(vim.lsp.util.apply_text_edits, buffer.edits, buffer.number, 'utf-16')
    if not ok or M.text(buffer.number).text ~= buffer.after then
      M.undo(changed)
      return { number = buffer.number, reason = ok and 'would not get the planned text' or tostring(err) }
    end
  end
  return vim.NIL
end

local function saved(client, buffer)
  if client:supports_method('textDocument/didSave', buffer) then
    local options = vim.tbl_get(client.server_capabilities, 'textDocumentSync', 'save')
    local with_text = type(options) == 'table' and options.includeText
    client:notify('textDocument/didSave', {
      textDocument = { uri = vim.uri_from_bufnr(buffer) },
      text = with_text and M.text(buffer).text or nil,
    })
  end
end

--- Write a buffer as it is: no formatter, no final line end that was not there. nil, or why not.
function M.save(buffer)
  local fixeol = vim.bo[buffer].fixeol
  vim.bo[buffer].fixeol = false
  local ok, err = pcall(vim.api.nvim_buf_call, buffer, function()
    -- With `!`: Neovim would ask; what speaks against it has been looked at.
    vim.cmd('silent noautocmd lockmarks keepalt write!')
  end)
  vim.bo[buffer].fixeol = fixeol
  if not ok then
    return tostring(err)
  end
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer })) do
    saved(client, buffer)
  end
  return vim.NIL
end

--- A file has got another name on disk: so does its buffer, which had no unsaved changes.
function M.moved(old, new)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buffer)
    if name == old or vim.startswith(name, old .. '/') then
      local target = new .. name:sub(#old + 1)
      for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer })) do
        vim.lsp.buf_detach_client(buffer, client.id)
        vim.schedule(function()
          if vim.api.nvim_buf_is_loaded(buffer) and not client:is_stopped() then
            vim.lsp.buf_attach_client(buffer, client.id)
          end
        end)
      end
      vim.api.nvim_buf_set_name(buffer, target)
      if vim.api.nvim_buf_is_loaded(buffer) then
        vim.api.nvim_buf_call(buffer, function()
          vim.cmd('silent! noautocmd keepalt edit!')
        end)
      end
    end
  end
end
