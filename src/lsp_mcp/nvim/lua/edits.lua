-- Changes of buffers: one undo step each, no window moves.
local M = ...

--- What speaks against changing these buffers; nil if nothing does. Each is { number, tick }.
local function refuses(buffers)
  for _, buffer in ipairs(buffers) do
    if not vim.api.nvim_buf_is_loaded(buffer.number) then
      return { number = buffer.number, reason = 'is not loaded any more' }
    elseif vim.api.nvim_buf_get_changedtick(buffer.number) ~= buffer.tick then
      return { number = buffer.number, reason = 'changed during the call; ask again' }
    elseif not vim.bo[buffer.number].modifiable then
      return { number = buffer.number, reason = "cannot be changed ('nomodifiable')" }
    elseif vim.bo[buffer.number].readonly then
      return { number = buffer.number, reason = "is read-only ('readonly')" }
    end
  end
end

local edited = {} -- by buffer: its tick after our last edit

--- Take back our last edit of each of these buffers, unless somebody else has changed it since then.
function M.undo(buffers)
  for _, buffer in ipairs(buffers) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.api.nvim_buf_get_changedtick(buffer) == edited[buffer] then
      M.keeping_views(buffer, function()
        vim.api.nvim_buf_call(buffer, function()
          vim.cmd('silent! keepjumps undo')
        end)
      end)
    end
  end
end

--- Why an edit failed, for people. A change of a buffer runs the listeners of plugins (`nvim_buf_attach`), and fails with them.
local function failure(err)
  local line = tostring(err):match('[^\n]*')
  local listener = line:match('Lua callback: (.*)')
  if listener then
    return ('was not edited: the code of a plugin that listens to its changes failed (%s)'):format(listener)
  end
  return 'was not edited: ' .. line
end

--- Change buffers, all of them or none: each is { number, tick, edits = LSP TextEdits in UTF-16, after = its text then }.
--- nil, or which one refuses and why, and the buffers that stay changed nevertheless.
function M.edit(buffers)
  local refused = refuses(buffers)
  if refused then
    return refused
  end
  local changed, before = {}, {}
  for _, buffer in ipairs(buffers) do
    local number = buffer.number
    -- Or it would become one undo step with what was typed, or edited by us, just before.
    vim.bo[number].undolevels = vim.bo[number].undolevels
    changed[#changed + 1] = number
    before[number] = M.text(number).text
    local listed = vim.bo[number].buflisted
    local ok, err
    if buffer.after == '' or before[number] == '' then
      -- An empty buffer has one line, which is none of its text.
      local lines = vim.split(buffer.after, '\r?\n')
      if lines[#lines] == '' then
        lines[#lines] = nil
      end
      ok, err = pcall(vim.api.nvim_buf_set_lines, number, 0, -1, true, lines)
    else
      ok, err = pcall(vim.lsp.util.apply_text_edits, buffer.edits, number, 'utf-16')
    end
    vim.bo[number].buflisted = listed -- Neovim 0.11 puts it on the list
    edited[number] = vim.api.nvim_buf_get_changedtick(number)
    if not ok or M.text(number).text ~= buffer.after then
      M.undo(changed)
      return {
        number = number,
        reason = ok and 'would not get the planned text' or failure(err),
        changed = vim.tbl_filter(function(one)
          return M.text(one).text ~= before[one]
        end, changed),
      }
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
  local reason = M.check(buffer)
  if reason == 'conflict' or reason == 'changed' or reason == 'deleted' then
    vim.b[buffer].lsp_mcp_conflict = reason ~= 'deleted' or nil
    return 'the file changed on disk during the call'
  end
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

local function rename(buffer, name)
  local old, alternate = vim.api.nvim_buf_get_name(buffer), vim.fn.bufnr('#')
  vim.api.nvim_buf_set_name(buffer, name)
  for _, other in ipairs(vim.api.nvim_list_bufs()) do
    -- Neovim keeps the old name as a buffer of its own.
    if other ~= buffer and vim.api.nvim_buf_get_name(other) == old and not vim.api.nvim_buf_is_loaded(other) then
      pcall(vim.api.nvim_buf_delete, other, { force = true })
    end
  end
  if alternate > 0 and vim.api.nvim_buf_is_valid(alternate) and vim.fn.bufnr('#') ~= alternate then
    pcall(vim.fn.setreg, '#', alternate)
  end
end

--- A file has got another name on disk: so does its buffer, which had no unsaved changes.
function M.moved(old, new)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buffer)
    if name == old or vim.startswith(name, old .. '/') then
      local clients = vim.lsp.get_clients({ bufnr = buffer })
      for _, client in ipairs(clients) do
        vim.lsp.buf_detach_client(buffer, client.id)
      end
      rename(buffer, new .. name:sub(#old + 1))
      M.read_again({ buffer })
      vim.schedule(function()
        for _, client in ipairs(clients) do
          if vim.api.nvim_buf_is_loaded(buffer) and not client:is_stopped() then
            vim.lsp.buf_attach_client(buffer, client.id)
          end
        end
      end)
    end
  end
end
