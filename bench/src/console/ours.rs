//! Our library, with a host that completes and knows `help`.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use loggia_endermux_io::server::{Output, Presence, Socket};
use loggia_endermux_io::{Host, HostError, Server};
use loggia_protocol_endermux::CandidateInfo;

use super::{LINE, contender};

#[derive(Debug)]
struct Helper;

impl Host for Helper {
    async fn complete(&self, _: &Presence, line: &str, at: usize) -> Result<Vec<CandidateInfo>, HostError> {
        let value = format!("{}me", &line[..at]);
        Ok(vec![CandidateInfo { display: value.clone(), value, description: None }])
    }

    async fn execute(self: Arc<Self>, _: Presence, _: String, output: Output) -> Result<(), HostError> {
        output
            .print("help: tells what there is\n")
            .await
            .map_err(|gone| HostError::Failed(gone.to_string()))?;
        output.finish(0);
        Ok(())
    }
}

pub(super) fn serve(path: &Path) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let server = Server::new(Helper);
    server.console().set_interactive(true);
    let socket = runtime.block_on(Socket::bind(path))?;
    let listening = server.clone();
    runtime.spawn(async move { listening.listen(socket).await });
    contender::obey(|lines| {
        for _ in 0..lines {
            // Each is another one, as lines are.
            server.console().broadcast(LINE.to_owned());
        }
    })
}
