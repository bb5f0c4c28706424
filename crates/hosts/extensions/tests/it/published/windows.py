import http.server
import threading

from reader import about, log, serve

TAG = "window-test"
STATE = {"window": None, "server": None}


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<h1>test</h1>")

    def log_message(self, *words):
        pass


def initialized():
    STATE["server"] = http.server.HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=STATE["server"].serve_forever, daemon=True).start()


def url():
    return "http://127.0.0.1:%d/test" % STATE["server"].server_address[1]


def open_window(ask):
    size = {"width": 500, "height": 300, "modal": False, "resizable": True}
    answer = ask("ui/openWindow", dict(size, url=url(), title="t"))
    STATE["window"] = answer["result"]["windowId"]
    log(TAG, "window %s" % STATE["window"])


def close_window(ask):
    if not STATE["window"]:
        log(TAG, "no window")
        return
    answer = ask("ui/closeWindow", {"windowId": STATE["window"]})
    log(TAG, "success %s" % answer["result"]["success"])
    STATE["window"] = None


def open_modal(ask):
    answer = ask("ui/openWindow", {"url": url(), "title": "t", "width": 400, "height": 250, "modal": True})
    log(TAG, "modal %s" % answer["result"]["windowId"])


def closed(params):
    log(TAG, "closed %s %s" % (params["windowId"], params.get("reason", "unknown")))
    if params["windowId"] == STATE["window"]:
        STATE["window"] = None


commands = {"window-test/open": open_window, "window-test/close": close_window, "window-test/open-modal": open_modal}
serve(TAG, about("Windows", list(commands), list(commands)), commands, initialized, {"window/closed": closed},
      lambda: STATE["server"].shutdown())
