//! What the protocol's table of endpoints leaves open: names, statuses, queries and texts that are no JSON.

use loggia_protocol_agent_server::{Endpoint, Verb};

/// What an endpoint is like, beside its row in the protocol's table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    /// How it is asked.
    pub(super) verb: Verb,
    /// Where.
    pub(super) path: &'static str,
    /// What generated clients call it.
    pub(super) id: &'static str,
    /// What it is for, in a line.
    pub(super) summary: &'static str,
    /// The statuses of its good answers.
    pub(super) good: &'static [u16],
    /// The media type of an answer that is no JSON body of the protocol.
    pub(super) media: Option<&'static str>,
    /// The media type of a request that is none.
    pub(super) takes: Option<&'static str>,
    /// Whether the request's body may be left out.
    pub(super) optional_body: bool,
    /// What its query may hold.
    pub(super) query: &'static [Query],
    /// The statuses of bad answers beyond those all endpoints of its kind share.
    pub(super) bad: &'static [u16],
}

/// A parameter of a query, or the one header that is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Query {
    /// Its name.
    pub(super) name: &'static str,
    /// What it means.
    pub(super) about: &'static str,
    /// What it may hold.
    pub(super) holds: Holds,
    /// Whether it must be there.
    pub(super) required: bool,
}

/// What a parameter may hold.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holds {
    /// Text that fits a pattern.
    Id(&'static str),
    /// Any text of at least so many characters.
    Text(usize),
    /// A whole number from this one on.
    Number(usize),
    /// One of these words.
    Words(&'static [&'static str]),
    /// The revision of a policy, in a header.
    Revision,
}

/// JSON Lines.
pub(super) const LINES: &str = "application/x-ndjson";

/// The ids the server makes: a prefix and a UUID in plain hexadecimal.
pub(super) const WORKSPACE_ID: &str = "^ws_[0-9a-f]{32}$";
pub(super) const SESSION_ID: &str = "^ses_[0-9a-f]{32}$";
pub(super) const TASK_ID: &str = "^[0-9a-f]{8}$";
pub(super) const MESSAGE_ID: &str = "^doc_[0-9a-f]{32}$";
pub(super) const TOKEN_ID: &str = "^tok_[0-9a-f]{32}$";

const LIMIT: Query = query("limit", "How many at most; the server may give fewer.", Holds::Number(1));
const CURSOR: Query = query("cursor", "Where the page begins: a page's `next_cursor`.", Holds::Text(0));
const AFTER: Query = query("after", "The number of the last event that is known already.", Holds::Number(0));
const OF_WORKSPACE: Query = query("workspace_id", "Only those of this workspace.", Holds::Id(WORKSPACE_ID));
const SEEN_FROM: Query =
    query("workspace_id", "As this workspace sees them; the user's own otherwise.", Holds::Id(WORKSPACE_ID));
const INTO: Query = query("workspace_id", "Where it shall work.", Holds::Id(WORKSPACE_ID)).needed();
const HERE: Query = query("workspace_id", "As this workspace sees it.", Holds::Id(WORKSPACE_ID)).needed();
const REFERENCE: Query =
    query("reference", "Where to look: a scheme, as in `link` or `link:`.", Holds::Text(1)).needed();
const STATUS: Query = query("status", "Only items that are so far.", Holds::Text(1));
const TAG: Query = query("tag", "Only items with these words, with commas between them.", Holds::Text(1));
const WORDS: Query = query("q", "What to look for.", Holds::Text(1)).needed();
const KIND: Query = query("kind", "How to look.", Holds::Words(&["symbol", "text", "vector"]));
const MATCH: Query =
    query("match", "How words are read by the kind `text`.", Holds::Words(&["words", "phrase", "regex"]));
const SYMBOL_KIND: Query =
    query("symbol_kind", "Only definitions of these kinds, with commas between them.", Holds::Text(1));
