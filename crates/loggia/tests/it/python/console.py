"""A console client written from the protocol's description alone, at a running daemon.

It tells what it sees, one line for each thing; the test compares.
"""

import json
import socket
import struct
import sys

NAMES = ["command_execute", "log_forward", "interactivity_status", "completion", "syntax_highlight", "parse"]


class Console:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.heard = ""

    def send(self, kind, data, **more):
        body = json.dumps({"type": kind, **more, "data": data}).encode()
        self.socket.sendall(struct.pack(">i", len(body)) + body)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def receive(self):
        return json.loads(self.exactly(struct.unpack(">i", self.exactly(4))[0]))

    def answer(self, kind, data):
        """Asks, and keeps what is logged meanwhile."""
        self.send(kind, data, requestId="r")
        while True:
            message = self.receive()
            if message.get("requestId") == "r":
                return message["data"]
            self.heard += message["data"]["rendered"]

    def until(self, text):
        while text not in self.heard:
            message = self.receive()
            self.heard += message["data"]["rendered"]
        heard, self.heard = self.heard, ""
        return heard


def main(path):
    console = Console(path)
    console.send(
        "HELLO",
        {
            "transportEpoch": 15,
            "colorLevel": "NONE",
            "capabilities": {name: {"min": 1, "max": 1} for name in NAMES},
            "requiredCapabilities": NAMES[:3],
        },
        requestId="h",
    )
    print(console.receive()["type"], console.receive()["data"]["available"])
    console.send("LOG_SUBSCRIBE", {})
    parsed = console.answer("PARSE_REQUEST", {"command": "log lev", "cursor": 7})
    print(parsed["word"], parsed["wordCursor"], parsed["words"])
    found = console.answer("COMPLETION_REQUEST", {"command": "log lev", "cursor": 7})
    print([candidate["value"] for candidate in found["candidates"]])
    print(console.answer("SYNTAX_HIGHLIGHT_REQUEST", {"command": "use 😀"})["highlighted"])
    console.send("COMMAND_EXECUTE", {"command": "log level warn"})
    console.until("log level warn\n")
    console.send("COMMAND_EXECUTE", {"command": "log level info"})
    console.until("log level info\n")
    console.send("COMMAND_EXECUTE", {"command": "ask Who are you?"})
    heard = console.until("is done")
    print([line.split("]: ")[-1] for line in heard.splitlines() if "│" in line or "asked by" in line])
    # What the daemon itself logs comes, too.
    print("session opened" in heard)
    console.send("COMMAND_EXECUTE", {"command": "stop"})
    try:
        while True:
            message = console.receive()
            if message["type"] == "INTERACTIVITY_STATUS":
                print(message["data"]["available"])
    except EOFError:
        print("closed")


main(sys.argv[1])
