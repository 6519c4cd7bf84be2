--- Hover and symbols, from the language clients of this Neovim.
local task = require('mcp-tools.task')
local text = require('mcp-tools.text')

local M = {}

M.within = 10000 -- milliseconds for a server's answer

local function names(clients)
  local found = {}
  for index, client in ipairs(clients) do
    found[index] = client.name
  end
  return table.concat(found, ', ')
end

-- The clients of `buffer` that support `method`, at least one. Ends the tool if there is none.
local function clients_for(buffer, method)
  local attached = vim.lsp.get_clients({ bufnr = buffer })
  local able = vim.tbl_filter(function(client)
    return client:supports_method(method, buffer)
  end, attached)
  table.sort(able, function(a, b)
    return a.id < b.id
  end)
  if #able > 0 then
    return able
  elseif #attached > 0 then
    task.fail('no language client of %s supports %s: %s', text.shown(buffer), method, names(attached))
  end
  local starting = vim.lsp.get_clients({ bufnr = buffer, _uninitialized = true })
  if #starting > 0 then
    task.fail('%s is starting and cannot answer yet; ask again', names(starting))
  end
  task.fail('no language client is attached to %s', text.shown(buffer))
end

-- The answers of all clients: a list of { client, result } or { client, problem }. A client that ends never answers.
local function ask(call, buffer, clients, method, params_for)
  local answers, left, pending, watching = {}, #clients, {}, nil
  local function clean_up()
    if watching then
      pcall(vim.api.nvim_del_autocmd, watching)
      watching = nil
    end
    for index, id in pairs(pending) do
      clients[index]:cancel_request(id)
    end
    pending = {}
  end
  call.on_cancel(clean_up)
  task.await_within(M.within, function(resume)
    local function answer(index, result, problem)
      if not answers[index] then
        answers[index] = { client = clients[index], result = result, problem = problem }
        pending[index] = nil
        left = left - 1
        if left == 0 then
          resume()
        end
      end
    end
    watching = vim.api.nvim_create_autocmd('LspDetach', {
      callback = function(event)
        for index, client in ipairs(clients) do
          if client.id == event.data.client_id and event.buf == buffer then
            answer(index, nil, 'was stopped, or left the buffer')
          end
        end
      end,
    })
    for index, client in ipairs(clients) do
      local asked, id = client:request(method, params_for(client), function(problem, result)
        answer(index, result ~= vim.NIL and result or nil, problem and (problem.message or vim.inspect(problem)))
      end, buffer)
      if not asked then
        answer(index, nil, 'has ended')
      elseif not answers[index] then
        pending[index] = id
      end
    end
  end)
  for index, client in ipairs(clients) do
    answers[index] = answers[index]
      or { client = client, problem = ('has not answered within %g s'):format(M.within / 1000) }
  end
  clean_up()
  return answers
end

