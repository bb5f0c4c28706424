"""Write Hermes extensions in Python: one file, standard library only, Python 3.8 or newer.

An extension is a program that a host starts and speaks to over its standard streams. It adds commands, works on the message
that is open there, shows dialogs and windows, and hears of what happens to the message. This file is all that stands between
your code and the wire. Copy it beside your program.

    from loggia_extension import Extension

    extension = Extension("Shout", "1.0.0")

    @extension.command("shout/name", label="Write the name large")
    def shout(host):
        message = host.get_message("hl7")
        host.patch({"PID.5.1": message.text.upper()[:3]})
        host.show_message("Done")

    if __name__ == "__main__":
        extension.run()

What always holds:
- nothing is said before the host has said `initialize`, and only `initialize` and `shutdown` are answered;
- commands and events run one after another on a thread of their own, so that answers are read while they wait;
- what you print does not reach the host: while `run` runs, standard output is standard error;
- the program ends when the host asks it to (`shutdown`), after `@extension.leaving`, or closes its input.
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import sys
import threading
import traceback
from typing import Any, BinaryIO, Callable, Deque, Dict, Iterable, List, Optional, Union

__all__ = ["Changed", "Extension", "Host", "HostError", "HostGone", "Message", "Opened", "Patch", "Patched", "Saved", "log"]

__version__ = "0.1.0"

#: The largest message that other hosts take.
_MAX_FRAME = 10 * 1024 * 1024

#: Events and commands that wait for a handler to end. Of more the oldest are dropped, with a warning: the thread that
#: reads never waits, because what a handler waits for comes through it.
_MAX_WAITING = 1000

#: How long hosts wait for an answer to `shutdown`, in seconds.
_GOODBYE = 5

Json = Dict[str, Any]

NO_MESSAGE = -32003
INVALID_MESSAGE = -32004
INVALID_PATH = -32005
PATH_NOT_FOUND = -32006
INVALID_URL = -32007
WINDOW_ERROR = -32008
DIALOG_ERROR = -32012


class HostError(Exception):
    """The host refused. Look at `code`; the message is for people."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class HostGone(Exception):
    """The host has closed our input: there is nobody to ask any more. Let it pass."""


def log(text: Any, level: str = "info") -> None:
    """Says something for people: `info`, `warn` or `error`. Hosts keep it in the extension's log."""
    for line in str(text).splitlines() or [""]:
        print("[%s] %s" % (level, line), file=sys.stderr, flush=True)


@dataclasses.dataclass
class Message:
    """The message that is open."""

    text: str
    has_file: bool = False
    file_path: Optional[str] = None

    def segments(self) -> List[str]:
        """Its lines, where it is HL7."""
        return [line for line in re.split("\r\n|\r|\n", self.text) if line]


@dataclasses.dataclass
class Patch:
    """A change of one place: `PID.5.1`, `OBX[2].5`, `NK1`. Without a value it is cleared."""

    path: str
    value: Optional[str] = None
    #: Takes a segment out.
    remove: bool = False
    #: Puts a segment in.
    create: bool = False

    def to_wire(self) -> Json:
        fields = {"path": self.path}  # type: Json
        if self.value is not None:
            fields["value"] = self.value
        for name in ("remove", "create"):
            if getattr(self, name):
                fields[name] = True
        return fields


@dataclasses.dataclass
class Patched:
    """What became of patches."""

    success: bool
    applied: int
    #: `{"index", "path", "message"}` for each that did not apply.
    errors: List[Json] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Opened:
    """A message was opened, or begun."""

    is_new: bool
    file_path: Optional[str] = None


@dataclasses.dataclass
class Saved:
    """The message was written to its file."""

    file_path: str
    #: Whether that is another file than before.
    save_as: bool = False


@dataclasses.dataclass
class Changed:
    """The message is another one. You hear of your own changes, too: do not answer each with another."""

    has_file: bool = False
    file_path: Optional[str] = None
    #: Only if you asked for it.
    text: Optional[str] = None
    format: Optional[str] = None


