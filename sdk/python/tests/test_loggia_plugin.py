"""Tests of the kit: lines in, lines out. Run with `python3 -m unittest discover -s sdk/python/tests`."""

import io
import json
import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path

KIT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(KIT))

import loggia_plugin as kit  # noqa: E402


def request(ident, method, params=None, **more):
    message = {"jsonrpc": "2.0", "id": ident, "method": method, "params": {} if params is None else params}
    message.update(more)
    return json.dumps(message)


def talk(plugin, *lines):
    """What a plugin says to these lines, until its input ends."""
    out = io.BytesIO()
    kit.serve(plugin, io.BytesIO("".join(line + "\n" for line in lines).encode("utf-8")), out)
    return [json.loads(line) for line in out.getvalue().decode("ascii").splitlines()]


def ask(plugin, method, params=None):
    """The result of one call, or its error."""
    (answer,) = talk(plugin, request(1, method, params))
    assert answer["jsonrpc"] == "2.0" and answer["id"] == 1, answer
    return answer["result"] if "result" in answer else answer["error"]


class Shop(kit.Provider):
    name = "shop"
    schemes = ["shop"]

    def fetch(self, id):
        if id == "broken":
            raise ValueError("as told")
        if id == "nan":
            return {"id": "nan", "priority": float("nan")}
        if id != "1":
            raise kit.NotFound("there is no task `%s`" % id, data={"id": id})
        return kit.WorkUnit(id="1", title="Sweep", external_key="S-1", labels=["floor"], reference="shop:1")

    def list(self, filter, limit, offset):
        return [{"id": str(number), "title": "t"} for number in range(5)][offset:offset + limit], 5


class Envelope(unittest.TestCase):
    def test_every_request_gets_its_answer_in_order(self):
        answers = talk(Shop(), request("a", "provider.init"), "", request(0, "provider.match", {"input": "shop:1"}))
        self.assertEqual([answer["id"] for answer in answers], ["a", 0])
        self.assertEqual(answers[1]["result"], {"matches": True})

    def test_what_is_no_request_is_told_and_harms_nothing(self):
        answers = talk(Shop(), "{", "[1]", "7", '{"id": 3}', request(4, "ping"))
        self.assertEqual([answer.get("error", {}).get("code") for answer in answers],
                         [-32700, -32600, -32600, -32600, None])
        self.assertEqual([answer["id"] for answer in answers], [None, None, None, 3, 4])

    def test_bytes_that_are_no_text_are_told(self):
        out = io.BytesIO()
        kit.serve(Shop(), io.BytesIO(b"\xff\xfe\n"), out)
        self.assertEqual(json.loads(out.getvalue().decode())["error"]["code"], -32700)

    def test_answers_and_notifications_of_a_host_are_not_answered(self):
        self.assertEqual(talk(Shop(), '{"jsonrpc":"2.0","id":1,"result":{}}',
                              '{"jsonrpc":"2.0","method":"provider.match","params":{"input":"x"}}'), [])

    def test_unknown_methods_are_refused(self):
        self.assertEqual(ask(Shop(), "provider.dance"), {"code": -32601, "message": "Method not found: provider.dance"})
        self.assertEqual(ask(Shop(), "agent.run", {"prompt": "x"})["code"], -32601)

    def test_params_may_be_missing_or_null_and_must_be_an_object(self):
        self.assertEqual(ask(Shop(), "provider.fetch"), {"code": -32602, "message": "Invalid params: `id` is required"})
        self.assertEqual(ask(Shop(), "provider.fetch", {"id": 7})["code"], -32602)
        (answer,) = talk(Shop(), '{"id":1,"method":"provider.fetch","params":null}')
        self.assertEqual(answer["error"]["code"], -32602)
        (answer,) = talk(Shop(), '{"id":1,"method":"provider.fetch","params":[1]}')
        self.assertEqual(answer["error"]["code"], -32602)

    def test_shutdown_is_answered_and_nothing_after_it(self):
        answers = talk(Shop(), request(1, "shutdown"), request(2, "provider.match", {"input": "x"}))
        self.assertEqual(answers, [{"jsonrpc": "2.0", "id": 1, "result": {"status": "shutting_down"}}])

    def test_what_code_raises_is_an_internal_error(self):
        told, sys.stderr = sys.stderr, io.StringIO()
        try:
            self.assertEqual(ask(Shop(), "provider.fetch", {"id": "broken"}),
                             {"code": -32603, "message": "Internal error: as told"})
            self.assertIn("ValueError: as told", sys.stderr.getvalue())
        finally:
            sys.stderr = told

    def test_what_cannot_be_written_is_an_error_and_not_a_broken_line(self):
        self.assertEqual(ask(Shop(), "provider.fetch", {"id": "nan"})["code"], -32603)

    def test_every_error_has_its_code(self):
        codes = {
            kit.PluginError: -32000, kit.Unimplemented: -32001, kit.MissingCapability: -32002,
            kit.NotAuthenticated: -32003, kit.RateLimited: -32004, kit.NotFound: -32005, kit.InvalidInput: -32006,
            kit.MethodNotFound: -32601, kit.InvalidParams: -32602,
        }
        for error, code in codes.items():
            self.assertEqual(error("m").to_wire(), {"code": code, "message": "m"})
            self.assertTrue(error().message)
        self.assertEqual(kit.RateLimited("m", retry_after=2).to_wire()["data"], {"retry_after": 2})

        class Own(kit.PluginError):
            code = 7
        self.assertEqual(Own().to_wire(), {"code": 7, "message": "Plugin error"})