const GLOBS: Query = query(
    "path",
    "Only files that match one of these globs, with commas between them; `!` leaves out.",
    Holds::Text(1),
);
const NAME: Query = query("name", "The name, as it is written.", Holds::Text(1)).needed();
const UNSAVED: Query =
    query("unsaved", "What becomes of changes that are not saved.", Holds::Words(&["keep", "discard"]));
const FORMAT: Query = query(
    "format",
    "How to write it; as it is written otherwise.",
    Holds::Words(&["hl7", "json", "yaml", "toml"]),
);
const PLACE: Query = query("path", "The place, as a path into the message.", Holds::Text(1)).needed();
const IF_MATCH: Query =
    query("If-Match", "The revision that was changed, as its `ETag`, or `*` for any.", Holds::Revision);

/// One for each endpoint, in the table's order.
pub(super) const FACTS: &[Facts] = &[
    get("/v1/health", "getHealth", "Whether the server works"),
    get("/v1/workspaces", "listWorkspaces", "The registered workspaces").query(&[LIMIT, CURSOR]),
    post(
        "/v1/workspaces/register",
        "registerWorkspace",
        "Registers a directory; 200 when it is known already",
    )
    .good(&[200, 201])
    .bad(&[409]),
    get("/v1/workspaces/{workspace_id}", "getWorkspace", "A workspace"),
    get("/v1/workspaces/{workspace_id}/policy", "getPolicy", "What the agent may do there"),
    put("/v1/workspaces/{workspace_id}/policy", "putPolicy", "Changes what the agent may do there")
        .query(&[IF_MATCH])
        .bad(&[412]),
    post("/v1/workspaces/{workspace_id}/index/rebuild", "rebuildIndex", "Builds the code index from nothing")
        .good(&[202]),
    post("/v1/workspaces/{workspace_id}/index/refresh", "refreshIndex", "Brings the code index up to date")
        .good(&[202]),
    post(
        "/v1/workspaces/{workspace_id}/index/incremental",
        "changeIndex",
        "Tells the code index what changed",
    )
    .good(&[202])
    .bad(&[409]),
    get("/v1/workspaces/{workspace_id}/index/status", "getIndexStatus", "How the code index is"),
    post("/v1/sessions", "createSession", "Opens a session").good(&[201]).bad(&[409]),
    get("/v1/sessions", "listSessions", "Sessions, newest first").query(&[OF_WORKSPACE, LIMIT, CURSOR]),
    get("/v1/sessions/{session_id}", "getSession", "A session"),
    delete(
        "/v1/sessions/{session_id}",
        "deleteSession",
        "Deletes a session; a running turn is cancelled first",
    )
    .good(&[204])
    .bad(&[409]),
    get("/v1/models", "listModels", "The models that can be used"),
    get("/v1/models/current", "getCurrentModel", "The model of new sessions").bad(&[404]),
    put("/v1/models/current", "putCurrentModel", "Sets the model of new sessions").bad(&[409]),
    stream("/v1/sessions/{session_id}/stream", "streamSession", "A session as it happens").query(&[AFTER]),
    get(
        "/v1/sessions/{session_id}/events",
        "listEvents",
        "A session's past, as its stream would have told it",
    )
    .query(&[AFTER, LIMIT]),
    post("/v1/sessions/{session_id}/rename", "renameSession", "Gives a session another title"),
    post("/v1/sessions/{session_id}/model", "setSessionModel", "Goes on with another model"),
    post("/v1/sessions/{session_id}/fork", "forkSession", "A new session with the past of this one")
        .good(&[201])
        .optional_body(),
    post("/v1/sessions/{session_id}/undo", "undo", "Takes back the agent's last changes").optional_body(),
    post("/v1/sessions/{session_id}/redo", "redo", "Makes changes again that were taken back")
        .optional_body(),
    post("/v1/sessions/{session_id}/continue", "continueSession", "Goes on with a turn that was broken off"),
    post("/v1/sessions/{session_id}/cancel", "cancelTurn", "Stops the running turn"),
    get("/v1/sessions/{session_id}/export", "exportSession", "A session's journal").media(LINES),
    post("/v1/sessions/import", "importSession", "A session from an exported journal")
        .good(&[201])
        .takes(LINES)
        .query(&[INTO])
        .bad(&[404, 409]),
    post(
        "/v1/workspaces/{workspace_id}/policy/check",
        "checkPolicy",
        "What the policy would say to something",
    ),
    get("/v1/workspaces/{workspace_id}/index/skipped", "listSkippedFiles", "Files that the code index lacks")
        .query(&[LIMIT]),
    post("/v1/workspaces/{workspace_id}/index/pause", "pauseIndex", "Holds the build of the code index up"),
    post("/v1/workspaces/{workspace_id}/index/resume", "resumeIndex", "Lets a build go on"),
    post("/v1/workspaces/{workspace_id}/index/cancel", "cancelIndex", "Ends a build; what was there stays"),
    delete("/v1/workspaces/{workspace_id}/index", "dropIndex", "Drops the code index").bad(&[409]),
    get("/v1/workspaces/{workspace_id}/search", "search", "Places in the code").query(&[
        WORDS,
        KIND,
        MATCH,
        SYMBOL_KIND,
        GLOBS,
        LIMIT,
    ]),
    get("/v1/workspaces/{workspace_id}/references", "listReferences", "Where a name is used")
        .query(&[NAME, GLOBS, LIMIT])
        .bad(&[409]),
    get("/v1/workspaces/{workspace_id}/trust", "getTrustReport", "What trusting the workspace would mean"),
    post(
        "/v1/workspaces/{workspace_id}/trust",
        "trustWorkspace",
        "Lets the workspace's own files loosen its policy and name programs, for good or for one run",
    )
    .optional_body()
    .bad(&[409]),
    delete("/v1/workspaces/{workspace_id}/trust", "distrustWorkspace", "Trusts the workspace no longer")
        .good(&[204])
        .bad(&[409]),
    get("/v1/plugins", "listPlugins", "The plugins there are; none is started")
        .query(&[SEEN_FROM])
        .bad(&[404]),
    post("/v1/plugins/install", "installPlugin", "Fetches a plugin, without enabling it")
        .good(&[201])
        .bad(&[404, 409]),
    get("/v1/plugins/{plugin}", "getPlugin", "A plugin").query(&[SEEN_FROM]),
    delete("/v1/plugins/{plugin}", "removePlugin", "Deletes a plugin's directory")
        .good(&[204])
        .query(&[SEEN_FROM])
        .bad(&[409]),
    post("/v1/plugins/{plugin}/enable", "enablePlugin", "Lets a plugin run").optional_body().bad(&[409]),
    post("/v1/plugins/{plugin}/disable", "disablePlugin", "Lets a plugin run no longer")
        .optional_body()
        .bad(&[409]),
    post("/v1/plugins/{plugin}/validate", "validatePlugin", "Tries whether a plugin starts and answers")
        .optional_body()
        .bad(&[409]),
    get("/v1/tasks", "listTasks", "Tasks, newest first").query(&[OF_WORKSPACE]),
    post("/v1/tasks", "startTask", "Starts a task; no agent runs").good(&[201]).bad(&[404, 409]),
    post("/v1/tasks/auto", "autoTask", "Does a task from beginning to end, or goes on with it")
        .good(&[200, 202])
        .bad(&[404, 409]),
    get("/v1/tasks/browse", "browseTasks", "What there is to do, as a provider tells it")
        .query(&[HERE, REFERENCE, STATUS, TAG, LIMIT, CURSOR])
        .bad(&[404, 409, 422]),
    get("/v1/tasks/{task_id}", "getTask", "A task"),
    step("/v1/tasks/{task_id}/plan", "planTask", "Has an agent write the next specification"),
    step("/v1/tasks/{task_id}/implement", "implementTask", "Has an agent do what the specification says"),
    step("/v1/tasks/{task_id}/review", "reviewTask", "Has an agent look at what was done"),
    step("/v1/tasks/{task_id}/resume", "resumeTask", "Goes on with what was cut, or asks again who holds it"),
    step(
        "/v1/tasks/{task_id}/finish",
        "finishTask",
        "Checks the work, brings it where it belongs, and ends it",
    ),
    post("/v1/tasks/{task_id}/abandon", "abandonTask", "Gives a task up").optional_body(),
    post("/v1/tasks/{task_id}/note", "noteTask", "Adds a note, which agents read in the next steps"),
    post("/v1/tasks/{task_id}/answer", "answerTask", "Answers the question of a task"),
    post("/v1/tasks/{task_id}/metadata", "setTaskMetadata", "States a fact for guards, or takes it back"),
    post("/v1/tasks/{task_id}/undo", "undoTask", "Goes back by some checkpoints").optional_body(),
    post("/v1/tasks/{task_id}/redo", "redoTask", "Goes forth again").optional_body(),
    post("/v1/tasks/{task_id}/override", "overrideTask", "Goes past the guard that holds a task back"),
    get("/v1/messages", "listMessages", "The messages that are open").query(&[OF_WORKSPACE]).bad(&[404]),
    post("/v1/messages", "openMessage", "Opens a message in the place of the one that is open")
        .good(&[201])
        .bad(&[404, 409]),
    get("/v1/messages/schema", "getMessageSchema", "What is known about the segments of messages")
        .query(&[HERE])
        .bad(&[404]),
    get("/v1/messages/{message_id}", "getMessage", "A message that is open"),
    delete("/v1/messages/{message_id}", "closeMessage", "Closes a message")
        .good(&[204])
        .query(&[UNSAVED])
        .bad(&[409]),
    get("/v1/messages/{message_id}/text", "readMessage", "A whole message").query(&[FORMAT]).bad(&[422]),
    put("/v1/messages/{message_id}/text", "setMessage", "Puts another text in a message's place").bad(&[409]),
    get("/v1/messages/{message_id}/value", "getMessageValue", "What stands at a place").query(&[PLACE]),
    post("/v1/messages/{message_id}/patch", "patchMessage", "Changes single places"),
    post("/v1/messages/{message_id}/undo", "undoMessage", "Takes the last step back"),
    post("/v1/messages/{message_id}/redo", "redoMessage", "Makes a step again that was taken back"),
    post("/v1/messages/{message_id}/save", "saveMessage", "Writes a message to its file, or to another")
        .optional_body(),
    get("/v1/messages/{message_id}/validation", "validateMessage", "What is doubtful about a message"),
    get("/v1/extensions", "listExtensions", "A workspace's extensions; none is started")
        .query(&[HERE])
        .bad(&[404, 409, 503]),
    post("/v1/extensions/start", "startExtensions", "Starts those that are to run and do not")
        .bad(&[404, 409]),
    get("/v1/extensions/{extension}", "getExtension", "An extension").query(&[HERE]).bad(&[409, 503]),
    get("/v1/extensions/{extension}/logs", "getExtensionLog", "What an extension said last")
        .query(&[HERE])
        .bad(&[409, 503]),
    post("/v1/extensions/{extension}/restart", "restartExtension", "Stops an extension and starts it again")
        .bad(&[409]),
    post("/v1/extensions/{extension}/stop", "stopExtension", "Stops an extension").bad(&[409]),
    post("/v1/extensions/{extension}/run", "runExtensionCommand", "Runs a command of an extension")
        .bad(&[409]),
    post("/v1/pair/start", "startPairing", "A code to type into a new client"),
    post("/v1/pair", "pair", "Trades a code for a token").bad(&[409]),
    post("/v1/page/code", "createPageCode", "A code with which a browser can open the page").optional_body(),
    get("/v1/page/session", "getPageSession", "Who is asking"),
    post("/v1/page/session", "openPageSession", "Trades a code for a cookie; only our own page may ask")
        .bad(&[401, 409, 429]),
    delete("/v1/page/session", "endPageSession", "Ends what the page's cookie allows")
        .good(&[204])
        .bad(&[409]),
    get("/v1/tokens", "listTokens", "The tokens, without their secrets"),
    post("/v1/tokens", "createToken", "A new token; this answer alone shows it").good(&[201]).bad(&[409]),
    delete("/v1/tokens/{token_id}", "revokeToken", "Ends a token").good(&[204]),
    delete("/v1/models/current", "forgetCurrentModel", "Forgets which model was chosen for new sessions")
        .good(&[204]),
    post("/v1/models/test", "testModel", "Asks a model for one word, which may cost something")
        .optional_body(),
    get("/v1/doctor", "getDoctorReport", "What is set up and what works"),
    post("/v1/stop", "stop", "Stops the server").good(&[202]),
    stream("/v1/stream", "streamServer", "What belongs to no session, as it happens"),
    get("/v1/openapi.json", "getOpenApi", "This document").media("application/json"),
    get("/v1/schemas/{name}", "getSchema", "The JSON Schema of a message or a body")
        .media("application/schema+json"),
    get("/metrics", "getMetrics", "Counts for Prometheus").media("text/plain"),
    get("/", "getPage", "The page for browsers").media("text/html"),
    get("/page/{file}", "getPageFile", "What the page is made of").media("*/*"),
];

