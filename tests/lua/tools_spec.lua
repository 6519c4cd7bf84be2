local spec = require('spec')
local it, equal, contains, eventually = spec.it, spec.equal, spec.contains, spec.eventually

local EVERY = { 'diagnostics', 'lsp', 'undo', 'test' }

local function turn_on()
  local wanted = {}
  for _, group in ipairs(EVERY) do
    wanted[group] = true
  end
  require('mcp-tools').setup({ tools = wanted })
end

-- What a tool answers: its result; fails if that is an error.
local function ask(name, args)
  local result, message = spec.call(name, args)
  equal(nil, message, name)
  return result
end

-- The error that a tool answers.
local function refused(name, args)
  local result, message = spec.call(name, args)
  equal(nil, result)
  return message
end

-- A fresh current buffer with these lines, named if `path` is given.
local function buffer_with(lines, path)
  local buffer = vim.api.nvim_create_buf(true, false)
  if path then
    vim.api.nvim_buf_set_name(buffer, path)
  end
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.api.nvim_set_current_buf(buffer)
  return buffer
end

-- A language server in this process for `buffer`. `answers` has by method a value, or function(params, callback).
local function server(buffer, answers, options)
  options = options or {}
  local made = { asked = {}, cancelled = {} }
  local number = 0
  made.id = vim.lsp.start({
    name = options.name or 'fake',
    root_dir = '/',
    cmd = function(dispatchers)
      made.dispatchers = dispatchers
      local closing = false
      local function leave()
        if not closing then
          closing = true
          vim.schedule(function()
            dispatchers.on_exit(0, 15)
          end)
        end
      end
      return {
        request = function(method, params, callback)
          number = number + 1
          table.insert(made.asked, { method = method, params = params })
          if method == 'initialize' then
            if options.initialize ~= false then
              callback(nil, {
                capabilities = vim.tbl_extend('force', {
                  positionEncoding = options.encoding or 'utf-16',
                  hoverProvider = true,
                  documentSymbolProvider = true,
                }, options.capabilities or {}),
              })
            end
          elseif method == 'shutdown' then
            callback(nil, nil)
          elseif type(answers[method]) == 'function' then
            answers[method](params, callback)
          else
            callback(nil, answers[method])
          end
          return true, number
        end,
        notify = function(method, params)
          if method == '$/cancelRequest' then
            table.insert(made.cancelled, params.id)
          elseif method == 'exit' then
            leave()
          end
          return true
        end,
        is_closing = function()
          return closing
        end,
        terminate = leave,
      }
    end,
  }, {
    bufnr = buffer,
    reuse_client = function()
      return false
    end,
  })
  if options.initialize ~= false then
    eventually(function()
      return vim.lsp.buf_is_attached(buffer, made.id)
    end, 'the server is attached')
  end
  function made.publish(diagnostics, version)
    made.dispatchers.notification('textDocument/publishDiagnostics', {
      uri = vim.uri_from_bufnr(buffer),
      version = version,
      diagnostics = diagnostics,
    })
    vim.wait(20) -- Neovim takes it in later
  end
  function made.params(method)
    for index = #made.asked, 1, -1 do
      if made.asked[index].method == method then
        return made.asked[index].params
      end
    end
  end
  return made
end

local function stop_servers()
  for _, client in ipairs(vim.lsp.get_clients({ _uninitialized = true })) do
    client:stop(true)
  end
  eventually(function()
    return #vim.lsp.get_clients({ _uninitialized = true }) == 0
  end, 'the servers end')
end

local function found(severity, line, from, message)
  return {
    range = { start = { line = line, character = from }, ['end'] = { line = line, character = from + 1 } },
    severity = severity,
    message = message or 'm',
    source = 'fake',
    code = 'C1',
  }
end

-- --- places --------------------------------------------------------------------------------------------------

local LINES = { '', 'abc', 'é😀x', 'e\u{301}😀', '\t日本', 'bad \255\128 é', '👨‍👩‍👧 z', 'a\0b' }

