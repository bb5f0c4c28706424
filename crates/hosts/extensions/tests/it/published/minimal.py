"""As a tutorial has it: while it waits for an answer it drops everything else that it reads."""

import json
import sys


def read_message():
    length = 0
    while True:
        line = sys.stdin.readline().strip()
        if not line:
            break
        if line.startswith("Content-Length:"):
            length = int(line.split(":")[1])
    return json.loads(sys.stdin.read(length))


def write_message(message):
    body = json.dumps(message)
    sys.stdout.write("Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.flush()


def ask(id, method, params):
    write_message({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    while True:
        message = read_message()
        if message.get("id") == id and "method" not in message:
            return message
        print("dropped", message.get("method"), file=sys.stderr, flush=True)


next_id = 0
while True:
    message = read_message()
    method = message.get("method")
    if method == "initialize":
        about = {"name": "Minimal", "version": "1.0.0", "capabilities": {
            "commands": ["minimal/go"], "events": [{"name": "message/opened"}, {"name": "message/saved"}]}}
        write_message({"jsonrpc": "2.0", "id": message["id"], "result": about})
    elif method == "command/execute":
        next_id += 1
        patches = [{"path": "PID.5.1", "value": "DOE"}, {"path": "PID.5.2", "value": "JOHN"}]
        answer = ask(next_id, "editor/patchMessage", {"patches": patches})
        print("applied", answer["result"]["patchesApplied"], file=sys.stderr, flush=True)
    elif method == "shutdown":
        write_message({"jsonrpc": "2.0", "id": message["id"], "result": {"success": True}})
        sys.exit(0)
    else:
        print("event", method, file=sys.stderr, flush=True)
