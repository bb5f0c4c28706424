"""Write Mehrhof plugins in Python: one file, standard library only, Python 3.8 or newer.

A plugin is a program that a host starts and asks things: one line of JSON in, one line of JSON out. This file is all
that stands between your code and those lines. Copy it beside your program.

    from loggia_plugin import NotFound, Provider, WorkUnit, serve

    class Shop(Provider):
        name = "shop"
        schemes = ["shop"]

        def fetch(self, id):
            if id != "1":
                raise NotFound("there is no task `%s`" % id)
            return WorkUnit(id="1", title="Sweep the floor")

    if __name__ == "__main__":
        serve(Shop())

What always holds:
- every request gets exactly one answer, also when your code raises something;
- what you print does not reach the host: while `serve` runs, standard output is standard error;
- the program ends when the host asks it to (`shutdown`) or closes its input.
"""

import dataclasses
import io
import json
import os
import queue
import sys
import threading
import traceback
from typing import Any, BinaryIO, Callable, Dict, Iterable, List, Optional, Tuple, Union

__all__ = [
    "Agent", "Cancelled", "EffectFailed", "InvalidInput", "InvalidParams", "InvalidReference", "MethodNotFound",
    "MissingCapability", "NotAuthenticated", "NotFound", "NotReady", "Phase", "PluginError", "Provider", "RateLimited",
    "Run", "Unimplemented", "Verdict", "WorkUnit", "Workflow", "allow", "deny", "log", "serve",
]

__version__ = "0.1.0"

#: Requests that wait to be served. A host asks one thing at a time, so more than a few are a fault of the host;
#: it is then not read from until some are served.
_MAX_WAITING = 64

Json = Dict[str, Any]


# Errors. Raise them from any method; each has the code that hosts know.


class PluginError(Exception):
    """Something went wrong (-32000). The message is shown to people."""

    code = -32000

    def __init__(self, message: str = "", data: Any = None) -> None:
        super().__init__(message)
        self.message = message or (type(self).__doc__ or "Plugin error").split("(")[0].strip()
        self.data = data

    def to_wire(self) -> Json:
        error = {"code": self.code, "message": self.message}  # type: Json
        if self.data is not None:
            error["data"] = self.data
        return error


class Unimplemented(PluginError):
    """This is not implemented (-32001)."""

    code = -32001


class MissingCapability(PluginError):
    """A capability is missing (-32002). The host does not use it any more."""

    code = -32002


class NotAuthenticated(PluginError):
    """The credentials are wrong or missing (-32003). The host names the variables of your manifest."""

    code = -32003


class RateLimited(PluginError):
    """The service wants fewer calls (-32004). The host tries again, after `retry_after` seconds if you say so."""

    code = -32004

    def __init__(self, message: str = "", retry_after: Optional[float] = None, data: Optional[Json] = None) -> None:
        if retry_after is not None:
            data = dict(data or {}, retry_after=retry_after)
        super().__init__(message, data)


class NotFound(PluginError):
    """There is no such thing (-32005)."""

    code = -32005


class InvalidInput(PluginError):
    """The input is not acceptable (-32006). `data` is shown beside the message."""

    code = -32006


class MethodNotFound(PluginError):
    """There is no such method (-32601)."""

    code = -32601


class InvalidParams(PluginError):
    """The parameters do not fit the method (-32602)."""

    code = -32602


class InvalidReference(Exception):
    """Raise it from `parse`: the reference means nothing here. Hosts see it as a normal answer, not as a failure."""


class NotReady(Exception):
    """Raise it from `available`: why the agent cannot work now."""


class EffectFailed(Exception):
    """Raise it from an effect: what went wrong."""


class Cancelled(Exception):
    """The host has closed our input: nobody wants the run any more. Let it pass."""


def log(*words: Any) -> None:
    """Says something for people. Hosts keep it in their log and show the last lines when something fails."""
    print(*words, file=sys.stderr, flush=True)


