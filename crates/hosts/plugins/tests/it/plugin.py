#!/usr/bin/env python3
"""A plugin of every kind, well behaved unless its arguments say otherwise.

An argument is a way to misbehave, for one method where that makes sense: `die:provider.fetch`.
Every line it is sent is written to `requests.log` beside it, and every start to `starts.log`.
Standard library only.
"""
import base64
import json
import os
import signal
import subprocess
import sys
import time

HABITS = [argument.split(":") for argument in sys.argv[1:]]
TRIES = {}
LATE = []


def habit(name, method=None):
    """What follows the habit's name and method, if it has that habit."""
    for words in HABITS:
        if words[0] == name and (method is None or len(words) < 2 or words[1] == method):
            return words[2:] or [""]
    return None


def note(file, text):
    with open(file, "a") as out:
        out.write(text + "\n")


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def send(message):
    say(json.dumps(message))


def stream(kind, *data):
    params = {"type": kind}
    if data:
        params["data"] = data[0]
    send({"jsonrpc": "2.0", "method": "stream", "params": params})


def read():
    line = sys.stdin.readline()
    if line:
        note("requests.log", line.rstrip("\n"))
    return line


class Failure(Exception):
    def __init__(self, code, message, data=None):
        self.error = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


UNIT = {
    "id": "abc123", "externalId": "PROJ-123", "externalKey": "PROJ-123", "taskType": "story",
    "provider": "jira", "title": "Implement feature", "description": "Full description",
    "status": "open", "priority": 2, "labels": ["frontend"],
    "source": {"reference": "https://jira.example.com/PROJ-123"}, "metadata": {"team": "a"},
}


def provider(method, params):
    if method == "provider.init":
        said = habit("capabilities")
        if said is None:
            return {"capabilities": ["read", "snapshot", "list", "comment", "update_status", "fetch_comments",
                                     "manage_labels", "link_branch", "create_pr", "download_attachment"]}
        return {} if said == ["none"] else {"capabilities": said}
    if method == "provider.match":
        return {"matches": "PROJ" in params["input"]}
    if method == "provider.parse":
        _, _, key = params["input"].rpartition(":")
        return {"id": key} if key.startswith("PROJ-") else {"error": "Invalid format"}
    if method == "provider.fetch":
        return UNIT if params["id"] == "PROJ-123" else {"id": params["id"]}
    if method == "provider.snapshot":
        return {"content": "# " + params["id"]}
    if method == "provider.list":
        items = [{"id": "PROJ-%d" % n, "title": "Bug %d" % n} for n in range(1, 6)]
        offset, limit = params.get("offset", 0), params.get("limit", 20)
        page = items[offset:offset + limit]
        if habit("bare"):
            return page
        return {"items": page, "total": 5, "hasMore": offset + limit < 5}
    if method == "provider.fetchComments":
        return [{"id": "1", "body": "first", "author": {"name": "Ann"}}, {"body": "second"}]
    if method == "provider.getLinkedBranch":
        return {"branch": "story/proj-123"}
    if method == "provider.createPR":
        return {"id": "p1", "url": "https://example.com/pr/7", "state": "open", "number": 7}
    if method == "provider.downloadAttachment":
        return {"content": base64.b64encode(b"\x00bytes\xff").decode()}
    if method in ("provider.addComment", "provider.updateStatus", "provider.addLabels",
                  "provider.removeLabels", "provider.linkBranch", "provider.unlinkBranch"):
        return None
    raise Failure(-32601, "Method not found: " + method)


def agent(method, params):
    if method == "agent.init":
        return {"name": "openai", "model": params["config"].get("model", "gpt-4"), "capabilities": ["streaming"]}
    if method == "agent.available":
        if habit("needs-key") and "RUN_KEY" not in os.environ:
            return {"available": False, "reason": "RUN_KEY is not set"}
        return {"available": False, "reason": "API key not set"} if habit("unavailable") else {"available": True}
    if method == "agent.run":
        return run(params)
    if method == "agent.tool_result":
        return {"acknowledged": True}
    raise Failure(-32601, "Method not found: " + method)


