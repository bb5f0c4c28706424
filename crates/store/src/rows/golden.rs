//! Rows as old journals hold them.
//!
//! Invariant: a line here is never changed, only added. A journal written with it must stay readable.

mod task;

use loggia_domain::{
    Actor, Aim, AimedFile, ApprovalAnswer, ApprovalId, ApprovalScope, AssistantMessage, BatchId, Budget,
    CallId, CheckpointId, ClientId, CodeContext, CommandExit, CommandSummary, ContentHash, Door, EventBody,
    Executor, FileChange, FileChangeKind, FileState, Hunk, Image, Instruction, JsonText, MessageId,
    ModelName, ModelTrouble, ObservedChange, OwnInstructions, Patch, PatchFailure, PatchId, Plan, PlanStep,
    Preset, Purpose, Question, Remember, Restraint, RetrievalStage, Risk, Role, SandboxLevel, Seq, SessionId,
    Spot, Thinking, Timestamp, ToolCall, ToolOutcome, TurnEnd, TurnFailure, Usage, WorkspaceId,
};

/// An event, and the kind and the data of its row.
pub(super) type Sample = (EventBody, &'static str, &'static str);

/// At least one row of each kind, and every word and alternative in some row.
pub(super) fn samples() -> Vec<Sample> {
    [
        sessions(),
        turns(),
        aims(),
        turn_ends(),
        tools(),
        commands(),
        patches(),
        questions(),
        answers(),
        history(),
        task::tasks(),
    ]
    .concat()
}

fn aims() -> Vec<Sample> {
    let sample = |purpose, spot: Option<Spot>, data| {
        let files = spot.map(|spot| AimedFile { path: "a.rs".to_owned(), spot: Some(spot) });
        let files = files.into_iter().chain([AimedFile { path: "b.rs".to_owned(), spot: None }]).collect();
        let aim = Some(Aim { purpose, files, has_output: spot.is_none() });
        let instruction = Instruction { text: "go".to_owned(), aim, ..Instruction::default() };
        (EventBody::InstructionQueued { instruction, by: Actor::Engine }, "instruction_queued", data)
    };
    vec![
        sample(
            Purpose::Fix,
            None,
            r#"{"instruction":{"text":"go","aim":{"purpose":"fix","files":[{"path":"b.rs"}],"has_output":true},"preview":false},"by":{"engine":{}}}"#,
        ),
        sample(
            Purpose::Test,
            Some(Spot::Selected { first: 1, last: 2 }),
            r#"{"instruction":{"text":"go","aim":{"purpose":"test","files":[{"path":"a.rs","spot":{"selected":{"first":1,"last":2}}},{"path":"b.rs"}],"has_output":false},"preview":false},"by":{"engine":{}}}"#,
        ),
        sample(
            Purpose::Explain,
            Some(Spot::Named { line: 3 }),
            r#"{"instruction":{"text":"go","aim":{"purpose":"explain","files":[{"path":"a.rs","spot":{"named":{"line":3}}},{"path":"b.rs"}],"has_output":false},"preview":false},"by":{"engine":{}}}"#,
        ),
        sample(
            Purpose::Refactor,
            Some(Spot::Cursor { line: 4 }),
            r#"{"instruction":{"text":"go","aim":{"purpose":"refactor","files":[{"path":"a.rs","spot":{"cursor":{"line":4}}},{"path":"b.rs"}],"has_output":false},"preview":false},"by":{"engine":{}}}"#,
        ),
        sample(
            Purpose::Explain,
            Some(Spot::Visible { first: 5, last: 6 }),
            r#"{"instruction":{"text":"go","aim":{"purpose":"explain","files":[{"path":"a.rs","spot":{"visible":{"first":5,"last":6}}},{"path":"b.rs"}],"has_output":false},"preview":false},"by":{"engine":{}}}"#,
        ),
    ]
}

