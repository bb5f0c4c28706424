"""An extension for tests, with nothing but the standard library. Its habits are its arguments.

Beside it `starts.log` gets the process id of each start, and `ends.log` that of each proper end.
"""

import json
import os
import sys
import threading

HABITS = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
COMMANDS = ["patch", "set", "say", "confirm", "open", "opens", "place", "directory", "window", "close", "env",
            "crash", "busy", "stuck"]
WRITING = threading.Lock()
WAITING = {}
WINDOWS = []
NEXT = [0]


def note(name):
    with open(os.path.join(HERE, name), "a") as log:
        log.write("%d\n" % os.getpid())


def log(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def send(message):
    body = json.dumps(dict(message, jsonrpc="2.0")).encode("ascii")
    with WRITING:
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        sys.stdout.buffer.flush()


def receive():
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            return None
        if not line.strip():
            return json.loads(sys.stdin.buffer.read(length))
        name, value = line.split(b":")
        if name == b"Content-Length":
            length = int(value)


def call(method, **params):
    NEXT[0] += 1
    answered = threading.Event()
    WAITING[NEXT[0]] = slot = [answered, None]
    send({"id": NEXT[0], "method": method, "params": params})
    answered.wait()
    answer = slot[1]
    if "error" in answer:
        log("[ERROR] %s: %d %s" % (method, answer["error"]["code"], answer["error"]["message"]))
        return None
    return answer["result"]


def tell(what, result):
    if result is not None:
        log("[INFO] %s: %s" % (what, json.dumps(result, sort_keys=True)))


def run(command):
    if command == "patch":
        tell("patched", call("editor/patchMessage", patches=[{"path": "PID.5.1", "value": "TEST"}]))
    elif command == "set":
        text = "MSH|^~\\&|A|B|C|D|20250101||ADT^A01|1|P|2.5.1\rPID|1||7||ROE^ANN"
        tell("set", call("editor/setMessage", message=text, format="hl7"))
    elif command == "say":
        tell("said", call("ui/showMessage", message="Look at this.", title="News", kind="warning"))
    elif command == "confirm":
        tell("confirmed", call("ui/showConfirm", message="Go on?", buttons="yesNo"))
    elif command == "open":
        filters = [{"name": "Messages", "extensions": ["hl7", "txt"]}]
        tell("chosen", call("ui/openFile", title="Which one?", filters=filters))
    elif command == "opens":
        tell("chosen", call("ui/openFiles", title="Which ones?"))
    elif command == "place":
        tell("place", call("ui/saveFile", defaultName="new.hl7"))
    elif command == "directory":
        tell("directory", call("ui/selectDirectory", title="Where?"))
    elif command == "window":
        opened = call("ui/openWindow", url="http://127.0.0.1:9/page", title="Page")
        WINDOWS.extend([opened["windowId"]] if opened else [])
        tell("opened", opened and sorted(opened))
    elif command == "close":
        for window in WINDOWS:
            tell("closed", call("ui/closeWindow", windowId=window))
        del WINDOWS[:]
    elif command == "env":
        names = ["HERMES_VERSION", "HERMES_API_VERSION", "EXT_SETTING"]
        log("env %s" % " ".join("%s=%s" % (name, os.environ.get(name, "-")) for name in names))
        log("cwd %s" % os.getcwd())
        log("data %s" % os.path.isdir(os.environ["HERMES_DATA_DIR"]))
    elif command == "crash":
        log("about to crash")
        os._exit(7)
    elif command == "busy":
        call("ui/showConfirm", message="Still there?", buttons="okCancel")
        while True:
            call("editor/getMessage", format="hl7")
    elif command == "stuck":
        threading.Event().wait()


def initialize(identity):
    if "refuse" in HABITS:
        send({"id": identity, "error": {"code": -32000, "message": "not on this host"}})
        return
    events = [{"name": "message/opened"}, {"name": "message/saved"}, {"name": "message/changed"}]
    result = {
        "name": "Extension of tests",
        "version": "1.2.3",
        "description": "Does what tests need",
        "capabilities": {"commands": ["t/" + name for name in COMMANDS], "events": events},
        "toolbarButtons": [{"id": "p", "label": "Patch it", "icon": "<svg viewBox='0 0 9 9'/>", "command": "t/patch"}],
    }
    if "schema" in HABITS:
        result["schema"] = {"segments": {"PID": {"fields": [{"field": 8, "required": True, "name": "Sex"}]}}}
    send({"id": identity, "result": result})


def main():
    note("starts.log")
    if "die" in HABITS:
        log("[ERROR] no licence")
        sys.exit(3)
    while True:
        message = receive()
        if message is None:
            if "spin" in HABITS:
                continue
            return
        method = message.get("method")
        if method == "initialize":
            initialize(message["id"])
        elif method == "shutdown":
            if "stay" in HABITS:
                continue
            send({"id": message["id"], "result": {"success": True}})
            note("ends.log")
            return
        elif method == "command/execute":
            command = message["params"]["command"].split("/")[-1]
            threading.Thread(target=run, args=(command,), daemon=True).start()
        elif method == "window/closed":
            log("window closed: %s" % message["params"]["reason"])
        elif method is not None and method.startswith("message/"):
            told = sorted(name for name in message["params"])
            log("heard %s %s" % (method, ",".join(told)))
        elif method is None:
            slot = WAITING.pop(message["id"])
            slot[1] = message
            slot[0].set()


main()
