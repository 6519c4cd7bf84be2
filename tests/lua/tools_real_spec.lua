--- The tools with real language servers: GOPLS and CLANGD are their commands in JSON (test_specs.py); what is not set is
--- not asked.
local spec = require('spec')
local it, equal, contains, eventually = spec.it, spec.equal, spec.contains, spec.eventually

local GO = {
  'package main',
  '',
  'type Greeter struct{ Name string }',
  '',
  '/* é😀e\u{301} */ func (g Greeter) Greet() string { return g.Name }',
  '',
  'func main() {',
  '\ts, amount := "é😀e\u{301}", 3; s += "😀"; println(amount, s)',
  '}',
}
local CPP = {
  'namespace deep {',
  '/* é😀e\u{301} */ struct Greeter { int amount; };',
  '}',
  'int main() {',
  '  const char *text = "é😀e\u{301}"; int amount = 3;',
  '  return amount + (text ? 1 : 0);',
  '}',
}

local function ask(name, args)
  local result, message = spec.call(name, args)
  equal(nil, message, name)
  return result
end

-- The line and the column, in code points from 1, of the nth `word`.
local function place_of(lines, word, nth)
  for number, line in ipairs(lines) do
    local from = 1
    while true do
      local start, finish = line:find('%f[%w_]' .. word .. '%f[^%w_]', from)
      if not start then
        break
      end
      nth = nth - 1
      if nth == 0 then
        return number, vim.str_utfindex(line, 'utf-32', start - 1) + 1
      end
      from = finish + 1
    end
  end
  error('no ' .. word)
end

-- A project of these files in the current buffer's folder; the first is the current buffer, with the server attached.
local function open(command, files, encoding)
  require('mcp-tools').setup({ tools = { lsp = true, diagnostics = true } })
  local root = vim.fn.tempname()
  vim.fn.mkdir(root, 'p')
  root = vim.uv.fs_realpath(root)
  for _, file in ipairs(files) do
    vim.fn.writefile(file.lines, root .. '/' .. file.name)
  end
  vim.cmd.edit({ args = { root .. '/' .. files[1].name }, magic = { file = false, bar = false } })
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.general.positionEncodings = encoding and { encoding } or capabilities.general.positionEncodings
  local buffer = vim.api.nvim_get_current_buf()
  local id = vim.lsp.start({
    name = 'real',
    cmd = vim.json.decode(command),
    root_dir = root,
    capabilities = capabilities,
    detached = false, -- so that it ends with the specs, whatever happens
  }, { bufnr = buffer })
  eventually(function()
    return vim.lsp.buf_is_attached(buffer, id) and vim.lsp.get_clients({ id = id })[1]
  end, 'the server is attached')
  local client = vim.lsp.get_client_by_id(id)
  equal(encoding or client.offset_encoding, client.offset_encoding)
  return buffer, client
end

local function close(client)
  client:stop()
  eventually(function()
    return vim.lsp.get_client_by_id(client.id) == nil
  end, 'the server ends')
end

-- Wait until all is known of the current text, and return what is found.
local function known_diagnostics()
  return eventually(function()
    local answer = ask('diagnostics_list', { bufnr = 0 })
    return not answer.not_known and answer
  end, 'diagnostics of the current text')
end

local function has_symbols(wanted, answer)
  for _, one in ipairs(wanted) do
    local found = vim.tbl_filter(function(symbol)
      return symbol.name == one.name
    end, answer.symbols)[1]
    equal(one, found and {
      name = found.name,
      kind = found.kind,
      line = found.line,
      character = found.character,
      container = found.container,
    })
  end
end

if vim.env.GOPLS then
  local module = { name = 'go.mod', lines = { 'module example.com/m', '', 'go 1.20' } }
  local function open_go()
    return open(vim.env.GOPLS, { { name = 'main.go', lines = GO }, module })
  end

  it('gopls: hover is right after emoji and combining characters', function()
    local _, client = open_go()
    local line, col = place_of(GO, 'amount', 2)
    contains(ask('lsp_hover', { line = line, col = col }), 'var amount int')
    contains(ask('lsp_hover', { line = line, col = col - 1 }), 'func println')
    vim.api.nvim_win_set_cursor(0, { line, GO[line]:find('s)', 1, true) - 1 })
    contains(ask('lsp_hover'), 'var s string')
    close(client)
  end)

  it('gopls: symbols are at their names', function()
    local _, client = open_go()
    local line, col = place_of(GO, 'Greet', 1)
    has_symbols({
      { name = 'Greeter', kind = 'struct', line = 3, character = 6 },
      { name = 'Name', kind = 'field', line = 3, character = 22, container = 'Greeter' },
      { name = '(Greeter).Greet', kind = 'method', line = line, character = col },
    }, ask('lsp_symbols'))
    close(client)
  end)

  it('gopls: diagnostics are those of the current text, or not known', function()
    local buffer, client = open_go()
    equal({}, known_diagnostics().diagnostics)
    local line = place_of(GO, 'amount', 1)
    local changed = (GO[line]:gsub('println%(amount, s%)', 'println(amount, nothing)'))
    vim.api.nvim_buf_set_lines(buffer, line - 1, line, false, { changed })
    equal(true, ask('diagnostics_list', { bufnr = 0 }).not_known ~= nil)
    local _, col = place_of({ changed }, 'nothing', 1)
    local found = known_diagnostics().diagnostics[1]
    equal({ line, col, 'error' }, { found.line, found.character, found.severity })
    contains(found.message, 'nothing')
    vim.bo.modified = false
    close(client)
  end)
end

if vim.env.CLANGD then
  for _, encoding in ipairs({ 'utf-8', 'utf-16', 'utf-32' }) do
    local sentence = 'clangd with %s: hover, symbols and diagnostics are right after emoji and combining characters'
    it(sentence:format(encoding), function()
      local buffer, client = open(vim.env.CLANGD, { { name = 'main.cpp', lines = CPP } }, encoding)
      local line, col = place_of(CPP, 'amount', 2)
      contains(ask('lsp_hover', { line = line, col = col }), 'variable `amount`')
      contains(ask('lsp_hover', { line = place_of(CPP, 'text', 1), col = 15 }), 'variable `text`')
      local struct_line, struct_col = place_of(CPP, 'Greeter', 1)
      local _, field_col = place_of(CPP, 'amount', 1)
      has_symbols({
        { name = 'deep', kind = 'namespace', line = 1, character = 11 },
        { name = 'Greeter', kind = 'struct', line = struct_line, character = struct_col, container = 'deep' },
        { name = 'amount', kind = 'field', line = struct_line, character = field_col, container = 'deep.Greeter' },
      }, ask('lsp_symbols'))
      equal({}, known_diagnostics().diagnostics)
      local changed = (CPP[line]:gsub('= 3', '= nothing'))
      vim.api.nvim_buf_set_lines(buffer, line - 1, line, false, { changed })
      local found = known_diagnostics().diagnostics[1]
      local _, wrong_col = place_of({ changed }, 'nothing', 1)
      equal({ line, wrong_col, 'error' }, { found.line, found.character, found.severity })
      vim.bo.modified = false
      close(client)
    end)
  end
end

if spec.ran == 0 then
  it('no language server is installed', function() end)
end
