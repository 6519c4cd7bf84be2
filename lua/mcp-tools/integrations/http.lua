--- HTTP with curl. Everything goes through its stdin, so that no token appears in a list of processes.
local M = {}

--- Milliseconds before the first retry, each further pause being twice as long; seconds that curl takes at most to
--- connect, and for all.
M.times = { pause = 250, connect = 3, total = 30 }

local RETRIES = 4 -- when nobody listens: the server may be starting
local NOBODY_LISTENS = 7 -- curl's exit code
local MOST_SHOWN = 300 -- characters of an answer, in a message

local escapes = { ['\\'] = '\\\\', ['"'] = '\\"', ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t' }

local function quoted(text)
  return '"' .. tostring(text):gsub('[\\"\n\r\t]', escapes) .. '"'
end

local function config_of(request)
  local lines = {
    'silent',
    'show-error',
    'globoff',
    'proto = "=http,https"',
    'noproxy = "*"', -- what is on this machine is not reached through a proxy
    'connect-timeout = ' .. M.times.connect,
    'max-time = ' .. M.times.total,
    'write-out = "\\n%{http_code}"',
    'url = ' .. quoted(request.url),
    'request = "POST"',
    'header = "Content-Type: application/json"',
    'data-raw = ' .. quoted(vim.json.encode(request.body)),
  }
  for name, value in pairs(request.headers or {}) do
    table.insert(lines, 'header = ' .. quoted(name .. ': ' .. value))
  end
  if request.user then
    table.insert(lines, 'user = ' .. quoted(request.user))
  end
  return table.concat(lines, '\n') .. '\n'
end

local function shown(text)
  text = vim.trim(text)
  return #text > MOST_SHOWN and text:sub(1, MOST_SHOWN) .. '…' or text
end

-- Why the answer is not usable; or nil and its body.
local function outcome(result)
  local body, status = (result.stdout or ''):match('^(.*)\n(%d%d%d)%s*$')
  if result.code ~= 0 then
    return ('curl ended with exit code %d: %s'):format(result.code, shown(result.stderr or ''))
  elseif not status or not status:match('^2') then
    return ('status %s: %s'):format(status or '?', shown(body or ''))
  end
  return nil, body
end

--- Post `request.body` as JSON to `request.url`, with `headers` and `user` ("name:password") if given. `done(problem, body)`
--- is called once, from the main loop. Returns a function that gives up; then `done` is not called.
function M.post(request, done)
  local given_up = false
  local process, attempt

  local function settle(result, retries)
    if given_up then
      return
    elseif result.code == NOBODY_LISTENS and retries < RETRIES then
      vim.defer_fn(function()
        attempt(retries + 1)
      end, M.times.pause * 2 ^ retries)
    else
      done(outcome(result))
    end
  end

  function attempt(retries)
    if given_up then
      return
    end
    local ok, started = pcall(
      vim.system,
      { 'curl', '-q', '--config', '-' },
      { stdin = config_of(request) },
      function(result)
        vim.schedule(function()
          settle(result, retries)
        end)
      end
    )
    if ok then
      process = started
    else
      done(('curl cannot be started: %s'):format(started))
    end
  end

  attempt(0)
  return function()
    given_up = true
    if process then
      pcall(process.kill, process, 'sigterm') -- it may have ended
    end
  end
end

return M
