//! What tests of several crates share: a whole engine with its real parts, and a way to write down what happens.
//!
//! Knows every part, as only the binary does otherwise. A test says what the model will reply as a script, what
//! people do as calls, and looks at one text of everything that was told.

mod agents;
pub mod crash;
mod desks;
mod extensions;
mod guests;
mod layer;
pub mod load;
mod player;
mod repository;
mod runner;
pub mod scripts;
mod transcript;
mod world;

pub use agents::{Act, FakeAgent, FakeGuests};
pub use desks::{Desks, PretendDesk};
pub use extensions::PretendExtensions;
pub use guests::{PretendGuests, PretendHook, PretendProvider, item};
pub use layer::{Between, Disk, Layer, Write};
pub use player::{Player, client, preview, prompt, queued};
pub use repository::PretendRepository;
pub use runner::PretendRunner;
pub use transcript::Transcript;
pub use world::{Remains, World, WorldBuilder, last_prompt, open_store, reopen_store};
