//! Any event at all, for property tests.
//!
//! Invariant: every variant, every alternative and every optional field comes up, with texts that are empty,
//! hold control characters or go beyond the basic plane.
//!
//! Strategies are boxed: side by side in one value, all of them together overflow a test's stack.

mod task;

use loggia_domain::{
    Actor, Aim, AimedFile, ApprovalAnswer, ApprovalId, ApprovalScope, AssistantMessage, BatchId, Budget,
    CallId, CheckpointId, ClientId, CodeContext, CommandExit, CommandSummary, ContentHash, Door, EventBody,
    Executor, FileChange, FileChangeKind, FileState, Hunk, Image, Instruction, JsonText, MessageId,
    ModelName, ModelTrouble, ObservedChange, OwnInstructions, Patch, PatchFailure, PatchId, Plan, PlanStep,
    Preset, Purpose, Question, Remember, Restraint, RetrievalStage, Risk, Role, SandboxLevel, Seq, SessionId,
    Spot, Thinking, Timestamp, ToolCall, ToolOutcome, TurnEnd, TurnFailure, Usage, WorkspaceId,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Any event. The weights are the numbers of variants.
pub(crate) fn any_body() -> BoxedStrategy<EventBody> {
    prop_oneof![
        5 => about_session(),
        8 => about_turn(),
        5 => about_tool(),
        6 => about_patch(),
        2 => about_approval(),
        4 => about_history(),
        3 => task::about_task(),
    ]
    .boxed()
}

fn about_session() -> BoxedStrategy<EventBody> {
    prop_oneof![
        (
            id(WorkspaceId::from_bytes),
            option::of(text()),
            option::of(text()),
            option::of(preset()),
            budget(),
            option::of(fork()),
            actor()
        )
            .prop_map(|(workspace, title, model, preset, budget, forked_from, by)| {
                let model = model.map(ModelName);
                EventBody::SessionOpened { workspace, title, model, preset, budget, forked_from, by }
            }),
        (text(), actor()).prop_map(|(title, by)| EventBody::SessionRenamed { title, by }),
        (text(), option::of(text()), actor()).prop_map(|(model, reason, by)| {
            EventBody::ModelChanged { model: ModelName(model), reason, by }
        }),
        (text(), text(), text()).prop_map(|(from, to, reason)| EventBody::ModelSwitched {
            from: ModelName(from),
            to: ModelName(to),
            reason
        }),
        (option::of(text()), option::of(text()), actor()).prop_map(|(instead, added, by)| {
            EventBody::InstructionsChanged { instructions: OwnInstructions { instead, added }, by }
        }),
        (option::of(thinking()), actor())
            .prop_map(|(thinking, by)| EventBody::ThinkingChanged { thinking, by }),
        actor().prop_map(|by| EventBody::SessionClosed { by }),
    ]
    .boxed()
}

fn about_turn() -> BoxedStrategy<EventBody> {
    prop_oneof![
        (instruction(), actor())
            .prop_map(|(instruction, by)| EventBody::InstructionQueued { instruction, by }),
        (instruction(), actor(), option::of(any::<u64>().prop_map(Seq)))
            .prop_map(|(instruction, by, queued)| EventBody::TurnStarted { instruction, by, queued }),
        (json(), actor()).prop_map(|(context, by)| EventBody::ContextUpdated { context, by }),
        actor().prop_map(|by| EventBody::TurnContinued { by }),
        (stage(), any::<u32>()).prop_map(|(stage, results)| EventBody::Retrieved { stage, results }),
        plan().prop_map(|plan| EventBody::PlanChanged { plan }),
        (message(), any::<bool>(), usage()).prop_map(|(message, cut, usage)| EventBody::MessageEnded {
            message,
            cut,
            usage
        }),
        (turn_end(), usage(), prop::option::of(actor())).prop_map(|(end, usage, by)| EventBody::TurnEnded {
            end,
            usage,
            by
        }),
    ]
    .boxed()
}

fn about_tool() -> BoxedStrategy<EventBody> {
    prop_oneof![
        call().prop_map(|call| EventBody::ToolRequested { call }),
        (id(CallId::from_bytes), json(), actor()).prop_map(|(call, arguments, by)| EventBody::CallChanged {
            call,
            arguments,
            by
        }),
        (id(CallId::from_bytes), executor())
            .prop_map(|(call, executor)| EventBody::ToolStarted { call, executor }),
        (id(CallId::from_bytes), outcome(), files(), option::of(command()), any::<u64>()).prop_map(
            |(call, outcome, files, command, milliseconds)| EventBody::ToolEnded {
                call,
                outcome,
                files,
                command,
                milliseconds
            }
        ),
        (id(CallId::from_bytes), vec(observed(), 0..3), any::<u64>(), any::<bool>()).prop_map(
            |(call, changes, beyond_undo, shared)| EventBody::FilesChanged {
                call,
                changes,
                beyond_undo,
                shared
            }
        ),
    ]
    .boxed()
}

fn about_patch() -> BoxedStrategy<EventBody> {
    prop_oneof![
        patch().prop_map(|patch| EventBody::PatchProposed { patch }),
        (id(PatchId::from_bytes), option::of(indexes()), executor(), option::of(file_change())).prop_map(
            |(patch, hunks, executor, change)| EventBody::PatchApplied { patch, hunks, executor, change }
        ),
        (id(PatchId::from_bytes), patch_failure())
            .prop_map(|(patch, failure)| EventBody::PatchDropped { patch, failure }),
        id(BatchId::from_bytes).prop_map(|batch| EventBody::BatchStarted { batch }),
        (id(BatchId::from_bytes), id(PatchId::from_bytes))
            .prop_map(|(batch, patch)| EventBody::ChangeCollected { batch, patch }),
        id(BatchId::from_bytes).prop_map(|batch| EventBody::BatchEnded { batch }),
    ]
    .boxed()
}

fn about_approval() -> BoxedStrategy<EventBody> {
    let expires = option::of(any::<i64>().prop_map(Timestamp));
    prop_oneof![
        (id(ApprovalId::from_bytes), option::of(id(CallId::from_bytes)), question(), risk(), expires)
            .prop_map(|(approval, call, question, risk, expires)| {
                EventBody::ApprovalAsked { approval, call, question, risk, expires }
            }),
        (id(ApprovalId::from_bytes), answer(), actor())
            .prop_map(|(approval, answer, by)| EventBody::ApprovalDecided { approval, answer, by }),
    ]
    .boxed()
}

fn about_history() -> BoxedStrategy<EventBody> {
    let checkpoint = || id(CheckpointId::from_bytes);
    prop_oneof![
        checkpoint().prop_map(|checkpoint| EventBody::CheckpointTaken { checkpoint }),
        (checkpoint(), files(), actor()).prop_map(|(checkpoint, files, by)| EventBody::Undone {
            checkpoint,
            files,
            by
        }),
        (checkpoint(), files(), actor()).prop_map(|(checkpoint, files, by)| EventBody::Redone {
            checkpoint,
            files,
            by
        }),
        (any::<u64>(), text(), usage()).prop_map(|(through, summary, usage)| EventBody::HistoryCompacted {
            through: Seq(through),
            summary,
            usage
        }),
    ]
    .boxed()
}

fn id<T: std::fmt::Debug + 'static>(make: fn([u8; 16]) -> T) -> BoxedStrategy<T> {
    any::<[u8; 16]>().prop_map(make).boxed()
}

