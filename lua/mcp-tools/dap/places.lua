--- The place named in a call: a file and a line, an anchor, or a statement of a file.
local buffers = require('mcp-tools.dap.buffers')
local shown = require('mcp-tools.dap.shown')
local statements = require('mcp-tools.dap.statements')
local task = require('mcp-tools.task')

local M = {}

local MOST_LISTED = 20
local LONGEST_SHOWN = 100

--- The arguments of tools that take a place.
M.ARGS = {
  filename = {
    type = 'string',
    description = 'the source file, relative to the working directory or absolute; with `line` or `statement`',
  },
  line = { type = 'integer', description = 'line, from 1' },
  anchor = {
    type = 'string',
    format = 'anchor', -- language servers find its current place
    description = "instead of filename and line: SCHEME://FILE#LINE:CHAR, or a symbol's name (Type.Method)",
  },
  statement = {
    type = 'string',
    description = 'instead of line: text of the line in `filename`; must be unique',
  },
}

-- Raises the message for an invalid anchor.
local function from_anchor(anchor)
  local file, line, char = anchor:match('^%s*%a[%w+.-]*://(.+)#(%d+):(%d+)%s*$')
  if not file then
    task.fail('%q is not an anchor: pass SCHEME://FILE#LINE:CHAR, for example py://app/main.py#12:5', anchor)
  elseif tonumber(line) < 1 or tonumber(char) < 1 then
    task.fail('%q counts from 0: lines and characters of an anchor count from 1', anchor)
  end
  return vim.uri_decode(file), tonumber(line)
end

-- An open buffer's path with that file name, for callers with a wrong directory.
local function open_namesake(path)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buffer)
    if name ~= '' and vim.fs.basename(name) == vim.fs.basename(path) and vim.uv.fs_stat(name) then
      return name
    end
  end
end

--- The absolute path of an existing file. Ends the tool if there is none.
function M.path(filename)
  local path = vim.fs.normalize(filename, { expand_env = false })
  if not vim.startswith(path, '/') and not path:match('^%a:/') then
    path = vim.fs.normalize(vim.fn.getcwd() .. '/' .. path, { expand_env = false })
  end
  local stat = vim.uv.fs_stat(path)
  if not stat then
    local near = open_namesake(path)
    task.fail(
      'there is no file %s: give a path that is absolute, or relative to %s%s',
      path,
      vim.fn.getcwd(),
      near and ('; did you mean %s?'):format(near) or ''
    )
  elseif stat.type ~= 'file' then
    task.fail('%s is a %s, not a file', path, stat.type)
  end
  return path
end

local function listed(lines, numbers)
  local some = vim.tbl_map(function(number)
    return ('\n%d: %s'):format(number, shown.cut(vim.trim(lines[number]), LONGEST_SHOWN))
  end, vim.list_slice(numbers, 1, MOST_LISTED))
  return table.concat(some) .. (#numbers > MOST_LISTED and ('\n… and %d more'):format(#numbers - MOST_LISTED) or '')
end

local function line_of_statement(lines, statement, path)
  if vim.trim(statement) == '' or statement:find('\n.*%S') then
    task.fail('`statement` must be the text of one line')
  end
  local found = statements.matching(lines, statement)
  if #found == 1 then
    return found[1]
  elseif #found > 1 then
    local message = '%d lines of %s have %q; say which one as `line`:%s'
    task.fail(message, #found, shown.path(path), statement, listed(lines, found))
  end
  local near = statements.nearest(lines, statement)
  task.fail(
    'no line of %s has %q%s',
    shown.path(path),
    statement,
    #near > 0 and '; the nearest:' .. listed(lines, near) or ''
  )
end

local function check(args)
  local given = {}
  for _, name in ipairs({ 'line', 'anchor', 'statement' }) do
    if args[name] ~= nil then
      given[#given + 1] = name
    end
  end
  if #given == 0 then
    task.fail('missing location: pass `filename` and `line`, `anchor`, or `filename` and `statement`')
  elseif #given > 1 then
    task.fail('pass only one location; given: %s', table.concat(given, ' and '))
  elseif given[1] == 'anchor' and args.filename then
    task.fail('an anchor names its file: leave out `filename`')
  elseif given[1] ~= 'anchor' and not args.filename then
    task.fail('`%s` needs a `filename`', given[1])
  end
end

--- The place of `args`: { path, buffer, line, text }. Ends the tool with a message if there is no such place.
function M.find(args)
  check(args)
  local filename, line = args.filename, args.line
  if args.anchor then
    filename, line = from_anchor(args.anchor)
  end
  local path = M.path(filename)
  local buffer = buffers.load(path)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  if args.statement then
    line = line_of_statement(lines, args.statement, path)
  elseif line < 1 then
    task.fail('lines count from 1: there is no line %d', line)
  elseif line > #lines then
    task.fail('line %d is past the end of %s: it has %d', line, shown.path(path), #lines)
  end
  return { path = path, buffer = buffer, line = line, text = lines[line] }
end

return M
