//! `cargo fuzz run --features libfuzzer console`: the target of that name, guided by coverage.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loggia_fuzz::targets::console::target(data));
