//! `cargo fuzz run --features libfuzzer round_trip`: the target of that name, guided by coverage.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loggia_fuzz::targets::round_trip::target(data));
