-- For wrk: each request is a POST with a random line of a file, the one argument, as its JSON body; without it, a GET.
local bodies = {}

function init(args)
  if not args[1] then return end
  wrk.method = 'POST'
  wrk.headers['Content-Type'] = 'application/json'
  math.randomseed(os.time())
  for line in io.lines(args[1]) do bodies[#bodies + 1] = line end
  -- A collection over a million strings takes tens of milliseconds, which would pass for the server's.
  collectgarbage('stop')
end

function request()
  if #bodies == 0 then return wrk.format() end
  return wrk.format(nil, nil, nil, bodies[math.random(#bodies)])
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout + errors.status
  io.write(string.format('RESULT {"requests":%d,"micros":%d,"p50_micros":%d,"p99_micros":%d,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), failed))
end
