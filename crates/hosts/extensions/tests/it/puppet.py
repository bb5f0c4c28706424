"""An extension that does what a plan says. The plan is its only argument, as JSON:

init:     steps before the answer to `initialize`, `result` or `error` for it, steps `after`
commands: name -> steps
events:   method -> steps
shutdown: steps before the answer, `answer` (false: none), `stay`
silent:   unknown requests get no answer

What it hears is written to `wire.log` in the directory HEARD, with what its header looked like.
"""

import json
import os
import sys
import time

PLAN = json.loads(sys.argv[1])
INPUT, OUTPUT = sys.stdin.buffer, sys.stdout.buffer
HEARD = open(os.path.join(os.environ["HEARD"], "wire.log"), "a")
LAST = {"id": 0}
ANSWERS = {}
WAITING = []


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def raw(data):
    OUTPUT.write(data)
    OUTPUT.flush()


def send(message):
    body = json.dumps(message).encode()
    raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)


def read():
    header, length = b"", 0
    while True:
        line = INPUT.readline()
        if not line:
            return None
        header += line
        if line == b"\r\n":
            break
        name, value = line.split(b":")
        if name == b"Content-Length":
            length = int(value)
    body = INPUT.read(length)
    message = json.loads(body)
    HEARD.write(json.dumps({"header": header.decode("latin-1"), "ascii": body.isascii(), "message": message}) + "\n")
    HEARD.flush()
    return message


def request(method, params, id=None):
    if id is None:
        LAST["id"] += 1
        id = LAST["id"]
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        message["params"] = params
    send(message)
    return id


def wait(id):
    key = json.dumps(id)
    while key not in ANSWERS:
        message = read()
        if message is None:
            sys.exit(0)
        if "method" in message:
            WAITING.append(message)
        else:
            ANSWERS[json.dumps(message["id"])] = message
    return ANSWERS.pop(key)


def run(steps):
    """Each step is a list: its name and what it needs."""
    for step in steps or []:
        name, rest = step[0], step[1:]
        if name == "ask":  # method, params: waits for the answer
            answer = wait(request(*rest))
            say("answer", json.dumps(answer.get("result", answer.get("error")), sort_keys=True))
        elif name == "send":  # method, params, id: does not wait
            request(*rest)
        elif name == "wait":  # id
            answer = wait(rest[0])
            say("answer", json.dumps(answer.get("result", answer.get("error")), sort_keys=True))
        elif name == "message":  # a whole message
            send(rest[0])
        elif name == "raw":  # bytes as latin-1
            raw(rest[0].encode("latin-1"))
        elif name == "body":  # a body, framed
            data = rest[0].encode("latin-1")
            raw(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        elif name == "say":
            say(rest[0])
        elif name == "sleep":
            time.sleep(rest[0])
        elif name == "hang":
            while True:
                time.sleep(60)
        elif name == "exit":
            os._exit(rest[0])
        elif name == "close":  # its output
            os.close(1)
        elif name == "chatter":
            while True:
                say("tick")
                time.sleep(0.05)
        elif name == "child":  # one that outlives it if nobody looks
            import subprocess
            child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
            say("child", child.pid)
        elif name == "window":  # opens one and remembers it
            answer = wait(request("ui/openWindow", rest[0]))
            say("answer", json.dumps(answer.get("result", answer.get("error")), sort_keys=True))
            LAST["window"] = answer["result"]["windowId"]
        elif name == "close-window":
            answer = wait(request("ui/closeWindow", {"windowId": LAST["window"]}))
            say("answer", json.dumps(answer.get("result", answer.get("error")), sort_keys=True))
        else:
            raise ValueError(name)


def handle(message):
    method, params = message["method"], message["params"]
    if method == "initialize":
        plan = PLAN.get("init", {})
        run(plan.get("before"))
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if "error" in plan:
            answer["error"] = plan["error"]
        else:
            usual = {"name": "Puppet", "version": "1.0.0", "capabilities": {"commands": list(PLAN.get("commands", {}))}}
            answer["result"] = plan.get("result", usual)
            if "events" in plan:
                answer["result"]["capabilities"]["events"] = plan["events"]
            if "schema" in plan:
                answer["result"]["schema"] = plan["schema"]
        send(answer)
        run(plan.get("after"))
    elif method == "shutdown":
        plan = PLAN.get("shutdown", {})
        run(plan.get("before"))
        if plan.get("answer", True):
            answer = {"jsonrpc": "2.0", "id": message["id"], **plan.get("reply", {"result": {"success": True}})}
            send(answer)
        if not plan.get("stay"):
            sys.exit(0)
    elif "id" in message:
        if not PLAN.get("silent"):
            send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
    elif method == "command/execute":
        run(PLAN["commands"].get(params["command"]))
    else:
        run(PLAN.get("events", {}).get(method))


while True:
    message = WAITING.pop(0) if WAITING else read()
    if message is None:
        sys.exit(0)
    if "method" in message:
        handle(message)
    else:
        say("stray", json.dumps(message.get("error", message.get("result")), sort_keys=True), json.dumps(message["id"]))