const AWKWARD: &[&str] =
    &["", "\0", "\"\\/\r\n\t", "\u{7f}\u{85}\u{2028}\u{2029}\u{feff}", "😀é漢\u{10ffff}", "null"];

/// Text with everything that JSON or a database might trip over.
fn text() -> BoxedStrategy<String> {
    prop_oneof![
        2 => vec(any::<char>(), 0..12).prop_map(String::from_iter),
        1 => vec(0..0x20_u8, 0..4).prop_map(|bytes| bytes.into_iter().map(char::from).collect()),
        1 => select(AWKWARD).prop_map(str::to_owned),
    ]
    .boxed()
}

/// Kept as text, so even what is no JSON must come back.
fn json() -> BoxedStrategy<JsonText> {
    prop_oneof![
        text(),
        select(vec!["{}", "{ \"a\" : 1.50e0 }\n", "[1,\t\"\\u00e9\"]", ""]).prop_map(str::to_owned)
    ]
    .prop_map(JsonText)
    .boxed()
}

fn hash() -> BoxedStrategy<ContentHash> {
    any::<[u8; 32]>().prop_map(ContentHash).boxed()
}

fn indexes() -> BoxedStrategy<Vec<usize>> {
    vec(any::<usize>(), 0..4).boxed()
}

fn preset() -> BoxedStrategy<Preset> {
    select(vec![Preset::ReadOnly, Preset::Ask, Preset::AutoEdit, Preset::Full]).boxed()
}

