--- Debugging with nvim-dap.
local M = {}

local NO_DAP = 'nvim-dap is not installed; install https://codeberg.org/mfussenegger/nvim-dap (or its mirror on GitHub)'

local WAIT_MS = {
  type = 'integer',
  default = 30000,
  description = 'longest wait in milliseconds, then `pending`',
}

local function waits(default)
  return {
    type = 'boolean',
    default = default,
    description = 'answer with the next stop or the end',
  }
end

local FRAME = { type = 'integer', description = 'from dap_stacktrace; default: where the program is stopped' }

local RUN = {
  type = { type = 'string', description = 'the debug adapter, as configured in Neovim' },
  request = { type = 'string', enum = { 'launch', 'attach' }, description = 'launch or attach' },
  name = { type = 'string', description = 'a name for the session' },
  configuration = {
    type = 'string',
    description = 'a name in dap.configurations or .vscode/launch.json; without it, pass type, request and name',
  },
  program = { type = 'string', description = 'the program, relative to the working directory or absolute' },
  args = { type = 'array', items = { type = 'string' }, description = 'arguments of the program' },
  cwd = { type = 'string', description = 'directory to run in; default: the working directory' },
  env = { type = 'object', description = 'environment variables by name' },
  host = { type = 'string', description = 'to attach to' },
  port = { type = 'integer', description = 'to attach to' },
  break_on_exceptions = {
    type = 'array',
    items = { type = 'string' },
    description = "uncaught, raised, user (unhandled by the program's code), none, or filters of the adapter",
  },
  alongside = { type = 'boolean', default = false, description = 'start it beside a running session' },
  wait_until_paused = waits(false),
  wait_timeout_ms = WAIT_MS,
}

local AND_TELL = '; answers with place, source and variables'
local BOUND = '; answers where it was bound'

local CONTEXTS = { 'repl', 'watch', 'hover', 'variables', 'clipboard' }
local CATEGORIES = { 'all', 'stdout', 'stderr', 'console', 'important', 'telemetry' }

-- The arguments, with the one for the session added.
local function with_session(args)
  args.session = require('mcp-tools.dap.chosen').ARG
  return args
end

-- The tools that resume a program. They wait for the result, within a time limit: an answer that only says that the
-- program is running would need a second call.
local function resuming(name, request, description, wait_default)
  return {
    name = name,
    description = description,
    destructive = true,
    timeout = 0,
    args = with_session({ wait_until_paused = waits(wait_default), wait_timeout_ms = WAIT_MS }),
    work = function(args, call)
      local running = require('mcp-tools.dap.running')
      local record = running.stopped(call, args.session)
      return running.answer(record, running.resume(record, request, call), args, call)
    end,
  }
end

-- The tools that inspect a stopped program.
local function looking(name, description, args, look, read_only)
  return {
    name = name,
    description = description,
    read_only = read_only,
    destructive = not read_only,
    timeout = 0,
    args = with_session(args),
    work = function(given, call)
      return look(require('mcp-tools.dap.running').stopped(call, given.session), given, call)
    end,
  }
end

local function place_args(more)
  return vim.tbl_extend('error', vim.deepcopy(require('mcp-tools.dap.places').ARGS), more or {})
end

local function wait_until_paused(args, call)
  local running, chosen = require('mcp-tools.dap.running'), require('mcp-tools.dap.chosen')
  local record = chosen.record(args.session)
    or require('mcp-tools.task').fail('no debug session; start one with dap_run')
  return (running.await_stop(record, -1, args.timeout_ms, call))
end

local function session_tools()
  return {
    {
      name = 'dap_status',
      description = 'State of the debugged program (initializing, running, stopped), where it stopped, all sessions '
        .. 'if several run; or how the last program ended',
      read_only = true,
      args = {
        capabilities = { type = 'boolean', default = false, description = 'include the features of the debug adapter' },
      },
      work = function(args)
        return require('mcp-tools.dap.inspecting').status(args)
      end,
    },
    {
      name = 'dap_run',
      description = "Start a program under a debugger. Set breakpoints first. Accepts any other key of the adapter's "
        .. 'configuration (module, mode, stopOnEntry, …). If the program does not start, the error says why, with '
        .. 'compile errors',
      destructive = true,
      extra = true,
      timeout = 0,
      args = RUN,
      work = function(args, call)
        return require('mcp-tools.dap.launch').run(args, call)
      end,
    },
    {
      name = 'dap_restart',
      description = 'End the program and start it again, with the same configuration and the current breakpoints',
      destructive = true,
      timeout = 0,
      args = with_session({ wait_until_paused = waits(true), wait_timeout_ms = WAIT_MS }),
      work = function(args, call)
        return require('mcp-tools.dap.launch').restart(args, call)
      end,
    },
    {
      name = 'dap_terminate',
      description = 'End the program that is being debugged, and its debug session',
      destructive = true,
      args = with_session({}),
      work = function(args, call)
        return require('mcp-tools.dap.ending').terminate(require('mcp-tools.dap.chosen').record(args.session), call)
      end,
    },
    {
      name = 'dap_disconnect',
      description = 'End the debug session and, by default, the program',
      destructive = true,
      args = with_session({
        terminate_debuggee = { type = 'boolean', default = true, description = 'also end the program' },
      }),
      work = function(args, call)
        local record = require('mcp-tools.dap.chosen').record(args.session)
        return require('mcp-tools.dap.ending').disconnect(record, args, call)
      end,
    },
  }
