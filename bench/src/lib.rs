//! Benchmarks that compare, in one run, what we built with a floor and with what people use instead.
//!
//! Machines are shared and noisy: contenders take turns within a round, every figure is a median over rounds,
//! and what counts is the ratio to the floor measured beside it.

pub mod ask;
pub mod console;
pub mod engine;
pub mod extensions;
mod home;
pub mod http;
pub mod measure;
pub mod messages;
pub mod plugins;
mod process;
mod rows;
pub mod rpc;
pub mod wire;