fn stage() -> BoxedStrategy<RetrievalStage> {
    use RetrievalStage::{Ranking, Symbols, Text, Vectors};
    select(vec![Symbols, Text, Vectors, Ranking]).boxed()
}

fn risk() -> BoxedStrategy<Risk> {
    select(vec![Risk::Low, Risk::Medium, Risk::High]).boxed()
}

fn file_change_kind() -> BoxedStrategy<FileChangeKind> {
    select(vec![FileChangeKind::Created, FileChangeKind::Modified, FileChangeKind::Deleted]).boxed()
}

fn budget() -> BoxedStrategy<Budget> {
    (any::<Option<u64>>(), any::<Option<u64>>())
        .prop_map(|(tokens, micro_dollars)| Budget { tokens, micro_dollars })
        .boxed()
}

fn fork() -> BoxedStrategy<(SessionId, Seq)> {
    (id(SessionId::from_bytes), any::<u64>().prop_map(Seq)).boxed()
}

fn usage() -> BoxedStrategy<Usage> {
    (any::<u64>(), any::<u64>(), any::<u64>(), any::<Option<u64>>())
        .prop_map(|(input, cached, output, micro_dollars)| Usage { input, cached, output, micro_dollars })
        .boxed()
}

fn actor() -> BoxedStrategy<Actor> {
    let door = select(vec![Door::Http, Door::Rpc, Door::Console, Door::Inside]);
    let role = select(vec![Role::Watch, Role::Drive, Role::Admin]);
    prop_oneof![
        3 => (id(ClientId::from_bytes), text(), door, role)
            .prop_map(|(id, name, door, role)| Actor::Client { id, name, door, role }),
        1 => Just(Actor::Policy),
        1 => Just(Actor::Engine),
    ]
    .boxed()
}

fn executor() -> BoxedStrategy<Executor> {
    prop_oneof![Just(Executor::Server), id(ClientId::from_bytes).prop_map(Executor::Client)].boxed()
}

fn instruction() -> BoxedStrategy<Instruction> {
    let images = vec(image(), 0..3);
    let held = (any::<bool>(), any::<bool>(), restraint());
    (text(), option::of(json()), option::of(aim()), nearby(), images, held)
        .prop_map(|(text, context, aim, nearby, images, (preview, step_by_step, restraint))| Instruction {
            text,
            context,
            aim,
            nearby,
            preview,
            images,
            step_by_step,
            restraint,
        })
        .boxed()
}

fn nearby() -> BoxedStrategy<CodeContext> {
    let paths = || vec(text(), 0..3);
    (paths(), paths(), paths(), paths())
        .prop_map(|(open_files, mentions, diagnostics, recent)| CodeContext {
            open_files,
            mentions,
            diagnostics,
            recent,
        })
        .boxed()
}

