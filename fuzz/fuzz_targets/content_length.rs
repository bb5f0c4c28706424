//! `cargo fuzz run --features libfuzzer content_length`: the target of that name, guided by coverage.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loggia_fuzz::targets::content_length::target(data));