class Host:
    """The host, to a command or an event. All methods wait for its answer and raise `HostError` if it refuses."""

    def __init__(self, wire: "_Wire") -> None:
        self._wire = wire

    def get_message(self, format: str = "hl7") -> Message:
        """The open message as `hl7`, `json`, `yaml` or `toml`. As `hl7` it is empty if none is open."""
        result = self.ask("editor/getMessage", {"format": format})
        return Message(result["message"], bool(result.get("hasFile")), result.get("filePath"))

    def set_message(self, text: str, format: str = "hl7") -> None:
        """Puts another message in its place."""
        result = self.ask("editor/setMessage", {"message": text, "format": format})
        if not result.get("success"):
            raise HostError(INVALID_MESSAGE, result.get("error") or "the host did not take the message")

    def patch(self, patches: Union[Dict[str, Optional[str]], Iterable[Patch]]) -> Patched:
        """Changes single places, in order: `{path: value}`, or a list of `Patch`. Those that do not apply are told."""
        if isinstance(patches, dict):
            patches = [Patch(path, value) for path, value in patches.items()]
        result = self.ask("editor/patchMessage", {"patches": [patch.to_wire() for patch in patches]})
        return Patched(bool(result["success"]), int(result["patchesApplied"]), result.get("errors") or [])

    def show_message(self, message: str, title: Optional[str] = None, kind: str = "info") -> None:
        """Shows something until it is seen: `info`, `warning` or `error`."""
        self.ask("ui/showMessage", _given(message=message, title=title, kind=kind))

    def confirm(self, message: str, title: Optional[str] = None, buttons: str = "yesNo") -> bool:
        """Asks a question with two answers: `yesNo` or `okCancel`."""
        return bool(self.ask("ui/showConfirm", _given(message=message, title=title, buttons=buttons))["confirmed"])

    def open_file(self, title: Optional[str] = None, default_path: Optional[str] = None,
                  filters: Optional[Dict[str, List[str]]] = None) -> Optional[str]:
        """Lets somebody choose a file; nothing if that was cancelled. Filters are names with endings without dots."""
        return self.ask("ui/openFile", _given(title=title, defaultPath=default_path, filters=_filters(filters)))["path"]

    def open_files(self, title: Optional[str] = None, default_path: Optional[str] = None,
                   filters: Optional[Dict[str, List[str]]] = None) -> Optional[List[str]]:
        """Lets somebody choose files; nothing if that was cancelled."""
        return self.ask("ui/openFiles", _given(title=title, defaultPath=default_path, filters=_filters(filters)))["paths"]

    def save_file(self, title: Optional[str] = None, default_path: Optional[str] = None,
                  default_name: Optional[str] = None, filters: Optional[Dict[str, List[str]]] = None) -> Optional[str]:
        """Lets somebody choose where to save; nothing if that was cancelled. Writing the file is yours."""
        return self.ask("ui/saveFile", _given(title=title, defaultPath=default_path, defaultName=default_name,
                                              filters=_filters(filters)))["path"]

    def select_directory(self, title: Optional[str] = None, default_path: Optional[str] = None) -> Optional[str]:
        """Lets somebody choose a directory; nothing if that was cancelled."""
        return self.ask("ui/selectDirectory", _given(title=title, defaultPath=default_path))["path"]

    def open_window(self, url: str, title: str, width: Optional[int] = None, height: Optional[int] = None,
                    modal: bool = False, resizable: bool = True) -> str:
        """Shows a page of yours, over http or https; the window's id. Serve it on 127.0.0.1, on a port that is free."""
        params = _given(url=url, title=title, width=width, height=height, modal=modal, resizable=resizable)
        return self.ask("ui/openWindow", params)["windowId"]

    def close_window(self, window: str) -> None:
        """Closes a window of yours."""
        self.ask("ui/closeWindow", {"windowId": window})

    def ask(self, method: str, params: Json) -> Json:
        """Any other request; its result."""
        return self._wire.ask(method, params)