fn restraint() -> BoxedStrategy<Restraint> {
    (any::<bool>(), vec(text(), 0..3))
        .prop_map(|(reading_only, without)| Restraint { reading_only, without })
        .boxed()
}

fn trouble() -> BoxedStrategy<ModelTrouble> {
    use ModelTrouble::{Key, Network, NoModel, Payment, Server, TimedOut, TooLong, TooOften, Unknown};
    select(vec![Network, TimedOut, Server, TooOften, Key, Payment, NoModel, TooLong, Unknown]).boxed()
}

fn image() -> BoxedStrategy<Image> {
    (hash(), text(), any::<u64>(), option::of(text()))
        .prop_map(|(hash, media_type, bytes, name)| Image { hash, media_type, bytes, name })
        .boxed()
}

fn aim() -> BoxedStrategy<Aim> {
    let purpose = select(vec![Purpose::Fix, Purpose::Test, Purpose::Explain, Purpose::Refactor]);
    let spot = (any::<u32>(), any::<u32>()).prop_flat_map(|(first, last)| {
        select(vec![
            Spot::Selected { first, last },
            Spot::Named { line: first },
            Spot::Cursor { line: first },
            Spot::Visible { first, last },
        ])
    });
    let file = (text(), option::of(spot)).prop_map(|(path, spot)| AimedFile { path, spot });
    (purpose, vec(file, 0..3), any::<bool>())
        .prop_map(|(purpose, files, has_output)| Aim { purpose, files, has_output })
        .boxed()
}

fn command() -> BoxedStrategy<CommandSummary> {
    use SandboxLevel::{Confined, Isolated, None, Partial};
    let exit = prop_oneof![
        any::<i32>().prop_map(CommandExit::Code),
        any::<i32>().prop_map(CommandExit::Signal),
        Just(CommandExit::TimedOut),
    ];
    let sandbox = option::of(select(vec![None, Partial, Confined, Isolated]));
    (exit, sandbox, any::<u64>())
        .prop_map(|(exit, sandbox, left_out)| CommandSummary { exit, sandbox, left_out })
        .boxed()
}

fn plan() -> BoxedStrategy<Plan> {
    let step = (text(), vec(text(), 0..3)).prop_map(|(description, files)| PlanStep { description, files });
    (vec(step, 0..3), any::<usize>(), text())
        .prop_map(|(steps, current, rationale)| Plan { steps, current, rationale })
        .boxed()
}

fn call() -> BoxedStrategy<ToolCall> {
    (id(CallId::from_bytes), option::of(text()), text(), json())
        .prop_map(|(id, provider_id, tool, arguments)| ToolCall { id, provider_id, tool, arguments })
        .boxed()
}

fn message() -> BoxedStrategy<AssistantMessage> {
    (id(MessageId::from_bytes), text(), option::of(text()), vec(call(), 0..3))
        .prop_map(|(id, text, thought, calls)| AssistantMessage { id, text, thought, calls })
        .boxed()
}

fn turn_end() -> BoxedStrategy<TurnEnd> {
    let failure = prop_oneof![
        (text(), any::<bool>(), trouble()).prop_map(|(message, retry_helps, trouble)| {
            TurnFailure::Model { message, retry_helps, trouble }
        }),
        text().prop_map(|message| TurnFailure::Retrieval { message }),
        text().prop_map(|message| TurnFailure::Policy { message }),
        text().prop_map(|message| TurnFailure::Internal { message }),
    ];
    prop_oneof![
        1 => Just(TurnEnd::Done),
        1 => Just(TurnEnd::Cancelled),
        1 => Just(TurnEnd::Interrupted),
        1 => Just(TurnEnd::StepLimit),
        1 => Just(TurnEnd::BudgetLimit),
        4 => failure.prop_map(TurnEnd::Failed),
    ]
    .boxed()
}