fn sessions() -> Vec<Sample> {
    let least = |preset| EventBody::SessionOpened {
        workspace: WorkspaceId::from_bytes([1; 16]),
        title: None,
        model: None,
        preset: Some(preset),
        budget: Budget::default(),
        forked_from: None,
        by: Actor::Engine,
    };
    vec![
        (
            EventBody::SessionOpened {
                workspace: WorkspaceId::from_bytes([1; 16]),
                title: Some("Grüße \"an\" alle\n".to_owned()),
                model: Some(ModelName("local:small".to_owned())),
                preset: Some(Preset::AutoEdit),
                budget: Budget { tokens: Some(u64::MAX), micro_dollars: Some(0) },
                forked_from: Some((SessionId::from_bytes([2; 16]), Seq(7))),
                by: client(Door::Http, Role::Drive),
            },
            "session_opened",
            r#"{"workspace":"ws_01010101010101010101010101010101","title":"Grüße \"an\" alle\n","model":"local:small","preset":"auto_edit","budget":{"tokens":18446744073709551615,"micro_dollars":0},"forked_from":{"session":"ses_02020202020202020202020202020202","seq":7},"by":{"client":{"id":"cl_03030303030303030303030303030303","name":"editor","door":"http","role":"drive"}}}"#,
        ),
        (
            least(Preset::ReadOnly),
            "session_opened",
            r#"{"workspace":"ws_01010101010101010101010101010101","preset":"read_only","budget":{},"by":{"engine":{}}}"#,
        ),
        (
            least(Preset::Ask),
            "session_opened",
            r#"{"workspace":"ws_01010101010101010101010101010101","preset":"ask","budget":{},"by":{"engine":{}}}"#,
        ),
        (
            least(Preset::Full),
            "session_opened",
            r#"{"workspace":"ws_01010101010101010101010101010101","preset":"full","budget":{},"by":{"engine":{}}}"#,
        ),
        (
            EventBody::SessionRenamed { title: String::new(), by: client(Door::Rpc, Role::Drive) },
            "session_renamed",
            r#"{"title":"","by":{"client":{"id":"cl_03030303030303030303030303030303","name":"editor","door":"rpc","role":"drive"}}}"#,
        ),
        (
            EventBody::ModelChanged {
                model: ModelName("local:small".to_owned()),
                reason: Some("the other one is busy".to_owned()),
                by: Actor::Policy,
            },
            "model_changed",
            r#"{"model":"local:small","reason":"the other one is busy","by":{"policy":{}}}"#,
        ),
        (
            EventBody::ModelChanged {
                model: ModelName("a:b".to_owned()),
                reason: None,
                by: client(Door::Console, Role::Admin),
            },
            "model_changed",
            r#"{"model":"a:b","by":{"client":{"id":"cl_03030303030303030303030303030303","name":"editor","door":"console","role":"admin"}}}"#,
        ),
        (
            EventBody::ModelSwitched {
                from: ModelName("anthropic:large".to_owned()),
                to: ModelName("ollama:small".to_owned()),
                reason: "overloaded".to_owned(),
            },
            "model_switched",
            r#"{"from":"anthropic:large","to":"ollama:small","reason":"overloaded"}"#,
        ),
        (
            EventBody::InstructionsChanged {
                instructions: OwnInstructions {
                    instead: Some("Be brief.".to_owned()),
                    added: Some("Answer in French.".to_owned()),
                },
                by: Actor::Engine,
            },
            "instructions_changed",
            r#"{"instead":"Be brief.","added":"Answer in French.","by":{"engine":{}}}"#,
        ),
        (
            EventBody::InstructionsChanged { instructions: OwnInstructions::default(), by: Actor::Engine },
            "instructions_changed",
            r#"{"by":{"engine":{}}}"#,
        ),
        (
            EventBody::ThinkingChanged { thinking: Some(Thinking::Extended), by: Actor::Engine },
            "thinking_changed",
            r#"{"thinking":{"extended":{}},"by":{"engine":{}}}"#,
        ),
        (
            EventBody::ThinkingChanged { thinking: Some(Thinking::Off), by: Actor::Engine },
            "thinking_changed",
            r#"{"thinking":{"off":{}},"by":{"engine":{}}}"#,
        ),
        (
            EventBody::ThinkingChanged { thinking: Some(Thinking::Tokens(2048)), by: Actor::Engine },
            "thinking_changed",
            r#"{"thinking":{"tokens":{"most":2048}},"by":{"engine":{}}}"#,
        ),
        (
            EventBody::ThinkingChanged { thinking: None, by: Actor::Engine },
            "thinking_changed",
            r#"{"by":{"engine":{}}}"#,
        ),
        (
            EventBody::SessionClosed { by: client(Door::Inside, Role::Watch) },
            "session_closed",
            r#"{"by":{"client":{"id":"cl_03030303030303030303030303030303","name":"editor","door":"inside","role":"watch"}}}"#,
        ),
    ]
}