-- The answers that are not empty, and a sentence for each client that failed. Ends the tool if all failed.
local function sorted_out(answers)
  local good, failed = {}, {}
  for _, one in ipairs(answers) do
    if one.problem then
      failed[#failed + 1] = ('%s %s'):format(one.client.name, one.problem)
    elseif one.result then
      good[#good + 1] = one
    end
  end
  if #failed == #answers then
    task.fail('%s', table.concat(failed, '; '))
  end
  return good, failed
end

-- The position for a hover: buffer, line, byte, text of the line.
local function place(args)
  local buffer = text.loaded_buffer(args.bufnr)
  local line, character = args.line, args.col
  if not line then
    if character then
      task.fail('`col` needs `line`')
    end
    local window = buffer == vim.api.nvim_get_current_buf() and 0 or vim.fn.bufwinid(buffer)
    if window == -1 then
      task.fail('pass `line`: no window shows %s, so it has no cursor', text.shown(buffer))
    end
    local cursor = vim.api.nvim_win_get_cursor(window)
    line = cursor[1]
    character = text.byte_character(text.reader()(buffer, line), cursor[2])
  end
  local byte, content = text.place_byte(buffer, line, character or 1)
  if not character then
    byte = #content:match('^%s*')
  end
  return buffer, line, byte, content
end

-- The Markdown of MarkupContent, MarkedString or a list of these.
local function markdown(contents)
  if type(contents) == 'string' then
    return contents
  elseif type(contents) ~= 'table' then
    return ''
  elseif contents.kind then
    return contents.value or ''
  elseif contents.language then
    return ('```%s\n%s\n```'):format(contents.language, contents.value or '')
  end
  return table.concat(vim.tbl_map(markdown, contents), '\n\n')
end

local lsp_hover = {
  name = 'lsp_hover',
  description = 'Type, signature and documentation of the symbol at a position, from the language servers, as Markdown.',
  args = {
    bufnr = text.BUFNR,
    line = { type = 'integer', description = 'from 1; default: the cursor line' },
    col = { type = 'integer', description = 'character from 1 (code points); default: the first after the indentation' },
  },
  extra = false,
  read_only = true,
  execute = task.tool(function(args, call)
    local buffer, line, byte, content = place(args)
    local clients = clients_for(buffer, 'textDocument/hover')
    local answers = ask(call, buffer, clients, 'textDocument/hover', function(client)
      local position = { line = line - 1, character = text.byte_units(content, byte, client.offset_encoding) }
      return { textDocument = { uri = vim.uri_from_bufnr(buffer) }, position = position }
    end)
    local good, failed = sorted_out(answers)
    local parts = {}
    for _, one in ipairs(good) do
      local said = vim.trim(markdown(one.result.contents))
      if said ~= '' then
        parts[#parts + 1] = #clients > 1 and ('%s:\n%s'):format(one.client.name, said) or said
      end
    end
    if #parts == 0 then
      local character = text.byte_character(content, byte)
      parts[1] = ('%d:%d: there is nothing to say of this place'):format(line, character)
    end
    return table.concat(vim.list_extend(parts, failed), '\n\n')
  end),
}

-- Append DocumentSymbols with their children, or SymbolInformation.
local function append(found, symbols, container, make)
  for _, symbol in ipairs(symbols) do
    local range = symbol.selectionRange or symbol.location and symbol.location.range
    local named = symbol.containerName
    local inside = container or type(named) == 'string' and named ~= '' and named
    if range then
      found[#found + 1] = make(symbol, range.start, inside or nil)
    end
    if type(symbol.children) == 'table' then
      append(found, symbol.children, (container and container .. '.' or '') .. symbol.name, make)
    end
  end
end

local lsp_symbols = {
  name = 'lsp_symbols',
  description = 'The symbols of a buffer in a flat list: name, kind, line and character from 1, container (the enclosing '
    .. 'symbols, joined by dots).',
  args = {
    bufnr = text.BUFNR,
    limit = { type = 'integer', default = 500, description = 'most results' },
  },
  extra = false,
  read_only = true,
  execute = task.tool(function(args, call)
    if args.limit < 1 then
      task.fail('limit must be at least 1')
    end
    local buffer = text.loaded_buffer(args.bufnr)
    local clients = clients_for(buffer, 'textDocument/documentSymbol')
    local version = vim.api.nvim_buf_get_changedtick(buffer)
    local answers = ask(call, buffer, clients, 'textDocument/documentSymbol', function()
      return { textDocument = { uri = vim.uri_from_bufnr(buffer) } }
    end)
    local good, failed = sorted_out(answers)
    if not vim.api.nvim_buf_is_loaded(buffer) then
      task.fail('buffer %d was closed during the call', buffer)
    elseif vim.api.nvim_buf_get_changedtick(buffer) ~= version then
      failed[#failed + 1] = 'the text changed during the call: places may be out of date'
    end
    local line_of, found = text.reader(), {}
    for _, one in ipairs(good) do
      append(found, one.result, nil, function(symbol, start, container)
        local line, character = text.position_place(line_of, buffer, start, one.client.offset_encoding)
        return {
          name = symbol.name,
          kind = tostring(vim.lsp.protocol.SymbolKind[symbol.kind] or symbol.kind):lower(),
          line = line,
          character = character,
          container = container,
          client = #clients > 1 and one.client.name or nil,
        }
      end)
    end
    local total = #found
    if total > args.limit then
      found = vim.list_slice(found, 1, args.limit)
      failed[#failed + 1] = ('%d of %d are shown; limit shows more'):format(args.limit, total)
    end
    return vim.tbl_extend('error', text.named(buffer), {
      total = total,
      symbols = found,
      remarks = #failed > 0 and failed or nil,
    })
  end),
}

--- The list of tools.
function M.tools()
  return { lsp_hover, lsp_symbols }
end

return M