/// The facts about an endpoint.
pub(super) fn of(endpoint: &Endpoint) -> &'static Facts {
    let same = |facts: &&Facts| facts.verb == endpoint.verb && facts.path == endpoint.path;
    FACTS.iter().find(same).expect("a test compares the two tables")
}

const fn get(path: &'static str, id: &'static str, summary: &'static str) -> Facts {
    Facts::new(Verb::Get, path, id, summary)
}

const fn post(path: &'static str, id: &'static str, summary: &'static str) -> Facts {
    Facts::new(Verb::Post, path, id, summary)
}

/// A step of a task: done at the end of the answer, or begun.
const fn step(path: &'static str, id: &'static str, summary: &'static str) -> Facts {
    post(path, id, summary).good(&[200, 202]).optional_body()
}

const fn put(path: &'static str, id: &'static str, summary: &'static str) -> Facts {
    Facts::new(Verb::Put, path, id, summary)
}

const fn delete(path: &'static str, id: &'static str, summary: &'static str) -> Facts {
    Facts::new(Verb::Delete, path, id, summary)
}

const fn stream(path: &'static str, id: &'static str, summary: &'static str) -> Facts {
    Facts::new(Verb::WebSocket, path, id, summary).good(&[101])
}

const fn query(name: &'static str, about: &'static str, holds: Holds) -> Query {
    Query { name, about, holds, required: false }
}

impl Query {
    const fn needed(mut self) -> Self {
        self.required = true;
        self
    }
}

impl Facts {
    const fn new(verb: Verb, path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self {
            verb,
            path,
            id,
            summary,
            good: &[200],
            media: None,
            takes: None,
            optional_body: false,
            query: &[],
            bad: &[],
        }
    }

    const fn good(mut self, statuses: &'static [u16]) -> Self {
        self.good = statuses;
        self
    }

    const fn bad(mut self, statuses: &'static [u16]) -> Self {
        self.bad = statuses;
        self
    }

    const fn media(mut self, media: &'static str) -> Self {
        self.media = Some(media);
        self
    }

    const fn takes(mut self, media: &'static str) -> Self {
        self.takes = Some(media);
        self
    }

    const fn optional_body(mut self) -> Self {
        self.optional_body = true;
        self
    }

    const fn query(mut self, query: &'static [Query]) -> Self {
        self.query = query;
        self
    }
}
