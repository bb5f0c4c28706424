#!/usr/bin/env python3
"""An agent that does what the last line of its prompt says. Standard library only."""
import json
import os
import sys


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def stream(kind, data=None):
    send({"jsonrpc": "2.0", "method": "stream", "params": {"type": kind, "data": data}})


def call(name, number, **arguments):
    """Calls a tool and waits for what comes of it."""
    stream("tool_use", {"id": "call_%d" % number, "name": name, "input": arguments, "description": "to try it"})
    given = json.loads(sys.stdin.readline())
    assert given["method"] == "agent.tool_result" and given["params"]["tool_id"] == "call_%d" % number, given
    send({"jsonrpc": "2.0", "id": given["id"], "result": {"acknowledged": True}})
    return given["params"]["result"]


def run(params):
    wish = params["prompt"].splitlines()[-1]
    if wish == "talk":
        stream("thinking", "They want me to talk.")
        stream("text", "Hello ")
        stream("text", "there.")
        stream("usage", {"input_tokens": 7, "output_tokens": 2})
    elif wish == "use tools":
        names = sorted(tool["name"] for tool in params["tools"])
        stream("text", "I know %s.\n" % ", ".join(names))
        stream("text", "Listed: %s\n" % call("list_files", 1, path=".").strip())
        stream("text", "Wrote: %s\n" % call("write_file", 2, path="b.txt", content="b\n"))
        stream("text", "Ran: %s\n" % call("run_command", 3, command="echo hello"))
        stream("text", "Made up: %s\n" % call("teleport", 4).split(";")[0])
    elif wish == "change files":
        lines = ["line %d" % number for number in range(1, 31)]
        lines[0], lines[29] = "first", "last"
        stream("text", "Changed.")
        stream("file", {"path": "long.txt", "content": "\n".join(lines) + "\n"})
        stream("file", {"path": "new.txt", "content": "new\n"})
        stream("file", {"path": "old.txt", "action": "delete"})
    elif wish == "write blocks":
        stream("text", "Two files:\n```yaml:file\npath: one.txt\noperation: create\ncontent: |\n  o")
        stream("text", "ne\n```\n```yaml:file\npath: old.txt\noperation: delete\n```\n")
        stream("text", "```yaml:summary\ntext: One came, one went.\n```\n")
    elif wish == "escape by a block":
        stream("text", "```yaml:file\npath: one.txt\ncontent: one\n```\n")
        stream("text", "```yaml:file\npath: ../two.txt\ncontent: two\n```\n")
    elif wish == "write a broken block":
        stream("text", "```yaml:file\npath: one.txt\ncontent: one\n```\n")
        stream("text", "```yaml:file\npath: [\n```\n")
    elif wish == "crash":
        stream("text", "I had just")
        stream("file", {"path": "new.txt", "content": "new\n"})
        sys.stderr.write("something broke\n")
        sys.stderr.flush()
        sys.exit(3)
    elif wish == "hang":
        stream("text", "working")
        while sys.stdin.readline():
            pass
        with open("cancelled.log", "a") as out:
            out.write("saw the end of its input\n")
        sys.exit(0)
    else:
        context = params["context"]
        about = " for %s in %s" % (context["task_id"], context["phase"]) if "task_id" in context else ""
        key = os.environ.get("RUN_KEY")
        about += " with %s" % key if key else ""
        stream("text", "I was asked%s: %s" % (about, wish))
    stream("complete")
    return {"status": "complete"}


def answer(method, params):
    if method == "agent.init":
        return {"name": "helper", "model": "none", "capabilities": ["streaming", "tool_use"]}
    if method == "agent.available":
        needs_key = os.path.exists("needs-key") and "RUN_KEY" not in os.environ
        return {"available": False, "reason": "there is no key"} if needs_key else {"available": True}
    if method == "agent.run":
        return run(params)
    return {}


for line in sys.stdin:
    request = json.loads(line)
    send({"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request["params"])})
    if request["method"] == "shutdown":
        break
