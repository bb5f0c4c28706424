//! `cargo xtask page`: a real browser opens the page of a real server and works with it.
//!
//! Starts the product with a scripted model and drives Chromium through ChromeDriver: in with the code, a prompt, a
//! streamed reply, one hunk of two, a reload, a phone's width, undo, a message that waits, an answer from elsewhere, a
//! server that is killed, a code for an open page, out. What it saw is left as pictures below
//! `target/page`. Knows nothing of the product but its command line and what is on the page.

mod browser;
mod http;
mod server;
mod visit;

use anyhow::Context;
use clap::Args;

use crate::workspace;
use browser::Browser;
use server::Server;

/// What the page chore can be told.
#[derive(Args)]
pub(crate) struct PageArguments {
    /// The driver to start; ChromeDriver finds a Chromium of its own version
    #[arg(long, value_name = "PROGRAM", default_value = "chromedriver")]
    driver: String,
}

/// Runs the chore.
pub(crate) fn run(arguments: &PageArguments) -> anyhow::Result<()> {
    let directory = workspace::root().join("target/page");
    let place = directory.join(format!("run-{}", std::process::id()));
    std::fs::create_dir_all(&place).with_context(|| format!("cannot make `{}`", place.display()))?;
    // The browser first: whoever has none need not wait for a build.
    let browser = Browser::start(&arguments.driver)?;
    let mut server = Server::start(&place)?;
    let visited = visit::run(&browser, &mut server, &directory);
    if visited.is_err() {
        // Whatever is on the screen tells more than the error.
        let _ = browser.screenshot(&directory.join("failed.png"));
    }
    visited.with_context(|| {
        format!("see {} and {}", server.log().display(), directory.join("failed.png").display())
    })?;
    drop(server);
    std::fs::remove_dir_all(&place).with_context(|| format!("cannot remove `{}`", place.display()))?;
    println!("the page works; pictures are in {}", directory.display());
    Ok(())
}
