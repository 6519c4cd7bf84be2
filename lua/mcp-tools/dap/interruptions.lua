--- Interruptions of the user while a tool starts a program: messages are collected for the caller, who must act on
--- them, and questions end the call, since nobody would answer them.
local M = {}

-- The functions that ask the user: table, name.
local QUESTIONS = {
  { vim.ui, 'select' },
  { vim.ui, 'input' },
  { vim.fn, 'input' },
  { vim.fn, 'inputlist' },
  { vim.fn, 'confirm' },
}

local function question_of(given)
  local options = given[2] or given[1]
  if type(options) == 'table' then
    return tostring(options.prompt or 'a choice')
  end
  return tostring(given[1] or 'a question')
end

--- Run `start` with all questions refused. Returns whether it ended, its error, and the refused question.
function M.without_questions(start)
  local asked
  local users = {}
  for index, one in ipairs(QUESTIONS) do
    users[index] = rawget(one[1], one[2])
    one[1][one[2]] = function(...)
      asked = question_of({ ... })
      error('nobody can answer: ' .. asked, 0)
    end
  end
  local ok, problem = pcall(start)
  for index, one in ipairs(QUESTIONS) do
    one[1][one[2]] = users[index] -- nil: looked up again
  end
  return ok, problem, asked
end

--- Keep nvim-dap's messages until `messages.stop()`: a list of { text, level }.
function M.messages(on_message)
  local messages = {}
  local users = vim.notify
  local over = false
  local function keep(text, level, options)
    local is_daps = options and options.title == 'DAP'
    if over or not (is_daps or messages.all) then
      return users(text, level, options)
    end
    messages[#messages + 1] = { text = tostring(text), level = level or vim.log.levels.INFO }
    on_message()
  end
  vim.notify = keep
  function messages.stop()
    over = true
    if vim.notify == keep then -- otherwise it has been wrapped since, and only forwards
      vim.notify = users
    end
  end
  return messages
end

return M
