-- The configuration of the tests' Neovim: a person's, reduced to language servers.
--
-- LSP_MCP_TEST_SERVERS is a JSON object, server name -> {cmd, settings}: neovims.py makes it of the program's own
-- adapters, so that a server that Neovim runs is the one that the program would start.

local filetypes = {
  gopls = { 'go', 'gomod', 'gowork', 'gotmpl' },
  clangd = { 'c', 'cpp', 'objc', 'objcpp', 'cuda' },
}
local markers = { -- the first that is in the file's folder or above it
  gopls = { 'go.work', 'go.mod', '.git' },
  clangd = { 'compile_commands.json', 'compile_flags.txt', '.clangd', '.git' },
}

-- Also a file without any marker has a root: the folder that Neovim was started in. So has a file of a library, which
-- is outside: with its own root it would get a server of its own.
local function root_of(buffer, names)
  local here = vim.fn.getcwd()
  if vim.env.LSP_MCP_TEST_ONE_ROOT then
    return here
  end
  for _, name in ipairs(names) do
    local root = vim.fs.root(buffer, name)
    if root then
      local related = vim.fs.relpath(here, root) or vim.fs.relpath(root, here)
      return related and root or here
    end
  end
  return here
end

-- The capabilities that the program itself announces to clangd, so that answers are the same.
local capabilities = {
  clangd = {
    textDocument = {
      references = { container = true },
      inactiveRegionsCapabilities = { inactiveRegions = true },
    },
  },
}

for name, server in pairs(vim.json.decode(vim.env.LSP_MCP_TEST_SERVERS)) do
  vim.lsp.config(name, {
    cmd = server.cmd,
    settings = server.settings,
    capabilities = capabilities[name],
    filetypes = filetypes[name],
    root_dir = function(buffer, on_dir)
      on_dir(root_of(buffer, markers[name]))
    end,
    -- By default each server leads a process group. In Neovim's own, one signal ends them all, whatever a test did.
    detached = false,
  })
  vim.lsp.enable(name)
end

if vim.env.LSP_MCP_TEST_LUA ~= '' then
  dofile(vim.env.LSP_MCP_TEST_LUA)
end

vim.api.nvim_create_autocmd('VimEnter', {
  once = true,
  callback = function()
    local ready = assert(io.open(vim.env.LSP_MCP_TEST_READY, 'w')) -- a named pipe that neovims.py reads
    ready:write(vim.fn.getpid() .. '\n')
    ready:close()
  end,
})