end

local function control_tools()
  return {
    resuming('dap_continue', 'continue', 'Let the stopped program run on' .. AND_TELL, true),
    resuming('dap_step_over', 'next', 'Run to the next line of the same function' .. AND_TELL, true),
    resuming('dap_step_into', 'stepIn', 'Step into the function that is called here' .. AND_TELL, true),
    resuming('dap_step_out', 'stepOut', 'Run until the current function returns' .. AND_TELL, true),
    {
      name = 'dap_run_to',
      description = 'Run the stopped program to a line, or to an earlier breakpoint' .. AND_TELL,
      destructive = true,
      timeout = 0,
      args = with_session(place_args({ wait_until_paused = waits(true), wait_timeout_ms = WAIT_MS })),
      work = function(args, call)
        local place = require('mcp-tools.dap.places').find(args)
        return require('mcp-tools.dap.run_to').run(place, args, call)
      end,
    },
    {
      name = 'dap_pause',
      description = 'Pause the running program' .. AND_TELL,
      destructive = true,
      timeout = 0,
      args = with_session({ wait_timeout_ms = WAIT_MS }),
      work = function(args, call)
        return require('mcp-tools.dap.running').pause(args, call)
      end,
    },
    {
      name = 'dap_send_input',
      description = 'Send text to the standard input of a program that runs in a Neovim terminal',
      destructive = true,
      args = with_session({
        text = { type = 'string', required = true, description = 'with \\n at the end of each line' },
      }),
      work = function(args)
        return require('mcp-tools.dap.terminal').send(require('mcp-tools.dap.running').live(args.session), args.text)
      end,
    },
    {
      name = 'dap_wait_until_paused',
      description = 'Wait until the program stops or ends. At the deadline the answer is `pending`, and the program '
        .. 'keeps running',
      read_only = true,
      timeout = 0,
      args = with_session({
        timeout_ms = WAIT_MS,
        check_interval_ms = { type = 'integer', description = 'no effect: nothing is polled' },
      }),
      work = wait_until_paused,
    },
  }
end

local function function_of(args)
  for _, other in ipairs({ 'filename', 'line', 'anchor', 'statement', 'expect' }) do
    if args[other] ~= nil then
      require('mcp-tools.task').fail('pass either `function` or `%s`', other)
    end
  end
  return args['function']
end

local function breakpoint_tools()
  local place_of = function(args)
    return require('mcp-tools.dap.places').find(args)
  end
  return {
    {
      name = 'dap_set_breakpoint',
      description = 'Set a breakpoint or logpoint at a line; replaces one already there' .. BOUND,
      args = place_args({
        ['function'] = { type = 'string', description = 'instead of a line: the name of a function' },
        expect = { type = 'string', description = 'text that the line must contain' },
        condition = { type = 'string', description = 'stop only if this expression is true' },
        hit_condition = {
          type = 'string',
          description = 'stop only at these hit counts, in the syntax of the debugger: 5, >= 5',
        },
        log_message = { type = 'string', description = 'print this instead of stopping; with {expressions}' },
      }),
      work = function(args, call)
        if args['function'] then
          return require('mcp-tools.dap.functions').set(function_of(args), args, call)
        end
        return require('mcp-tools.dap.breakpoints').set(place_of(args), args, call)
      end,
    },
    {
      name = 'dap_remove_breakpoint',
      description = 'Remove the breakpoint at a line',
      destructive = true,
      args = place_args({
        ['function'] = { type = 'string', description = 'instead of a line: the name of a function' },
      }),
      work = function(args, call)
        if args['function'] then
          return require('mcp-tools.dap.functions').remove(function_of(args), call)
        end
        local place = place_of(args)
        return require('mcp-tools.dap.breakpoints').remove(place.path, place.line, call)
      end,
    },
    {
      name = 'dap_clear_breakpoints',
      description = "Remove all breakpoints, or those of a file, including the user's",
      destructive = true,
      args = { filename = { type = 'string', description = 'only those of this file' } },
      work = function(args, call)
        local path = args.filename and require('mcp-tools.dap.places').path(args.filename)
        return require('mcp-tools.dap.breakpoints').clear(path, call)
      end,
    },
    {
      name = 'dap_breakpoints',
      description = 'All breakpoints, with conditions and bound lines',
      read_only = true,
      args = {},
      work = function(_, call)
        return { breakpoints = require('mcp-tools.dap.breakpoints').all(call) }
      end,
    },
  }