class Providers(unittest.TestCase):
    def test_what_is_written_is_what_it_can_do(self):
        self.assertEqual(ask(Shop(), "provider.init", {"config": {"a": 1}}), {"capabilities": ["read", "list"]})
        self.assertEqual(ask(kit.Provider("bare", ["bare"]), "provider.init"), {"capabilities": ["read"]})

    def test_a_provider_may_be_made_of_functions(self):
        shop = kit.Provider("shop", schemes=["shop"])

        @shop.handles("snapshot")
        def snapshot(id):
            return "# " + id

        self.assertEqual(ask(shop, "provider.init"), {"capabilities": ["read", "snapshot"]})
        self.assertEqual(ask(shop, "provider.snapshot", {"id": "1"}), {"content": "# 1"})
        with self.assertRaises(AttributeError):
            shop.handles("no_such_method")

    def test_schemes_are_matched_and_parsed(self):
        self.assertEqual(ask(Shop(), "provider.match", {"input": "SHOP:1"}), {"matches": False})
        self.assertEqual(ask(Shop(), "provider.parse", {"input": "shop:1:2"}), {"id": "1:2"})
        self.assertEqual(ask(Shop(), "provider.parse", {"input": "shop:"}), {"error": "`shop:` names no task"})

    def test_a_task_is_written_as_hosts_read_it(self):
        self.assertEqual(ask(Shop(), "provider.fetch", {"id": "1"}), {
            "id": "1", "title": "Sweep", "description": "", "externalKey": "S-1", "labels": ["floor"],
            "source": {"reference": "shop:1"}, "provider": "shop",
        })
        self.assertEqual(ask(Shop(), "provider.fetch", {"id": "2"}),
                         {"code": -32005, "message": "there is no task `2`", "data": {"id": "2"}})

    def test_lists_have_pages(self):
        page = ask(Shop(), "provider.list", {"limit": 2, "offset": 3})
        self.assertEqual([item["id"] for item in page["items"]], ["3", "4"])
        self.assertEqual((page["total"], page["hasMore"]), (5, False))
        self.assertTrue(ask(Shop(), "provider.list", {"limit": 2})["hasMore"])
        self.assertEqual(ask(Shop(), "provider.list", {"limit": "many"})["code"], -32602)
        self.assertEqual(ask(kit.Provider("x"), "provider.list")["code"], -32002)

    def test_both_spellings_are_read(self):
        heard = []

        class Tracker(kit.Provider):
            def add_comment(self, id, comment):
                heard.append((id, comment))

            def add_labels(self, id, labels):
                heard.append((id, labels))

        self.assertEqual(ask(Tracker("t"), "provider.addComment", {"id": "1", "comment": "a"}), None)
        ask(Tracker("t"), "provider.addComment", {"workUnitId": "1", "body": "b"})
        ask(Tracker("t"), "provider.addLabels", {"workUnitId": "1", "labels": ["x"]})
        self.assertEqual(heard, [("1", "a"), ("1", "b"), ("1", ["x"])])
        self.assertEqual(ask(Tracker("t"), "provider.addLabels", {"workUnitId": "1", "labels": "x"})["code"], -32602)

    def test_attachments_are_sent_as_base64(self):
        class Files(kit.Provider):
            def download_attachment(self, id, attachment):
                return b"\x00\xff"

        params = {"workUnitId": "1", "attachmentId": "2"}
        self.assertEqual(ask(Files("f"), "provider.downloadAttachment", params), {"content": "AP8="})

    def test_a_method_nobody_knows_can_be_added(self):
        shop = Shop()

        @shop.method("provider.dance")
        def dance(params):
            return params

        self.assertEqual(ask(shop, "provider.dance", {"a": "ä"}), {"a": "ä"})