fn outcome() -> BoxedStrategy<ToolOutcome> {
    prop_oneof![
        text().prop_map(|output| ToolOutcome::Succeeded { output }),
        text().prop_map(|message| ToolOutcome::Failed { message }),
        text().prop_map(|reason| ToolOutcome::Denied { reason }),
        Just(ToolOutcome::Cancelled),
    ]
    .boxed()
}

fn files() -> BoxedStrategy<Vec<FileChange>> {
    vec(file_change(), 0..3).boxed()
}

fn file_change() -> BoxedStrategy<FileChange> {
    (text(), option::of(file_state()), option::of(file_state()))
        .prop_map(|(path, before, after)| FileChange { path, before, after })
        .boxed()
}

fn file_state() -> BoxedStrategy<FileState> {
    (hash(), any::<u32>(), any::<bool>())
        .prop_map(|(hash, mode, is_link)| FileState { hash, mode, is_link })
        .boxed()
}

fn observed() -> BoxedStrategy<ObservedChange> {
    (file_change(), text()).prop_map(|(change, diff)| ObservedChange { change, diff }).boxed()
}

fn patch() -> BoxedStrategy<Patch> {
    (
        id(PatchId::from_bytes),
        id(CallId::from_bytes),
        text(),
        file_change_kind(),
        option::of(hash()),
        text(),
        vec(hunk(), 0..3),
        text(),
        vec(text(), 0..3),
    )
        .prop_map(|(id, call, path, kind, base, diff, hunks, rationale, acceptance_criteria)| Patch {
            id,
            call,
            path,
            kind,
            base,
            diff,
            hunks,
            rationale,
            acceptance_criteria,
        })
        .boxed()
}

fn hunk() -> BoxedStrategy<Hunk> {
    (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>(), text())
        .prop_map(|(old_start, old_lines, new_start, new_lines, content)| Hunk {
            old_start,
            old_lines,
            new_start,
            new_lines,
            content,
        })
        .boxed()
}

fn patch_failure() -> BoxedStrategy<PatchFailure> {
    prop_oneof![
        Just(PatchFailure::Refused),
        Just(PatchFailure::Superseded),
        Just(PatchFailure::Withdrawn),
        option::of(hash()).prop_map(|found| PatchFailure::Conflict { found }),
        text().prop_map(|message| PatchFailure::Unwritable { message }),
    ]
    .boxed()
}

fn question() -> BoxedStrategy<Question> {
    prop_oneof![
        (text(), vec(id(PatchId::from_bytes), 0..3))
            .prop_map(|(tool, patches)| Question::Patches { tool, patches }),
        (text(), text(), vec((text(), text()), 0..3), option::of(text())).prop_map(
            |(command, directory, environment, reason)| Question::Command {
                command,
                directory,
                environment,
                reason
            }
        ),
        (text(), json()).prop_map(|(tool, arguments)| Question::Tool { tool, arguments }),
    ]
    .boxed()
}

fn thinking() -> BoxedStrategy<Thinking> {
    prop_oneof![select(vec![Thinking::Off, Thinking::Extended]), any::<u32>().prop_map(Thinking::Tokens),]
        .boxed()
}

fn answer() -> BoxedStrategy<ApprovalAnswer> {
    let scope = prop_oneof![
        Just(ApprovalScope::None),
        Just(ApprovalScope::All),
        vec(id(PatchId::from_bytes), 0..3).prop_map(ApprovalScope::Patches),
        vec((id(PatchId::from_bytes), indexes()), 0..3).prop_map(ApprovalScope::Hunks),
    ];
    let remember = select(vec![Remember::Once, Remember::Session, Remember::Workspace]);
    (scope, remember, option::of(text()))
        .prop_map(|(scope, remember, comment)| ApprovalAnswer { scope, remember, comment })
        .boxed()
}
