--- The requested elements of a value with many, if the adapter cannot select them itself.
local asking = require('mcp-tools.dap.asking')
local shown = require('mcp-tools.dap.shown')
local task = require('mcp-tools.task')

local M = {}

--- Note which expression a reference of this stop is the value of (nil if none is known), and in which frame.
function M.remember(stop, reference, expression, frame)
  if reference and reference > 0 then
    stop.values = stop.values or {}
    stop.values[reference] = { expression = expression, frame = frame }
  end
end

--- The frame of a reference of this stop; nil if it is not known.
function M.frame(stop, reference)
  local value = (stop.values or {})[reference]
  return value and value.frame or nil
end

-- Whether a variable is an element of a list, by its name: `3`, `[3]`.
local function is_element(variable)
  return variable.name:find('^%[?%d+%]?$') ~= nil
end

-- The program's own variables, and whether the adapter reported that it does not list all.
local function of_the_program(variables, debugger)
  local has_more = false
  local found = vim.tbl_filter(function(variable)
    local more = debugger.page and debugger.page.more or {}
    local stands_for_more = vim.list_contains(more, variable.type) or vim.list_contains(more, variable.name)
    has_more = has_more or stands_for_more
    return not stands_for_more and not shown.is_hidden(variable, debugger.hidden or {})
  end, variables or {})
  return found, has_more
end

--- The requested part of `all`, the complete answer of the adapter, and whether there is more. A value without
--- numbered elements has named ones.
function M.fitting(all, args, debugger)
  local own, has_more = of_the_program(all, debugger)
  local is_numbered = vim.iter(all):any(is_element)
  local found = vim.tbl_filter(function(variable)
    local fits = not args.filter or is_element(variable) == (args.filter == 'indexed')
    return fits and not (args.start and is_numbered and not is_element(variable))
  end, own)
  if args.start and args.start >= #found then
    task.fail(
      'the debug adapter gives no element %d here, only the first %d: dap_evaluate takes an index or a slice',
      args.start,
      #found
    )
  end
  return vim.list_slice(found, (args.start or 0) + 1), has_more
end

--- The elements from `args.start`, from an expression, and whether there are more; nil if the debugger has no such
--- expression, or the value no elements.
function M.by_expression(record, args, debugger, call)
  local value = (record.stop.values or {})[args.variables_reference]
  if not (debugger.page and value and value.expression) then
    return nil
  end
  local most = debugger.page.most
  local count = args.count and args.count > 0 and math.min(args.count, most) or most
  local holes = { expression = value.expression, start = args.start, ['end'] = args.start + count + 1 }
  for _, kind in ipairs({ 'named', 'numbered' }) do
    local asked = {
      expression = debugger.page[kind]:gsub('{(%a+)}', holes),
      frameId = value.frame,
      context = debugger.context or 'repl',
    }
    local made = asking.ask(record, 'evaluate', asked, call)
    if made then
      local answer = (made.variablesReference or 0) > 0
        and asking.ask(record, 'variables', { variablesReference = made.variablesReference }, call)
      local all = of_the_program(answer and answer.variables, debugger)
      if #all == 0 then
        task.fail('there is no element %d: the value has fewer', args.start)
      end
      local found = {}
      for index, variable in ipairs(vim.list_slice(all, 1, count)) do
        local name = kind == 'numbered' and tostring(args.start + index - 1) or variable.name
        found[index] = vim.tbl_extend('force', variable, { name = name })
        found[index].evaluateName = nil -- of the page
      end
      return found, #all > count
    end
  end
end

return M