def _given(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


def _filters(filters: Optional[Dict[str, List[str]]]) -> Optional[List[Json]]:
    if filters is None:
        return None
    return [{"name": name, "extensions": list(endings)} for name, endings in filters.items()]


Handler = Callable[..., Any]


class Extension:
    """What your extension is. Decorate functions with its commands and events, then call `run`."""

    def __init__(self, name: str, version: str = "0.1.0", description: Optional[str] = None,
                 authors: Iterable[str] = (), homepage: Optional[str] = None, schema: Optional[Json] = None) -> None:
        if not name.strip():
            raise ValueError("an extension needs a name")
        self.name = name
        self.version = version
        self.description = description
        self.authors = list(authors)
        self.homepage = homepage
        #: What it lays over the schema: `{"segments": {"PID": {"fields": [{"field": 3, "required": True}]}}}`.
        self.schema = schema
        #: What the host said about itself; filled before anything runs.
        self.host_version = ""
        self._shared_directory = ""
        self._commands = {}  # type: Dict[str, Handler]
        self._buttons = []  # type: List[Json]
        self._events = {}  # type: Dict[str, Handler]
        self._subscriptions = []  # type: List[Json]
        self._leaving = None  # type: Optional[Handler]

    def command(self, id: str, label: Optional[str] = None, icon: Optional[str] = None,
                group: Optional[str] = None) -> Callable[[Handler], Handler]:
        """Decorates a function that is run for a command. With a label it has a button; `icon` is SVG."""

        def keep(function: Handler) -> Handler:
            if id in self._commands:
                raise ValueError("there are two commands `%s`" % id)
            self._commands[id] = function
            if label is not None:
                button = {"id": id, "label": label, "icon": icon or _ICON, "command": id}
                self._buttons.append(dict(button, **_given(group=group)))
            return function

        return keep

    def opened(self, function: Handler) -> Handler:
        """Decorates a function that hears of opened messages: `(host, Opened)`."""
        return self._hear("message/opened", None, function)

    def saved(self, function: Handler) -> Handler:
        """Decorates a function that hears of saved messages: `(host, Saved)`."""
        return self._hear("message/saved", None, function)

    def changed(self, format: Optional[str] = None) -> Callable[[Handler], Handler]:
        """Decorates a function that hears of changes: `(host, Changed)`; with the message in a format if one is named."""
        options = {"includeContent": True, "format": format} if format else None
        return lambda function: self._hear("message/changed", options, function)

    def window_closed(self, function: Handler) -> Handler:
        """Decorates a function that hears of the end of windows: `(host, window id, reason)`."""
        self._events["window/closed"] = function
        return function

    def leaving(self, function: Handler) -> Handler:
        """Decorates a function that is run before the extension leaves: `(host, reason)`. There are five seconds."""
        self._leaving = function
        return function

    @property
    def data_directory(self) -> pathlib.Path:
        """A directory for what you keep: the host's, and in it one with your name."""
        own = re.sub(r"[^A-Za-z0-9._-]+", "-", self.name).strip(".-") or "extension"
        place = pathlib.Path(self._shared_directory or ".") / own
        place.mkdir(parents=True, exist_ok=True)
        return place

    def run(self, reader: Optional[BinaryIO] = None, writer: Optional[BinaryIO] = None) -> None:
        """Serves the host to the end. Streams other than the usual are for tests."""
        own_streams = reader is None
        wire = _Wire(self, reader or _unlocked(sys.stdin.fileno()), writer or _take_stdout())
        worker = threading.Thread(target=wire.work, name="loggia-extension-worker", daemon=True)
        worker.start()
        wire.listen()
        if own_streams:
            # Threads of yours may still run: only the one that says goodbye is waited for.
            if wire.leaver is not None:
                wire.leaver.join(_GOODBYE)
            sys.stderr.flush()
            os._exit(0)
        worker.join()

    def _hear(self, event: str, options: Optional[Json], function: Handler) -> Handler:
        if event not in self._events:
            self._subscriptions.append(dict({"name": event}, **_given(options=options)))
        self._events[event] = function
        return function

    def _about(self) -> Json:
        capabilities = _given(commands=list(self._commands), events=self._subscriptions or None)
        if self.schema is not None:
            capabilities["schemaProvider"] = True
        about = {"name": self.name, "version": self.version, "capabilities": capabilities}
        about.update(_given(description=self.description, authors=self.authors or None, homepage=self.homepage,
                            toolbarButtons=self._buttons or None, schema=self.schema))
        return about

    def _run_event(self, host: Host, method: str, params: Json) -> None:
        if method == "command/execute":
            command = self._commands.get(params.get("command", ""))
            if command is None:
                log("there is no command `%s`" % params.get("command"), "warn")
            else:
                command(host)
            return
        function = self._events[method]
        if method == "message/opened":
            function(host, Opened(bool(params.get("isNew")), params.get("filePath")))
        elif method == "message/saved":
            function(host, Saved(params.get("filePath", ""), bool(params.get("saveAs"))))
        elif method == "message/changed":
            function(host, Changed(bool(params.get("hasFile")), params.get("filePath"), params.get("message"),
                                   params.get("format")))
        else:
            function(host, params.get("windowId", ""), params.get("reason", "unknown"))


_ICON = ('<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.5">'
         '<circle cx="10" cy="10" r="7"/></svg>')


# The conversation.


class _Wire:
    """Frames in and out. One thread listens; one works."""

    def __init__(self, extension: Extension, reader: BinaryIO, writer: BinaryIO) -> None:
        self._extension = extension
        self._reader = reader
        self._writer = writer
        self._writing = threading.Lock()
        self._changed = threading.Condition()
        self._last_id = 0
        self._answers = {}  # type: Dict[int, Optional[Json]]
        self._waiting = collections.deque()  # type: Deque[Json]
        self._ended = False
        #: Runs what is to be done before we leave.
        self.leaver = None  # type: Optional[threading.Thread]

    # What is said.

    def send(self, message: Json) -> None:
        body = json.dumps(dict({"jsonrpc": "2.0"}, **message), allow_nan=False).encode("ascii")
        if len(body) > _MAX_FRAME:
            raise HostError(-32000, "a message of %d bytes is too large for hosts" % len(body))
        with self._writing:
            self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self._writer.flush()

    def ask(self, method: str, params: Json) -> Json:
        with self._changed:
            if self._ended:
                raise HostGone()
            self._last_id += 1
            id = self._last_id
            self._answers[id] = None
        try:
            self.send({"id": id, "method": method, "params": params})
        except OSError:
            raise HostGone() from None
        with self._changed:
            while self._answers[id] is None and not self._ended:
                self._changed.wait()
            answer = self._answers.pop(id)
        if answer is None:
            raise HostGone()
        if "error" in answer:
            error = answer["error"] if isinstance(answer["error"], dict) else {"message": str(answer["error"])}
            raise HostError(error.get("code", -32000), error.get("message", "the host failed"), error.get("data"))
        return answer["result"] if isinstance(answer["result"], dict) else {}

    # What is heard.

    def listen(self) -> None:
        """Hears the host to its end, or to ours."""
        try:
            while True:
                body = self._read_frame()
                if body is None or not self._hear(body):
                    return
        except OSError:
            return  # The host has gone: there is nobody to tell.
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _read_frame(self) -> Optional[bytes]:
        length = None  # type: Optional[int]
        while True:
            line = self._reader.readline()
            if not line:
                return None
            line = line.strip()
            if not line and length is not None:
                break
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        body = self._reader.read(length)
        return body if len(body) == length else None

    def _hear(self, body: bytes) -> bool:
        """Deals with a message; whether there is more to hear."""
        try:
            message = json.loads(body.decode("utf-8"))
        except ValueError:
            self._refuse(None, -32700, "Parse error")
            return True
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._refuse(None, -32600, "Invalid Request")
            return True
        if "result" in message or "error" in message:
            with self._changed:
                if message.get("id") in self._answers:
                    self._answers[message["id"]] = message
                    self._changed.notify_all()
            return True
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if "id" not in message:
            self._keep(method, params)
            return True
        return self._answer(message["id"], method, params)

    def _answer(self, id: Any, method: Any, params: Json) -> bool:
        if method == "initialize":
            self._extension.host_version = str(params.get("hermesVersion", ""))
            self._extension._shared_directory = str(params.get("dataDirectory", ""))
            self.send({"id": id, "result": self._extension._about()})
        elif method == "shutdown":
            if self._extension._leaving is None:
                self.send({"id": id, "result": {"success": True}})
                return False
            # What it asks the host is answered through this thread, so it runs on another.
            self.leaver = threading.Thread(target=self._leave, args=(id, params.get("reason", "")), daemon=True)
            self.leaver.start()
        elif not isinstance(method, str):
            self._refuse(id, -32600, "Invalid Request")
        else:
            self._refuse(id, -32601, "Method not found: " + method)
        return True

    def _leave(self, id: Any, reason: str) -> None:
        success = True
        try:
            self._extension._leaving(Host(self), reason)  # type: ignore[misc]
        except Exception:
            success = False
            log(traceback.format_exc(), "error")
        try:
            self.send({"id": id, "result": {"success": success}})
        finally:
            sys.stderr.flush()
            os._exit(0)

    def _refuse(self, id: Any, code: int, message: str) -> None:
        self.send({"id": id, "error": {"code": code, "message": message}})

    def _keep(self, method: Any, params: Json) -> None:
        """Puts something to be done behind what waits."""
        if method != "command/execute" and method not in self._extension._events:
            return
        with self._changed:
            if method == "message/changed":
                # Only the last one says anything.
                others = [waiting for waiting in self._waiting if waiting["method"] != method]
                self._waiting = collections.deque(others)
            if len(self._waiting) >= _MAX_WAITING:
                self._waiting.popleft()
                log("too much waits: something was dropped", "warn")
            self._waiting.append({"method": method, "params": params})
            self._changed.notify_all()

    def work(self) -> None:
        """Runs commands and events, one after another."""
        host = Host(self)
        while True:
            with self._changed:
                while not self._waiting and not self._ended:
                    self._changed.wait()
                if not self._waiting:
                    return
                waiting = self._waiting.popleft()
            try:
                self._extension._run_event(host, waiting["method"], waiting["params"])
            except HostGone:
                return
            except HostError as error:
                log("the host refused: %s (%d)" % (error.message, error.code), "error")
            except Exception:
                log(traceback.format_exc(), "error")


class _unlocked:
    """A file, read without the locks of Python's own streams: a thread that waits in one of those as the program ends makes
    the interpreter abort."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._buffer = b""

    def _more(self) -> bool:
        piece = os.read(self._file, 65536)
        self._buffer += piece
        return bool(piece)

    def readline(self) -> bytes:
        while b"\n" not in self._buffer:
            if not self._more():
                break
        line, newline, self._buffer = self._buffer.partition(b"\n")
        return line + newline

    def read(self, count: int) -> bytes:
        parts, missing = [self._buffer[:count]], count - len(self._buffer)
        self._buffer = self._buffer[count:]
        while missing > 0:
            piece = os.read(self._file, min(missing, 1 << 20))
            if not piece:
                break
            parts.append(piece)
            missing -= len(piece)
        return b"".join(parts)


def _take_stdout() -> BinaryIO:
    """The host's end of standard output, for us alone: whatever is printed goes to standard error from now on."""
    ours = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(ours, "wb")