it("characters and bytes are each other's inverse, also by way of code units", function()
  local text = require('mcp-tools.text')
  for _, line in ipairs(LINES) do
    local length = text.length(line)
    for character = 1, length + 1 do
      local byte = text.character_byte(line, character)
      equal(character, text.byte_character(line, byte), line)
      for _, encoding in ipairs({ 'utf-8', 'utf-16', 'utf-32' }) do
        equal(byte, text.units_byte(line, text.byte_units(line, byte, encoding), encoding), line .. encoding)
      end
    end
    equal(#line, text.character_byte(line, length + 1))
    equal(nil, text.character_byte(line, length + 2))
    equal(nil, text.character_byte(line, 0))
  end
end)

it('code units are counted as LSP counts them', function()
  local text = require('mcp-tools.text')
  local line = 'é😀x'
  local byte = text.character_byte(line, 3)
  equal({ 6, 3, 2 }, {
    text.byte_units(line, byte, 'utf-8'),
    text.byte_units(line, byte, 'utf-16'),
    text.byte_units(line, byte, 'utf-32'),
  })
end)

it('what servers and linters say past the end is the end, and inside a character that character', function()
  local text = require('mcp-tools.text')
  equal(4, text.byte_character('é😀x', 100))
  equal(1, text.byte_character('é😀x', -1))
  equal(
    { 1, 1, 2, 2, 2, 2, 3, 4 },
    vim.tbl_map(function(byte)
      return text.byte_character('é😀x', byte)
    end, { 0, 1, 2, 3, 4, 5, 6, 7 })
  )
  equal(7, text.units_byte('é😀x', 100, 'utf-16'))
  equal(1, text.byte_character('', 5))
end)

-- --- all ----------------------------------------------------------------------------------------------------

it('nothing is on by itself, and a group that is turned off is gone', function()
  local mcp = require('mcp-tools')
  mcp.setup()
  equal({}, mcp.list_tools())
  turn_on()
  local names = vim.tbl_keys(mcp.list_tools())
  table.sort(names)
  equal(
    { 'diagnostics_list', 'lsp_hover', 'lsp_symbols', 'test_async_prompt', 'test_sync_buffers', 'undo_tree' },
    names
  )
  mcp.setup({ tools = { undo = true } })
  equal({ 'undo_tree' }, vim.tbl_keys(mcp.list_tools()))
end)

it('every tool refuses what it does not know, only reads, and describes itself and its arguments', function()
  turn_on()
  for name, tool in pairs(require('mcp-tools').list_tools()) do
    equal(true, tool.read_only, name)
    equal(false, tool.extra, name)
    equal(true, #tool.description < 400, name)
    for argument, declared in pairs(tool.args) do
      equal(true, #(declared.description or '') > 0, name .. '.' .. argument)
    end
    contains(refused(name, { nonsense = 1, prompt = 'p', options = { 'a' } }), 'unknown argument')
  end
end)

it('a buffer that there is not is named, with those there are', function()
  turn_on()
  local buffer = buffer_with({ 'x' }, spec.root .. '/there.txt')
  for _, name in ipairs({ 'diagnostics_list', 'lsp_hover', 'lsp_symbols', 'undo_tree' }) do
    local message = refused(name, { bufnr = 98765 })
    contains(message, 'unknown buffer 98765; available: ')
    contains(message, ('%d (there.txt)'):format(buffer))
    contains(refused(name, { bufnr = -1 }), 'unknown buffer -1')
  end
end)

it('a buffer that is not loaded is an error where its text is needed', function()
  turn_on()
  local buffer = vim.fn.bufadd(spec.root .. '/README.md')
  for _, name in ipairs({ 'lsp_hover', 'lsp_symbols', 'undo_tree' }) do
    equal(
      ('buffer %d (README.md) is not loaded: open the file in Neovim first'):format(buffer),
      refused(name, { bufnr = buffer })
    )
  end
  equal(0, ask('diagnostics_list', { bufnr = buffer }).total)
  equal(false, vim.api.nvim_buf_is_loaded(buffer))
end)

-- --- diagnostics ------------------------------------------------------------------------------------------------

local space = vim.api.nvim_create_namespace('linter')

it('diagnostics come severest first, then by place, counted from 1', function()
  turn_on()
  vim.diagnostic.reset()
  local b = buffer_with({ 'one', 'two' }, spec.root .. '/b.txt')
  local a = buffer_with({ 'a😀é x' }, spec.root .. '/a.txt')
  local S = vim.diagnostic.severity
  vim.diagnostic.set(space, b, {
    { lnum = 1, col = 2, severity = S.WARN, message = 'w2', source = 'lint', code = 7 },
    { lnum = 0, col = 0, severity = S.WARN, message = 'w1' },
    { lnum = 0, col = 0, severity = S.ERROR, message = 'e' },
  })
  vim.diagnostic.set(space, a, { { lnum = 0, col = #'a😀é ', severity = S.WARN, message = 'w0' } })
  local answer = ask('diagnostics_list')
  equal({
    { file = 'b.txt', line = 1, character = 1, severity = 'error', message = 'e' },
    { file = 'a.txt', line = 1, character = 5, severity = 'warn', message = 'w0' },
    { file = 'b.txt', line = 1, character = 1, severity = 'warn', message = 'w1' },
    { file = 'b.txt', line = 2, character = 3, severity = 'warn', message = 'w2', source = 'lint', code = 7 },
  }, answer.diagnostics)
  equal({ 4, nil, nil }, { answer.total, answer.hint, answer.not_known })
  equal(
    { 'w0' },
    vim.tbl_map(function(one)
      return one.message
    end, ask('diagnostics_list', { bufnr = 0 }).diagnostics)
  )
end)

it('a severity takes that one and worse, by name or number', function()
  turn_on()
  vim.diagnostic.reset()
  local buffer = buffer_with({ 'x' })
  vim.diagnostic.set(
    space,
    buffer,
    vim.tbl_map(function(severity)
      return { lnum = 0, col = 0, severity = severity, message = tostring(severity) }
    end, { 4, 3, 2, 1 })
  )
  for severity, total in pairs({ error = 1, warn = 2, info = 3, hint = 4, ['1'] = 1, ['2'] = 2 }) do
    equal(total, ask('diagnostics_list', { bufnr = buffer, severity = severity }).total, severity)
  end
  equal(3, ask('diagnostics_list', { bufnr = buffer, severity = 3 }).total)
  contains(refused('diagnostics_list', { severity = 'fatal' }), 'severity must be one of "error", "warn"')
  contains(refused('diagnostics_list', { severity = 9 }), 'severity must be')
end)

it('many diagnostics are cut off, and the answer says so', function()
  turn_on()
  vim.diagnostic.reset()
  local buffer = buffer_with({ 'x' })
  local many = {}
  for number = 1, 130 do
    many[number] = { lnum = 0, col = 0, severity = 2, message = ('%03d'):format(number) }
  end
  vim.diagnostic.set(space, buffer, many)
  local answer = ask('diagnostics_list')
  equal({ 130, 100, '100' }, { answer.total, #answer.diagnostics, answer.diagnostics[100].message })
  contains(answer.hint, '100 of 130 are shown')
  equal(130, #ask('diagnostics_list', { limit = 500 }).diagnostics)
  contains(refused('diagnostics_list', { limit = 0 }), 'limit must be at least 1')
end)

it('diagnostics of a buffer without a file have its number; of lines that are gone, no character', function()
  turn_on()
  vim.diagnostic.reset()
  local buffer = buffer_with({ 'x' })
  vim.diagnostic.set(space, buffer, { { lnum = 9, col = 3, severity = 1, message = 'm' } })
  equal({ { bufnr = buffer, line = 10, severity = 'error', message = 'm' } }, ask('diagnostics_list').diagnostics)
end)

it('diagnostics of a file that is not loaded count characters by the file', function()
  turn_on()
  vim.diagnostic.reset()
  local path = vim.fn.tempname()
  vim.fn.writefile({ '', '😀 x' }, path)
  local buffer = vim.fn.bufadd(path)
  vim.diagnostic.set(space, buffer, { { lnum = 1, col = #'😀 ', severity = 1, message = 'm' } })
  equal({ 2, 3 }, { ask('diagnostics_list').diagnostics[1].line, ask('diagnostics_list').diagnostics[1].character })
  equal(false, vim.api.nvim_buf_is_loaded(buffer))
end)

it('an empty list without a language client says that there is none', function()
  turn_on()
  vim.diagnostic.reset()
  local buffer = buffer_with({ 'x' })
  local answer = ask('diagnostics_list', { bufnr = buffer })
  equal({ 0, {} }, { answer.total, answer.diagnostics })
  equal({ ('no language client is attached to buffer %d'):format(buffer) }, answer.not_known)
  equal({ 'no language client runs' }, ask('diagnostics_list').not_known)
end)

it('what a server has not published yet is not known, and known when it has', function()
  turn_on()
  vim.diagnostic.reset()
  local buffer = buffer_with({ 'x' }, spec.root .. '/fresh.txt')
  local fake = server(buffer, {})
  local before = ask('diagnostics_list', { bufnr = buffer })
  equal(0, before.total)
  equal({ 'fake has published nothing yet since these tools were turned on: fresh.txt' }, before.not_known)
  equal(before.not_known, ask('diagnostics_list').not_known)
  fake.publish({}, vim.lsp.util.buf_versions[buffer])
  local after = ask('diagnostics_list', { bufnr = buffer })
  equal({ 0, nil }, { after.total, after.not_known })
  stop_servers()
end)

it('after an edit it is not known until diagnostics for the new text have come, not those of an older one', function()
  turn_on()
  vim.diagnostic.reset()
  local buffer = buffer_with({ 'x' }, spec.root .. '/edit.txt')
  local fake = server(buffer, {})
  local old = vim.lsp.util.buf_versions[buffer]
  fake.publish({ found(1, 0, 0, 'old') }, old)
  equal(nil, ask('diagnostics_list', { bufnr = buffer }).not_known)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { 'y' })
  local wanted = { 'fake has published nothing yet for the current text: edit.txt' }
  equal(wanted, ask('diagnostics_list', { bufnr = buffer }).not_known)
  fake.publish({ found(1, 0, 0, 'old') }, old)
  equal(wanted, ask('diagnostics_list', { bufnr = buffer }).not_known)
  fake.publish({}, vim.lsp.util.buf_versions[buffer])
  local after = ask('diagnostics_list', { bufnr = buffer })
  equal({ 0, nil }, { after.total, after.not_known })
  stop_servers()
end)

it('a server that names no version is believed only as long as the text is the first', function()
  turn_on()
  vim.diagnostic.reset()
  local buffer = buffer_with({ 'x' }, spec.root .. '/unversioned.txt')
  local fake = server(buffer, {})
  fake.publish({})
  equal(nil, ask('diagnostics_list', { bufnr = buffer }).not_known)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { 'y' })
  fake.publish({})
  local not_known = ask('diagnostics_list', { bufnr = buffer }).not_known
  contains(not_known[1], 'fake does not say which text its diagnostics are of')
  stop_servers()
end)

it('a server that is starting or at work is named with it', function()
  turn_on()
  vim.diagnostic.reset()
  local buffer = buffer_with({ 'x' }, spec.root .. '/starting.txt')
  server(buffer, {}, { initialize = false, name = 'slow' })
  equal({ 'slow is starting: starting.txt' }, ask('diagnostics_list', { bufnr = buffer }).not_known)
  contains(refused('lsp_hover', { bufnr = buffer }), 'slow is starting and cannot answer yet')
  stop_servers()
  local fake = server(buffer, {})
  fake.dispatchers.notification('$/progress', { token = 1, value = { kind = 'begin', title = 'Loading packages' } })
  eventually(function()
    local not_known = ask('diagnostics_list', { bufnr = buffer }).not_known
    return not_known[1]:find('%(at work: Loading packages%): starting.txt$')
  end)
  stop_servers()
end)

-- --- hover and symbols ---------------------------------------------------------------------------------------------

it("hover sends the place in each client's own units", function()
  turn_on()
  local line = '\tsay("é😀e\u{301}", name)'
  local buffer = buffer_with({ 'first', line }, spec.root .. '/hover.txt')
  local byte = line:find('name', 1, true) - 1
  local col = vim.str_utfindex(line, 'utf-32', byte) + 1
  local units = { ['utf-8'] = byte, ['utf-16'] = col, ['utf-32'] = col - 1 }
  for encoding, wanted in pairs(units) do
    local fake = server(buffer, { ['textDocument/hover'] = { contents = 'a name' } }, { encoding = encoding })
    equal('a name', ask('lsp_hover', { bufnr = buffer, line = 2, col = col }))
    local params = fake.params('textDocument/hover')
    equal({ line = 1, character = wanted }, params.position, encoding)
    equal(vim.uri_from_bufnr(buffer), params.textDocument.uri)
    stop_servers()
  end
end)

it('without a place hover takes the cursor; without a column the first character that is not white space', function()
  turn_on()
  local buffer = buffer_with({ 'first', '  é😀 x' })
  local fake = server(buffer, { ['textDocument/hover'] = { contents = 'h' } })
  vim.api.nvim_win_set_cursor(0, { 2, #'  é😀 ' })
  ask('lsp_hover')
  equal({ line = 1, character = 6 }, fake.params('textDocument/hover').position)
  ask('lsp_hover', { line = 2 })
  equal({ line = 1, character = 2 }, fake.params('textDocument/hover').position)
  buffer_with({ 'another' })
  contains(refused('lsp_hover', { bufnr = buffer }), 'pass `line`: no window shows')
  contains(refused('lsp_hover', { bufnr = buffer, col = 3 }), '`col` needs `line`')
  equal('h', ask('lsp_hover', { bufnr = buffer, line = 2 }))
  stop_servers()
end)

it('a place that there is not is refused with both numbers', function()
  turn_on()
  local buffer = buffer_with({ 'abc', '' }, spec.root .. '/places.txt')
  server(buffer, { ['textDocument/hover'] = { contents = 'h' } })
  equal('line 9 is past the end of places.txt: it has 2', refused('lsp_hover', { line = 9 }))
  equal('character 6 is past the end of line 1 of places.txt: it has 3', refused('lsp_hover', { line = 1, col = 6 }))
  contains(refused('lsp_hover', { line = 0 }), 'count from 1')
  contains(refused('lsp_hover', { line = 1, col = 0 }), 'count from 1')
  equal('h', ask('lsp_hover', { line = 1, col = 4 }))
  equal('h', ask('lsp_hover', { line = 2, col = 1 }))
  stop_servers()
end)

it('all forms of contents become Markdown, and none is said', function()
  turn_on()
  local contents
  local buffer = buffer_with({ 'abc' }, spec.root .. '/forms.txt')
  server(buffer, {
    ['textDocument/hover'] = function(_, callback)
      callback(nil, contents and { contents = contents })
    end,
  })
  for wanted, given in pairs({
    ['**b**'] = { kind = 'markdown', value = '**b**\n' },
    ['plain'] = 'plain',
    ['```go\nfunc f()\n```'] = { language = 'go', value = 'func f()' },
    ['```go\nx\n```\n\ntext'] = { { language = 'go', value = 'x' }, 'text' },
    ['1:2: there is nothing to say of this place'] = {},
  }) do
    contents = given
    equal(wanted, ask('lsp_hover', { line = 1, col = 2 }))
  end
  contents = nil
  contains(ask('lsp_hover', { line = 1, col = 2 }), 'there is nothing to say')
  stop_servers()
end)

it('several clients are all asked and named; one that fails is told of beside the others', function()
  turn_on()
  local buffer = buffer_with({ 'abc' })
  server(buffer, { ['textDocument/hover'] = { contents = 'from one' } }, { name = 'one' })
  server(buffer, { ['textDocument/hover'] = { contents = 'from two' } }, { name = 'two' })
  equal('one:\nfrom one\n\ntwo:\nfrom two', ask('lsp_hover', { line = 1 }))
  server(buffer, {
    ['textDocument/hover'] = function(_, callback)
      callback({ code = -32603, message = 'internal trouble' })
    end,
  }, { name = 'three' })
  local answer = ask('lsp_hover', { line = 1 })
  contains(answer, 'one:\nfrom one')
  contains(answer, 'three internal trouble')
  stop_servers()
end)

it('no client, none that can, and errors of all are different errors', function()
  turn_on()
  local buffer = buffer_with({ 'abc' }, spec.root .. '/none.txt')
  equal('no language client is attached to none.txt', refused('lsp_hover'))
  equal('no language client is attached to none.txt', refused('lsp_symbols'))
  server(buffer, {}, { capabilities = { hoverProvider = false, documentSymbolProvider = false }, name = 'dumb' })
  equal('no language client of none.txt supports textDocument/hover: dumb', refused('lsp_hover'))
  equal('no language client of none.txt supports textDocument/documentSymbol: dumb', refused('lsp_symbols'))
  server(buffer, {
    ['textDocument/hover'] = function(_, callback)
      callback({ code = 1, message = '100% wrong' })
    end,
  }, { name = 'bad' })
  equal('bad 100% wrong', refused('lsp_hover'))
  stop_servers()
end)

it('a server that does not answer is an error after a time, and is told to stop', function()
  turn_on()
  require('mcp-tools.tools.lsp').within = 50
  local buffer = buffer_with({ 'abc' })
  local fake = server(buffer, { ['textDocument/hover'] = function() end })
  equal('fake has not answered within 0.05 s', refused('lsp_hover', { line = 1 }))
  equal(1, #fake.cancelled)
  stop_servers()
end)

it('a call that is cancelled cancels the request', function()
  turn_on()
  local buffer = buffer_with({ 'abc' })
  local fake = server(buffer, { ['textDocument/hover'] = function() end })
  local message
  local call = require('mcp-tools.registry').execute('lsp_hover', { line = 1 }, function(_, problem)
    message = problem
  end)
  equal({}, fake.cancelled)
  call.cancel()
  equal({ 1, 'lsp_hover was cancelled' }, { #fake.cancelled, message })
  stop_servers()
end)

it('a server that ends during the call is an error at once', function()
  turn_on()
  local buffer = buffer_with({ 'abc' })
  server(buffer, {
    ['textDocument/hover'] = function()
      vim.schedule(function()
        vim.lsp.get_clients({ bufnr = buffer })[1]:stop(true)
      end)
    end,
  })
  local started = vim.uv.now()
  contains(refused('lsp_hover', { line = 1 }), 'fake was stopped')
  equal(true, vim.uv.now() - started < 5000)
  stop_servers()
end)

local function range(line, from, to)
  return { start = { line = line, character = from }, ['end'] = { line = line, character = to } }
end

it('symbols in a tree become a list with containers, at their names', function()
  turn_on()
  local buffer = buffer_with({ '😀 class A {', '  /* é😀 */ f() {}', '}' }, spec.root .. '/tree.txt')
  server(buffer, {
    ['textDocument/documentSymbol'] = {
      {
        name = 'A',
        kind = 5,
        range = range(0, 0, 5),
        selectionRange = range(0, 9, 10),
        children = {
          {
            name = 'f',
            kind = 6,
            range = range(1, 0, 5),
            selectionRange = range(1, 12, 13),
            children = { { name = 'x', kind = 13, range = range(2, 0, 1), selectionRange = range(2, 0, 1) } },
          },
        },
      },
      { name = 'far', kind = 999, range = range(70, 0, 1), selectionRange = range(70, 4, 5) },
    },
  })
  equal({
    file = 'tree.txt',
    total = 4,
    symbols = {
      { name = 'A', kind = 'class', line = 1, character = 9 },
      { name = 'f', kind = 'method', line = 2, character = 12, container = 'A' },
      { name = 'x', kind = 'variable', line = 3, character = 1, container = 'A.f' },
      { name = 'far', kind = '999', line = 71 },
    },
  }, ask('lsp_symbols'))
  stop_servers()
end)

it('symbols in a flat list keep the container that the server names', function()
  turn_on()
  local buffer = buffer_with({ 'é f' })
  local uri = vim.uri_from_bufnr(buffer)
  server(buffer, {
    ['textDocument/documentSymbol'] = {
      { name = 'f', kind = 12, containerName = 'pkg', location = { uri = uri, range = range(0, 3, 4) } },
      { name = 'g', kind = 12, containerName = vim.NIL, location = { uri = uri, range = range(0, 0, 4) } },
    },
  }, { encoding = 'utf-8' })
  equal({
    { name = 'f', kind = 'function', line = 1, character = 3, container = 'pkg' },
    { name = 'g', kind = 'function', line = 1, character = 1 },
  }, ask('lsp_symbols').symbols)
  stop_servers()
end)

it('no symbols are an empty list; many are cut off, and the answer says so', function()
  turn_on()
  local buffer = buffer_with({ 'x' })
  local symbols
  server(buffer, {
    ['textDocument/documentSymbol'] = function(_, callback)
      callback(nil, symbols)
    end,
  })
  equal({ bufnr = buffer, total = 0, symbols = {} }, ask('lsp_symbols'))
  symbols = {}
  for number = 1, 5 do
    symbols[number] = { name = 's' .. number, kind = 12, range = range(0, 0, 1), selectionRange = range(0, 0, 1) }
  end
  local answer = ask('lsp_symbols', { limit = 2 })
  equal({ 5, 2 }, { answer.total, #answer.symbols })
  equal({ '2 of 5 are shown; limit shows more' }, answer.remarks)
  stop_servers()
end)

-- --- undo ---------------------------------------------------------------------------------------------------------

local function change(buffer, text)
  vim.bo[buffer].undolevels = vim.bo[buffer].undolevels -- ends the change before
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { text })
end

it('the undo tree has every change, branches, and where the text is; the editor stays as it is', function()
  turn_on()
  local buffer = buffer_with({ 'start' })
  change(buffer, 'one')
  change(buffer, 'two')
  vim.cmd('silent undo')
  change(buffer, 'three')
  local other = buffer_with({ 'other' })
  local cursor = vim.api.nvim_win_get_cursor(0)
  local entered = 0
  local autocommand = vim.api.nvim_create_autocmd({ 'BufEnter', 'BufLeave', 'WinEnter' }, {
    callback = function()
      entered = entered + 1
    end,
  })
  local tree = ask('undo_tree', { bufnr = buffer })
  vim.api.nvim_del_autocmd(autocommand)
  equal({ 0, other, cursor }, { entered, vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0) })
  equal(tree.seq_last, tree.seq_cur)
  local last = tree.entries[#tree.entries]
  equal(tree.seq_cur, last.seq)
  equal({ 1, 1, last.seq - 1 }, { #last.alternates, #last.alternates[1], last.alternates[1][1].seq })
  contains(last.time, os.date('!%Y-%m-%dT'))
  equal({ buffer, true }, { tree.bufnr, tree.modified })
end)

it('the undo tree shows writes, and what an undo does to the current change', function()
  turn_on()
  local path = vim.fn.tempname()
  vim.fn.writefile({ 'start' }, path)
  vim.cmd.edit(path)
  local buffer = vim.api.nvim_get_current_buf()
  change(buffer, 'one')
  vim.cmd('silent write')
  change(buffer, 'two')
  vim.cmd('silent undo')
  local tree = ask('undo_tree')
  equal({ 1, 2, 1, false }, { tree.seq_cur, tree.seq_last, tree.save_last, tree.modified })
  equal({ 1 }, { tree.entries[1].save })
end)

it('a long history is cut to the newest, and the answer says so', function()
  turn_on()
  local buffer = buffer_with({ 'start' })
  for number = 1, 30 do
    change(buffer, tostring(number))
  end
  local tree = ask('undo_tree', { limit = 5 })
  equal(5, #tree.entries)
  equal(tree.seq_cur, tree.entries[5].seq)
  contains(tree.hint, 'older changes are left out')
  equal(nil, ask('undo_tree').hint)
end)

it('many branches at one place are a list, and branches of branches are in them', function()
  turn_on()
  local buffer = buffer_with({ 'start' })
  for number = 1, 300 do
    change(buffer, tostring(number))
    vim.cmd('silent undo')
  end
  change(buffer, 'a')
  change(buffer, 'b')
  vim.cmd('silent undo')
  change(buffer, 'c')
  vim.cmd('silent undo 1')
  change(buffer, 'last')
  local tree = ask('undo_tree', { limit = 1000 })
  local last = tree.entries[#tree.entries]
  equal({ tree.seq_cur, 301, nil }, { last.seq, #last.alternates, tree.hint })
  local longest = vim.tbl_filter(function(branch)
    return #branch == 2
  end, last.alternates)
  equal(1, #longest)
  equal(longest[1][2].seq - 1, longest[1][2].alternates[1][1].seq)
  local cut = ask('undo_tree')
  equal(100, #cut.entries[#cut.entries].alternates)
  contains(cut.hint, 'older changes are left out')
end)

it('a buffer without changes has an empty tree', function()
  turn_on()
  vim.api.nvim_set_current_buf(vim.api.nvim_create_buf(true, false))
  local tree = ask('undo_tree')
  equal({ 0, {}, false }, { tree.seq_cur, tree.entries, tree.modified })
end)

-- --- tests ----------------------------------------------------------------------------------------------------------

it('test_sync_buffers lists the buffers at once', function()
  turn_on()
  local buffer = buffer_with({ 'a', 'b' }, spec.root .. '/listed.txt')
  local result = require('mcp-tools.registry').execute('test_sync_buffers', {})
  equal(
    {
      {
        bufnr = buffer,
        file = 'listed.txt',
        filetype = '',
        listed = true,
        loaded = true,
        modified = true,
        lines = 2,
        current = true,
      },
    },
    vim.tbl_filter(function(one)
      return one.bufnr == buffer
    end, result)
  )
end)

local function with_select(replacement, body)
  local own = vim.ui.select
  vim.ui.select = replacement
  local ok, problem = pcall(body)
  vim.ui.select = own
  assert(ok, problem)
end

it('test_async_prompt answers with the choice, now or later, or that there was none', function()
  turn_on()
  local args = { prompt = 'Which?', options = { 'a', 'b' } }
  with_select(function(items, options, on_choice)
    equal({ { 'a', 'b' }, 'Which?' }, { items, options.prompt })
    on_choice(items[2], 2)
  end, function()
    equal({ choice = 'b', index = 2 }, ask('test_async_prompt', args))
  end)
  with_select(function(_, _, on_choice)
    vim.defer_fn(on_choice, 5)
  end, function()
    equal({ cancelled = true }, ask('test_async_prompt', args))
  end)
  with_select(function()
    error('no picker', 0)
  end, function()
    equal('the prompt failed: no picker', refused('test_async_prompt', args))
  end)
  contains(refused('test_async_prompt', { prompt = 'p', options = {} }), 'options must have at least one')
  contains(refused('test_async_prompt', { prompt = 'p' }), 'missing required argument: options')
  contains(refused('test_async_prompt', { prompt = 'p', options = { 1 } }), 'options[1] must be a string')
end)

-- Another Neovim, with Neovim's own picker: function(code, …) runs Lua there.
local function with_neovim(body)
  local channel = vim.fn.jobstart({ vim.v.progpath, '--embed', '--headless', '--clean', '-n' }, { rpc = true })
  local function lua(code, ...)
    return vim.rpcrequest(channel, 'nvim_exec_lua', code, { ... })
  end
  local ok, problem = pcall(function()
    lua('vim.opt.runtimepath:prepend(...)', spec.root)
    lua([[
      require('mcp-tools').setup({ tools = { test = true } })
      _G.call = require('mcp-tools.registry').execute('test_async_prompt', { prompt = 'Which?', options = { 'a', 'b' } },
        function(...) _G.answer = { ... } end)
    ]])
    eventually(function()
      return vim.rpcrequest(channel, 'nvim_get_mode').mode == 'c'
    end, 'the prompt is shown')
    body(lua, channel)
    eventually(function()
      return vim.rpcrequest(channel, 'nvim_get_mode').mode == 'n'
    end, 'the prompt is gone')
  end)
  vim.fn.jobstop(channel)
  assert(ok, problem)
end

it("Neovim's own picker answers when the person has chosen; others are served in the meantime", function()
  with_neovim(function(lua, channel)
    equal(vim.NIL, lua('return _G.answer'))
    equal(true, #lua("return (require('mcp-tools.registry').execute('test_sync_buffers', {}))") > 0)
    vim.rpcrequest(channel, 'nvim_input', '2<CR>')
    eventually(function()
      return lua('return _G.answer') ~= vim.NIL
    end)
    equal({ choice = 'b', index = 2 }, lua('return _G.answer[1]'))
  end)
end)

it("a cancelled call closes Neovim's own picker", function()
  with_neovim(function(lua)
    lua('_G.call.cancel()')
    equal('test_async_prompt was cancelled', lua('return _G.answer[2]'))
  end)
end)
