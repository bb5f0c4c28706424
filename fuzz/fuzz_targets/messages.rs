//! `cargo fuzz run --features libfuzzer messages`: the target of that name, guided by coverage.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loggia_fuzz::targets::messages::target(data));
