//! Allocations per small round trip and per streamed token, ours beside the floor's. A binary of its own, because
//! counting slows every allocation down and would falsify the other figures.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::Result;
use loggia_bench::wire::payload::{Load, SMALL};
use loggia_bench::wire::{CAP, floor, ours};
use loggia_wire::framing::ContentLength;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

#[expect(unsafe_code, reason = "a global allocator is an unsafe trait; this one counts and passes on")]
// SAFETY: every call goes to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> Result<()> {
    let argument = |name: &str| std::env::args().any(|argument| argument == name);
    match argument("engine") {
        true => engine(argument("--json")),
        false => wire(argument("--json")),
    }
}

fn engine(json: bool) -> Result<()> {
    let figures = loggia_bench::engine::allocations(|| ALLOCATIONS.load(Relaxed))?;
    if json {
        for figure in &figures {
            println!("{}", serde_json::to_string(figure)?);
        }
        return Ok(());
    }
    println!("Allocations, the store's included{}", loggia_bench::engine::render(&figures));
    Ok(())
}

fn wire(json: bool) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let escaped = Load { requests: 20_000, ..SMALL };
    // Short enough to be one word: no quotes, no line breaks.
    let plain = Load { bytes: 40, ..escaped };
    let (floor, ours) = runtime.block_on(count(escaped))?;
    let (plain_floor, plain_ours) = runtime.block_on(count(plain))?;
    if json {
        let rows = serde_json::json!({
            "text with escapes": { "floor": floor, "loggia": ours },
            "text without": { "floor": plain_floor, "loggia": plain_ours },
        });
        println!("{}", serde_json::json!({ "allocations_per_round_trip": rows }));
        return Ok(());
    }
    println!("Allocations per small round trip");
    println!("  text with escapes   floor {floor:>5.2}   Loggia {ours:>5.2}");
    println!("  text without        floor {plain_floor:>5.2}   Loggia {plain_ours:>5.2}");
    println!("{EXPLANATION}");
    Ok(())
}

/// Allocations per round trip, floor and ours.
async fn count(load: Load) -> Result<(f64, f64)> {
    let mut counted = [0.0; 2];
    // Once to warm up, once to count.
    for _ in 0..2 {
        let start = ALLOCATIONS.load(Relaxed);
        floor::in_memory(ContentLength::new(CAP), load).await?;
        let between = ALLOCATIONS.load(Relaxed);
        ours::in_memory(ContentLength::new(CAP), load).await?;
        let end = ALLOCATIONS.load(Relaxed);
        counted = [between - start, end - between].map(|count| count as f64 / load.requests as f64);
    }
    Ok((counted[0], counted[1]))
}

const EXPLANATION: &str = "  \
  Both read the text twice, once at each end: one allocation each, and three more for serde_json's
  growing scratch where the text holds escapes. The floor also owns `jsonrpc` twice and `method` once;
  Loggia borrows those and pays for the caller's slot and the handler's future instead.";
