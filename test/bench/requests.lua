-- For wrk: each request is a POST with a random line of a file, the first argument, as its JSON body; without it, a GET.
-- A second argument asks for the lines in their order, and for a word when they have been sent so many times.
-- Lines are read when they are sent, in about a microsecond: reading a million of them first takes longer than a round.
local file, size, passes

function init(args)
  if args[1] then
    wrk.method = 'POST'
    wrk.headers['Content-Type'] = 'application/json'
    math.randomseed(os.time())
    file = assert(io.open(args[1], 'rb'))
    size = file:seek('end')
    passes = tonumber(args[2])
    file:seek('set', 0)
  end
  io.write('BEGIN\n')
  io.flush()
end

-- The line after a random place; after the last line comes the first.
local function randomBody()
  file:seek('set', math.random(0, size - 1))
  file:read('*l')
  local line = file:read('*l')
  if line then return line end
  file:seek('set', 0)
  return file:read('*l')
end

local function nextBody()
  local line = file:read('*l')
  if line then return line end
  passes = passes - 1
  if passes == 0 then
    io.write('END\n')
    io.flush()
  end
  file:seek('set', 0)
  return file:read('*l')
end

function request()
  if not file then return wrk.format() end
  return wrk.format(nil, nil, nil, passes and nextBody() or randomBody())
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout + errors.status
  io.write(string.format('RESULT {"requests":%d,"micros":%d,"p50_micros":%d,"p99_micros":%d,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), failed))
end
