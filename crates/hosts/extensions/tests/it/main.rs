#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
