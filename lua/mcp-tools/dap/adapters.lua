--- Facts about each debugger, as data. No code names a debugger.
---
--- By name of the debugger:
---   types     what configurations call it
---   command   a part of the command that starts it, to know it under any other type
---   program   'file' if `program` must be one; else the debugger judges it
---   defaults  keys of a configuration by request, where neither the caller nor the user has set them; `{cwd}` is the
---             working directory, `{program_dir}` the program's directory. `env` is merged
---   address   the key that holds `host` and `port` of an attach request as one table
---   remote    an attach request with a port and these keys means a debugger that serves at that address
---   pid       a pattern of the process in a session's name, for a debugger that tells it nowhere else, and that says that
---             a program has ended while it still runs
---   setup     requests after `initialized`, each with its arguments
---   executable  as defaults, where nvim-dap starts the adapter itself and speaks with it by its output
---   exceptions  the adapter's filters by what `break_on_exceptions` may say: uncaught, raised, user
---   scopes    patterns of the scopes whose variables are shown at a stop; else the locals alone
---   hidden    patterns of variables that are none of the program's
---   page      what gives the elements `{start}` to `{end}`, from 0, of `{expression}`, where the debugger lists only the
---             first ones of many: `named` if elements have names (it fails for any other value, and is tried first),
---             `numbered` else; `most`, how many at once, one less than it lists; and `more`, the type or name of what it
---             lists in the place of the others
---   chatter   lines in output and traces that are the debugger's own: patterns that `begins` one, and that `goes_on`
---   context   the context of an evaluation if the caller says none; else it is `repl`
---   exit      patterns that find the exit code in what the debugger prints, if it sends no `exited`
---   not_it    patterns of source paths that are the language's own: an exception is shown where the program's code is
---   terminal  what `dap_run` takes to start the program in a terminal of Neovim's, which gives it standard input
---   notes     what to know about a stop: `text` is found in its description
---   undecided a pattern of what it says of a breakpoint of which it does not know yet whether there is code
---   plain_end a pattern of exceptions that only end the program: `uncaught` does not mean them
---   started   keys of a launch with which the adapter asks us to start the program, where it knows too little of one
---             that it starts itself: its exit code, for example
---   example   how to configure it
return {
  debugpy = {
    types = { 'python', 'debugpy' },
    command = 'debugpy',
    program = 'file',
    defaults = {
      launch = {
        cwd = '{cwd}',
        console = 'internalConsole', -- a terminal opens a window and sends no output events
        redirectOutput = true,
        showReturnValue = true, -- among the variables, after a step
        env = { PYTHONUNBUFFERED = '1' }, -- or output comes late
      },
    },
    -- nvim-dap would start a second adapter for a child, which waits for ever: children run without a debugger then.
    executable = { launch = { subProcess = false } },
    -- By default a condition that raises counts as false, without a word.
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
        dlvCwd = '{program_dir}', -- it builds there, which must be inside the module
        outputMode = 'remote', -- or there are no output events
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
      launch = { cwd = '{cwd}', enableAutoVariableSummaries = true }, -- or a struct is shown as its address
    },
    context = 'watch', -- in `repl` the expression `c` is the command `continue`
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
    context = 'watch', -- `repl` takes LLDB's commands alone
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
        outputCapture = 'std', -- or console.error and the trace of an uncaught error are lost
      },
    },
    started = { console = 'integratedTerminal' }, -- else no exit code is known
    terminal = 'console=integratedTerminal',
    exceptions = { uncaught = { 'uncaught' }, raised = { 'all' } },
    scopes = { '^Block', '^Local', '^Closure' },
    hidden = { '^this$' },
    exit = { 'Process exited with code (%-?%d+)' },
    pid = '%s*%[(%d+)%]$',
    undecided = 'provisionalBreakpoint', -- of a short program often to its end
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
