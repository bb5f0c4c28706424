"""A plugin of every kind, well behaved unless its arguments say otherwise. Standard library only.

Every start is noted in `starts.log` beside it, with its process id.
"""
import json
import os
import signal
import subprocess
import sys
import time

HABITS = sys.argv[1:]
CONFIG = {}


def note(file, text):
    with open(file, "a") as out:
        out.write(f"{text}\n")


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def say(text):
    send({"jsonrpc": "2.0", "method": "stream", "params": {"type": "text", "data": text}})


def hang():
    while True:
        time.sleep(1000)


def run(params):
    if "wait" in params["prompt"]:
        say("I wait.\n")
        hang()
    token, city = os.environ.get("PLUGIN_TOKEN", "none"), CONFIG.get("city", "nowhere")
    say(f"The plugin has token {token} and is in {city}.")
    send({"jsonrpc": "2.0", "method": "stream", "params": {"type": "complete", "data": None}})
    return {"status": "complete", "tokens_used": 3}


def answer(method, params):
    if method.endswith(".init"):
        CONFIG.update(params.get("config") or {})
        return {"capabilities": ["read"]}
    if method == "ping":
        return {"pong": True}
    if method == "agent.available":
        return {"available": True}
    if method == "agent.run":
        return run(params)
    if method == "shutdown":
        note("shutdowns.log", os.getpid())
        if "hang" in HABITS:
            hang()
        return {"status": "shutting_down"}
    return None


def main():
    note("starts.log", os.getpid())
    if "deaf" in HABITS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "parent" in HABITS:
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        note("children.log", child.pid)
    if "die" in HABITS:
        sys.stderr.write("no licence\n")
        sys.exit(3)
    while True:
        line = sys.stdin.readline()
        if not line:
            if "deaf" in HABITS:
                hang()
            return
        request = json.loads(line)
        result = answer(request["method"], request.get("params") or {})
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        else:
            reply["result"] = result
        send(reply)
        if request["method"] == "shutdown":
            return


main()