end

local function inspection_tools()
  local function inspect(name)
    return function(record, args, call)
      return require('mcp-tools.dap.inspecting')[name](record, args, call)
    end
  end
  return {
    looking('dap_stacktrace', 'The calls that led to where the program is stopped, the innermost first', {
      thread_id = { type = 'integer', description = 'from dap_threads; default: the one that stopped' },
      levels = { type = 'integer', default = 20, description = 'most frames; 0: all' },
      timeout_ms = { type = 'integer', default = 5000, description = 'longest wait in milliseconds' },
    }, inspect('stack'), true),
    looking('dap_scopes', 'The scopes of a frame (locals, globals, …), with references for dap_variables', {
      frame_id = FRAME,
    }, inspect('scopes'), true),
    looking('dap_variables', 'The variables of a scope, or the parts of a variable', {
      variables_reference = { type = 'integer', required = true, description = 'from dap_scopes or dap_evaluate' },
      filter = { type = 'string', enum = { 'indexed', 'named' }, description = 'only elements, or only properties' },
      start = { type = 'integer', description = 'the first element, from 0' },
      count = { type = 'integer', description = 'how many at most' },
    }, inspect('variables'), true),
    looking('dap_evaluate', 'The value of an expression where the program is stopped. It runs code of the program', {
      expression = { type = 'string', required = true, description = 'in the language of the program' },
      frame_id = FRAME,
      context = {
        type = 'string',
        enum = CONTEXTS,
        description = 'how the debugger evaluates it; default: repl, or watch where repl expects commands',
      },
      timeout_ms = { type = 'integer', default = 10000, description = 'longest wait in milliseconds' },
    }, inspect('evaluate'), false),
    looking('dap_set_variable', 'Give a variable another value where the program is stopped', {
      name = {
        type = 'string',
        required = true,
        description = 'the name of a variable, or an expression that names it',
      },
      value = { type = 'string', required = true, description = 'in the language of the program' },
      frame_id = FRAME,
    }, inspect('set_variable'), false),
    {
      name = 'dap_threads',
      description = 'The threads of the program',
      read_only = true,
      args = with_session({}),
      work = function(args, call)
        return require('mcp-tools.dap.inspecting').threads(require('mcp-tools.dap.running').live(args.session), call)
      end,
    },
    looking('dap_current_location', 'Where the program is stopped: source lines and variables', {
      context_lines = { type = 'integer', default = 5, description = 'source lines before and after' },
      frame = { type = 'integer', description = 'index in the stack; 0: the innermost' },
      names = { type = 'array', items = { type = 'string' }, description = 'only these variables' },
    }, function(record, args, call)
      args.context_lines = math.max(0, args.context_lines)
      return require('mcp-tools.dap.stops').stopped(record, call, args)
    end, true),
    {
      name = 'dap_program_output',
      description = 'The last output lines of the program and its debugger, also after the end',
      read_only = true,
      args = with_session({
        category = { type = 'string', enum = CATEGORIES, description = 'only such lines; default: all but telemetry' },
        lines = { type = 'integer', default = 50, description = 'how many at most' },
        include_metadata = { type = 'boolean', default = false, description = 'include category and age of each line' },
      }),
      work = function(args)
        return require('mcp-tools.dap.inspecting').output(args)
      end,
    },
  }
end

--- The tools; nil and the reason if nvim-dap is missing.
function M.tools()
  if not pcall(require, 'dap') then
    return nil, NO_DAP
  end
  require('mcp-tools.dap.events').listen()
  local task = require('mcp-tools.task')
  local tools = {}
  for _, group in ipairs({ session_tools(), control_tools(), breakpoint_tools(), inspection_tools() }) do
    for _, tool in ipairs(group) do
      tool.execute = task.tool(tool.work)
      tool.work = nil
      tool.extra = tool.extra or false
      tools[#tools + 1] = tool
    end
  end
  return tools
end

return M
