-- Notifications to all channels, `vim.rpcnotify(0, …)`: Neovim 0.12.4 crashes when it sends one while more than four RPC
-- channels are open, and each of our connections is one. As long as there are any, Lua sends it to each channel by itself.
-- What all connections share of that is the metatable of _G.lsp_mcp.
local M = ...

local function safely(send)
  local function to_each(...)
    for _, open in ipairs(vim.api.nvim_list_chans()) do
      if open.mode == 'rpc' then
        local ok, message = pcall(send, open.id, ...)
        if not ok and not message:find('Invalid channel', 1, true) then -- one that is just ending
          error(message, 0)
        end
      end
    end
  end
  return function(channel, ...)
    if channel ~= 0 then
      send(channel, ...)
    elseif vim.in_fast_event() then
      local count, arguments = select('#', ...), { ... }
      vim.schedule(function()
        to_each(unpack(arguments, 1, count))
      end)
    else
      to_each(...)
    end
  end
end

local shared = getmetatable(_G.lsp_mcp)
if not shared then
  shared = { original = vim.rpcnotify, ours = safely(vim.rpcnotify) }
  setmetatable(_G.lsp_mcp, shared)
  vim.rpcnotify = shared.ours
end

M.at_leave(function()
  -- A plugin that has replaced it in the meantime calls ours.
  if vim.tbl_count(_G.lsp_mcp) == 1 and vim.rpcnotify == shared.ours then
    vim.rpcnotify = shared.original
    setmetatable(_G.lsp_mcp, nil)
  end
end)