def run(params):
    if habit("silent"):
        time.sleep(600)
    if habit("plain"):
        stream("text", "Here's the code:")
        stream("file", {"path": "src/auth.py", "content": "x = 1\n"})
        stream("complete", None)
        return {"status": "complete", "tokens_used": 500}
    if habit("odd"):
        stream("text", {"text": "wrapped"})
        stream("text", 7)
        stream("sparkle", {"a": 1})
        stream("file", {"path": "old.py", "action": "delete"})
        stream("tool_result", {"id": "own", "result": "ran it myself"})
        stream("usage", {"input_tokens": 10, "output_tokens": 5})
        stream("thinking", "hm")
        return {"tokens_used": 99}
    if habit("no-answer"):
        stream("text", "all there is")
        stream("complete", {})
        return LATE
    if habit("error-event"):
        stream("text", "so far")
        stream("error", {"code": "x", "message": "model is down"})
        if habit("then-die"):
            sys.exit(4)
        return {"status": "error"}
    if habit("many"):
        for number in range(5000):
            stream("text", "%d " % number)
        stream("complete")
        return {"status": "complete"}
    if habit("flood-run"):
        while True:
            stream("text", "x" * 1000000)
    if habit("environment"):
        stream("text", os.environ.get("RUN_KEY", "nothing") + " " + str(os.getpid()))
        return {}
    if habit("forever"):
        stream("text", "working")
        while sys.stdin.readline():
            pass
        note("cancelled.log", "saw the end of its input")
        sys.exit(0)
    if habit("tools"):
        call = 7 if habit("counting") else "call_1"
        stream("tool_use", {"id": call, "name": "list_files", "input": {"path": "."}})
        given = json.loads(read())
        misbehave(given)
        send({"jsonrpc": "2.0", "id": given["id"], "result": {"acknowledged": True}})
        if given["params"]["tool_id"] != call:
            raise Failure(-32602, "nobody called " + repr(given["params"]["tool_id"]))
        stream("text", str(call) + ": " + given["params"]["result"])
        stream("complete")
        return {"status": "complete"}
    if habit("deaf"):
        # Reads nothing while it runs; the result of its call is met in the main loop and not known there.
        stream("tool_use", {"id": "call_1", "name": "read_file"})
        stream("text", "did not wait")
        return {"status": "complete"}
    stream("text", params["prompt"])
    return {"status": "complete"}


def workflow(method, params):
    if method == "workflow.init":
        return {
            "phases": [{"name": "approval", "description": "Manager approval", "after": "reviewing"}],
            "guards": [{"name": "requiresApproval", "description": "Check if needs approval"}],
            "effects": [{"name": "notifySlack", "description": "Send Slack message"},
                        {"name": "approvalLog", "critical": True}],
        }
    if method == "workflow.evaluateGuard":
        if habit("passed"):
            return {"passed": True, "warning": "mind the gap"}
        if habit("says-nothing"):
            return {}
        if params["guard"] == "requiresApproval" and "critical" in params["context"]["labels"]:
            return {"allowed": False, "reason": "Critical tasks need approval"}
        return {"allowed": True}
    if method == "workflow.executeEffect":
        if params["effect"] != "notifySlack":
            sys.stderr.write("no webhook\n")
            sys.stderr.flush()
            return {"success": False, "message": "Webhook not configured"}
        return {"success": True, "message": "Sent " + params["context"]["event"]}
    raise Failure(-32601, "Method not found: " + method)


def handle(method, params):
    if method == "ping" and not habit("unschooled"):
        return {"pong": True}
    if method == "shutdown" and not habit("unschooled"):
        return {"status": "shutting_down"}
    for kind, serve in (("provider.", provider), ("agent.", agent), ("workflow.", workflow)):
        if method.startswith(kind):
            return serve(method, params)
    raise Failure(-32601, "Method not found: " + method)


