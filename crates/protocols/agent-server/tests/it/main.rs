//! The agent server protocol against its specification.

mod bodies;
mod decoding;
mod endpoints;
mod golden;
mod limits;
mod schema_agreement;
mod schemas;
mod transcripts;
