//! `cargo fuzz run --features libfuzzer message_paths`: the target of that name, guided by coverage.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loggia_fuzz::targets::message_paths::target(data));
