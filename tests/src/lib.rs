//! What tests of several crates share: a whole engine with its real parts, and a way to write down what happens.
//!
//! Knows every part, as only the binary does otherwise. A test says what the model will reply as a script, what
//! people do as calls, and looks at one text of everything that was told.

pub mod crash;
pub mod load;
mod player;
mod transcript;
mod world;

pub use player::{Player, prompt};
pub use transcript::Transcript;
pub use world::{World, WorldBuilder};
