"""A client of the Autohand protocol: starts the agent it is given, has one turn, and says what it saw.

Standard library only. Usage: client.py PROGRAM [ARGUMENT...]
"""

import json
import subprocess
import sys
import threading

agent = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
answers = {}
arrived = threading.Condition()
turn_is_over = threading.Event()
last_id = 0


def call(method, params=None):
    """Sends a request; its answer is fetched with `answer`."""
    global last_id
    last_id += 1
    request = {"jsonrpc": "2.0", "method": method, "id": last_id}
    if params is not None:
        request["params"] = params
    agent.stdin.write(json.dumps(request) + "\n")
    agent.stdin.flush()
    return last_id


def answer(request_id):
    with arrived:
        if not arrived.wait_for(lambda: request_id in answers, timeout=60):
            sys.exit(f"no answer to request {request_id}")
        message = answers.pop(request_id)
    if "error" in message:
        sys.exit(f"refused: {message['error']}")
    return message["result"]


def on_notification(method, params):
    if method == "autohand.permissionRequest":
        print("asked:", params["tool"], params["context"]["path"])
        call("autohand.permissionResponse", {"requestId": params["requestId"], "allowed": True})
    elif method == "autohand.toolStart":
        print("tool started:", params["toolName"])
    elif method == "autohand.toolEnd":
        print("tool ended:", params["toolName"], "well" if params["success"] else "badly")
    elif method == "autohand.hook.fileModified":
        print("file:", params["changeType"], params["filePath"])
    elif method == "autohand.messageEnd":
        print("said:", params["content"])
    elif method == "autohand.turnEnd":
        print("turn ended:", params["reason"])
        turn_is_over.set()
    elif method == "autohand.agentEnd":
        print("agent ended:", params["reason"])


def listen():
    for line in agent.stdout:
        message = json.loads(line)
        if "id" in message:
            with arrived:
                answers[message["id"]] = message
                arrived.notify_all()
        else:
            on_notification(message["method"], message["params"])


listener = threading.Thread(target=listen)
listener.start()
print("state:", answer(call("autohand.getState"))["status"])
print("accepted:", answer(call("autohand.prompt", {"message": "Write a greeting"}))["success"])
if not turn_is_over.wait(timeout=60):
    sys.exit("the turn does not end")
agent.stdin.close()
code = agent.wait(timeout=5)
listener.join()
print("exit:", code)
