-- The tools in the plugin's registry (lua/mcp-tools), for the client of this connection.
local M = ...

local running = {} -- by our number: the call; `true` until it has begun

-- The registry, or nil if this Neovim does not have the plugin.
local function registry()
  local ok, found = pcall(require, 'mcp-tools.registry')
  return ok and found or nil
end

--- All tools by name, each as JSON; nil without the plugin. One that JSON cannot tell of hides no other.
function M.tools()
  local found = registry()
  if not found then
    return vim.NIL
  end
  local told = vim.empty_dict()
  for name, tool in pairs(found.list()) do
    local ok, text = pcall(vim.json.encode, tool)
    told[name] = ok and text or nil
  end
  return told
end

local function answered(number, result, message, remarks)
  running[number] = nil
  if message ~= nil then
    M.tell('answer', number, { code = 0, message = message }, vim.NIL)
    return
  end
  local ok, text = pcall(vim.json.encode, result == nil and vim.NIL or result)
  if ok then
    M.tell('answer', number, vim.NIL, { text = text, plain = type(result) == 'string', remarks = remarks })
  else
    M.tell('answer', number, { code = 0, message = 'its result cannot be sent: ' .. text }, vim.NIL)
  end
end

--- Call a tool with arguments in JSON; the answer comes as `answer`, with `number`.
--- Returns how long that may take, in seconds, 0 for any time; nil without the plugin, false without the tool.
function M.run_tool(number, name, arguments)
  local found = registry()
  if not found then
    return vim.NIL
  end
  local timeout = found.timeout_of(name)
  if not timeout then
    return false
  end
  local args = vim.json.decode(arguments, { luanil = { object = true, array = true } })
  running[number] = true
  -- The caller is told that the tool starts before it does, however long it blocks Neovim.
  vim.schedule(function()
    if M.gone or not running[number] then
      return
    end
    local ended = false
    local ok, call = pcall(found.execute, name, args, function(...)
      ended = true
      answered(number, ...)
    end, function(message)
      M.tell('progress', number, message)
    end)
    if not ok then
      answered(number, nil, tostring(call))
    elseif not ended then
      running[number] = call
    end
  end)
  return timeout / 1000
end

--- Nobody waits for the answer any more.
function M.cancel_tool(number)
  local call = running[number]
  running[number] = nil
  if type(call) == 'table' then
    call.cancel()
  end
end

M.on('User', function()
  M.tell('tools_changed')
end, 'McpToolsChanged')

M.at_leave(function()
  for number in pairs(running) do
    M.cancel_tool(number)
  end
end)
