"""A console client written from the protocol's description alone: sockets, struct and json, nothing of ours.

It tells what it sees, one line for each thing; the test compares.
"""

import gzip
import json
import socket
import struct
import sys

NAMES = ["command_execute", "log_forward", "interactivity_status", "completion", "syntax_highlight", "parse"]


class Console:
    """A connection in one of the two framings: with or without a compression byte."""

    def __init__(self, path, tagged=False):
        self.tagged = tagged
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(path)

    def send(self, message, tag=0):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        if self.tagged:
            body = bytes([tag]) + (gzip.compress(body) if tag else body)
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
        body = self.exactly(struct.unpack(">i", self.exactly(4))[0])
        if self.tagged:
            body = gzip.decompress(body[1:]) if body[0] else body[1:]
        return json.loads(body)

    def is_closed(self):
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True


def hello(**epoch):
    data = {
        **epoch,
        "colorLevel": "TRUE_COLOR",
        "capabilities": {name: {"min": 1, "max": 1} for name in NAMES},
        "requiredCapabilities": NAMES[:3],
    }
    return {"type": "HELLO", "requestId": "h", "data": data}


def ranged(epoch):
    return hello(transportEpochRange={"min": epoch, "max": epoch, "exclude": []})


def welcomed(path, first, tagged=False, tag=0):
    console = Console(path, tagged)
    console.send(first, tag)
    welcome, status = console.receive(), console.receive()
    print(welcome["type"], welcome["data"]["transportEpoch"], status["type"], status["data"]["available"])
    return console


def main(path):
    clients = [
        welcomed(path, hello(transportEpoch=15)),
        welcomed(path, ranged(16)),
        welcomed(path, ranged(17), tagged=True),
        welcomed(path, ranged(17), tagged=True, tag=1),
    ]
    for console in clients:
        console.send({"type": "LOG_SUBSCRIBE", "data": {}})
        console.send({"type": "PING", "requestId": 5, "data": {}})
        print(json.dumps(console.receive()))
    clients[0].send({"type": "COMMAND_EXECUTE", "data": {"command": "say " + "x" * 3000}})
    print([len(console.receive()["data"]["rendered"]) for console in clients])

    console = clients[0]
    console.socket.sendall(bytes.fromhex("00000029") + b'{"type":"PING","requestId":"1","data":{}}')
    print(json.dumps(console.receive()))
    console.send({"type": "COMPLETION_REQUEST", "requestId": "c", "data": {"command": "say h", "cursor": 5}})
    print(json.dumps(console.receive()))
    console.send(b"nonsense")
    print(console.receive()["type"])
    console.send({"type": "PING", "requestId": "large", "data": {"padding": "x" * 1_048_510}})
    print(console.receive()["requestId"])

    for first in [hello(transportEpoch=14), {"type": "PING", "requestId": "1"}, {"type": "PING"}]:
        refused = Console(path)
        refused.send(first)
        print(refused.receive()["data"]["reason"], refused.is_closed())
    for prefix in [0, -1, 1_048_577]:
        broken = Console(path)
        broken.socket.sendall(struct.pack(">i", prefix) + b"{")
        print(prefix, broken.is_closed())
    bomb = Console(path, tagged=True)
    bomb.send(b" " * (64 * 1024 * 1024), tag=1)
    print("bomb", bomb.is_closed())


main(sys.argv[1])
