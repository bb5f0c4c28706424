//! The terminal face against a real door and engine; only the model is scripted and the terminal is a buffer.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod answers;
mod approvals;
mod attaching;
mod chatting;
mod commands;
mod console;
mod foreign;
mod house;
mod indexing;
mod interrupting;
mod lines;
mod losing;
mod reconnecting;
mod screen;
mod sessions;
mod setting_up;
mod under_way;
