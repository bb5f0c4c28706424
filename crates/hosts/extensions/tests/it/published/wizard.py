"""A modal window on a page of its own: a thread reads, the page's requests ask. Told to leave while its window is open it
asks from the thread that reads, and waits for ever."""

import http.server
import json
import queue
import sys
import threading

LOCK, ANSWERS, STATE = threading.Lock(), {}, {"id": 0, "window": None}


def log(text):
    print(text, file=sys.stderr, flush=True)


def read_message():
    length = 0
    while True:
        line = sys.stdin.readline()
        if line in ("\n", "\r\n"):
            break
        if line.startswith("Content-Length:"):
            length = int(line.split(":")[1])
    return json.loads(sys.stdin.read(length))


def write_message(message):
    body = json.dumps(message)
    with LOCK:
        sys.stdout.write("Content-Length: %d\r\n\r\n%s" % (len(body), body))
        sys.stdout.flush()


def ask(method, params):
    with LOCK:
        STATE["id"] += 1
        id = STATE["id"]
        ANSWERS[id] = queue.Queue()
    write_message({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    return ANSWERS[id].get(timeout=30)


class Page(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        patches = [{"path": "PID.%d" % field, "value": "v%d" % field} for field in range(8, 21)]
        answer = ask("editor/patchMessage", {"patches": patches})
        closed = ask("ui/closeWindow", {"windowId": STATE["window"]})
        body = json.dumps([answer["result"], closed["result"]]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()


def start():
    url = "http://127.0.0.1:%d/" % server.server_address[1]
    answer = ask("ui/openWindow", {"url": url, "title": "Wizard", "modal": True})
    STATE["window"] = answer["result"]["windowId"]
    log("window")


while True:
    message = read_message()
    method = message.get("method")
    if method is None:
        ANSWERS[message["id"]].put(message)
    elif method == "initialize":
        result = {"name": "Wizard", "version": "1.0.0", "capabilities": {"commands": ["wizard/go"]}}
        write_message({"jsonrpc": "2.0", "id": message["id"], "result": result})
    elif method == "command/execute":
        threading.Thread(target=start, daemon=True).start()
    elif method == "window/closed":
        log("closed %s" % message["params"]["reason"])
        if message["params"]["reason"] != "shutdown":
            STATE["window"] = None
    elif method == "shutdown":
        if STATE["window"]:
            log("closing before I go")
            ask("ui/closeWindow", {"windowId": STATE["window"]})
        write_message({"jsonrpc": "2.0", "id": message["id"], "result": {"success": True}})
        sys.exit(0)
