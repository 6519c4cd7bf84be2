---@meta mcp-tools.types
--- The types of the plugin's public functions, for language servers and checkers. Nothing loads this file.

---@alias mcp-tools.ArgumentType 'string'|'number'|'integer'|'boolean'|'object'|'array'

--- One argument of a tool; see `:help mcp-tools-args`.
---@class mcp-tools.Argument
---@field type mcp-tools.ArgumentType
---@field description? string For the model
---@field required? boolean A call without it is refused
---@field default? any Its value if it is not given
---@field enum? any[] The allowed values
---@field items? mcp-tools.Argument Each item of an array
---@field properties? table<string, mcp-tools.Argument> The fields of an object
---@field format? string As in JSON Schema; not checked

--- Ends a call: `done(result)`, or `done(nil, message)` if it failed. Only the first call counts.
---@alias mcp-tools.Done fun(result?: any, message?: string)

--- A call of a tool that answers later; see `:help mcp-tools-call`.
---@class mcp-tools.Call
---@field cancelled boolean Whether the client has given up
---@field progress fun(message: string) Tell the client how far the call is
---@field on_cancel fun(cleanup: fun()) Call `cleanup` if the client gives up or the time is over

---@alias mcp-tools.Execute fun(args: table<string, any>, done: mcp-tools.Done, call: mcp-tools.Call): any, string?

--- A tool to register; see `:help mcp-tools-register`.
---@class mcp-tools.Tool
---@field name string Letters, digits, `_`, `.`, `-`; clients see it as `nvim_NAME`
---@field description string What it does, for the model
---@field execute mcp-tools.Execute Returns the result, or calls `done` later
---@field args? table<string, mcp-tools.Argument>
---@field timeout? number Milliseconds until a call that has not called `done` fails; 0: never
---@field extra? boolean Undeclared arguments: true: passed on; false: refused; nil: passed on with a remark
---@field later? boolean Whether `execute` takes `done`; needed for callable tables only
---@field title? string For people
---@field read_only? boolean It changes nothing
---@field destructive? boolean It may destroy something

--- A registered tool without its function.
---@class mcp-tools.ListedTool
---@field name string
---@field description string
---@field args table<string, mcp-tools.Argument>
---@field timeout number
---@field title? string
---@field extra? boolean
---@field read_only? boolean
---@field destructive? boolean

---@class mcp-tools.ToolOptions
---@field dap? boolean
---@field diagnostics? boolean
---@field lsp? boolean
---@field undo? boolean
---@field test? boolean

---@class mcp-tools.BridgeOptions
---@field command? string[] The program first; nil: `lsp-mcp bridge`
---@field port? integer 0: chosen by the system
---@field log_level? 'debug'|'info'|'warn'|'error'
---@field restarts? integer How often a crashed bridge is started again

--- The options of `setup`; see `:help mcp-tools-setup`.
---@class mcp-tools.Options
---@field tools? mcp-tools.ToolOptions The groups of built-in tools to turn on
---@field integrations? table<string, boolean>
---@field bridge? mcp-tools.BridgeOptions
---@field on_ready? fun(port: integer)
---@field on_stop? fun()

---@class mcp-tools.StartOptions
---@field nvim_socket? string The Neovim to serve; default: this one
---@field port? integer
---@field on_ready? fun(port: integer)
---@field on_stop? fun()
