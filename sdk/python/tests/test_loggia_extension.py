"""Tests of the kit for extensions: frames in, frames out. Run with `python3 -m unittest discover -s sdk/python/tests`."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

KIT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(KIT))

import loggia_extension as kit  # noqa: E402


class Host:
    """A host that speaks to an extension on threads of its own."""

    def __init__(self, extension):
        inward, self._input = os.pipe()
        self._output, outward = os.pipe()
        self.output = os.fdopen(self._output, "rb")
        reader, writer = os.fdopen(inward, "rb"), os.fdopen(outward, "wb")

        def serve():
            extension.run(reader, writer)
            writer.close()

        self.thread = threading.Thread(target=serve, daemon=True)
        self.thread.start()

    def raw(self, data):
        os.write(self._input, data)

    def say(self, message):
        body = message if isinstance(message, bytes) else json.dumps(dict({"jsonrpc": "2.0"}, **message)).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def hear(self):
        header = self.output.readline()
        if not header:
            return None
        assert header.startswith(b"Content-Length: "), header
        assert self.output.readline() == b"\r\n"
        body = self.output.read(int(header.split(b":")[1]))
        assert body.isascii(), body
        return json.loads(body)

    def call(self, ident, method, params=None):
        self.say({"id": ident, "method": method, "params": params or {}})
        return self.hear()

    def begin(self):
        return self.call(1, "initialize", {"hermesVersion": "0.1.0", "apiVersion": "1.0", "dataDirectory": "/nowhere"})

    def give(self, command):
        self.say({"method": "command/execute", "params": {"command": command}})

    def answer(self, request, result):
        self.say({"id": request["id"], "result": result})

    def end(self):
        os.close(self._input)
        rest = self.hear()
        self.thread.join(30)
        return rest


def extension(**more):
    return kit.Extension("Test", "1.2.3", **more)


def one_command(function):
    made = extension()
    made.command("go")(function)
    host = Host(made)
    host.begin()
    host.give("go")
    return host


class Handshake(unittest.TestCase):
    def test_the_least_there_is(self):
        host = Host(extension())
        self.assertEqual(host.begin(), {"jsonrpc": "2.0", "id": 1, "result": {
            "name": "Test", "version": "1.2.3", "capabilities": {"commands": []}}})
        self.assertIsNone(host.end())

    def test_all_there_is(self):
        made = extension(description="d", authors=["a"], homepage="https://x/", schema={"segments": {}})
        made.command("a", label="A", icon="<svg/>", group="g")(lambda host: None)
        made.command("b")(lambda host: None)
        made.opened(lambda host, event: None)
        made.changed("json")(lambda host, event: None)
        result = Host(made).begin()["result"]
        self.assertEqual(result["capabilities"], {
            "commands": ["a", "b"], "schemaProvider": True, "events": [
                {"name": "message/opened"},
                {"name": "message/changed", "options": {"includeContent": True, "format": "json"}}]})
        self.assertEqual(result["toolbarButtons"], [
            {"id": "a", "label": "A", "icon": "<svg/>", "command": "a", "group": "g"}])
        self.assertEqual((result["description"], result["authors"], result["homepage"], result["schema"]),
                         ("d", ["a"], "https://x/", {"segments": {}}))

    def test_mistakes_of_authors_are_told_at_once(self):
        with self.assertRaises(ValueError):
            kit.Extension(" ")
        made = extension()
        made.command("a")(lambda host: None)
        with self.assertRaises(ValueError):
            made.command("a")(lambda host: None)


class Envelope(unittest.TestCase):
    def test_only_two_methods_are_answered(self):
        host = Host(extension())
        host.begin()
        error = host.call("x", "editor/getMessage")
        self.assertEqual((error["id"], error["error"]["code"]), ("x", -32601))
        host.say({"method": "message/opened", "params": {"isNew": True}})
        host.say({"method": "nonsense"})
        host.say({"id": 77, "result": {}})
        self.assertEqual(host.call(2, "shutdown", {"reason": "closing"})["result"], {"success": True})
        host.thread.join(30)
        self.assertIsNone(host.hear())

    def test_what_is_no_message_is_told_and_harms_nothing(self):
        host = Host(extension())
        for body, code in ((b"{", -32700), (b"\xff\xfe", -32700), (b"7", -32600), (b"[]", -32600), (b"{}", -32600),
                           (b'{"jsonrpc":"2.0","id":3,"method":4}', -32600)):
            host.say(body)
            self.assertEqual(host.hear()["error"]["code"], code, body)
        self.assertIn("result", host.begin())
        self.assertIsNone(host.end())

    def test_headers_of_all_kinds_are_read(self):
        host = Host(extension())
        body = b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{}}'
        for header in (b"content-length:%d\n\n", b"X: y\r\nContent-Length: %d\r\n\r\n", b"\r\nContent-Length: %d\r\r\n\r\r\n"):
            host.raw(header % len(body) + body)
            self.assertEqual(host.hear()["error"]["code"], -32601)
        self.assertIsNone(host.end())

    def test_it_ends_with_its_input_also_in_the_middle_of_a_frame(self):
        host = Host(extension())
        host.begin()
        host.raw(b"Content-Length: 100\r\n\r\n{")
        self.assertIsNone(host.end())
        self.assertFalse(host.thread.is_alive())


class Asking(unittest.TestCase):
    def check(self, function, method, params, result, expected):
        """A command that asks one thing: what it asks, and what it makes of the answer."""
        got = []
        host = one_command(lambda host: got.append(function(host)))
        request = host.hear()
        self.assertEqual((request["id"], request["method"], request["params"]), (1, method, params))
        host.answer(request, result)
        host.end()
        self.assertEqual(got, [expected])

    def test_every_request(self):
        self.check(lambda host: host.get_message("json"), "editor/getMessage", {"format": "json"},
                   {"message": "é", "hasFile": True, "filePath": "/a"}, kit.Message("é", True, "/a"))
        self.check(lambda host: host.set_message("MSH|"), "editor/setMessage", {"message": "MSH|", "format": "hl7"},
                   {"success": True}, None)
        errors = [{"index": 1, "path": "X.1", "message": "no"}]
        self.check(lambda host: host.patch([kit.Patch("A.1", "v"), kit.Patch("X.1"), kit.Patch("NK1", create=True)]),
                   "editor/patchMessage",
                   {"patches": [{"path": "A.1", "value": "v"}, {"path": "X.1"}, {"path": "NK1", "create": True}]},
                   {"success": False, "patchesApplied": 2, "errors": errors}, kit.Patched(False, 2, errors))
        self.check(lambda host: host.patch({"A.1": "v", "B.2": None}), "editor/patchMessage",
                   {"patches": [{"path": "A.1", "value": "v"}, {"path": "B.2"}]},
                   {"success": True, "patchesApplied": 2}, kit.Patched(True, 2))
        self.check(lambda host: host.show_message("m", "t", "error"), "ui/showMessage",
                   {"message": "m", "title": "t", "kind": "error"}, {"acknowledged": True}, None)
        self.check(lambda host: host.confirm("m", buttons="okCancel"), "ui/showConfirm",
                   {"message": "m", "buttons": "okCancel"}, {"confirmed": True}, True)
        filters = {"filters": [{"name": "HL7", "extensions": ["hl7"]}]}
        self.check(lambda host: host.open_file("t", "/d", {"HL7": ["hl7"]}), "ui/openFile",
                   dict(filters, title="t", defaultPath="/d"), {"path": "/a"}, "/a")
        self.check(lambda host: host.open_file(), "ui/openFile", {}, {"path": None}, None)
        self.check(lambda host: host.open_files(), "ui/openFiles", {}, {"paths": ["/a", "/b"]}, ["/a", "/b"])
        self.check(lambda host: host.save_file(default_name="n"), "ui/saveFile", {"defaultName": "n"}, {"path": "/a"}, "/a")
        self.check(lambda host: host.select_directory("t"), "ui/selectDirectory", {"title": "t"}, {"path": None}, None)
        self.check(lambda host: host.open_window("http://x/", "t", 1, 2, True, False), "ui/openWindow",
                   {"url": "http://x/", "title": "t", "width": 1, "height": 2, "modal": True, "resizable": False},
                   {"windowId": "w"}, "w")
        self.check(lambda host: host.close_window("w"), "ui/closeWindow", {"windowId": "w"}, {"success": True}, None)

    def test_refusals_are_raised(self):
        got = []

        def go(host):
            for ask in (lambda: host.get_message("yaml"), lambda: host.set_message("x")):
                try:
                    ask()
                except kit.HostError as error:
                    got.append((error.code, error.message))

        host = one_command(go)
        host.say({"id": host.hear()["id"], "error": {"code": kit.NO_MESSAGE, "message": "none"}})
        host.answer(host.hear(), {"success": False, "error": "no MSH"})
        host.end()
        self.assertEqual(got, [(-32003, "none"), (-32004, "no MSH")])

    def test_answers_are_matched_by_their_ids_whatever_comes_between(self):
        got = []

        def go(host):
            second = threading.Thread(target=lambda: got.append(("second", host.confirm("b"))))
            second.start()
            got.append(("first", host.confirm("a")))
            second.join()

        host = one_command(go)
        requests = {request["params"]["message"]: request for request in (host.hear(), host.hear())}
        host.say({"method": "window/closed", "params": {"windowId": "w"}})
        self.assertEqual(host.call("z", "nothing")["id"], "z")
        host.answer(requests["b"], {"confirmed": False})
        host.answer(requests["a"], {"confirmed": True})
        host.end()
        self.assertEqual(sorted(got), [("first", True), ("second", False)])

    def test_a_command_that_waits_ends_with_the_host(self):
        got = []

        def go(host):
            try:
                host.confirm("?")
            except kit.HostGone:
                got.append("gone")
                raise

        host = one_command(go)
        host.hear()
        host.end()
        self.assertEqual(got, ["gone"])


class Events(unittest.TestCase):
    def test_events_come_one_after_another_and_changes_as_one(self):
        made, got, go_on = extension(), [], threading.Event()
        made.opened(lambda host, event: (got.append(event), go_on.wait(30)))
        made.saved(lambda host, event: got.append(event))
        made.changed("hl7")(lambda host, event: got.append(event))
        done = threading.Event()
        made.window_closed(lambda host, window, reason: (got.append((window, reason)), done.set()))
        host = Host(made)
        host.begin()
        host.say({"method": "message/opened", "params": {"isNew": False, "filePath": "/a"}})
        for text in ("1", "2"):
            params = {"hasFile": True, "filePath": "/a", "message": text, "format": "hl7"}
            host.say({"method": "message/changed", "params": params})
            host.say({"method": "message/saved", "params": {"filePath": "/a", "saveAs": True}})
        host.say({"method": "window/closed", "params": {"windowId": "w"}})
        host.call(9, "nothing")  # All of it is read when this is answered.
        go_on.set()
        self.assertTrue(done.wait(30))
        saved = kit.Saved("/a", True)
        self.assertEqual(got, [kit.Opened(False, "/a"), saved, kit.Changed(True, "/a", "2", "hl7"), saved, ("w", "unknown")])
        host.end()


class Programs(unittest.TestCase):
    def start(self, source, directory):
        program = Path(directory) / "program.py"
        program.write_text(source)
        environment = dict(os.environ, PYTHONPATH=str(KIT), PYTHONDONTWRITEBYTECODE="1")
        return subprocess.Popen([sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=environment)

    def talk(self, source, *messages):
        with tempfile.TemporaryDirectory() as directory:
            program = self.start(source, directory)
            frames = b""
            for message in messages:
                body = json.dumps(dict({"jsonrpc": "2.0"}, **message)).encode()
                frames += b"Content-Length: %d\r\n\r\n" % len(body) + body
            out, err = program.communicate(frames, timeout=60)
            return program.returncode, out, err.decode()

    INITIALIZE = {"id": 1, "method": "initialize", "params": {}}
    GO = {"method": "command/execute", "params": {"command": "go"}}
    SHUTDOWN = {"id": 2, "method": "shutdown", "params": {"reason": "closing"}}
    HEAD = "from loggia_extension import *\nimport sys, time, threading\nextension = Extension('Loud')\n"

    def test_what_is_printed_does_not_reach_the_host(self):
        source = self.HEAD + (
            "@extension.command('go')\ndef go(host):\n    print('hello')\n    sys.stdout.flush()\n    log('careful', 'warn')\n"
            "    raise ValueError('as told')\n"
            "@extension.leaving\ndef leaving(host, reason):\n    time.sleep(0.2)\n    log(reason)\nextension.run()\n")
        code, out, err = self.talk(source, self.INITIALIZE, self.GO, self.SHUTDOWN)
        self.assertEqual(code, 0, err)
        self.assertNotIn(b"hello", out)
        for words in ("hello", "[warn] careful", "[error] ValueError: as told", "[info] closing"):
            self.assertIn(words, err)
        self.assertTrue(out.endswith(b'{"jsonrpc": "2.0", "id": 2, "result": {"success": true}}'), out)

    def test_a_program_leaves_when_it_is_told_whatever_its_threads_do(self):
        source = self.HEAD + ("@extension.command('go')\ndef go(host):\n    time.sleep(1000)\n"
                              "threading.Thread(target=time.sleep, args=(1000,)).start()\nextension.run()\n")
        self.assertEqual(self.talk(source, self.INITIALIZE, self.GO, self.SHUTDOWN)[0], 0)
        self.assertEqual(self.talk(source, self.INITIALIZE, self.GO)[0], 0)

    def test_leaving_may_ask_the_host(self):
        source = self.HEAD + ("@extension.leaving\ndef leaving(host, reason):\n    host.close_window('w')\n    log('closed')\n"
                              "extension.run()\n")
        answer = {"id": 1, "result": {"success": True}}
        code, _, err = self.talk(source, self.INITIALIZE, self.SHUTDOWN, answer)
        self.assertEqual(code, 0, err)

    def test_data_is_kept_in_a_directory_of_its_own(self):
        made = kit.Extension("Größe / ../x")
        with tempfile.TemporaryDirectory() as directory:
            made._shared_directory = directory
            place = made.data_directory
            self.assertTrue(place.is_dir() and place.parent == Path(directory), place)


if __name__ == "__main__":
    unittest.main()
