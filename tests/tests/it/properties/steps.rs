//! What can happen in a run: the steps, and how they are drawn.
//!
//! Knows shapes only; what a step means for an engine is the stage's affair. Numbers that pick something (a client,
//! a file, a question) are taken modulo what there is, so that every step makes sense wherever it stands, also after
//! others were taken out.

use loggia_domain::Preset;
use proptest::collection::vec;
use proptest::prelude::*;

/// How many clients can be there at once.
pub(super) const CLIENTS: usize = 3;

/// The files that are changed. All but the last are there in the beginning.
pub(super) const FILES: [&str; 4] = ["a.txt", "b.txt", "d/c.txt", "d/e/new.txt"];

/// Commands that change files quickly, slowly or not at all.
pub(super) const COMMANDS: [&str; 4] = [
    "echo more >> a.txt",
    "rm -f b.txt; mkdir -p made; echo new > made/by-command",
    "for n in 1 2 3 4 5 6; do echo $n > loop-$n; sleep 0.03; done",
    "exit 3",
];

/// One run.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// What is allowed without asking.
    pub(super) preset: Preset,
    /// How much the model can look at, in tokens.
    pub(super) window: u64,
    /// Whether the engine has several threads.
    pub(super) threads: bool,
    /// What happens.
    pub(super) steps: Vec<Step>,
}

/// One thing that happens, and what is waited for after it.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) what: What,
    pub(super) then: Then,
}

/// What is waited for after a step.
#[derive(Debug, Clone, Copy)]
pub(super) enum Then {
    /// Nothing: the next step comes at once.
    Nothing,
    /// So many things are told, or nothing more will happen by itself.
    Hear(usize),
    /// Nothing more will happen by itself.
    Rest,
    /// The same, and long enough for a running reply to be kept.
    Linger,
    /// The turn is over: questions are answered with yes, and what hangs is cancelled.
    Idle,
}

/// Something that happens.
#[derive(Debug, Clone)]
pub(super) enum What {
    Prompt {
        who: usize,
        program: Vec<Reply>,
        preview: bool,
        queue: bool,
    },
    Cancel {
        who: usize,
    },
    Decide {
        who: usize,
        which: usize,
        answer: Answer,
    },
    Continue {
        who: usize,
    },
    Undo {
        who: usize,
        steps: usize,
    },
    Redo {
        who: usize,
        steps: usize,
    },
    Rename {
        who: usize,
    },
    SetModel {
        who: usize,
    },
    UpdateContext {
        who: usize,
    },
    Join {
        who: usize,
        manner: Manner,
    },
    Leave {
        who: usize,
    },
    AutoApprove {
        who: usize,
        yes: bool,
    },
    /// Somebody outside changes a file.
    Edit {
        file: usize,
        version: u8,
    },
    /// The session is split at an event, and the other one is looked at.
    Fork {
        at: usize,
    },
    /// The engine is stopped and started again.
    Restart,
    /// The engine dies and another one starts.
    Crash,
    /// The engine dies with the next but so many writes to the journal, before or after it is on disk.
    CrashAtWrite {
        after: i64,
        stored: bool,
    },
}

/// How somebody comes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// Only to see.
    pub(super) watches: bool,
    pub(super) auto_approves: bool,
    /// Its going ends a turn.
    pub(super) aborts: bool,
    /// It hears at once what is told, or a little at every step.
    pub(super) eager: bool,
    /// Where it begins to hear: this share of the journal, in percent.
    pub(super) from: u64,
}

/// Answers to a question.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    Yes,
    No,
    /// Those files whose bit is set.
    Files(u8),
    /// Those hunks whose bit is set.
    Hunks(u8),
    /// Yes, and for the rest of the session.
    Always,
}

/// One reply of the model.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) acts: Vec<Act>,
    pub(super) end: End,
}

/// What the model says or calls.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// In pieces, with a pause before each.
    Say {
        pieces: u8,
    },
    /// The same without pauses.
    Burst {
        pieces: u8,
    },
    Think,
    Read(usize),
    Find,
    /// Writes a file of which only the first and the last line can differ: two hunks.
    Write {
        file: usize,
        top: u8,
        bottom: u8,
    },
    /// Changes several files in one call.
    Patch {
        files: u8,
        version: u8,
    },
    Delete(usize),
    Plan,
    Nonsense(usize),
    Command(usize),
}

/// How a reply ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Whole,
    Hangs,
    /// A passing error, which is tried again.
    Stumbles,
    Fails,
    TooLong,
}

fn who() -> impl Strategy<Value = usize> {
    0..CLIENTS
}

