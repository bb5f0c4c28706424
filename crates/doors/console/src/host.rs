//! What the console's server asks: to let somebody in, to complete, to colour, to do.

use std::io;
use std::sync::Arc;

use loggia_endermux_io::server::{Output, Presence};
use loggia_endermux_io::words::Parsed;
use loggia_endermux_io::{Host, HostError};
use loggia_protocol_endermux::CandidateInfo;
use tokio::net::UnixStream;

use crate::door::Inner;
use crate::voice::Voice;
use crate::{commands, complete, highlight, read, words};

/// Answers for the door.
#[derive(Debug)]
pub(crate) struct Desk {
    door: Arc<Inner>,
}

impl Desk {
    pub(crate) fn new(door: Arc<Inner>) -> Self {
        Self { door }
    }
}

impl Host for Desk {
    fn admits(&self, stream: &UnixStream) -> io::Result<bool> {
        Ok((self.door.parts.admits)(stream))
    }

    async fn complete(
        &self,
        client: &Presence,
        line: &str,
        at: usize,
    ) -> Result<Vec<CandidateInfo>, HostError> {
        let guest = self.door.guests.know(client);
        Ok(complete::complete(&self.door, &guest, line, at).await)
    }

    async fn highlight(&self, client: &Presence, line: &str) -> Result<String, HostError> {
        Ok(highlight::highlight(line, client.color_level))
    }

    async fn parse(&self, _: &Presence, line: &str, at: usize) -> Result<Parsed, HostError> {
        Ok(words::parsed(line, at))
    }

    async fn execute(
        self: Arc<Self>,
        client: Presence,
        command: String,
        output: Output,
    ) -> Result<(), HostError> {
        let voice = Voice::new(output, self.door.console().clone(), client.id);
        match read::read(&command) {
            None => voice.end(Ok(crate::paint::Painted::new())).await,
            Some(Err(fault)) => voice.end(Err(fault.into())).await,
            Some(Ok(given)) => {
                let guest = self.door.guests.know(&client);
                commands::run(&self.door, &guest, &given, voice).await;
                // It may have gone meanwhile, and nobody else would notice.
                let there = self.door.console().clients();
                if there.iter().all(|presence| presence.id != client.id) {
                    self.door.guests.keep(&there);
                }
            }
        }
        Ok(())
    }
}
