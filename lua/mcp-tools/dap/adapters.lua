--- Facts about each debugger, as data. No code names a debugger.
---
--- By name of the debugger:
---   types     its names in configurations
---   command   a part of its command line, which identifies it under any other type
---   program   'file' if `program` must be an existing file; otherwise the debugger checks it
---   defaults  keys of a configuration by request, unless the caller or the user has set them; `{cwd}` is the working
---             directory, `{program_dir}` the program's directory. `env` is merged
---   address   the key that holds `host` and `port` of an attach request as one table
---   remote    keys that, in an attach request with a port, mean a debugger that already listens at that address
---   pid       a pattern of the process id in a session's name, for a debugger that reports it nowhere else, and that
---             reports the end of a program that still runs
---   setup     requests after `initialized`, each with its arguments
---   executable  like `defaults`, for an adapter that nvim-dap starts and talks to over stdio
---   exceptions  the adapter's filters for each value of `break_on_exceptions`: uncaught, raised, user
---   scopes    patterns of the scopes whose variables are shown at a stop; default: only the locals
---   hidden    patterns of variables that do not belong to the program
---   page      an expression for the elements `{start}` to `{end}`, from 0, of `{expression}`, if the debugger lists
---             only the first of many: `named` for elements with names (fails for any other value, and is tried first),
---             `numbered` otherwise; `most`, the size of a page, one less than the debugger lists; and `more`, the type
---             or name of its placeholder for the others
---   chatter   the debugger's own lines in output and traces: patterns of first lines (`begins`) and others (`goes_on`)
---   context   the default context of an evaluation, if it is not `repl`
---   exit      patterns of the exit code in the debugger's output, if it sends no `exited`
---   not_it    patterns of the language's own source paths: an exception is shown in the program's code instead
---   terminal  the argument of `dap_run` that starts the program in a Neovim terminal, which gives it standard input
---   notes     remarks on a stop whose description contains `text`
---   undecided a pattern of its message for a breakpoint at a place where code may still be loaded
---   plain_end a pattern of exceptions that only end the program: `uncaught` does not include them
---   started   keys of a launch that make the adapter ask us to start the program, if it reports too little about one
---             that it starts itself: no exit code, for example
---   example   an example configuration
return {
  debugpy = {
    types = { 'python', 'debugpy' },
    command = 'debugpy',
    program = 'file',
    defaults = {
      launch = {
        cwd = '{cwd}',
        console = 'internalConsole', -- a terminal would open a window and send no output events
        redirectOutput = true,
        showReturnValue = true, -- among the variables, after a step
        env = { PYTHONUNBUFFERED = '1' }, -- without it, output is delayed
      },
    },
    -- nvim-dap would start a second adapter for a child, which would wait forever: children run without a debugger.
    executable = { launch = { subProcess = false } },
    -- By default a condition that raises an error counts as false, without a message.
    setup = { { 'setDebuggerProperty', { skipSuspendOnBreakpointException = {} } } },
    terminal = 'console=integratedTerminal',
    exceptions = { uncaught = { 'uncaught' }, raised = { 'raised' }, user = { 'userUnhandled' } },
    plain_end = '^SystemExit$',
    address = 'connect',
    remote = {},
    not_it = { '/debugpy/', '/runpy.py', '<frozen ' },
    hidden = { '^special variables$', '^function variables$', '^class variables$', '^__.*__$', '^len%(%)$' },
    page = {
      most = 99,
      more = { 'MoreItems', 'Unable to handle:' },
      named = "dict(__import__('itertools').islice(dict.items({expression}), {start}, {end}))",
      numbered = "(lambda x: list(__import__('itertools').islice(x, {start}, {end})) "
        .. 'if isinstance(x, (set, frozenset)) else x[{start}:{end}])({expression})',
    },
    chatter = { begins = { '^  File ".*/debugpy/', '^  File ".*[/<]runpy' }, goes_on = '^    ' },
    notes = {
      {
        text = 'SystemExit',
        note = 'the program calls sys.exit: it is about to end, not crashing; dap_continue lets it end',
      },
    },
    example = "require('dap').adapters.debugpy = "
      .. "{ type = 'executable', command = 'python3', args = { '-m', 'debugpy.adapter' } }",
  },
  delve = {
    types = { 'go', 'delve', 'dlv' },
    command = 'dlv',
    defaults = {
      launch = {
        cwd = '{cwd}',
        dlvCwd = '{program_dir}', -- the directory of the build, which must be in the module
        outputMode = 'remote', -- the default sends no output events
        hideSystemGoroutines = true,
      },
    },
    exceptions = { uncaught = { 'unrecovered-panic', 'runtime-fatal-throw' } },
    remote = { mode = 'remote' },
    chatter = { begins = { '^Building /', "^Type 'dlv help'", '^Detaching and terminating' } },
    hidden = { '^~r%d' },
    exit = { 'has exited with status (%-?%d+)' },
    not_it = { '/src/runtime/', '/src/internal/' },
    example = "require('dap').adapters.go = { type = 'server', port = '${port}', "
      .. "executable = { command = 'dlv', args = { 'dap', '-l', '127.0.0.1:${port}' } } }",
  },
  ['lldb-dap'] = {
    types = { 'lldb', 'lldb-dap', 'lldb-vscode', 'cpp', 'c', 'rust' },
    command = 'lldb-',
    program = 'file',
    defaults = {
      launch = { cwd = '{cwd}', enableAutoVariableSummaries = true }, -- otherwise a struct is shown as its address
    },
    context = 'watch', -- in `repl`, the expression `c` is the command `continue`
    terminal = 'runInTerminal=true',
    exceptions = { raised = { 'cpp_throw' } },
    chatter = { begins = { '^error: .*DW_TAG_' } },
    exit = { 'exited with status = (%-?%d+)' },
    not_it = {
      '/libc',
      '/usr/lib',
      '/usr/include/',
      '/include/c++/',
      '/c++/v1/',
      '/nptl/',
      '/stdlib/',
      '/signal/',
      'pthread_',
      'raise.c',
      'abort.c',
    },
    example = "require('dap').adapters.lldb = { type = 'executable', command = 'lldb-dap' }",
  },
  codelldb = {
    types = { 'codelldb' },
    command = 'codelldb',
    program = 'file',
    defaults = { launch = { cwd = '{cwd}', terminal = 'console' } },
    terminal = 'terminal=integrated',
    context = 'watch', -- `repl` accepts only LLDB commands
    exceptions = { raised = { 'cpp_throw' } },
    exit = { 'Process exited with code (%-?%d+)' },
    chatter = {
      begins = {
        "^Console is in 'commands' mode",
        '^Failed to redirect stdio',
        '^Debuggee output will appear here',
        '^Launching: ',
        '^Launched process ',
        '^Attached to process',
        '^Process exited with code',
        '^error: .*DW_TAG_',
      },
    },
    not_it = { '/libc', '/usr/lib', '/usr/include/', '/include/c++/', '/nptl/' },
    example = "require('dap').adapters.codelldb = { type = 'server', port = '${port}', "
      .. "executable = { command = 'codelldb', args = { '--port', '${port}' } } }",
  },
  ['js-debug'] = {
    types = { 'pwa-node', 'node', 'pwa-chrome', 'pwa-msedge' },
    command = 'dapDebugServer',
    program = 'file',
    defaults = {
      launch = {
        cwd = '{cwd}',
        outputCapture = 'std', -- the default loses console.error and the trace of an uncaught error
      },
    },
    started = { console = 'integratedTerminal' }, -- otherwise there is no exit code
    terminal = 'console=integratedTerminal',
    exceptions = { uncaught = { 'uncaught' }, raised = { 'all' } },
    scopes = { '^Block', '^Local', '^Closure' },
    hidden = { '^this$' },
    exit = { 'Process exited with code (%-?%d+)' },
    pid = '%s*%[(%d+)%]$',
    undecided = 'provisionalBreakpoint', -- for a short program, often until its end
    chatter = {
      begins = {
        '^Debugger attached',
        '^Debugger listening',
        '^Waiting for the debugger to disconnect',
        '^For help, see: https://nodejs',
      },
    },
    not_it = { '/node_modules/', '<node_internals>' },
    example = "require('dap').adapters['pwa-node'] = { type = 'server', host = 'localhost', port = '${port}', "
      .. "executable = { command = 'node', args = { '/PATH/TO/js-debug/src/dapDebugServer.js', '${port}' } } }",
  },
}