fn act(commands: u32) -> impl Strategy<Value = Act> {
    let file = || 0..FILES.len();
    prop_oneof![
        6 => (1..6_u8).prop_map(|pieces| Act::Say { pieces }),
        1 => Just(Act::Think),
        4 => file().prop_map(Act::Read),
        1 => Just(Act::Find),
        8 => (file(), 0..3_u8, 0..3_u8).prop_map(|(file, top, bottom)| Act::Write { file, top, bottom }),
        4 => (1..16_u8, 3..6_u8).prop_map(|(files, version)| Act::Patch { files, version }),
        2 => file().prop_map(Act::Delete),
        1 => Just(Act::Plan),
        1 => (0..4_usize).prop_map(Act::Nonsense),
        commands => (0..COMMANDS.len()).prop_map(Act::Command),
    ]
}

fn reply(commands: u32) -> impl Strategy<Value = Reply> {
    let end = prop_oneof![
        20 => Just(End::Whole),
        2 => Just(End::Hangs),
        1 => Just(End::Stumbles),
        1 => Just(End::Fails),
        1 => Just(End::TooLong),
    ];
    (vec(act(commands), 0..4), end).prop_map(|(acts, end)| Reply { acts, end })
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        5 => Just(Answer::Yes),
        2 => Just(Answer::No),
        2 => any::<u8>().prop_map(Answer::Files),
        2 => any::<u8>().prop_map(Answer::Hunks),
        1 => Just(Answer::Always),
    ]
}

fn manner() -> impl Strategy<Value = Manner> {
    let one_in = |times: u32| prop::bool::weighted(1.0 / f64::from(times));
    (one_in(6), one_in(4), one_in(4), any::<bool>(), 0..120_u64).prop_map(
        |(watches, auto_approves, aborts, eager, from)| Manner {
            watches,
            auto_approves,
            aborts,
            eager,
            from,
        },
    )
}

fn steps_back() -> impl Strategy<Value = usize> {
    prop_oneof![10 => Just(1), 4 => Just(2), 1 => Just(0)]
}

fn what(commands: u32) -> impl Strategy<Value = What> {
    let program = vec(reply(commands), 0..4);
    let prompt = (who(), program, prop::bool::weighted(0.25), any::<bool>());
    prop_oneof![
        14 => prompt.prop_map(|(who, program, preview, queue)| What::Prompt { who, program, preview, queue }),
        5 => who().prop_map(|who| What::Cancel { who }),
        12 => (who(), 0..4_usize, answer()).prop_map(|(who, which, answer)| What::Decide { who, which, answer }),
        2 => who().prop_map(|who| What::Continue { who }),
        8 => (who(), steps_back()).prop_map(|(who, steps)| What::Undo { who, steps }),
        6 => (who(), steps_back()).prop_map(|(who, steps)| What::Redo { who, steps }),
        1 => who().prop_map(|who| What::Rename { who }),
        1 => who().prop_map(|who| What::SetModel { who }),
        2 => who().prop_map(|who| What::UpdateContext { who }),
        4 => (who(), manner()).prop_map(|(who, manner)| What::Join { who, manner }),
        2 => who().prop_map(|who| What::Leave { who }),
        1 => (who(), any::<bool>()).prop_map(|(who, yes)| What::AutoApprove { who, yes }),
        2 => (0..FILES.len(), 6..9_u8).prop_map(|(file, version)| What::Edit { file, version }),
        1 => (0..1000_usize).prop_map(|at| What::Fork { at }),
        1 => Just(What::Restart),
        2 => Just(What::Crash),
        4 => (1..8_i64, any::<bool>()).prop_map(|(after, stored)| What::CrashAtWrite { after, stored }),
    ]
}

fn step(commands: u32) -> impl Strategy<Value = Step> {
    let then = prop_oneof![
        2 => Just(Then::Nothing),
        5 => (1..12_usize).prop_map(Then::Hear),
        6 => Just(Then::Rest),
        1 => Just(Then::Linger),
        6 => Just(Then::Idle),
    ];
    (what(commands), then).prop_map(|(what, then)| Step { what, then })
}

/// A run of about so many steps. Commands are as frequent among the model's acts as their weight says.
pub(super) fn case(steps: usize, commands: u32) -> impl Strategy<Value = Case> {
    let preset = prop::sample::select(vec![Preset::Ask, Preset::Ask, Preset::AutoEdit, Preset::Full]);
    let window = prop::sample::select(vec![1_500, 1_000_000]);
    // Steps that can be left out one by one: a failing run gets shorter, and a drawn one is never short.
    let steps = vec(prop::option::weighted(0.95, step(commands)), steps);
    (preset, window, any::<bool>(), steps).prop_map(|(preset, window, threads, steps)| Case {
        preset,
        window,
        threads,
        steps: steps.into_iter().flatten().collect(),
    })
}
