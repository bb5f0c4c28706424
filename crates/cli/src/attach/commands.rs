//! Commands that were given, and what they say.
//!
//! What always holds: commands are given in the order they were typed, in the form that their server is made for; nobody who
//! types waits for a server that does not take them.

use loggia_endermux_io::client::Said;
use loggia_endermux_io::{Client, RequestError, extras};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::lines::Lines;

/// Commands that may wait for the server to take them.
const WAITING: usize = 64;

/// What a command says.
#[derive(Debug)]
pub(super) enum Told {
    /// Lines of its output.
    Lines(Vec<String>),
    /// It is with the server, or done; what else there is to say comes with the logs.
    Given,
    /// It was done, and not well.
    Ended(i32),
    /// It was not done, as far as is known.
    Failed(RequestError),
}

/// Whoever gives commands. They are left to themselves when this goes.
pub(super) struct Commands {
    queue: mpsc::Sender<(Client, String)>,
    told: mpsc::Receiver<Told>,
    /// How many have not ended.
    open: usize,
    _tasks: JoinSet<()>,
}

impl Commands {
    pub(super) fn new(color: bool) -> Self {
        let (queue, mut queued) = mpsc::channel::<(Client, String)>(WAITING);
        let (teller, told) = mpsc::channel(WAITING);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut running = JoinSet::new();
            while let Some((client, command)) = queued.recv().await {
                while running.try_join_next().is_some() {}
                if let Some(told) = give(&client, &command, color, &teller, &mut running).await
                    && teller.send(told).await.is_err()
                {
                    return;
                }
            }
        });
        Self { queue, told, open: 0, _tasks: tasks }
    }

    /// Gives a command; false if too many wait already.
    pub(super) fn give(&mut self, client: Client, command: String) -> bool {
        let given = self.queue.try_send((client, command)).is_ok();
        self.open += usize::from(given);
        given
    }

    /// Whether some have not ended.
    pub(super) fn are_open(&self) -> bool {
        self.open > 0
    }

    /// What is told next.
    pub(super) async fn next(&mut self) -> Option<Told> {
        let told = self.told.recv().await;
        if !matches!(told, Some(Told::Lines(_)) | None) {
            self.open = self.open.saturating_sub(1);
        }
        told
    }
}

/// Whether a server tells what becomes of a command.
pub(super) fn has_results(client: &Client) -> bool {
    client.selected().capabilities.contains_key(extras::RESULT)
}

/// A line as it is sent, if it is.
pub(super) fn as_sent<'l>(line: &'l str, client: &Client) -> Option<&'l str> {
    if has_results(client) { Some(as_typed(line)) } else { trimmed(line) }
}

/// For servers of ours: as it was typed, since to some programs spaces mean something, and so does an empty line. One space
/// alone before it only keeps it out of the history.
fn as_typed(line: &str) -> &str {
    let line = line.trim_end_matches(['\r', '\n']);
    match line.strip_prefix(' ') {
        Some(rest) if !rest.is_empty() && !rest.starts_with(char::is_whitespace) => rest,
        _ => line,
    }
}

/// For all others: as existing clients send it, which their servers are made for. To a game server a space at the end is a part
/// of the command that it does not understand.
fn trimmed(line: &str) -> Option<&str> {
    Some(line.trim()).filter(|line| !line.is_empty())
}

async fn give(
    client: &Client,
    command: &str,
    color: bool,
    teller: &mpsc::Sender<Told>,
    running: &mut JoinSet<()>,
) -> Option<Told> {
    if !has_results(client) {
        return Some(client.execute(command).await.map_or_else(Told::Failed, |()| Told::Given));
    }
    let mut run = match client.run(command).await {
        Ok(run) => run,
        Err(error) => return Some(Told::Failed(error)),
    };
    let teller = teller.clone();
    running.spawn(async move {
        let mut lines = Lines::new(color);
        while let Some(said) = run.next().await {
            let (found, end) = match said {
                Ok(Said::Output(text)) => (lines.part(&text), None),
                Ok(Said::Ended { status: 0 }) => (lines.finish().into_iter().collect(), Some(Told::Given)),
                Ok(Said::Ended { status }) => {
                    (lines.finish().into_iter().collect(), Some(Told::Ended(status)))
                }
                Err(error) => (lines.finish().into_iter().collect(), Some(Told::Failed(error))),
            };
            let found = Some(found).filter(|lines: &Vec<String>| !lines.is_empty()).map(Told::Lines);
            for told in found.into_iter().chain(end) {
                if teller.send(told).await.is_err() {
                    return;
                }
            }
        }
    });
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_sent_as_it_was_typed_but_for_the_space_that_hides_it() {
        for (typed, sent) in [
            ("say hi", "say hi"),
            (" say hi", "say hi"),
            ("    print(i)  ", "    print(i)  "),
            ("\tindented", "\tindented"),
            (" ", " "),
            ("", ""),
            ("\n", ""),
            ("from a pipe\r\n", "from a pipe"),
        ] {
            assert_eq!(as_typed(typed), sent, "{typed:?}");
        }
    }

    #[test]
    fn other_servers_get_lines_without_spaces_around_them_and_no_empty_ones() {
        for (typed, sent) in
            [("  list \r\n", Some("list")), ("say  hi", Some("say  hi")), (" \n", None), ("", None)]
        {
            assert_eq!(trimmed(typed), sent, "{typed:?}");
        }
    }
}
