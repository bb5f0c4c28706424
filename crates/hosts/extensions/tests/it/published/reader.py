"""The reader that published extensions share, as it is: it counts characters, takes one spelling of the header, looks into
`params` without asking, and does not notice the end of its input."""

import json
import sys

NEXT = {"id": 0}


def log(tag, text):
    print("[%s] %s" % (tag, text), file=sys.stderr, flush=True)


def read_message():
    headers = {}
    while True:
        line = sys.stdin.readline()
        if line in ("\n", "\r\n"):
            break
        if ":" in line:
            name, value = line.split(":", 1)
            headers[name.strip()] = value.strip()
    length = int(headers.get("Content-Length", 0))
    return json.loads(sys.stdin.read(length))


def write_message(message):
    body = json.dumps(message)
    sys.stdout.write("Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.flush()


def send_request(method, params, handle):
    """Asks, and serves whatever else comes until the answer is there."""
    NEXT["id"] += 1
    id = NEXT["id"]
    write_message({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    while True:
        message = read_message()
        if "result" in message or "error" in message:
            if message["id"] == id:
                return message
        else:
            handle(message)


def serve(tag, about, commands, initialized=None, notified=None, leaving=None):
    """`commands` are functions by id. They are given a way to ask."""

    def handle(message):
        method, params = message["method"], message["params"]
        if "id" in message:
            if method == "initialize":
                log(tag, "host %s" % params["hermesVersion"])
                if initialized:
                    initialized()
                write_message({"jsonrpc": "2.0", "id": message["id"], "result": about})
            elif method == "shutdown":
                if leaving:
                    leaving()
                write_message({"jsonrpc": "2.0", "id": message["id"], "result": {"success": True}})
                sys.exit(0)
            else:
                error = {"code": -32601, "message": "Method not found: " + method}
                write_message({"jsonrpc": "2.0", "id": message["id"], "error": error})
        elif method == "command/execute":
            command = commands.get(params.get("command"))
            if command:
                command(lambda method, params: send_request(method, params, handle))
            else:
                log(tag, "unknown command %s" % params.get("command"))
        elif notified and method in notified:
            notified[method](params)
        else:
            log(tag, "unknown notification %s" % method)

    while True:
        handle(read_message())


def about(name, commands, buttons, **more):
    button = {"label": "B", "icon": "<svg viewBox='0 0 20 20'>\n</svg>"}
    return {
        "name": name, "version": "1.0.0", "description": name,
        "capabilities": dict({"commands": commands}, **more.pop("capabilities", {})),
        "toolbarButtons": [dict(button, id="b%d" % at, command=command) for at, command in enumerate(buttons)],
        **more,
    }