# Tasks.


@dataclasses.dataclass
class WorkUnit:
    """A task. Only `id` and `title` are needed; what is `None` is left out."""

    id: str
    title: str
    description: str = ""
    external_id: Optional[str] = None
    #: For the names of branches and commits.
    external_key: Optional[str] = None
    #: `story`, `bug`, `issue`, `task`…
    task_type: Optional[str] = None
    #: Filled with the provider's name if you leave it out.
    provider: Optional[str] = None
    status: Optional[str] = None
    #: 1 to 5, 1 the most urgent.
    priority: Optional[int] = None
    labels: List[str] = dataclasses.field(default_factory=list)
    assignees: Optional[List[Json]] = None
    comments: Optional[List[Json]] = None
    attachments: Optional[List[Json]] = None
    subtasks: Optional[List[str]] = None
    slug: Optional[str] = None
    #: Where it is from, as people would open it.
    reference: Optional[str] = None
    created_at: Optional[str] = None
    updated_at: Optional[str] = None
    #: Anything more; guards may look into it.
    metadata: Optional[Json] = None

    def to_wire(self) -> Json:
        """The task as hosts read it."""
        fields = {_camel(name): value for name, value in vars(self).items() if value is not None}
        if "reference" in fields:
            fields["source"] = {"reference": fields.pop("reference")}
        return fields


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


# What the kinds of plugins share.


