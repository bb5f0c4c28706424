//! `cargo fuzz run --features libfuzzer envelope`: the target of that name, guided by coverage.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loggia_fuzz::targets::envelope::target(data));