fn turns() -> Vec<Sample> {
    let image = |byte, name: Option<&str>| Image {
        hash: ContentHash([byte; 32]),
        media_type: "image/png".to_owned(),
        bytes: 7,
        name: name.map(str::to_owned),
    };
    let retrieved = |stage, results| EventBody::Retrieved { stage, results };
    vec![
        (
            EventBody::TurnStarted {
                instruction: Instruction {
                    text: "tidy\u{0} up".to_owned(),
                    context: Some(JsonText("{ \"open\": [] }".to_owned())),
                    preview: true,
                    ..Instruction::default()
                },
                by: Actor::Engine,
                queued: Some(Seq(5)),
            },
            "turn_started",
            r#"{"instruction":{"text":"tidy\u0000 up","context":"{ \"open\": [] }","preview":true},"by":{"engine":{}},"queued":5}"#,
        ),
        (
            EventBody::TurnStarted {
                instruction: Instruction { text: String::new(), ..Instruction::default() },
                by: Actor::Engine,
                queued: None,
            },
            "turn_started",
            r#"{"instruction":{"text":"","preview":false},"by":{"engine":{}}}"#,
        ),
        (
            EventBody::InstructionQueued {
                instruction: Instruction { text: "then test".to_owned(), ..Instruction::default() },
                by: Actor::Engine,
            },
            "instruction_queued",
            r#"{"instruction":{"text":"then test","preview":false},"by":{"engine":{}}}"#,
        ),
        (
            EventBody::TurnStarted {
                instruction: Instruction {
                    text: "look".to_owned(),
                    images: vec![image(1, Some("shot.png")), image(2, None)],
                    step_by_step: true,
                    ..Instruction::default()
                },
                by: Actor::Engine,
                queued: None,
            },
            "turn_started",
            r#"{"instruction":{"text":"look","preview":false,"images":[{"hash":"0101010101010101010101010101010101010101010101010101010101010101","media_type":"image/png","bytes":7,"name":"shot.png"},{"hash":"0202020202020202020202020202020202020202020202020202020202020202","media_type":"image/png","bytes":7}],"step_by_step":true},"by":{"engine":{}}}"#,
        ),
        (
            EventBody::InstructionQueued {
                instruction: Instruction {
                    text: "look".to_owned(),
                    restraint: Restraint { reading_only: true, without: vec!["run_command".to_owned()] },
                    ..Instruction::default()
                },
                by: Actor::Engine,
            },
            "instruction_queued",
            r#"{"instruction":{"text":"look","preview":false,"restraint":{"reading_only":true,"without":["run_command"]}},"by":{"engine":{}}}"#,
        ),
        (
            EventBody::InstructionQueued {
                instruction: Instruction {
                    text: "look".to_owned(),
                    nearby: CodeContext {
                        open_files: vec!["a.rs".to_owned()],
                        mentions: vec!["open".to_owned()],
                        diagnostics: vec!["b.rs".to_owned()],
                        recent: vec!["c.rs".to_owned()],
                    },
                    ..Instruction::default()
                },
                by: Actor::Engine,
            },
            "instruction_queued",
            r#"{"instruction":{"text":"look","nearby":{"open_files":["a.rs"],"mentions":["open"],"diagnostics":["b.rs"],"recent":["c.rs"]},"preview":false},"by":{"engine":{}}}"#,
        ),
        (
            EventBody::ContextUpdated { context: JsonText("{ \"open\": [] }".to_owned()), by: Actor::Engine },
            "context_updated",
            r#"{"context":"{ \"open\": [] }","by":{"engine":{}}}"#,
        ),
        (EventBody::TurnContinued { by: Actor::Engine }, "turn_continued", r#"{"by":{"engine":{}}}"#),
        (retrieved(RetrievalStage::Symbols, 0), "retrieved", r#"{"stage":"symbols","results":0}"#),
        (retrieved(RetrievalStage::Text, 1), "retrieved", r#"{"stage":"text","results":1}"#),
        (retrieved(RetrievalStage::Vectors, 2), "retrieved", r#"{"stage":"vectors","results":2}"#),
        (
            retrieved(RetrievalStage::Ranking, u32::MAX),
            "retrieved",
            r#"{"stage":"ranking","results":4294967295}"#,
        ),
        (
            EventBody::PlanChanged {
                plan: Plan {
                    steps: vec![
                        PlanStep { description: "look".to_owned(), files: vec!["src/a.rs".to_owned()] },
                        PlanStep { description: "write".to_owned(), files: vec![] },
                    ],
                    current: 1,
                    rationale: "short".to_owned(),
                },
            },
            "plan_changed",
            r#"{"plan":{"steps":[{"description":"look","files":["src/a.rs"]},{"description":"write","files":[]}],"current":1,"rationale":"short"}}"#,
        ),
        (
            EventBody::MessageEnded {
                message: AssistantMessage {
                    id: MessageId::from_bytes([4; 16]),
                    text: "Here 😀".to_owned(),
                    thought: Some("hm".to_owned()),
                    calls: vec![call(Some("toolu_1"))],
                },
                cut: true,
                usage: Usage { input: 10, cached: 4, output: 2, micro_dollars: Some(30) },
            },
            "message_ended",
            r#"{"message":{"id":"msg_04040404040404040404040404040404","text":"Here 😀","thought":"hm","calls":[{"id":"call_05050505050505050505050505050505","provider_id":"toolu_1","tool":"read_file","arguments":"{\"path\":\"a\"}"}]},"cut":true,"usage":{"input":10,"cached":4,"output":2,"micro_dollars":30}}"#,
        ),
        (
            EventBody::MessageEnded {
                message: AssistantMessage {
                    id: MessageId::from_bytes([4; 16]),
                    text: String::new(),
                    thought: None,
                    calls: vec![],
                },
                cut: false,
                usage: Usage::default(),
            },
            "message_ended",
            r#"{"message":{"id":"msg_04040404040404040404040404040404","text":"","calls":[]},"cut":false,"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
    ]
}

fn turn_ends() -> Vec<Sample> {
    let ended = |end| EventBody::TurnEnded { end, usage: Usage::default(), by: None };
    let failed = |failure| ended(TurnEnd::Failed(failure));
    let message = || "no".to_owned();
    let kind = "turn_ended";
    vec![
        (ended(TurnEnd::Done), kind, r#"{"end":{"done":{}},"usage":{"input":0,"cached":0,"output":0}}"#),
        (
            ended(TurnEnd::Cancelled),
            kind,
            r#"{"end":{"cancelled":{}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            EventBody::TurnEnded {
                end: TurnEnd::Cancelled,
                usage: Usage::default(),
                by: Some(client(Door::Http, Role::Drive)),
            },
            kind,
            r#"{"end":{"cancelled":{}},"usage":{"input":0,"cached":0,"output":0},"by":{"client":{"id":"cl_03030303030303030303030303030303","name":"editor","door":"http","role":"drive"}}}"#,
        ),
        (
            ended(TurnEnd::Interrupted),
            kind,
            r#"{"end":{"interrupted":{}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            ended(TurnEnd::StepLimit),
            kind,
            r#"{"end":{"step_limit":{}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            ended(TurnEnd::BudgetLimit),
            kind,
            r#"{"end":{"budget_limit":{}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Model {
                message: message(),
                retry_helps: true,
                trouble: ModelTrouble::Unknown,
            }),
            kind,
            r#"{"end":{"failed":{"failure":{"model":{"message":"no","retry_helps":true}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Model {
                message: message(),
                retry_helps: true,
                trouble: ModelTrouble::TimedOut,
            }),
            kind,
            r#"{"end":{"failed":{"failure":{"model":{"message":"no","retry_helps":true,"trouble":"timed_out"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Model {
                message: message(),
                retry_helps: true,
                trouble: ModelTrouble::Network,
            }),
            kind,
            r#"{"end":{"failed":{"failure":{"model":{"message":"no","retry_helps":true,"trouble":"network"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Model {
                message: message(),
                retry_helps: true,
                trouble: ModelTrouble::Server,
            }),
            kind,
            r#"{"end":{"failed":{"failure":{"model":{"message":"no","retry_helps":true,"trouble":"server"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Model {
                message: message(),
                retry_helps: true,
                trouble: ModelTrouble::TooOften,
            }),
            kind,
            r#"{"end":{"failed":{"failure":{"model":{"message":"no","retry_helps":true,"trouble":"too_often"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Model { message: message(), retry_helps: true, trouble: ModelTrouble::Key }),
            kind,
            r#"{"end":{"failed":{"failure":{"model":{"message":"no","retry_helps":true,"trouble":"key"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Model {
                message: message(),
                retry_helps: true,
                trouble: ModelTrouble::Payment,
            }),
            kind,
            r#"{"end":{"failed":{"failure":{"model":{"message":"no","retry_helps":true,"trouble":"payment"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Model {
                message: message(),
                retry_helps: true,
                trouble: ModelTrouble::NoModel,
            }),
            kind,
            r#"{"end":{"failed":{"failure":{"model":{"message":"no","retry_helps":true,"trouble":"no_model"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Model {
                message: message(),
                retry_helps: true,
                trouble: ModelTrouble::TooLong,
            }),
            kind,
            r#"{"end":{"failed":{"failure":{"model":{"message":"no","retry_helps":true,"trouble":"too_long"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Retrieval { message: message() }),
            kind,
            r#"{"end":{"failed":{"failure":{"retrieval":{"message":"no"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Policy { message: message() }),
            kind,
            r#"{"end":{"failed":{"failure":{"policy":{"message":"no"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
        (
            failed(TurnFailure::Internal { message: message() }),
            kind,
            r#"{"end":{"failed":{"failure":{"internal":{"message":"no"}}}},"usage":{"input":0,"cached":0,"output":0}}"#,
        ),
    ]
}