class Plugin:
    """What every kind of plugin has. Use `Provider`, `Agent` or `Workflow`."""

    #: The first word of its methods.
    kind = ""
    #: What it is called, as in the manifest.
    name = ""

    def __init__(self, name: Optional[str] = None) -> None:
        if name is not None:
            self.name = name
        #: What the user configured for this plugin; filled before `init` is called.
        self.config = {}  # type: Json
        self._more = {}  # type: Dict[str, Callable[[Json], Any]]

    def init(self, config: Json) -> Any:
        """Called first, with what the user configured. Raise `NotAuthenticated` if a token is missing."""

    def handles(self, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorates a function that does what the method `name` of this class would: `@plugin.handles("fetch")`."""
        if not callable(getattr(type(self), name, None)) or name.startswith("_"):
            raise AttributeError("%s has no method `%s`" % (type(self).__name__, name))

        def keep(function: Callable[..., Any]) -> Callable[..., Any]:
            setattr(self, name, function)
            return function

        return keep

    def method(self, name: str) -> Callable[[Callable[[Json], Any]], Callable[[Json], Any]]:
        """Decorates a function that answers a method of the wire that this file does not know."""

        def keep(function: Callable[[Json], Any]) -> Callable[[Json], Any]:
            self._more[name] = function
            return function

        return keep

    def _has(self, name: str) -> bool:
        """Whether somebody has written this method, in a subclass or with `handles`."""
        return name in vars(self) or getattr(type(self), name) is not getattr(_base(self), name)

    def _answer(self, method: str, params: Json, wire: "_Wire") -> Any:
        if method in self._more:
            return self._more[method](params)
        serve_it = self._methods().get(method)
        if serve_it is None:
            raise MethodNotFound("Method not found: " + method)
        return serve_it(params)

    def _methods(self) -> Dict[str, Callable[[Json], Any]]:
        return {}

    def _take_config(self, params: Json) -> Any:
        config = params.get("config")
        self.config = config if isinstance(config, dict) else {}
        return self.init(self.config)


def _base(plugin: Plugin) -> type:
    return next(known for known in (Provider, Agent, Workflow) if isinstance(plugin, known))


def _need(params: Json, *names: str) -> str:
    """A text among the parameters, under the first of its names that is there."""
    for name in names:
        value = params.get(name)
        if isinstance(value, str):
            return value
        if value is not None:
            raise InvalidParams("Invalid params: `%s` must be text" % name)
    raise InvalidParams("Invalid params: `%s` is required" % names[0])


def _texts(params: Json, name: str) -> List[str]:
    value = params.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidParams("Invalid params: `%s` must be a list of texts" % name)
    return value


# Providers.


class Provider(Plugin):
    """A place that tasks come from. Write `fetch`; everything else is optional.

    What you write is what you can do: a provider with a method `list` has the capability `list`.
    """

    kind = "provider"
    #: What references begin with, without the colon.
    schemes = []  # type: List[str]

    _CAPABILITIES = (
        ("snapshot", "snapshot"), ("list", "list"), ("add_comment", "comment"), ("update_status", "update_status"),
        ("fetch_comments", "fetch_comments"), ("add_labels", "manage_labels"), ("link_branch", "link_branch"),
        ("create_pr", "create_pr"), ("download_attachment", "download_attachment"),
    )

    def __init__(self, name: Optional[str] = None, schemes: Optional[Iterable[str]] = None) -> None:
        super().__init__(name)
        if schemes is not None:
            self.schemes = list(schemes)

    def match(self, input: str) -> bool:
        """Whether a reference is one of ours. As it is, those with our schemes are."""
        scheme, colon, _ = input.partition(":")
        return bool(colon) and scheme in self.schemes

    def parse(self, input: str) -> str:
        """Which task a reference means. As it is, what follows the scheme. Raise `InvalidReference` to refuse."""
        scheme, colon, rest = input.partition(":")
        rest = rest if colon and scheme in self.schemes else input
        if not rest.strip():
            raise InvalidReference("`%s` names no task" % input)
        return rest

    def fetch(self, id: str) -> Union[WorkUnit, Json]:
        """The task that `parse` named. Raise `NotFound` if there is none."""
        raise Unimplemented("`fetch` is not written")

    def snapshot(self, id: str) -> str:
        """The task's text, for keeping; usually Markdown."""
        raise MissingCapability("`snapshot` is not written")

    def list(self, filter: Json, limit: int, offset: int) -> Any:
        """Tasks, sparse ones will do: a list, or a pair of a list and how many there are in all."""
        raise MissingCapability("`list` is not written")

    def add_comment(self, id: str, comment: str) -> None:
        """Says something about a task."""
        raise MissingCapability("`add_comment` is not written")

    def update_status(self, id: str, status: str) -> None:
        """Moves a task on."""
        raise MissingCapability("`update_status` is not written")

    def fetch_comments(self, id: str) -> Any:
        """What was said about a task: `{"id", "body", "author", "createdAt"}` each."""
        raise MissingCapability("`fetch_comments` is not written")

    def add_labels(self, id: str, labels: Any) -> None:
        """Adds labels. Write `remove_labels`, too."""
        raise MissingCapability("`add_labels` is not written")

    def remove_labels(self, id: str, labels: Any) -> None:
        """Removes labels."""
        raise MissingCapability("`remove_labels` is not written")

    def link_branch(self, id: str, branch: str) -> None:
        """Ties a task to a branch. Write `unlink_branch` and `linked_branch`, too."""
        raise MissingCapability("`link_branch` is not written")

    def unlink_branch(self, id: str, branch: str) -> None:
        """Unties them."""
        raise MissingCapability("`unlink_branch` is not written")

    def linked_branch(self, id: str) -> Optional[str]:
        """The branch a task is tied to."""
        raise MissingCapability("`linked_branch` is not written")

    def create_pr(self, id: Optional[str], title: str, description: str, source: str, target: str,
                  draft: bool) -> Json:
        """Proposes a branch for merging: `{"id", "url", "state", "number"}`."""
        raise MissingCapability("`create_pr` is not written")

    def download_attachment(self, id: str, attachment: str) -> bytes:
        """The bytes of an attachment."""
        raise MissingCapability("`download_attachment` is not written")

    def capabilities(self) -> Any:
        """What this provider can do: `read`, and what is written."""
        return ["read"] + [word for name, word in self._CAPABILITIES if self._has(name)]

    def _methods(self) -> Dict[str, Callable[[Json], Any]]:
        task = lambda params: _need(params, "id", "workUnitId")  # noqa: E731
        return {
            "provider.init": self._init,
            "provider.match": lambda params: {"matches": bool(self.match(_need(params, "input")))},
            "provider.parse": self._parse,
            "provider.fetch": lambda params: self._unit(self.fetch(_need(params, "id"))),
            "provider.snapshot": lambda params: {"content": self.snapshot(_need(params, "id"))},
            "provider.list": self._list,
            "provider.addComment": lambda params: self.add_comment(task(params), _need(params, "comment", "body")),
            "provider.updateStatus": lambda params: self.update_status(task(params), _need(params, "status")),
            "provider.fetchComments": lambda params: self.fetch_comments(task(params)),
            "provider.addLabels": lambda params: self.add_labels(task(params), _texts(params, "labels")),
            "provider.removeLabels": lambda params: self.remove_labels(task(params), _texts(params, "labels")),
            "provider.linkBranch": lambda params: self.link_branch(task(params), _need(params, "branch")),
            "provider.unlinkBranch": lambda params: self.unlink_branch(task(params), _need(params, "branch")),
            "provider.getLinkedBranch": lambda params: {"branch": self.linked_branch(task(params))},
            "provider.createPR": self._create_pr,
            "provider.downloadAttachment": self._download,
        }

    def _init(self, params: Json) -> Json:
        self._take_config(params)
        return {"capabilities": self.capabilities()}

    def _parse(self, params: Json) -> Json:
        try:
            return {"id": str(self.parse(_need(params, "input")))}
        except InvalidReference as error:
            return {"error": str(error) or "Invalid reference"}

    def _unit(self, unit: Union[WorkUnit, Json]) -> Json:
        fields = unit.to_wire() if isinstance(unit, WorkUnit) else dict(unit)
        fields.setdefault("provider", self.name)
        return fields

    def _list(self, params: Json) -> Json:
        wanted = params.get("filter")
        limit, offset = params.get("limit"), params.get("offset")
        for name, number in (("limit", limit), ("offset", offset)):
            if number is not None and (not isinstance(number, int) or number < 0):
                raise InvalidParams("Invalid params: `%s` must be a number" % name)
        limit, offset = 20 if limit is None else limit, offset or 0
        found = self.list(wanted if isinstance(wanted, dict) else {}, limit, offset)
        items, total = found if isinstance(found, tuple) else (found, None)
        answer = {"items": [self._unit(item) for item in items]}  # type: Json
        if total is not None:
            answer.update(total=total, hasMore=offset + len(answer["items"]) < total)
        return answer

    def _create_pr(self, params: Json) -> Any:
        names = ("title", "description", "sourceBranch", "targetBranch")
        title, description, source, target = (_need(params, name) for name in names)
        task = params.get("workUnitId") or params.get("id")
        return self.create_pr(task, title, description, source, target, bool(params.get("draft")))

    def _download(self, params: Json) -> Json:
        import base64

        content = self.download_attachment(_need(params, "workUnitId", "id"), _need(params, "attachmentId"))
        return {"content": base64.b64encode(content).decode("ascii")}


# Agents.


class Agent(Plugin):
    """Something that does the work of a prompt. Write `run`."""

    kind = "agent"
    #: What it says it works with.
    model = ""
    #: For information: `streaming`, `tool_use`, `code_execution`, `vision`, `long_context`.
    capabilities = ["streaming"]

    def available(self) -> Optional[bool]:
        """Whether it can work now. Raise `NotReady` with the reason if it cannot."""

    def run(self, run: "Run") -> Any:
        """Does what `run.prompt` says, telling it with `run.text` and the rest. Returns tokens used, or nothing."""
        raise Unimplemented("`run` is not written")

    def _methods(self) -> Dict[str, Callable[[Json], Any]]:
        return {"agent.init": self._init, "agent.available": self._available}

    def _init(self, params: Json) -> Json:
        self._take_config(params)
        said = {"name": self.name, "model": self.model, "capabilities": list(self.capabilities)}
        return {key: value for key, value in said.items() if value}

    def _available(self, params: Json) -> Json:
        try:
            if self.available() is not False:
                return {"available": True}
            reason = "it does not say why"
        except NotReady as error:
            reason = str(error)
        # Some hosts look for the one word and some for the other.
        return {"available": False, "reason": reason, "error": reason}

    def _answer(self, method: str, params: Json, wire: "_Wire") -> Any:
        if method != "agent.run":
            return super()._answer(method, params, wire)
        run = Run(wire, params)
        with wire.running(run):
            try:
                used = self.run(run)
            except Cancelled:
                raise
            except Exception as error:
                known = error if isinstance(error, PluginError) else PluginError(str(error) or repr(error))
                wire.stream("error", {"code": known.code, "message": known.message})
                raise
            wire.stream("complete", None)
        answer = {"status": "complete"}  # type: Json
        used = run.tokens if used is None else used
        if used:
            answer["tokens_used"] = int(used)
        return answer


class Run:
    """A run of an agent: what is wanted, and the ways to tell what is done. Safe to use from several threads."""

    def __init__(self, wire: "_Wire", params: Json) -> None:
        context = params.get("context")
        tools = params.get("tools")
        #: What to do, with the conversation so far.
        self.prompt = _need(params, "prompt")
        #: `task_id`, `phase`, `files`… where the host knows them.
        self.context = context if isinstance(context, dict) else {}  # type: Json
        #: The tools on offer: `name`, `description`, `input_schema` each.
        self.tools = [tool for tool in tools or [] if isinstance(tool, dict)]  # type: List[Json]
        #: Variables for this run.
        self.env = params.get("env") or {}  # type: Dict[str, str]
        #: Tokens told with `usage` so far.
        self.tokens = 0
        self._wire = wire
        self._calls = 0
        self._open = {}  # type: Dict[str, _Mailbox]
        self._lock = threading.Lock()

    @property
    def cancelled(self) -> bool:
        """Whether nobody wants the run any more. Look at it in long work of your own."""
        return self._wire.ended.is_set()

    def offers(self, tool: str) -> bool:
        """Whether the host offers a tool."""
        return any(known.get("name") == tool for known in self.tools)

    def text(self, text: str) -> None:
        """More of the answer."""
        self._tell("text", text)

    def thinking(self, text: str) -> None:
        """What the agent thinks; never part of the answer."""
        self._tell("thinking", text)

    def file(self, path: str, content: str) -> None:
        """A file to write, by its path in the workspace."""
        self._tell("file", {"path": path, "content": content, "action": "write"})

    def delete(self, path: str) -> None:
        """A file to remove."""
        self._tell("file", {"path": path, "action": "delete"})

    def usage(self, input_tokens: int = 0, output_tokens: int = 0, cached: Optional[int] = None) -> None:
        """What it cost since the last time."""
        self.tokens += input_tokens + output_tokens
        data = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        if cached is not None:
            data["cache_read_input_tokens"] = cached
        self._tell("usage", data)

    def ran(self, id: str, result: Any) -> None:
        """A tool of the agent's own that it ran by itself."""
        self._tell("tool_result", {"id": id, "result": result})

    def tool_use(self, name: str, input: Optional[Json] = None, description: Optional[str] = None) -> str:
        """Asks the host to run a tool and goes on; `result` waits for what came out, by the id this gives."""
        with self._lock:
            self._calls += 1
            ident = "call_%d" % self._calls
            self._open[ident] = _Mailbox()
        data = {"id": ident, "name": name, "input": input or {}}  # type: Json
        if description is not None:
            data["description"] = description
        self._tell("tool_use", data)
        return ident

    def result(self, ident: str) -> str:
        """What came out of a tool; waits for it. What went wrong is told in words, too."""
        mailbox = self._open[ident]
        while not mailbox.filled.wait(0.2):
            self._check()
        with self._lock:
            self._open.pop(ident, None)
        return mailbox.text

    def call(self, name: str, **input: Any) -> str:
        """Has the host run a tool and waits for what came out: `run.call("read_file", path="README.md")`."""
        return self.result(self.tool_use(name, input))

    def deliver(self, ident: str, text: str) -> bool:
        """Hands over what came out of a tool; whether somebody waits for it."""
        with self._lock:
            mailbox = self._open.get(ident)
        if mailbox is None:
            return False
        mailbox.text = text
        mailbox.filled.set()
        return True

    def _tell(self, kind: str, data: Any) -> None:
        self._check()
        self._wire.stream(kind, data)

    def _check(self) -> None:
        if self.cancelled:
            raise Cancelled("the host has closed our input")


class _Mailbox:
    def __init__(self) -> None:
        self.filled = threading.Event()
        self.text = ""


# Workflows.


@dataclasses.dataclass
class Phase:
    """A step of the work, after or before one that is there: planning, implementing, reviewing."""

    name: str
    description: str = ""
    after: Optional[str] = None
    before: Optional[str] = None

    def to_wire(self) -> Json:
        return {key: value for key, value in vars(self).items() if value}


@dataclasses.dataclass
class Verdict:
    """What a guard says. Made by `allow` and `deny`."""

    allowed: bool
    reason: Optional[str] = None
    warning: Optional[str] = None

    def to_wire(self) -> Json:
        # Some hosts look for the one word and some for the other.
        said = {"allowed": self.allowed, "passed": self.allowed}  # type: Json
        said.update((key, value) for key, value in (("reason", self.reason), ("warning", self.warning)) if value)
        return said


def allow(warning: Optional[str] = None) -> Verdict:
    """The task may go on; a warning is shown."""
    return Verdict(True, warning=warning)


def deny(reason: str) -> Verdict:
    """The task may not go on; people see why."""
    return Verdict(False, reason=reason)


class Workflow(Plugin):
    """Steps, guards and effects for the work on tasks.

        flow = Workflow("release", phases=[Phase("approval", after="reviewing")])

        @flow.guard("approved", "Somebody has approved")
        def approved(context):
            return allow() if context.get("metadata", {}).get("approved") else deny("nobody has approved")

        @flow.effect("notify", "Tells the team")
        def notify(context):
            return "told them of " + context["title"]
    """

    kind = "workflow"

    def __init__(self, name: Optional[str] = None, phases: Iterable[Phase] = ()) -> None:
        super().__init__(name)
        self.phases = list(phases)
        self._guards = {}  # type: Dict[str, Tuple[str, Callable[[Json], Any]]]
        self._effects = {}  # type: Dict[str, Tuple[str, bool, Callable[[Json], Any]]]

    def guard(self, name: str, description: str = "") -> Callable[[Callable[[Json], Any]], Callable[[Json], Any]]:
        """Decorates a function that says whether a task may go on: `True`, `False`, `allow(…)` or `deny(…)`."""

        def keep(function: Callable[[Json], Any]) -> Callable[[Json], Any]:
            self._guards[name] = (description, function)
            return function

        return keep

    def effect(self, name: str, description: str = "",
               critical: bool = False) -> Callable[[Callable[[Json], Any]], Callable[[Json], Any]]:
        """Decorates a function that does something when a task moves on; gives a message, or raises `EffectFailed`.

        The work does not go on without a critical one.
        """

        def keep(function: Callable[[Json], Any]) -> Callable[[Json], Any]:
            self._effects[name] = (description, critical, function)
            return function

        return keep

    def _methods(self) -> Dict[str, Callable[[Json], Any]]:
        return {
            "workflow.init": self._init,
            "workflow.evaluateGuard": self._evaluate,
            "workflow.executeEffect": self._execute,
        }

    def _init(self, params: Json) -> Json:
        self._take_config(params)
        guards = [{"name": name, "description": words} for name, (words, _) in self._guards.items()]
        effects = [
            {"name": name, "description": words, "critical": critical}
            for name, (words, critical, _) in self._effects.items()
        ]
        return {"phases": [phase.to_wire() for phase in self.phases], "guards": guards, "effects": effects}

    def _evaluate(self, params: Json) -> Json:
        name = _need(params, "guard", "name")
        if name not in self._guards:
            raise NotFound("there is no guard `%s`" % name)
        said = self._guards[name][1](_context(params))
        if isinstance(said, bool):
            said = Verdict(said)
        if not isinstance(said, Verdict):
            raise PluginError("the guard `%s` gave neither yes nor no" % name)
        return said.to_wire()

    def _execute(self, params: Json) -> Json:
        name = _need(params, "effect", "name")
        if name not in self._effects:
            raise NotFound("there is no effect `%s`" % name)
        try:
            message = self._effects[name][2](_context(params))
        except EffectFailed as error:
            return {"success": False, "message": str(error), "error": str(error)}
        if message is False:
            return {"success": False}
        return {"success": True, "message": message} if isinstance(message, str) else {"success": True}


def _context(params: Json) -> Json:
    """The task's circumstances, under either name."""
    for name in ("context", "workUnit"):
        if isinstance(params.get(name), dict):
            return params[name]
    return {}


# The conversation.


def serve(plugin: Plugin, reader: Optional[BinaryIO] = None, writer: Optional[BinaryIO] = None) -> None:
    """Answers the host until it says `shutdown` or closes our input. Streams other than the usual are for tests."""
    wire = _Wire(reader or _lines(sys.stdin.fileno()), writer or _take_stdout())
    listening = threading.Thread(target=wire.listen, name="loggia-plugin-reader", daemon=True)
    listening.start()
    try:
        for request in wire.requests():
            wire.answer(plugin, request)
            if request.get("method") == "shutdown":
                break
    except BrokenPipeError:
        pass  # The host has gone: there is nobody to tell.


def _lines(file: int) -> Iterable[bytes]:
    """The lines of a file, read without the locks of Python's own streams: a thread that waits in one of those as the
    program ends makes the interpreter abort."""
    parts = []  # type: List[bytes]
    while True:
        piece = os.read(file, 65536)
        if not piece:
            break
        *lines, last = piece.split(b"\n")
        for line in lines:
            yield b"".join(parts) + line
            parts.clear()
        parts.append(last)
    yield b"".join(parts)


class _Output:
    """A file that is written at once, for the same reason without a lock that outlives us."""

    def __init__(self, file: int) -> None:
        self._file = file

    def write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._file, rest):]

    def flush(self) -> None:
        """Nothing waits."""


