--- The user's options.
local M = {}

local DEFAULTS = {
  tools = { dap = false, diagnostics = false, lsp = false, undo = false, test = false },
  integrations = { opencode = false },
  bridge = {
    command = nil, -- a list of words; nil: `lsp-mcp bridge` on PATH
    port = 0, -- 0: chosen by the system
    log_level = 'info', -- debug, info, warn, error
    restarts = 3, -- limit on restarts after crashes; a minute without a crash resets the count
  },
  on_ready = nil, -- function(port)
  on_stop = nil, -- function()
}

local TYPES = {
  command = 'table',
  port = 'number',
  log_level = 'string',
  restarts = 'number',
  on_ready = 'function',
  on_stop = 'function',
}
local LEVELS = { 'debug', 'info', 'warn', 'error' }

local current = vim.deepcopy(DEFAULTS)

local function unknown(name, known)
  local names = vim.tbl_keys(known)
  table.sort(names)
  return ('unknown option %s; available: %s'):format(name, table.concat(names, ', '))
end

local KNOWN = {
  [''] = { tools = true, integrations = true, bridge = true, on_ready = true, on_stop = true },
  tools = DEFAULTS.tools,
  bridge = { command = true, port = true, log_level = true, restarts = true },
}

local function is_whole(number, most)
  return number == nil or (number % 1 == 0 and number >= 0 and number <= most)
end

-- The problem of bridge options whose types are valid.
local function bridge_problem(bridge)
  if bridge.log_level and not vim.list_contains(LEVELS, bridge.log_level) then
    return ('bridge.log_level must be one of %s'):format(table.concat(LEVELS, ', '))
  elseif not is_whole(bridge.port, 65535) then
    return 'bridge.port must be a whole number from 0 to 65535'
  elseif not is_whole(bridge.restarts, 1000) then
    return 'bridge.restarts must be a whole number from 0 to 1000'
  end
  for _, word in ipairs(bridge.command or { '' }) do
    if type(word) ~= 'string' then
      return 'bridge.command must be a list of words'
    end
  end
  if bridge.command and (#bridge.command == 0 or not vim.islist(bridge.command)) then
    return 'bridge.command must be a list of words, the program first'
  end
end

local function problem(options)
  for name in pairs(options) do
    if not KNOWN[''][name] then
      return unknown(name, KNOWN[''])
    end
  end
  for _, group in ipairs({ 'tools', 'integrations', 'bridge' }) do
    local given = options[group]
    if given == nil then
      given = {}
    elseif type(given) ~= 'table' then
      return ('%s must be a table'):format(group)
    end
    for name, value in pairs(given) do
      if KNOWN[group] and KNOWN[group][name] == nil then
        return unknown(group .. '.' .. name, KNOWN[group])
      elseif group ~= 'bridge' and type(value) ~= 'boolean' then
        return ('%s.%s must be true or false'):format(group, name)
      elseif group == 'bridge' and type(value) ~= TYPES[name] then
        return ('%s.%s must be a %s'):format(group, name, TYPES[name])
      end
    end
  end
  for _, name in ipairs({ 'on_ready', 'on_stop' }) do
    if options[name] ~= nil and not vim.is_callable(options[name]) then
      return ('%s must be a function'):format(name)
    end
  end
  return bridge_problem(options.bridge or {})
end

--- Set the user's options; all others get their defaults. Raises an error that names the invalid option.
function M.set(options)
  options = options or {}
  local wrong = type(options) ~= 'table' and 'the options must be a table' or problem(options)
  if wrong then
    error('mcp-tools: ' .. wrong, 0)
  end
  current = vim.tbl_deep_extend('force', vim.deepcopy(DEFAULTS), options)
end

--- The options.
function M.get()
  return current
end

return M
