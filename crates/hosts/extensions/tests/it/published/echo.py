from reader import about, log, serve

serve("echo-test", about("Echo", ["echo/ping"], ["echo/ping"]), {"echo/ping": lambda ask: log("echo-test", "pong")})
