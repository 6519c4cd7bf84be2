-- The language clients of this Neovim: their requests, what they say, and documents that no buffer holds.
local M = ...

local hooks = {} -- by client id: { raw = URIs opened by us, notify = the client's own, alive }
local ended = {} -- by client id: the titles of the work that has ended since we are connected
local before_us = {} -- the ids of the clients that were there when we came
for _, client in ipairs(vim.lsp.get_clients()) do
  before_us[client.id] = true
end
local pending = {} -- by our number of a request: { client id, its number }
local commands = {} -- by client id: how many commands of ours its server has still to answer
local capturing = {} -- by client id: whether the edits that its server asks for are for us alone

local function client_of(id)
  local client = vim.lsp.get_client_by_id(id)
  return client and not client:is_stopped() and client or nil
end

local function work_of(client)
  local work = {}
  for token, title in pairs(client.progress and client.progress.pending or {}) do
    work[#work + 1] = { token = token, title = tostring(title) }
  end
  return work
end

local function offers(client, path)
  return #path > 0 and vim.tbl_get(client.config or {}, 'capabilities', unpack(path)) == true
end

local function summary(client)
  local config = client.config or {}
  return {
    id = client.id,
    name = client.name,
    initialized = client.initialized == true,
    unit = client.offset_encoding,
    capabilities = client.server_capabilities or vim.empty_dict(),
    root = client.root_dir or vim.NIL,
    command = type(config.cmd) == 'table' and config.cmd or {},
    filetypes = config.filetypes or {},
    buffers = vim.tbl_keys(client.attached_buffers),
    work = work_of(client),
    ended = vim.tbl_keys(ended[client.id] or {}),
    before_us = before_us[client.id] == true,
  }
end

local watched = {} -- by client id: whether we hear of its end while it is being initialized

local function watch_exit(client)
  if not client.initialized and not watched[client.id] and type(client._on_exit_cbs) == 'table' then
    watched[client.id] = true
    table.insert(client._on_exit_cbs, function()
      vim.schedule(function()
        M.tell('detached', client.id)
      end)
    end)
  end
end

--- Every language client, those too that are being initialized.
function M.clients()
  local found = {}
  for _, client in ipairs(vim.lsp.get_clients({ _uninitialized = true })) do
    if not client:is_stopped() then
      watch_exit(client)
      found[#found + 1] = summary(client)
    end
  end
  return found
end

--- File name extensions by file type, as far as this Neovim knows plain ones.
function M.extensions(filetypes)
  local wanted, found = {}, {}
  for _, filetype in ipairs(filetypes) do
    wanted[filetype] = true
    found[filetype] = {}
  end
  for extension, filetype in pairs(vim.filetype.inspect().extension) do
    if wanted[filetype] then
      table.insert(found[filetype], '.' .. extension)
    end
  end
  return found
end

-- What the client itself sends passes here first, so that a document is never open twice with its server.
local function hook_rpc(client, hook)
  local rpc = client.rpc
  local notify, request = rpc.notify, rpc.request
  hook.notify = notify
  local function our_notify(method, params)
    if not M.gone then
      if not M.connected() then
        M.leave()
      elseif not hook.sending and (method == 'textDocument/didOpen' or method == 'textDocument/didChange') then
        hook.versions[vim.uri_to_fname(params.textDocument.uri)] = params.textDocument.version
        if method == 'textDocument/didOpen' then
          M.hand_over(client.id, params.textDocument.uri)
          M.tell('told', client.id, 'lsp-mcp/opened', { uri = params.textDocument.uri })
        end
      end
    end
    return notify(method, params)
  end
  local function our_request(...)
    if not M.gone and not M.connected() then
      M.leave()
    end
    return request(...)
  end
  rpc.notify, rpc.request = our_notify, our_request
  M.at_leave(function()
    if rpc.notify == our_notify then
      rpc.notify = notify
    end
    if rpc.request == our_request then
      rpc.request = request
    end
  end)
end

local TOLD = { 'textDocument/publishDiagnostics', 'window/showMessage' }

--- Let `first` see what a client is told by `method`: it returns true, and what to answer, if nobody else is to see it.
local function hook_handler(client, method, first)
  local own = client.handlers[method]
  local function ours(err, result, context, ...)
    -- A client that was started again has the handlers of the one before, this one among them.
    if not M.gone and context.client_id == client.id then
      local taken, answer = first(result)
      if taken then
        return answer
      end
    end
    local handler = own or vim.lsp.handlers[method]
    if handler then
      return handler(err, result, context, ...)
    end
  end
  client.handlers[method] = ours
  M.at_leave(function()
    if client.handlers[method] == ours then
      client.handlers[method] = own
    end
  end)
end

local function hook_handlers(client, methods)
  for _, method in ipairs(vim.list_extend(methods, TOLD)) do
    hook_handler(client, method, function(result)
      local hook = hooks[client.id]
      if result then
        M.tell('told', client.id, method, result)
      end
      -- What is said of documents that only we have open is not for the person: it would become a buffer.
      local uri = method == 'textDocument/publishDiagnostics' and result and result.uri
      return uri and hook and hook.raw[vim.uri_to_fname(uri)]
    end)
  end
  -- What a command of ours makes is for us: no window shows it.
  hook_handler(client, 'window/showDocument', function()
    return capturing[client.id], { success = false }
  end)
  -- As where we run the server: no edit is done that did not go through this program's own tools.
  hook_handler(client, 'workspace/applyEdit', function(params)
    if capturing[client.id] then
      M.tell('told', client.id, 'workspace/applyEdit', params)
      return true, { applied = true }
    end
    return (commands[client.id] or 0) > 0, { applied = false, failureReason = 'lsp-mcp applies no edits of a command' }
  end)
end

local function died(id, crashed)
  if hooks[id] and hooks[id].alive then
    hooks[id].alive = false
    for number, request in pairs(pending) do
      if request.client == id then
        pending[number] = nil
      end
    end
    M.tell('died', id, crashed)
  end
end

--- The LSP diagnostics that a client's server has published until now: { name of the file, diagnostics }.
local function diagnostics_of(id)
  local found, place = {}, {}
  for _, one in ipairs(vim.diagnostic.get(nil, { namespace = vim.lsp.diagnostic.get_namespace(id) })) do
    local sent = (one.user_data or {}).lsp
    if sent then
      if not place[one.bufnr] then
        found[#found + 1] = { vim.api.nvim_buf_get_name(one.bufnr), {} }
        place[one.bufnr] = found[#found][2]
      end
      table.insert(place[one.bufnr], sent)
    end
  end
  return found
end

--- Whether lsp-mcp asks a client's server.
function M.follows(id)
  return hooks[id] ~= nil and hooks[id].alive
end

--- Whether lsp-mcp asks a server that is for files of a type.
function M.follows_filetype(filetype)
  for id, hook in pairs(hooks) do
    if M.follows(id) and vim.list_contains(hook.config.filetypes or {}, filetype) then
      return true
    end
  end
  return false
end

--- Hear what a client hears from now on; its summary with the diagnostics `published`, or nil if there is none of that id.
--- `extension` is what its server has of its own: `methods` of notifications, the `capability` that asks for them (the
--- summary says whether the client `offers` it), `reread_fields`, and the methods of requests to leave `uncancelled`.
function M.follow(id, extension)
  local client = client_of(id)
  if not client then
    return vim.NIL
  end
  if not hooks[id] then
    local hook = { raw = {}, shown = {}, alive = true, config = client.config, buffers = {}, versions = {} }
    hook.reread_fields = extension.reread_fields
    hook.change_fields = extension.change_fields
    hook.uncancelled = extension.uncancelled
    hooks[id] = hook
    hook_rpc(client, hook)
    hook_handlers(client, extension.methods)
    -- LspDetach alone would not tell of a client that has no buffer.
    if type(client._on_exit_cbs) == 'table' then
      hook.hears_exit = true
      table.insert(client._on_exit_cbs, function(code, signal)
        vim.schedule(function()
          died(id, code ~= 0 or (signal ~= 0 and signal ~= 15))
        end)
      end)
    end
  end
  return vim.tbl_extend('error', summary(client), { published = diagnostics_of(id), offers = offers(client, extension.capability) })
end

M.on('LspDetach', function(event)
  local id = event.data.client_id
  M.tell('detached', id)
  local client, hook = vim.lsp.get_client_by_id(id), hooks[id]
  if client and hook then
    hook.buffers[event.buf] = true -- for `M.restart`: it may be detached because its server is gone
  end
  if hook and not hook.hears_exit and (not client or client:is_stopped()) then
    died(id, true)
  end
end)

M.on('LspAttach', function(event)
  M.tell('attached', event.data.client_id, event.buf)
end)

M.on('LspProgress', function(event)
  local id, params = event.data.client_id, event.data.params
  local value = params.value
  ended[id] = ended[id] or {}
  if value.kind == 'begin' and value.title then
    ended[id][value.title] = nil
  elseif value.kind == 'end' and value.title then -- Neovim puts the title of the beginning there
    ended[id][value.title] = true
  end
  if hooks[id] then
    M.tell('told', id, '$/progress', params)
  end
end)

-- What servers write on their stderr Neovim logs, and gives to nobody.
local log = require('vim.lsp.log')
local log_error = log.error
if type(log_error) == 'function' then
  local function ours(...)
    local from, program, stream, text = ...
    if from == 'rpc' and stream == 'stderr' and not M.gone then
      vim.schedule(function()
        M.tell('stderr', tostring(program), tostring(text))
      end)
    end
    return log_error(...)
  end
  log.error = ours
  M.at_leave(function()
    if log.error == ours then
      log.error = log_error
    end
  end)
end

--- Tell the server what is typed but not sent yet.
function M.flush(client, buffer)
  local ok, tracking = pcall(require, 'vim.lsp._changetracking')
  if ok and tracking.flush then
    pcall(tracking.flush, client, buffer)
  end
end

local function flush(client)
  for buffer in pairs(client.attached_buffers) do
    M.flush(client, buffer)
  end
end

--- Send a request; the answer comes as `answer`, with `number`.
function M.request(number, id, method, params, buffer)
  local client = client_of(id)
  if not client then
    M.tell('answer', number, { gone = true }, vim.NIL)
    return
  end
  flush(client)
  local is_command = method == 'workspace/executeCommand' and 1 or 0
  commands[id] = (commands[id] or 0) + is_command
  local sent, request = client:request(method, M.given(params), function(err, result)
    commands[id] = commands[id] - is_command
    if not pending[number] then
      return
    end
    pending[number] = nil
    if result == nil then
      result = vim.NIL
    end
    if not M.tell('answer', number, err or vim.NIL, result) and M.connected() then
      M.tell('answer', number, { code = 0, message = 'its answer cannot be sent' }, vim.NIL)
    end
  end, M.given(buffer))
  if not sent then
    commands[id] = commands[id] - is_command
    M.tell('answer', number, { gone = true }, vim.NIL)
  else
    pending[number] = { client = id, request = request, method = method }
  end
end

--- Nobody waits for the answer any more.
function M.cancel(number)
  local request = pending[number]
  pending[number] = nil
  local client, hook = request and client_of(request.client), request and hooks[request.client]
  if client and not (hook and vim.list_contains(hook.uncancelled, request.method)) then
    client:cancel_request(request.request)
  end
end

local function held_by(client, uri)
  local name = vim.uri_to_fname(uri)
  for buffer in pairs(client.attached_buffers) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.api.nvim_buf_get_name(buffer) == name then
      return buffer
    end
  end
end

--- Tell a server something. Of documents that a buffer of its holds it hears from Neovim alone.
function M.notify(id, method, params)
  local client, hook = client_of(id), hooks[id]
  if not client or not hook then
    return
  end
  local document = params.textDocument
  if document then
    local name = vim.uri_to_fname(document.uri)
    if method == 'textDocument/didOpen' then
      if not held_by(client, document.uri) then
        -- Past all that stand before the client, as another lsp-mcp may: it closes its own.
        hook.sending = true
        client.rpc.notify(method, params)
        hook.sending = false
        hook.raw[name] = document.uri
      end
      return
    elseif not hook.raw[name] then
      return
    elseif method == 'textDocument/didClose' then
      hook.raw[name] = nil
    end
  end
  hook.notify(method, params)
end

--- The version of a document that Neovim has told a server last, if that was since we listen.
function M.version_told(id, name)
  return hooks[id] and hooks[id].versions[name]
end

--- A buffer takes a document over that we had open.
function M.hand_over(id, uri)
  local hook, name = hooks[id], vim.uri_to_fname(uri)
  local ours = hook and hook.raw[name]
  if ours then
    hook.raw[name] = nil
    hook.notify('textDocument/didClose', { textDocument = { uri = ours } })
    M.tell('told', id, 'lsp-mcp/handedOver', { uri = ours })
  end
end

--- Close all documents that we have open with any server.
function M.close_documents()
  for id, hook in pairs(hooks) do
    capturing[id] = nil
    if client_of(id) then
      for uri, version in pairs(hook.shown) do
        M.reread(id, uri, version + 1)
      end
      for _, uri in pairs(hook.raw) do
        hook.notify('textDocument/didClose', { textDocument = { uri = uri } })
      end
    end
    hook.raw = {}
  end
end

--- Have a buffer's server read its document again, as `version`, with what it includes: by a change of nothing with
--- fields of the server's own, or, if it has none, by closing and opening it.
function M.reread(id, uri, version)
  local client, hook = client_of(id), hooks[id]
  local buffer = client and hook and held_by(client, uri)
  if not buffer then
    return
  end
  flush(client)
  hook.shown[uri] = nil
  local its_uri = vim.uri_from_bufnr(buffer)
  -- What was typed just now has been told above: lsp-mcp may not know of it yet, and the server may never speak of it.
  local after = hook.versions[vim.uri_to_fname(its_uri)]
  if after then
    M.tell('told', id, 'lsp-mcp/reread', { uri = its_uri, version = version, after = after })
  end
  if next(hook.reread_fields) then
    local change = {
      textDocument = { uri = its_uri, version = version },
      contentChanges = { { text = M.text(buffer).text } },
    }
    hook.notify('textDocument/didChange', vim.tbl_extend('error', change, hook.reread_fields))
    return
  end
  hook.notify('textDocument/didClose', { textDocument = { uri = its_uri } })
  hook.notify('textDocument/didOpen', {
    textDocument = {
      uri = its_uri,
      version = version,
      languageId = client.get_language_id and client.get_language_id(buffer, vim.bo[buffer].filetype)
        or vim.bo[buffer].filetype,
      text = M.text(buffer).text,
    },
  })
end

--- Let a buffer's server take `text` for what is in it, as `version`, until `M.reread`.
function M.show_text(id, uri, version, text)
  local client, hook = client_of(id), hooks[id]
  local buffer = client and hook and held_by(client, uri)
  if buffer then
    flush(client)
    hook.shown[uri] = version
    local change = {
      textDocument = { uri = vim.uri_from_bufnr(buffer), version = version },
      contentChanges = { { text = text } },
    }
    hook.notify('textDocument/didChange', vim.tbl_extend('force', change, hook.change_fields, hook.reread_fields))
  end
end

--- The edits that a client's server asks for are told, and not done, as long as `begins`.
function M.capture(id, begins)
  capturing[id] = begins or nil
end

-- Milliseconds for a server to end when it is asked to, and when it got a signal.
local END_WITHIN, SIGNALS_APART = 1000, 300

--- End a client; `died` follows.
function M.stop(id)
  local client = client_of(id)
  if not client then
    return
  end
  client:stop()
  local function force()
    local still = vim.lsp.get_client_by_id(id)
    if still then
      still:stop(true)
    end
    return still
  end
  vim.defer_fn(function()
    -- A clangd that waits for itself while it ends takes the first signal for another wish to end, and the second
    -- for an order.
    if force() then
      vim.defer_fn(force, SIGNALS_APART)
    end
  end, END_WITHIN)
end

local ours = setmetatable({}, { __mode = 'k' }) -- the `on_init` callbacks that are ours

-- The configuration of an ended client, which tells us once it is initialized: without a buffer nothing else would.
local function telling(config)
  local init = {}
  for _, callback in ipairs(type(config.on_init) == 'table' and config.on_init or { config.on_init }) do
    if not ours[callback] then
      init[#init + 1] = callback
    end
  end
  local function tell(client)
    M.tell('attached', client.id, 0)
  end
  ours[tell] = true
  init[#init + 1] = tell
  return vim.tbl_extend('force', config, { on_init = init })
end

--- Start an ended client again, for the buffers that it had; its new id, or nil.
function M.restart(id)
  local hook = hooks[id]
  local started = vim.lsp.start(telling(hook.config), { attach = false, silent = true })
  if not started then
    return vim.NIL
  end
  local old = vim.lsp.get_client_by_id(id) -- one that does not end
  for buffer in pairs(old and old.attached_buffers or hook.buffers) do
    local without = M.detached[buffer]
    if without then
      without[#without + 1] = started -- once its file is back
    elseif vim.api.nvim_buf_is_loaded(buffer) then
      vim.lsp.buf_attach_client(buffer, started)
    end
  end
  return started
end