def misbehave(request):
    """Does what it should not; whether there is nothing left to answer."""
    method, ident = request["method"], request["id"]
    if habit("grumble"):
        sys.stderr.write("grumbling in %s\n" % method)
        sys.stderr.flush()
    if habit("die", method):
        sys.stderr.write("dying in %s\n" % method)
        sys.stderr.flush()
        os._exit(3)
    if habit("die-once", method) and not os.path.exists("died"):
        note("died", "")
        os._exit(3)
    if habit("hang", method):
        sys.stderr.write("hanging in %s\n" % method)
        sys.stderr.flush()
        time.sleep(600)
    if habit("close", method):
        os.close(1)
        time.sleep(600)
    if habit("junk", method):
        say("")
        say("   ")
        say("Loading… 100%")
        say("[1, 2]")
        say('{"jsonrpc": "2.0", "id": ')
        say('{"neither": "one"}')
        send({"jsonrpc": "2.0", "method": "progress", "params": {}})
        send({"jsonrpc": "2.0", "id": 4711, "result": {"wrong": "id"}})
        send({"id": "x", "result": None})
    if habit("wrong-id", method):
        send({"jsonrpc": "2.0", "id": ident + 1000, "result": {"matches": True}})
        return True
    if habit("text-error", method):
        send({"jsonrpc": "2.0", "id": ident, "error": "no such code"})
        return True
    if habit("wrapped-error", method):
        send({"jsonrpc": "2.0", "id": ident, "result": {"error": {"code": -32005, "message": "Task not found"}}})
        return True
    if habit("null-id", method):
        send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error: x"}})
        return True
    if habit("null", method):
        send({"jsonrpc": "2.0", "id": ident, "result": None})
        return True
    if habit("odd-shape", method):
        send({"jsonrpc": "2.0", "id": ident, "result": {"matches": "maybe", "id": 7}})
        return True
    if habit("long", method):
        sys.stdout.write('{"jsonrpc": "2.0", "id": %d, "result": {"content": "' % ident)
        for _ in range(100):
            sys.stdout.write("x" * 1000000)
        say('"}}')
        return True
    if habit("flood-stdout", method):
        while True:
            say("nothing to see here")
    if habit("flood-stderr", method):
        for number in range(200000):
            sys.stderr.write("complaint number %d\n" % number)
        sys.stderr.flush()
    if habit("asks", method):
        send({"jsonrpc": "2.0", "id": 9001, "method": "host.read", "params": {"path": "/etc/passwd"}})
        note("answers.log", sys.stdin.readline().strip())
    code = habit("code", method)
    if code:
        raise Failure(int(code[0]), "as told", {"why": "because"})
    if habit("rate", method):
        TRIES[method] = TRIES.get(method, 0) + 1
        if TRIES[method] <= int(habit("rate", method)[0]):
            raise Failure(-32004, "slow down", {"retry_after": 0.01})
    if habit("picky", method) and ("workUnitId" in request["params"] or "workUnit" in request["params"]):
        raise Failure(-32602, "Invalid params: unknown key")
    if habit("fork", method):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        note("child.pid", str(child.pid))
    return False


def main():
    note("starts.log", "%d %s %s" % (os.getpid(), os.getcwd(), os.environ.get("PLUGIN_TOKEN", "-")))
    if habit("mutter"):
        sys.stderr.write("muttering\n")
        sys.stderr.flush()
    if habit("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        line = read()
        if not line:
            if habit("stubborn"):
                time.sleep(600)
            break
        if not line.strip():
            raise SystemExit("a blank line")
        request = json.loads(line)
        try:
            if misbehave(request):
                continue
            result = handle(request["method"], request.get("params", {}))
            if result is LATE:
                continue
            said = habit("result", request["method"])
            if said:
                result = json.loads(":".join(said))
            send({"jsonrpc": "2.0", "id": request["id"], "result": result})
        except Failure as failure:
            send({"jsonrpc": "2.0", "id": request["id"], "error": failure.error})
        except KeyError as missing:
            error = {"code": -32602, "message": "Invalid params: %s is missing" % missing}
            send({"jsonrpc": "2.0", "id": request["id"], "error": error})
        if request["method"] == "shutdown" and not habit("unschooled") and not habit("stubborn"):
            note("left.log", "after shutdown")
            break
        if habit("once", request["method"]):
            break


main()
