"""Three plugins in one: a provider of tasks, an agent that does them, and a workflow that wants them approved.

Which one it is follows from the methods it is asked for. What it is asked is noted in `asked.log` beside it. Its arguments are habits:
`hang-WHERE` hangs there, the first time only, and leaves a file `hung` with its process id; `die-fetch` dies when it is asked for an item, `die-run` when it is to work; `ask` asks a
person before it plans. Standard library only.
"""
import json
import os
import sys
import time

HABITS = sys.argv[1:]
PLAN = "# Summary\n\nGreet people by name.\n\n# Details\n\nWrite `greeting.txt`."
QUESTION = {
    "question": "In which language?",
    "options": [{"label": "English"}, {"label": "French", "description": "as at court"}],
}
ITEM = {
    "id": "7",
    "externalId": "7",
    "externalKey": "DEMO-7",
    "taskType": "feature",
    "provider": "forge",
    "title": "Greet people",
    "description": "Say hello to whoever comes.",
    "status": "open",
    "priority": 2,
    "labels": ["friendly"],
    "source": {"reference": "https://forge.example/7"},
}


class Failure(Exception):
    pass


def note(text):
    with open("asked.log", "a") as out:
        out.write(f"{text}\n")


def hang(where):
    if f"hang-{where}" in HABITS and not os.path.exists("hung"):
        sys.stderr.write(f"waiting in {where}\n")
        sys.stderr.flush()
        with open("hung.new", "w") as out:
            out.write(str(os.getpid()))
        os.rename("hung.new", "hung")
        time.sleep(1000)


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def stream(kind, data):
    send({"jsonrpc": "2.0", "method": "stream", "params": {"type": kind, "data": data}})


def provider(method, params):
    note(method)
    if method == "provider.init":
        return {"capabilities": ["read", "list", "snapshot"]}
    if method == "provider.match":
        return {"matches": params["input"].startswith("https://forge.example/")}
    if method == "provider.parse":
        return {"id": params["input"].removeprefix("https://forge.example/").removeprefix("forge:")}
    if method == "provider.list":
        return {"items": [ITEM], "total": 1, "hasMore": False}
    if params.get("id") != "7":
        raise Failure(-32005, "there is no such item")
    if method == "provider.fetch":
        hang("fetch")
        if "die-fetch" in HABITS:
            sys.stderr.write("the forge is cold\n")
            sys.stderr.flush()
            os._exit(3)
        return ITEM
    if method == "provider.snapshot":
        return {"content": "# Greet people\n\nSay hello to whoever comes.\n"}
    return None


def ask_person():
    stream("text", "I looked around.")
    stream("tool_use", {"id": "q1", "name": "AskUserQuestion", "input": {"questions": [QUESTION]}})
    given = json.loads(sys.stdin.readline())
    note(given["method"])
    send({"jsonrpc": "2.0", "id": given["id"], "result": {"acknowledged": True}})


def run(params):
    if "die-run" in HABITS:
        sys.stderr.write("the coder is tired\nand leaves\n")
        sys.stderr.flush()
        os._exit(3)
    # What was said before comes first.
    prompt = params["prompt"].rsplit("# What to do now", 1)[-1]
    if "Plan this task" in prompt:
        answer = prompt.partition("In which language?\n\n")[2].strip()
        note(f"plans in {answer}" if answer else "plans")
        hang("plan")
        if "ask" in HABITS and not answer:
            ask_person()
        else:
            stream("text", PLAN)
    elif "Implement this specification" in prompt:
        note("implements")
        hang("implement")
        stream("file", {"path": "greeting.txt", "operation": "create", "content": "Hello, you!\n"})
        stream("text", "I wrote the greeting.")
    else:
        note("reviews")
        hang("review")
        stream("text", "There are no faults.")
    stream("complete", None)
    return {"status": "complete", "tokens_used": 3}


def workflow(method, params):
    if method == "workflow.init":
        return {
            "phases": [{"name": "approval", "description": "Somebody approves", "after": "reviewing"}],
            "guards": [{"name": "approvalGiven"}],
            "effects": [{"name": "notify"}],
        }
    context = params["context"]
    if method == "workflow.evaluateGuard":
        approved = (context.get("metadata") or {}).get("approved") is True
        note(f"guard {params['guard']}: {approved}")
        hang("guard")
        return {"allowed": approved, "reason": "nobody approved it"}
    if method == "workflow.executeEffect":
        note(f"effect {params['effect']}: {context.get('event')} {context.get('phase')}")
        hang("effect")
        return {"success": True}
    return None


def answer(method, params):
    if method == "ping":
        return {"pong": True}
    if method == "shutdown":
        return {"status": "shutting_down"}
    if method == "agent.init":
        return {"capabilities": ["streaming"]}
    if method == "agent.available":
        return {"available": True}
    if method == "agent.run":
        return run(params)
    return provider(method, params) if method.startswith("provider.") else workflow(method, params)


for line in sys.stdin:
    request = json.loads(line)
    reply = {"jsonrpc": "2.0", "id": request.get("id")}
    try:
        result = answer(request["method"], request.get("params") or {})
        if result is None:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        else:
            reply["result"] = result
    except Failure as failure:
        code, message = failure.args
        reply["error"] = {"code": code, "message": message}
    if "id" in request:
        send(reply)
    if request["method"] == "shutdown":
        break