fn tools() -> Vec<Sample> {
    let started = |executor| EventBody::ToolStarted { call: CallId::from_bytes([5; 16]), executor };
    let ended = |outcome, files| EventBody::ToolEnded {
        call: CallId::from_bytes([5; 16]),
        outcome,
        files,
        command: None,
        milliseconds: 12,
    };
    vec![
        (
            EventBody::ToolRequested { call: call(None) },
            "tool_requested",
            r#"{"call":{"id":"call_05050505050505050505050505050505","tool":"read_file","arguments":"{\"path\":\"a\"}"}}"#,
        ),
        (
            EventBody::CallChanged {
                call: CallId::from_bytes([5; 16]),
                arguments: JsonText(r#"{"path":"b"}"#.to_owned()),
                by: Actor::Engine,
            },
            "call_changed",
            r#"{"call":"call_05050505050505050505050505050505","arguments":"{\"path\":\"b\"}","by":{"engine":{}}}"#,
        ),
        (
            started(Executor::Server),
            "tool_started",
            r#"{"call":"call_05050505050505050505050505050505","executor":{"server":{}}}"#,
        ),
        (
            started(Executor::Client(ClientId::from_bytes([3; 16]))),
            "tool_started",
            r#"{"call":"call_05050505050505050505050505050505","executor":{"client":{"id":"cl_03030303030303030303030303030303"}}}"#,
        ),
        (
            ended(ToolOutcome::Succeeded { output: "ok".to_owned() }, files()),
            "tool_ended",
            r#"{"call":"call_05050505050505050505050505050505","outcome":{"succeeded":{"output":"ok"}},"files":[{"path":"a","after":{"hash":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","mode":420,"is_link":false}},{"path":"b","before":{"hash":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","mode":420,"is_link":false},"after":{"hash":"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b","mode":493,"is_link":false}},{"path":"c","before":{"hash":"0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c","mode":511,"is_link":true}}],"milliseconds":12}"#,
        ),
        (
            ended(ToolOutcome::Failed { message: "no".to_owned() }, vec![]),
            "tool_ended",
            r#"{"call":"call_05050505050505050505050505050505","outcome":{"failed":{"message":"no"}},"files":[],"milliseconds":12}"#,
        ),
        (
            ended(ToolOutcome::Denied { reason: "never".to_owned() }, vec![]),
            "tool_ended",
            r#"{"call":"call_05050505050505050505050505050505","outcome":{"denied":{"reason":"never"}},"files":[],"milliseconds":12}"#,
        ),
        (
            ended(ToolOutcome::Cancelled, vec![]),
            "tool_ended",
            r#"{"call":"call_05050505050505050505050505050505","outcome":{"cancelled":{}},"files":[],"milliseconds":12}"#,
        ),
    ]
}

fn commands() -> Vec<Sample> {
    let ended = |exit, sandbox| EventBody::ToolEnded {
        call: CallId::from_bytes([5; 16]),
        outcome: ToolOutcome::Cancelled,
        files: vec![],
        command: Some(CommandSummary { exit, sandbox, left_out: 7 }),
        milliseconds: 12,
    };
    let kind = "tool_ended";
    vec![
        (
            ended(CommandExit::Code(-1), None),
            kind,
            r#"{"call":"call_05050505050505050505050505050505","outcome":{"cancelled":{}},"files":[],"command":{"exit":{"code":{"code":-1}},"left_out":7},"milliseconds":12}"#,
        ),
        (
            ended(CommandExit::Code(0), Some(SandboxLevel::None)),
            kind,
            r#"{"call":"call_05050505050505050505050505050505","outcome":{"cancelled":{}},"files":[],"command":{"exit":{"code":{"code":0}},"sandbox":"none","left_out":7},"milliseconds":12}"#,
        ),
        (
            ended(CommandExit::Signal(9), Some(SandboxLevel::Partial)),
            kind,
            r#"{"call":"call_05050505050505050505050505050505","outcome":{"cancelled":{}},"files":[],"command":{"exit":{"signal":{"signal":9}},"sandbox":"partial","left_out":7},"milliseconds":12}"#,
        ),
        (
            ended(CommandExit::TimedOut, Some(SandboxLevel::Confined)),
            kind,
            r#"{"call":"call_05050505050505050505050505050505","outcome":{"cancelled":{}},"files":[],"command":{"exit":{"timed_out":{}},"sandbox":"confined","left_out":7},"milliseconds":12}"#,
        ),
        (
            ended(CommandExit::TimedOut, Some(SandboxLevel::Isolated)),
            kind,
            r#"{"call":"call_05050505050505050505050505050505","outcome":{"cancelled":{}},"files":[],"command":{"exit":{"timed_out":{}},"sandbox":"isolated","left_out":7},"milliseconds":12}"#,
        ),
        (
            EventBody::FilesChanged {
                call: CallId::from_bytes([5; 16]),
                changes: files()
                    .into_iter()
                    .map(|change| ObservedChange { change, diff: "@@\n".to_owned() })
                    .collect(),
                beyond_undo: 2,
                shared: false,
            },
            "files_changed",
            r#"{"call":"call_05050505050505050505050505050505","changes":[{"change":{"path":"a","after":{"hash":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","mode":420,"is_link":false}},"diff":"@@\n"},{"change":{"path":"b","before":{"hash":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","mode":420,"is_link":false},"after":{"hash":"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b","mode":493,"is_link":false}},"diff":"@@\n"},{"change":{"path":"c","before":{"hash":"0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c","mode":511,"is_link":true}},"diff":"@@\n"}],"beyond_undo":2}"#,
        ),
        (
            EventBody::FilesChanged {
                call: CallId::from_bytes([5; 16]),
                changes: vec![],
                beyond_undo: 0,
                shared: true,
            },
            "files_changed",
            r#"{"call":"call_05050505050505050505050505050505","changes":[],"beyond_undo":0,"shared":true}"#,
        ),
    ]
}

fn patches() -> Vec<Sample> {
    let patch = PatchId::from_bytes([6; 16]);
    let batch = BatchId::from_bytes([7; 16]);
    let dropped = |failure| EventBody::PatchDropped { patch, failure };
    vec![
        (
            EventBody::PatchProposed { patch: whole_patch() },
            "patch_proposed",
            r#"{"patch":{"id":"patch_06060606060606060606060606060606","call":"call_05050505050505050505050505050505","path":"src/a.rs","kind":"modified","base":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","diff":"@@ -1 +1 @@\n-a\n+b\n","hunks":[{"old_start":1,"old_lines":1,"new_start":1,"new_lines":1,"content":"-a\n+b\n"}],"rationale":"b is better","acceptance_criteria":["it builds"]}}"#,
        ),
        (
            EventBody::PatchProposed {
                patch: Patch {
                    kind: FileChangeKind::Created,
                    base: None,
                    hunks: vec![],
                    acceptance_criteria: vec![],
                    ..whole_patch()
                },
            },
            "patch_proposed",
            r#"{"patch":{"id":"patch_06060606060606060606060606060606","call":"call_05050505050505050505050505050505","path":"src/a.rs","kind":"created","diff":"@@ -1 +1 @@\n-a\n+b\n","hunks":[],"rationale":"b is better","acceptance_criteria":[]}}"#,
        ),
        (
            EventBody::PatchApplied {
                patch,
                hunks: Some(vec![0, 2]),
                executor: Executor::Server,
                change: None,
            },
            "patch_applied",
            r#"{"patch":"patch_06060606060606060606060606060606","hunks":[0,2],"executor":{"server":{}}}"#,
        ),
        (
            EventBody::PatchApplied { patch, hunks: Some(vec![]), executor: Executor::Server, change: None },
            "patch_applied",
            r#"{"patch":"patch_06060606060606060606060606060606","hunks":[],"executor":{"server":{}}}"#,
        ),
        (
            EventBody::PatchApplied { patch, hunks: None, executor: Executor::Server, change: None },
            "patch_applied",
            r#"{"patch":"patch_06060606060606060606060606060606","executor":{"server":{}}}"#,
        ),
        (
            EventBody::PatchApplied {
                patch,
                hunks: None,
                executor: Executor::Server,
                change: files().into_iter().next(),
            },
            "patch_applied",
            r#"{"patch":"patch_06060606060606060606060606060606","executor":{"server":{}},"change":{"path":"a","after":{"hash":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","mode":420,"is_link":false}}}"#,
        ),
        (
            dropped(PatchFailure::Refused),
            "patch_dropped",
            r#"{"patch":"patch_06060606060606060606060606060606","failure":{"refused":{}}}"#,
        ),
        (
            dropped(PatchFailure::Conflict { found: Some(ContentHash([11; 32])) }),
            "patch_dropped",
            r#"{"patch":"patch_06060606060606060606060606060606","failure":{"conflict":{"found":"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"}}}"#,
        ),
        (
            dropped(PatchFailure::Conflict { found: None }),
            "patch_dropped",
            r#"{"patch":"patch_06060606060606060606060606060606","failure":{"conflict":{}}}"#,
        ),
        (
            dropped(PatchFailure::Superseded),
            "patch_dropped",
            r#"{"patch":"patch_06060606060606060606060606060606","failure":{"superseded":{}}}"#,
        ),
        (
            dropped(PatchFailure::Withdrawn),
            "patch_dropped",
            r#"{"patch":"patch_06060606060606060606060606060606","failure":{"withdrawn":{}}}"#,
        ),
        (
            dropped(PatchFailure::Unwritable { message: "disk full".to_owned() }),
            "patch_dropped",
            r#"{"patch":"patch_06060606060606060606060606060606","failure":{"unwritable":{"message":"disk full"}}}"#,
        ),
        (
            EventBody::BatchStarted { batch },
            "batch_started",
            r#"{"batch":"batch_07070707070707070707070707070707"}"#,
        ),
        (
            EventBody::ChangeCollected { batch, patch },
            "change_collected",
            r#"{"batch":"batch_07070707070707070707070707070707","patch":"patch_06060606060606060606060606060606"}"#,
        ),
        (
            EventBody::BatchEnded { batch },
            "batch_ended",
            r#"{"batch":"batch_07070707070707070707070707070707"}"#,
        ),
    ]
}

fn questions() -> Vec<Sample> {
    let asked = |question, risk, expires| EventBody::ApprovalAsked {
        approval: ApprovalId::from_bytes([8; 16]),
        call: Some(CallId::from_bytes([5; 16])),
        question,
        risk,
        expires,
    };
    let kind = "approval_asked";
    vec![
        (
            asked(
                Question::Patches {
                    tool: "edit_file".to_owned(),
                    patches: vec![PatchId::from_bytes([6; 16])],
                },
                Risk::Low,
                None,
            ),
            kind,
            r#"{"approval":"req_08080808080808080808080808080808","call":"call_05050505050505050505050505050505","question":{"patches":{"tool":"edit_file","patches":["patch_06060606060606060606060606060606"]}},"risk":"low"}"#,
        ),
        (
            asked(
                Question::Command {
                    command: "make".to_owned(),
                    directory: String::new(),
                    environment: vec![("B".to_owned(), "1".to_owned()), ("A".to_owned(), String::new())],
                    reason: Some("to see".to_owned()),
                },
                Risk::High,
                Some(Timestamp(-1)),
            ),
            kind,
            r#"{"approval":"req_08080808080808080808080808080808","call":"call_05050505050505050505050505050505","question":{"command":{"command":"make","directory":"","environment":[{"name":"B","value":"1"},{"name":"A","value":""}],"reason":"to see"}},"risk":"high","expires":-1}"#,
        ),
        (
            asked(
                Question::Command {
                    command: "make".to_owned(),
                    directory: "src".to_owned(),
                    environment: vec![],
                    reason: None,
                },
                Risk::High,
                Some(Timestamp(1_767_225_600_000)),
            ),
            kind,
            r#"{"approval":"req_08080808080808080808080808080808","call":"call_05050505050505050505050505050505","question":{"command":{"command":"make","directory":"src","environment":[]}},"risk":"high","expires":1767225600000}"#,
        ),
        (
            asked(
                Question::Tool { tool: "fetch".to_owned(), arguments: JsonText::empty_object() },
                Risk::Medium,
                None,
            ),
            kind,
            r#"{"approval":"req_08080808080808080808080808080808","call":"call_05050505050505050505050505050505","question":{"tool":{"tool":"fetch","arguments":"{}"}},"risk":"medium"}"#,
        ),
        (
            EventBody::ApprovalAsked {
                approval: ApprovalId::from_bytes([8; 16]),
                call: None,
                question: Question::Patches { tool: "edit_file".to_owned(), patches: vec![] },
                risk: Risk::Low,
                expires: None,
            },
            kind,
            r#"{"approval":"req_08080808080808080808080808080808","question":{"patches":{"tool":"edit_file","patches":[]}},"risk":"low"}"#,
        ),
    ]
}

fn answers() -> Vec<Sample> {
    let patch = PatchId::from_bytes([6; 16]);
    let decided = |scope, remember, comment: Option<&str>| EventBody::ApprovalDecided {
        approval: ApprovalId::from_bytes([8; 16]),
        answer: ApprovalAnswer { scope, remember, comment: comment.map(str::to_owned) },
        by: Actor::Policy,
    };
    let kind = "approval_decided";
    vec![
        (
            decided(ApprovalScope::None, Remember::Once, Some("not now")),
            kind,
            r#"{"approval":"req_08080808080808080808080808080808","answer":{"scope":{"none":{}},"remember":"once","comment":"not now"},"by":{"policy":{}}}"#,
        ),
        (
            decided(ApprovalScope::All, Remember::Session, None),
            kind,
            r#"{"approval":"req_08080808080808080808080808080808","answer":{"scope":{"all":{}},"remember":"session"},"by":{"policy":{}}}"#,
        ),
        (
            decided(ApprovalScope::Patches(vec![patch]), Remember::Workspace, None),
            kind,
            r#"{"approval":"req_08080808080808080808080808080808","answer":{"scope":{"patches":{"allowed":["patch_06060606060606060606060606060606"]}},"remember":"workspace"},"by":{"policy":{}}}"#,
        ),
        (
            decided(ApprovalScope::Hunks(vec![(patch, vec![0, 3])]), Remember::Once, None),
            kind,
            r#"{"approval":"req_08080808080808080808080808080808","answer":{"scope":{"hunks":{"allowed":[{"patch":"patch_06060606060606060606060606060606","hunks":[0,3]}]}},"remember":"once"},"by":{"policy":{}}}"#,
        ),
    ]
}

fn history() -> Vec<Sample> {
    let checkpoint = CheckpointId::from_bytes([9; 16]);
    vec![
        (
            EventBody::CheckpointTaken { checkpoint },
            "checkpoint_taken",
            r#"{"checkpoint":"cp_09090909090909090909090909090909"}"#,
        ),
        (
            EventBody::Undone { checkpoint, files: files(), by: Actor::Engine },
            "undone",
            r#"{"checkpoint":"cp_09090909090909090909090909090909","files":[{"path":"a","after":{"hash":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","mode":420,"is_link":false}},{"path":"b","before":{"hash":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","mode":420,"is_link":false},"after":{"hash":"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b","mode":493,"is_link":false}},{"path":"c","before":{"hash":"0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c","mode":511,"is_link":true}}],"by":{"engine":{}}}"#,
        ),
        (
            EventBody::Redone { checkpoint, files: vec![], by: Actor::Engine },
            "redone",
            r#"{"checkpoint":"cp_09090909090909090909090909090909","files":[],"by":{"engine":{}}}"#,
        ),
        (
            EventBody::HistoryCompacted {
                through: Seq(41),
                summary: "much was said".to_owned(),
                usage: Usage::NONE,
            },
            "history_compacted",
            r#"{"through":41,"summary":"much was said"}"#,
        ),
        (
            EventBody::HistoryCompacted {
                through: Seq(41),
                summary: "much was said".to_owned(),
                usage: Usage { input: 9, cached: 1, output: 2, micro_dollars: Some(3) },
            },
            "history_compacted",
            r#"{"through":41,"summary":"much was said","usage":{"input":9,"cached":1,"output":2,"micro_dollars":3}}"#,
        ),
    ]
}

fn client(door: Door, role: Role) -> Actor {
    Actor::Client { id: ClientId::from_bytes([3; 16]), name: "editor".to_owned(), door, role }
}

fn call(provider_id: Option<&str>) -> ToolCall {
    ToolCall {
        id: CallId::from_bytes([5; 16]),
        provider_id: provider_id.map(str::to_owned),
        tool: "read_file".to_owned(),
        arguments: JsonText(r#"{"path":"a"}"#.to_owned()),
    }
}

fn files() -> Vec<FileChange> {
    let state = |byte, mode, is_link| FileState { hash: ContentHash([byte; 32]), mode, is_link };
    let change = |path: &str, before, after| FileChange { path: path.to_owned(), before, after };
    vec![
        change("a", None, Some(state(10, 0o644, false))),
        change("b", Some(state(10, 0o644, false)), Some(state(11, 0o755, false))),
        change("c", Some(state(12, 0o777, true)), None),
    ]
}

fn whole_patch() -> Patch {
    Patch {
        id: PatchId::from_bytes([6; 16]),
        call: CallId::from_bytes([5; 16]),
        path: "src/a.rs".to_owned(),
        kind: FileChangeKind::Modified,
        base: Some(ContentHash([10; 32])),
        diff: "@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        hunks: vec![Hunk {
            old_start: 1,
            old_lines: 1,
            new_start: 1,
            new_lines: 1,
            content: "-a\n+b\n".to_owned(),
        }],
        rationale: "b is better".to_owned(),
        acceptance_criteria: vec!["it builds".to_owned()],
    }
}
