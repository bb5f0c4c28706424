//! The desk itself: one message, open from a file, worked on by one caller.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use hl7_parser::parser::parse_message_with_lenient_newlines;
use loggia_domain::{MessageDesk, MessageFormat, MessagePatch, Opening};
use loggia_messages::Desk;

use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::rows::{Row, Rows};

const PART: &str = "A message of 20,000 segments on the desk";

const SEGMENTS: usize = 20_000;

/// Patches of one call, each of another segment.
const MANY: usize = 1_000;

const GET: Row = Row::limited("get of one place", "ms", Limit::TimesFloor(3.0));
const READ: Row = Row::limited("get of the whole as HL7", "ms", Limit::TimesFloor(3.0));
const PATCH: Row = Row::limited("a patch of one place", "ms", Limit::TimesFloor(3.0));
const PATCHES: Row = Row::limited("a patch of 1,000 places", "ms", Limit::TimesFloor(3.0));
const SET: Row = Row::limited("set of the whole as HL7", "ms", Limit::TimesFloor(3.0));
const UNDO: Row = Row::free("a step taken back", "ms");
const READ_JSON: Row = Row::free("get of the whole as JSON", "ms");
const SET_JSON: Row = Row::free("set of the whole as JSON", "ms");
const VALIDATE: Row = Row::free("validate", "ms");
const SAVE: Row = Row::free("save", "ms");

const ROWS: &[Row] = &[GET, READ, PATCH, PATCHES, SET, UNDO, READ_JSON, SET_JSON, VALIDATE, SAVE];

/// Those that have the parser beside them.
const BESIDE: &[Row] = &[GET, READ, PATCH, PATCHES, SET, UNDO, READ_JSON, SET_JSON, VALIDATE];

pub(super) fn all(rounds: usize) -> Result<Vec<Figure>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let text = message();
    let mut rows = Rows::new(PART, ROWS);
    for round in 0..=rounds {
        eprint!("\r\x1b[Kmessages: round {round} of {rounds}");
        rows.keep = round > 0;
        let floor = floor(&text)?;
        BESIDE.iter().for_each(|row| rows.floor(row, floor));
        runtime.block_on(ours(&mut rows, &text))?;
    }
    rows.figures()
}

/// The parser alone, in milliseconds.
fn floor(text: &str) -> Result<f64> {
    let began = Instant::now();
    let parsed = black_box(parse_message_with_lenient_newlines(black_box(text), true))
        .context("the parser reads it")?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    ensure!(parsed.segments().count() == SEGMENTS, "{} segments were parsed", parsed.segments().count());
    Ok(took)
}

async fn ours(rows: &mut Rows, text: &str) -> Result<()> {
    let directory = tempfile::tempdir()?;
    std::fs::write(directory.path().join("a.hl7"), text)?;
    let desk = Desk::new(directory.path());
    desk.open(Opening::File("a.hl7".to_owned())).await?;
    let last = format!("OBX[{}].5.1", 9_999);

    let began = Instant::now();
    let found = desk.get(last.clone()).await?;
    rows.ours(&GET, since(began));
    ensure!(found.is_some_and(|found| found.starts_with("value")));

    let began = Instant::now();
    let whole = desk.read(MessageFormat::Hl7).await?.text;
    rows.ours(&READ, since(began));

    let patches = vec![patch(last)];
    let began = Instant::now();
    ensure!(desk.patch(patches).await?.applied == 1);
    rows.ours(&PATCH, since(began));

    let patches = (1..=MANY).map(|number| patch(format!("OBX[{}].5", number * 9))).collect();
    let began = Instant::now();
    ensure!(desk.patch(patches).await?.applied == MANY);
    rows.ours(&PATCHES, since(began));

    let began = Instant::now();
    desk.undo().await?;
    rows.ours(&UNDO, since(began));

    let changed = whole.replace("718-7", "718-8");
    let began = Instant::now();
    desk.replace(changed, MessageFormat::Hl7).await?;
    rows.ours(&SET, since(began));

    let began = Instant::now();
    let json = desk.read(MessageFormat::Json).await?.text;
    rows.ours(&READ_JSON, since(began));

    let changed = json.replace("718-8", "718-9");
    let began = Instant::now();
    desk.replace(changed, MessageFormat::Json).await?;
    rows.ours(&SET_JSON, since(began));

    let began = Instant::now();
    black_box(desk.validate().await?);
    rows.ours(&VALIDATE, since(began));

    let began = Instant::now();
    desk.save(None).await?;
    rows.ours(&SAVE, since(began));
    Ok(())
}

fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

fn patch(path: String) -> MessagePatch {
    MessagePatch { path, value: Some("a new value".to_owned()), ..MessagePatch::default() }
}

/// Five megabytes, as results of a laboratory are.
fn message() -> String {
    let mut text = "MSH|^~\\&|LAB|HOSPITAL|EHR|HOSPITAL|20240131235959||ORU^R01|1|P|2.5.1".to_owned();
    let value = "value of some length with \\T\\ in it, ".repeat(4);
    for number in 1..SEGMENTS {
        let id = number % 10_000;
        // Writing to a text cannot fail.
        let _ = write!(
            text,
            "\rOBX|{id}|ST|718-7^Hemoglobin^LN||{value}|g/dL^^UCUM|12-16|N|||F|||20240131235959||DOE^JANE"
        );
    }
    text
}
