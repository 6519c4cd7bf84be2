-- Luacheck, a program of pure Lua, in Neovim's Lua: `nvim -l scripts/luacheck.lua FILE...`. Exits with 1 on a warning.
package.path = '.tools/luacheck/usr/share/lua/5.1/?.lua;.tools/luacheck/usr/share/lua/5.1/?/init.lua;' .. package.path
package.preload.lfs = function()
  return {} -- only its reading of folders needs it
end

local luacheck = require('luacheck')
local options = {
  std = 'luajit',
  globals = { 'vim' },
  max_line_length = false, -- StyLua keeps it
  unused_args = true,
  ignore = { '212/_.*', '431' }, -- 431: a callback's parameter may have the name of a local outside of it
}
local files = vim.list_slice(_G.arg, 1)
local sources = {}
for i, file in ipairs(files) do
  local opened = assert(io.open(file))
  sources[i] = opened:read('*a')
  opened:close()
end
local wrong = 0
for i, report in ipairs(luacheck.check_strings(sources, options)) do
  for _, warning in ipairs(report) do
    wrong = wrong + 1
    io.stderr:write(
      ('%s:%d:%d: (W%s) %s\n'):format(
        files[i],
        warning.line,
        warning.column,
        warning.code,
        luacheck.get_message(warning)
      )
    )
  end
end
os.exit(wrong > 0 and 1 or 0)