def _take_stdout() -> _Output:
    """The host's end of standard output, for us alone: whatever is printed goes to standard error from now on."""
    sys.stdout.flush()
    ours = _Output(os.dup(sys.stdout.fileno()))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = io.TextIOWrapper(os.fdopen(os.dup(sys.stderr.fileno()), "wb"), "utf-8", "replace", line_buffering=True)
    return ours


class _Wire:
    """Lines in and lines out."""

    def __init__(self, reader: Iterable[bytes], writer: Union[BinaryIO, _Output]) -> None:
        self._reader = reader
        self._writer = writer
        self._writing = threading.Lock()
        self._waiting = queue.Queue(_MAX_WAITING)  # type: queue.Queue[Optional[Json]]
        self._run = None  # type: Optional[Run]
        #: The host has closed our input.
        self.ended = threading.Event()

    def listen(self) -> None:
        """Reads until the end. What must not wait behind a run is answered here; all the rest is put in line."""
        try:
            for line in self._reader:
                if line.strip():
                    self._hear(line)
        except (OSError, ValueError):
            pass  # Closed under our feet: the same as its end.
        finally:
            self.ended.set()
            self._waiting.put(None)

    def requests(self) -> Iterable[Json]:
        while True:
            request = self._waiting.get()
            if request is None:
                return
            yield request

    def running(self, run: Run) -> "_Running":
        return _Running(self, run)

    def answer(self, plugin: Plugin, request: Json) -> None:
        """Has the plugin answer a request. A notification is served and not answered."""
        ident = request.get("id")
        try:
            result = self._serve(plugin, request)
        except Cancelled:
            return  # Nobody reads the answer.
        except PluginError as error:
            return self._fail(ident, error.to_wire())
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            return self._fail(ident, {"code": -32603, "message": "Internal error: %s" % (error or repr(error))})
        if ident is not None:
            self._send({"jsonrpc": "2.0", "id": ident, "result": result})

    def stream(self, kind: str, data: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": "stream", "params": {"type": kind, "data": data}})

    def _serve(self, plugin: Plugin, request: Json) -> Any:
        params = request.get("params")
        if params is None:
            params = {}
        if not isinstance(params, dict):
            raise InvalidParams("Invalid params: an object is needed")
        if request["method"] == "shutdown":
            return {"status": "shutting_down"}
        return plugin._answer(request["method"], params, self)

    def _hear(self, line: bytes) -> None:
        try:
            request = json.loads(line.decode("utf-8"))
        except ValueError as error:
            return self._complain(-32700, "Parse error: %s" % error)
        if not isinstance(request, dict):
            return self._complain(-32600, "Invalid request: a message must be a JSON object")
        if not isinstance(request.get("method"), str):
            if "result" not in request and "error" not in request:  # An answer to nobody is none of our business.
                self._complain(-32600, "Invalid request: `method` is missing", request.get("id"))
            return None
        if request["method"] == "ping":
            return self._reply(request, {"pong": True})
        if request["method"] == "agent.tool_result":
            return self._deliver(request)
        self._waiting.put(request)

    def _deliver(self, request: Json) -> None:
        params = request.get("params")
        params = params if isinstance(params, dict) else {}
        ident, result, run = params.get("tool_id"), params.get("result"), self._run
        if not isinstance(ident, str):
            return self._fail(request.get("id"), InvalidParams("Invalid params: `tool_id` is required").to_wire())
        text = result if isinstance(result, str) else json.dumps(result)
        self._reply(request, {"acknowledged": run is not None and run.deliver(ident, text)})

    def _reply(self, request: Json, result: Any) -> None:
        if request.get("id") is not None:
            self._send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def _fail(self, ident: Any, error: Json) -> None:
        if ident is not None:
            self._send({"jsonrpc": "2.0", "id": ident, "error": error})

    def _complain(self, code: int, message: str, ident: Any = None) -> None:
        """An error about a message that could not be read, so perhaps to nobody."""
        self._send({"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": message}})

    def _send(self, message: Json) -> None:
        try:
            line = json.dumps(message, allow_nan=False)
        except (TypeError, ValueError) as error:
            if "id" not in message:
                raise PluginError("this event cannot be written as JSON: %s" % error)
            reason = "Internal error: the answer cannot be written as JSON: %s" % error
            line = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": reason}})
        with self._writing:
            self._writer.write(line.encode("ascii") + b"\n")
            self._writer.flush()


class _Running:
    """While it is entered, results of tools go to a run."""

    def __init__(self, wire: _Wire, run: Run) -> None:
        self._wire = wire
        self._new = run

    def __enter__(self) -> None:
        self._wire._run = self._new

    def __exit__(self, *_: Any) -> None:
        self._wire._run = None
