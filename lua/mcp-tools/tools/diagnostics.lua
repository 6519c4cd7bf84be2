--- Diagnostics of language servers and linters, and which are still missing.
local task = require('mcp-tools.task')
local text = require('mcp-tools.text')

local M = {}

local NAMES = { 'error', 'warn', 'info', 'hint' }
local MOST_NAMED = 10 -- buffers in one sentence

-- Received diagnostics: by client id, by file name, { version: of the text, said: whether the server sent the version,
-- first: the version of the text when the first ones came }. An empty list leaves no other trace.
local heard = {}
local listening = false

-- `bufnr()` would treat the name as a pattern.
local function buffer_named(name)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer) == name then
      return buffer
    end
  end
  return -1
end

local function hear(client, name, version)
  heard[client] = heard[client] or {}
  local before = heard[client][name]
  local now = vim.lsp.util.buf_versions[buffer_named(name)]
  heard[client][name] = { version = version or now, said = version ~= nil, first = before and before.first or now }
end

-- Observe incoming diagnostics without changing them.
local function listen()
  if listening then
    return
  end
  listening = true
  local handlers = vim.lsp.handlers
  local function watch(method, note)
    local own = handlers[method]
    handlers[method] = function(problem, result, context, ...)
      if not problem and result and context and context.client_id then
        pcall(note, result, context)
      end
      return own(problem, result, context, ...)
    end
  end
  watch('textDocument/publishDiagnostics', function(result, context)
    -- Servers may send null for an unknown version.
    local version = type(result.version) == 'number' and result.version or nil
    hear(context.client_id, vim.uri_to_fname(result.uri), version)
  end)
  watch('textDocument/diagnostic', function(_, context)
    hear(context.client_id, vim.uri_to_fname(context.params.textDocument.uri), context.version)
  end)
end

-- Why diagnostics of `client` for the current text of `buffer` are missing; nil if there are none missing.
local function doubt(client, buffer)
  if not client.initialized then
    return 'is starting'
  end
  local last = (heard[client.id] or {})[vim.api.nvim_buf_get_name(buffer)]
  local now = vim.lsp.util.buf_versions[buffer]
  if not last then
    return 'has published nothing yet since these tools were turned on'
  elseif last.version ~= now then
    return 'has published nothing yet for the current text'
  elseif not last.said and last.first ~= now then
    return 'does not say which text its diagnostics are of, and the text has changed'
  end
end

local function at_work(client)
  local _, title = next(client.progress and client.progress.pending or {})
  return title and (' (at work: %s)'):format(tostring(title)) or ''
end

-- A sentence for each client and reason, about one buffer or all.
local function doubts(wanted)
  local sentences, clients = {}, vim.lsp.get_clients({ bufnr = wanted, _uninitialized = true })
  table.sort(clients, function(a, b)
    return a.id < b.id
  end)
  for _, client in ipairs(clients) do
    local by_reason = {}
    for buffer in vim.spairs(client.attached_buffers) do
      local why = (not wanted or wanted == buffer) and vim.api.nvim_buf_is_loaded(buffer) and doubt(client, buffer)
      if why then
        by_reason[why] = by_reason[why] or {}
        table.insert(by_reason[why], text.shown(buffer))
      end
    end
    for why, names in vim.spairs(by_reason) do
      local more = #names > MOST_NAMED and (' and %d more'):format(#names - MOST_NAMED) or ''
      local list = table.concat(names, ', ', 1, math.min(#names, MOST_NAMED))
      table.insert(sentences, ('%s %s%s: %s%s'):format(client.name, why, at_work(client), list, more))
    end
  end
  return sentences, #clients
end

local function compact(found, line_of)
  local line = line_of(found.bufnr, found.lnum + 1)
  local code = found.code
  return vim.tbl_extend('error', text.named(found.bufnr), {
    line = found.lnum + 1,
    character = line and text.byte_character(line, found.col) or nil,
    severity = NAMES[found.severity],
    message = found.message,
    source = found.source,
    code = (type(code) == 'string' or type(code) == 'number') and code or nil,
  })
end

local function severest_first(found)
  local names = {}
  for _, one in ipairs(found) do
    names[one.bufnr] = names[one.bufnr] or text.named(one.bufnr).file or ('\255%09d'):format(one.bufnr)
  end
  table.sort(found, function(a, b)
    if a.severity ~= b.severity then
      return a.severity < b.severity
    elseif a.bufnr ~= b.bufnr then
      return names[a.bufnr] < names[b.bufnr]
    elseif a.lnum ~= b.lnum then
      return a.lnum < b.lnum
    elseif a.col ~= b.col then
      return a.col < b.col
    end
    return a.message < b.message
  end)
end

local diagnostics_list = {
  name = 'diagnostics_list',
  description = 'Diagnostics in Neovim, most severe first: { total, diagnostics }. Lines and characters count from 1. '
    .. '`not_known` lists the servers that have not reported on the current text; without it, an empty list means '
    .. 'that there are no diagnostics.',
  args = {
    bufnr = { type = 'integer', description = 'buffer number, 0: the current one; absent: all buffers' },
    severity = {
      type = 'string',
      enum = { 'error', 'warn', 'info', 'hint', '1', '2', '3', '4' },
      description = 'only of this severity or worse: error (1), warn (2), info (3), hint (4, the default)',
    },
    limit = { type = 'integer', default = 100, description = 'most results' },
  },
  extra = false,
  read_only = true,
  execute = task.tool(function(args)
    if args.limit < 1 then
      task.fail('limit must be at least 1')
    end
    local buffer = args.bufnr and text.buffer(args.bufnr)
    local severity = args.severity and (tonumber(args.severity) or vim.diagnostic.severity[args.severity:upper()])
    local found = vim.tbl_filter(function(one)
      return vim.api.nvim_buf_is_valid(one.bufnr)
    end, vim.diagnostic.get(buffer, severity and { severity = { min = severity } } or nil))
    severest_first(found)
    local line_of = text.reader()
    local shown = {}
    for index = 1, math.min(#found, args.limit) do
      shown[index] = compact(found[index], line_of)
    end
    local not_known, clients = doubts(buffer)
    if clients == 0 and #found == 0 then
      local attached = buffer and 'no language client is attached to ' .. text.shown(buffer)
      not_known = { attached or 'no language client runs' }
    end
    return {
      total = #found,
      diagnostics = shown,
      hint = #found > #shown and ('%d of %d are shown; limit shows more'):format(#shown, #found) or nil,
      not_known = #not_known > 0 and not_known or nil,
    }
  end),
}

--- The list of tools.
function M.tools()
  listen()
  return { diagnostics_list }
end

return M