class Talker(kit.Agent):
    name = "talker"
    model = "m"

    def run(self, run):
        if run.prompt == "fail":
            raise kit.PluginError("model is down")
        run.text("ü ")
        run.thinking("hm")
        run.file("a.txt", "x")
        run.delete("b.txt")
        run.usage(input_tokens=3, output_tokens=4, cached=1)
        run.ran("own", {"a": 1})


class Agents(unittest.TestCase):
    def run_of(self, agent, prompt):
        """All it says in a run. Its input stays open: the end of it would cancel the run."""
        host = Host(agent)
        host.say(request(1, "agent.run", {"prompt": prompt}))
        heard = [host.hear()]
        while "id" not in heard[-1]:
            heard.append(host.hear())
        host.end()
        return heard

    def test_an_agent_says_who_it_is_and_whether_it_is_ready(self):
        self.assertEqual(ask(Talker(), "agent.init"), {"name": "talker", "model": "m", "capabilities": ["streaming"]})
        self.assertEqual(ask(Talker(), "agent.available"), {"available": True})
        asleep = Talker()

        @asleep.handles("available")
        def available():
            raise kit.NotReady("no key")

        self.assertEqual(ask(asleep, "agent.available"), {"available": False, "reason": "no key", "error": "no key"})

    def test_a_run_streams_and_then_answers(self):
        *events, answer = self.run_of(Talker(), "go")
        self.assertTrue(all("id" not in event and event["method"] == "stream" for event in events))
        self.assertEqual([event["params"]["type"] for event in events],
                         ["text", "thinking", "file", "file", "usage", "tool_result", "complete"])
        self.assertEqual(events[0]["params"]["data"], "ü ")
        self.assertEqual(events[-1]["params"], {"type": "complete", "data": None})
        self.assertEqual(answer["result"], {"status": "complete", "tokens_used": 7})

    def test_a_run_that_fails_says_so_twice(self):
        event, answer = self.run_of(Talker(), "fail")
        self.assertEqual(event["params"], {"type": "error", "data": {"code": -32000, "message": "model is down"}})
        self.assertEqual(answer["error"], {"code": -32000, "message": "model is down"})

    def test_a_run_needs_a_prompt(self):
        self.assertEqual(ask(Talker(), "agent.run"), {"code": -32602, "message": "Invalid params: `prompt` is required"})

    def test_a_result_of_a_tool_is_delivered_while_the_agent_runs(self):
        class Reader(kit.Agent):
            def run(self, run):
                run.text(run.call("read_file", path="a") if run.offers("read_file") else "no tools")

        host = Host(Reader("reader"))
        host.say(request(1, "agent.run", {"prompt": "go", "tools": [{"name": "read_file", "input_schema": {}}]}))
        call = host.hear()["params"]
        self.assertEqual(call, {"type": "tool_use", "data": {"id": "call_1", "name": "read_file", "input": {"path": "a"}}})
        host.say(request(2, "ping"))
        self.assertEqual(host.hear(), {"jsonrpc": "2.0", "id": 2, "result": {"pong": True}})
        host.say(request(3, "agent.tool_result", {"tool_id": "call_9", "result": "x"}))
        self.assertEqual(host.hear()["result"], {"acknowledged": False})
        host.say(request(4, "agent.tool_result", {"tool_id": "call_1", "result": "text of a"}))
        heard = [host.hear() for _ in range(4)]
        self.assertEqual({"jsonrpc": "2.0", "id": 4, "result": {"acknowledged": True}} in heard, True)
        self.assertEqual([event["params"]["data"] for event in heard if "method" in event], ["text of a", None])
        host.end()

    def test_the_end_of_input_cancels_a_run(self):
        class Endless(kit.Agent):
            def run(self, run):
                run.text("working")
                run.call("read_file")

        host = Host(Endless("endless"))
        host.say(request(1, "agent.run", {"prompt": "go"}))
        self.assertEqual(host.hear()["params"]["data"], "working")
        host.hear()
        host.end()

    def test_a_result_for_nobody_is_not_acknowledged(self):
        self.assertEqual(ask(Talker(), "agent.tool_result", {"tool_id": "1", "result": "x"}), {"acknowledged": False})
        self.assertEqual(ask(Talker(), "agent.tool_result")["code"], -32602)


