#!/usr/bin/env python3
"""Behaves as the program that the specification gives its readers to start from, line for line of what it says."""
import json
import sys


def serve(method):
    known = {
        "provider.init": {"capabilities": ["read"]},
        "shutdown": {"status": "shutting_down"},
        "ping": {"pong": True},
    }
    if method in known:
        return {"result": known[method]}
    return {"error": {"code": -32601, "message": "Method not found: " + method}}


while True:
    line = sys.stdin.readline()
    if not line:
        break
    if not line.strip():
        continue
    ident = None
    try:
        request = json.loads(line)
        ident = request.get("id")
        answer = serve(request.get("method", ""))
    except json.JSONDecodeError as error:
        answer = {"error": {"code": -32700, "message": "Parse error: %s" % error}}
        request = {}
    except Exception as error:
        answer = {"error": {"code": -32603, "message": "Internal error: %s" % error}}
        request = {}
    print(json.dumps(dict({"jsonrpc": "2.0", "id": ident}, **answer)), flush=True)
    if request.get("method") == "shutdown":
        break
