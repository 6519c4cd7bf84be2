--- The configuration that `dap_run` gives nvim-dap: the caller's, plus what the debugger needs to send output, and
--- refused if nvim-dap would ask the user.
local debuggers = require('mcp-tools.dap.debuggers')
local task = require('mcp-tools.task')

local M = {}

-- Arguments of the tool that are not part of the configuration.
local OWN = { wait_until_paused = true, wait_timeout_ms = true, alongside = true, break_on_exceptions = true }

-- Ends the tool at what would open a picker or a prompt: functions, and variables that are commands or questions.
local function refuse_questions(value, path)
  if type(value) == 'function' or type(value) == 'thread' then
    task.fail('%s is a %s: pass the value itself', path, type(value))
  elseif type(value) == 'string' then
    local question = value:match('%${command:[^}]*}') or value:match('%${input:[^}]*}')
    if question then
      task.fail('%s has %s, which asks the user: pass the value itself', path, question)
    end
  elseif type(value) == 'table' then
    for key, part in pairs(value) do
      refuse_questions(key, path .. ' (a key)')
      refuse_questions(part, ('%s.%s'):format(path, key))
    end
  end
end

-- An absolute path; what nvim-dap expands by itself (`${file}`) is left alone.
local function absolute(path, directory)
  path = path:gsub('%${workspaceFolder}', function()
    return vim.fn.getcwd()
  end)
  if path:find('${', 1, true) or path == '' then
    return path
  end
  local expanded = vim.fs.normalize(path, { expand_env = false })
  if not vim.startswith(expanded, '/') and not expanded:match('^%a:/') then
    expanded = directory .. '/' .. expanded
  end
  return vim.fs.normalize(expanded, { expand_env = false })
end

local function directory_of(program)
  local stat = vim.uv.fs_stat(program)
  return stat and stat.type == 'directory' and program or vim.fs.dirname(program)
end

local function set_program(config, debugger, cwd)
  if type(config.program) ~= 'string' then
    return
  end
  local path = absolute(config.program, cwd)
  local exists = vim.uv.fs_stat(path)
  if exists then
    config.program = path
  elseif debugger.program == 'file' and not path:find('${', 1, true) and config.request == 'launch' then
    task.fail('program not found: %s; paths are absolute, or relative to %s', path, cwd)
  end
end

local function add_defaults(config, defaults, values)
  for key, default in pairs(defaults) do
    if key == 'env' then
      config.env = vim.tbl_extend('keep', type(config.env) == 'table' and config.env or {}, default)
    elseif config[key] == nil then
      local value = default
      if type(default) == 'string' then
        value = default:gsub('{([%w_]+)}', values)
      end
      config[key] = value
    end
  end
end

--- The configuration for `args`, and whether its program is started by us. Ends the tool with a message about what is
--- wrong with them.
function M.from(args, adapter)
  local config = {}
  for key, value in pairs(args) do
    if not OWN[key] then
      config[key] = vim.deepcopy(value)
    end
  end
  for key, value in pairs(config) do
    refuse_questions(value, key)
  end
  local debugger = debuggers.known(config.type, adapter)
  local cwd = vim.fn.getcwd()
  if type(config.cwd) == 'string' then
    config.cwd = absolute(config.cwd, cwd)
    cwd = config.cwd
    if not cwd:find('${', 1, true) and vim.fn.isdirectory(cwd) == 0 then
      task.fail('directory not found: %s (`cwd`)', cwd)
    end
  end
  set_program(config, debugger, cwd)
  local program_dir = type(config.program) == 'string'
    and vim.startswith(config.program, '/')
    and directory_of(config.program)
  -- A Go test runs in its package's directory, as with `go test`; so does any configuration with `mode = 'test'`.
  local runs_in = config.mode == 'test' and program_dir or cwd
  add_defaults(config, debugger.defaults[config.request] or {}, { cwd = runs_in, program_dir = program_dir or cwd })
  if debugger.executable and type(adapter) == 'table' and adapter.type == 'executable' then
    add_defaults(config, debugger.executable[config.request] or {}, {})
  end
  if debugger.address and config.request == 'attach' and config.port and config[debugger.address] == nil then
    config[debugger.address] = { host = config.host or '127.0.0.1', port = config.port }
    config.host, config.port = nil, nil -- debuggers refuse a repeated address
  end
  if type(config.env) == 'table' and next(config.env) == nil then
    config.env = nil -- an empty table would become a list
  end
  local started = config.request == 'launch' and debugger.started or {}
  local is_started = next(started) ~= nil
  for key in pairs(started) do
    is_started = is_started and config[key] == nil
  end
  add_defaults(config, is_started and started or {}, {})
  return config, is_started
end

--- An adapter's exception filters for a caller's choice: `none`, a name defined in `adapters`, or the adapter's own
--- filters.
function M.exception_filters(wanted, type_name, adapter)
  local known = debuggers.known(type_name, adapter).exceptions or {}
  local filters = {}
  for _, one in ipairs(wanted) do
    if one ~= 'none' then
      vim.list_extend(filters, known[one] or { one })
    end
  end
  return filters
end

--- The adapter for an attach request to a debugger that serves by itself at an address; nil: the configured one. Users
--- write functions that choose it; a mere command would start a second debugger, which waits for ever.
function M.remote_adapter(config, adapter)
  local remote = debuggers.known(config.type, adapter).remote
  local address = type(config.connect) == 'table' and config.connect or config
  local port = tonumber(address.port)
  if config.request ~= 'attach' or not port or not remote or type(adapter) ~= 'table' then
    return nil
  end
  for key, value in pairs(remote) do
    if config[key] ~= value then
      return nil
    end
  end
  return { type = 'server', host = address.host or '127.0.0.1', port = port, options = adapter.options }
end

return M