class Workflows(unittest.TestCase):
    def flow(self):
        flow = kit.Workflow("gate", phases=[kit.Phase("approval", "Look", after="reviewing")])

        @flow.guard("small", "Is it small?")
        def small(context):
            if "large" in context.get("labels", []):
                return kit.deny("it is large")
            return context.get("sure", True)

        @flow.effect("tell", "Tells", critical=True)
        def tell(context):
            if context.get("title") == "bad":
                raise kit.EffectFailed("no network")
            return "told of " + context.get("title", "it")

        return flow

    def test_what_it_adds_is_declared(self):
        self.assertEqual(ask(self.flow(), "workflow.init", {"config": {}}), {
            "phases": [{"name": "approval", "description": "Look", "after": "reviewing"}],
            "guards": [{"name": "small", "description": "Is it small?"}],
            "effects": [{"name": "tell", "description": "Tells", "critical": True}],
        })

    def test_guards_answer_in_both_spellings(self):
        check = lambda params: ask(self.flow(), "workflow.evaluateGuard", params)  # noqa: E731
        self.assertEqual(check({"guard": "small", "context": {}}), {"allowed": True, "passed": True})
        self.assertEqual(check({"name": "small", "workUnit": {"labels": ["large"]}}),
                         {"allowed": False, "passed": False, "reason": "it is large"})
        self.assertEqual(check({"guard": "other"})["code"], -32005)
        self.assertEqual(check({})["code"], -32602)
        self.assertEqual(check({"guard": "small", "context": {"sure": "perhaps"}})["code"], -32000)

    def test_effects_tell_what_they_did(self):
        check = lambda params: ask(self.flow(), "workflow.executeEffect", params)  # noqa: E731
        self.assertEqual(check({"effect": "tell", "context": {"title": "x"}}), {"success": True, "message": "told of x"})
        self.assertEqual(check({"name": "tell", "context": {"title": "bad"}}),
                         {"success": False, "message": "no network", "error": "no network"})
        self.assertEqual(check({"effect": "other"})["code"], -32005)


class Host:
    """A host that talks while the plugin works."""

    def __init__(self, plugin):
        there, back = os.pipe(), os.pipe()
        self.input, self.output = os.fdopen(there[1], "wb"), os.fdopen(back[0], "rb")
        streams = os.fdopen(there[0], "rb"), os.fdopen(back[1], "wb")

        def serve():
            with streams[0], streams[1]:
                kit.serve(plugin, *streams)

        self.thread = threading.Thread(target=serve)
        self.thread.start()

    def say(self, line):
        self.input.write(line.encode() + b"\n")
        self.input.flush()

    def hear(self):
        return json.loads(self.output.readline().decode())

    def end(self):
        self.input.close()
        self.thread.join(30)
        assert not self.thread.is_alive()
        self.output.close()


class Processes(unittest.TestCase):
    def test_a_plugin_leaves_well_after_shutdown_while_its_input_is_open(self):
        program = "import loggia_plugin as kit; kit.serve(kit.Provider('bare', ['bare']))"
        with subprocess.Popen(
            [sys.executable, "-B", "-c", program], cwd=str(KIT),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as plugin:
            plugin.stdin.write((request(1, "shutdown") + "\n").encode())
            plugin.stdin.flush()
            self.assertEqual(json.loads(plugin.stdout.readline().decode())["result"], {"status": "shutting_down"})
            self.assertEqual(plugin.wait(60), 0)
            self.assertEqual(plugin.stderr.read(), b"")

    def test_long_lines_arrive_whole(self):
        program = "import loggia_plugin as kit; kit.serve(kit.Provider('bare', ['bare']))"
        text = "ü" * 300000
        ran = subprocess.run(
            [sys.executable, "-B", "-c", program], cwd=str(KIT), timeout=60, stdout=subprocess.PIPE,
            input=(request(1, "provider.parse", {"input": text}) + "\n" + request(2, "ping")).encode(),
        )
        first, second = (json.loads(line) for line in ran.stdout.decode().splitlines())
        answers = {answer["id"]: answer["result"] for answer in (first, second)}
        self.assertEqual(answers, {1: {"id": text}, 2: {"pong": True}})

    def test_prints_and_children_do_not_reach_the_host(self):
        program = "\n".join([
            "import os, subprocess, sys",
            "import loggia_plugin as kit",
            "class Noisy(kit.Provider):",
            "    def fetch(self, id):",
            "        print('a stray print')",
            "        sys.stdout.flush()",
            "        subprocess.run([sys.executable, '-c', 'print(\"a stray child\")'], check=True)",
            "        return kit.WorkUnit(id=id, title='ü')",
            "kit.serve(Noisy('noisy'))",
        ])
        ran = subprocess.run(
            [sys.executable, "-c", program], cwd=str(KIT), timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            input=(request(1, "provider.fetch", {"id": "1"}) + "\n").encode(),
            env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
        )
        (line,) = ran.stdout.decode().splitlines()
        self.assertEqual(json.loads(line)["result"]["title"], "ü")
        self.assertIn("a stray print", ran.stderr.decode())
        self.assertIn("a stray child", ran.stderr.decode())
        self.assertEqual(ran.returncode, 0)


if __name__ == "__main__":
    unittest.main()
