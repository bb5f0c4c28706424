//! One visit to the page, from the code in the address to leaving.

use std::path::Path;

use anyhow::ensure;
use serde_json::Value;

use super::browser::Browser;
use super::server::{Server, before};

/// A phone, in points.
const NARROW: (u32, u32) = (390, 844);

/// A laptop.
const WIDE: (u32, u32) = (1280, 860);

const PROMPT: &str = "//textarea";

/// What a session shows of the conversation, without times and without what only passes.
const SHOWN: &str = "[...document.querySelectorAll('.log .said, .log .reply, .log .tool .what, .log .path, .log .line, \
     .log .facts')].map(node => node.textContent.trim()).join('\\n')";

/// Keeps the page's streams in reach, so that they can be cut.
const WATCH_SOCKETS: &str = "window.sockets = []; const Real = WebSocket; window.WebSocket = class extends Real { \
     constructor(...given) { super(...given); window.sockets.push(this); } };";

/// Whether the turn is over.
const IDLE: &str = "document.querySelector('.prompt .danger')?.hidden === true";

pub(super) fn run(browser: &Browser, server: &mut Server, pictures: &Path) -> anyhow::Result<()> {
    let picture = |name: &str| browser.screenshot(&pictures.join(format!("{name}.png")));
    browser.look(WIDE.0, WIDE.1, "light")?;
    browser.inject(WATCH_SOCKETS)?;
    come_in(browser, server)?;
    picture("list-wide")?;

    browser.click("//button[text()='New session']")?;
    browser.type_into(PROMPT, "Make the greetings louder\u{e007}")?;
    // The reply is shown while it comes: its first words, and not yet its last.
    browser.until("document.querySelector('.reply strong')?.textContent === 'both greetings'")?;
    let begun = browser.script("return document.querySelector('.reply').textContent")?;
    ensure!(
        !begun.as_str().unwrap_or_default().contains("then the change"),
        "the reply came at once: {begun}"
    );

    // Lost in the middle of a reply.
    cut(browser)?;

    browser.until("document.querySelectorAll('.question:not(.closed) .hunk').length === 2")?;
    browser.until("document.querySelector('.plan li.now')?.textContent.includes('louder')")?;
    check_once(browser)?;
    picture("question-wide")?;
    check_width(browser, WIDE.0)?;
    let shown = browser.script(&format!("return {SHOWN}"))?;
    cut(browser)?;
    browser.until(&format!("({SHOWN}) === {shown}"))?;
    check_once(browser)?;
    reload_with_a_question(browser, &shown)?;
    decide_about_a_hunk(browser, server, &picture)?;
    come_back(browser, &picture)?;
    answer_about_a_command(browser, &picture)?;
    undo(browser, server)?;
    choose_hunks(browser, server)?;
    wait_and_be_answered_for(browser, &picture)?;
    be_cut_and_go_on(browser, server)?;
    paste_codes(browser)?;
    browser.check_complaints()?;
    leave(browser, server, &picture)
}

/// The code in the address lets us in, once, and is gone from it.
fn come_in(browser: &Browser, server: &Server) -> anyhow::Result<()> {
    browser.go(&server.page)?;
    browser.until("document.querySelector('.workspaces h2')?.textContent === 'hello-world'")?;
    let left = browser.script("return [location.hash, document.cookie]")?;
    ensure!(left == serde_json::json!(["", ""]), "the page shows what it should not: {left}");
    Ok(())
}

/// Cuts the stream, and waits until the page has opened another one.
fn cut(browser: &Browser) -> anyhow::Result<()> {
    let count = browser.script("const count = sockets.length; sockets.at(-1).close(4000); return count")?;
    browser.until(&format!("sockets.length > {count} && document.querySelector('.link.live')")).map(drop)
}

/// Everything of the first turn is there, and nothing twice.
fn check_once(browser: &Browser) -> anyhow::Result<()> {
    let counts = browser.script(
        "return ['.person', '.reply', '.tool', '.question:not(.closed)'].map(name => document.querySelectorAll(`.log ${name}`).length)",
    )?;
    ensure!(counts == serde_json::json!([1, 1, 3, 1]), "something is missing or there twice: {counts}");
    let reply = browser.script("return document.querySelector('.reply').textContent.trim()")?;
    let whole = "I will change both greetings in greeting.rs. First a plan, then the change.";
    ensure!(reply == whole, "the reply is not whole: {reply}");
    Ok(())
}

/// A question that was open before a reload is open after it, once, and stands at the end.
fn reload_with_a_question(browser: &Browser, shown: &Value) -> anyhow::Result<()> {
    browser.reload()?;
    browser
        .until("document.querySelector('.link.live') && document.querySelector('.question:not(.closed)')")?;
    browser.until(&format!("({SHOWN}) === {shown}"))?;
    check_once(browser)?;
    let last = browser.script("return document.querySelector('.log').lastElementChild.className")?;
    ensure!(text(&last).contains("question"), "after the question comes {last}");
    browser.until("document.querySelector('.doing').textContent === 'A question waits for your answer'")?;
    Ok(())
}

fn decide_about_a_hunk(
    browser: &Browser,
    server: &Server,
    picture: &impl Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    browser.look(NARROW.0, NARROW.1, "light")?;
    check_width(browser, NARROW.0)?;
    picture("question-phone")?;
    browser.look(NARROW.0, NARROW.1, "dark")?;
    picture("question-phone-dark")?;
    browser.click("(//button[text()='Only this hunk'])[1]")?;
    browser.until(IDLE)?;
    check_badges(browser, &["approved in part by you"])?;
    browser
        .until("document.querySelector('.log .reply:last-of-type, .log')?.textContent.includes('louder')")?;
    let wanted = before().replace("\"hello\"", "\"HELLO\"");
    ensure!(server.file()? == wanted, "the file is not as decided:\n{}", server.file()?);
    // What a model writes is text, whatever it looks like.
    let made = browser.script("return document.querySelectorAll('.log b, .log img').length")?;
    ensure!(made == 0, "text became markup");
    browser.until("document.querySelector('.log').textContent.includes('<b>This is text')")?;
    Ok(())
}

/// After a reload the same is there.
fn come_back(browser: &Browser, picture: &impl Fn(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let before = browser.script(&format!("return {SHOWN}"))?;
    browser.reload()?;
    let lines = before.as_str().unwrap_or_default().lines().count();
    browser
        .until("document.querySelector('.link.live') && document.querySelector('.log .facts') !== null")?;
    let same = format!("({SHOWN}) === {before}");
    if browser.until(&same).is_err() {
        let after = browser.script(&format!("return {SHOWN}"))?;
        anyhow::bail!("after a reload the page shows\n{}\ninstead of\n{}", text(&after), text(&before));
    }
    ensure!(lines > 10, "the page shows next to nothing: {before}");
    check_badges(browser, &["approved in part by you"])?;
    check_width(browser, NARROW.0)?;
    picture("transcript-phone-dark")?;
    browser.look(NARROW.0, NARROW.1, "light")?;
    picture("transcript-phone")?;
    browser.click("//button[contains(@class,'back')]")?;
    browser.until("document.querySelector('.row .title')?.textContent.includes('greetings')")?;
    check_width(browser, NARROW.0)?;
    picture("list-phone")?;
    browser.look(WIDE.0, WIDE.1, "light")?;
    browser.click("//a[contains(@class,'row')]")?;
    browser
        .until("document.querySelector('.link.live') && document.querySelector('.log .facts') !== null")?;
    picture("transcript-wide")
}

fn answer_about_a_command(
    browser: &Browser,
    picture: &impl Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    browser.type_into(PROMPT, "What is here?\u{e007}")?;
    browser.until("document.querySelector('.question:not(.closed) .command')")?;
    browser.look(WIDE.0, WIDE.1, "dark")?;
    picture("command-wide-dark")?;
    browser.click("//article[not(contains(@class,'closed'))]//button[text()='Deny']")?;
    browser.until("document.querySelector('.tool.denied')")?;
    browser.until(IDLE)?;
    browser.look(WIDE.0, WIDE.1, "light")
}

fn undo(browser: &Browser, server: &Server) -> anyhow::Result<()> {
    // The last turn changed nothing; the one before it did.
    for _ in 0..2 {
        browser.until("document.querySelector('.tools button')?.disabled === false")?;
        let notices = browser.script("return document.querySelectorAll('.log .notice').length")?;
        browser.click("//main//button[text()='Undo']")?;
        browser.until(&format!("document.querySelectorAll('.log .notice').length > {notices}"))?;
        if server.file()? == before() {
            return Ok(());
        }
    }
    anyhow::bail!("undo did not bring the file back:\n{}", server.file()?)
}

/// What the questions say became of them.
fn check_badges(browser: &Browser, wanted: &[&str]) -> anyhow::Result<()> {
    let badges = "[...document.querySelectorAll('.question .badge')].map(node => node.textContent)";
    let wanted = serde_json::json!(wanted);
    if browser.until(&format!("JSON.stringify({badges}) === {:?}", wanted.to_string())).is_err() {
        anyhow::bail!(
            "the questions say {} instead of {wanted}",
            browser.script(&format!("return {badges}"))?
        );
    }
    Ok(())
}

/// Two hunks of three are taken with one answer.
fn choose_hunks(browser: &Browser, server: &Server) -> anyhow::Result<()> {
    browser.type_into(PROMPT, "Change three places\u{e007}")?;
    for hunk in [1, 3] {
        browser.click(&format!("(//article[not(contains(@class,'closed'))]//input)[{hunk}]"))?;
    }
    browser.click("//button[text()='Only the 2 chosen hunks']")?;
    browser.until(IDLE)?;
    let wanted = before().replace("\"hello\"", "\"HELLO\"").replace("\"goodbye\"", "\"GOODBYE\"");
    ensure!(server.file()? == wanted, "the file is not as chosen:\n{}", server.file()?);
    browser.until("document.querySelector('.log').textContent.includes('hunk 1, 3 of 3 applied')")?;
    Ok(())
}

/// What is said while a turn runs is shown once, when its turn begins, also after a reload; and an answer that
/// somebody gave in a terminal is shown as theirs.
fn wait_and_be_answered_for(
    browser: &Browser,
    picture: &impl Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    browser.type_into(PROMPT, "Wait a little\u{e007}")?;
    browser.until("document.querySelector('.log').textContent.includes('I am waiting')")?;
    browser.type_into(PROMPT, "Then run it\u{e007}")?;
    browser.until("document.querySelector('.doing').textContent.includes('a message waits for its end')")?;
    let said = "[...document.querySelectorAll('.log .said')].map(node => node.textContent)";
    let early = browser.script(&format!("return ({said}).includes('Then run it')"))?;
    ensure!(early == false, "what waits is shown before its turn");
    browser.reload()?;
    browser.until("document.querySelector('.question:not(.closed) .command')")?;
    for (which, count) in [("Wait a little", 1), ("Then run it", 1)] {
        let found = browser.script(&format!("return ({said}).filter(text => text === '{which}').length"))?;
        ensure!(found == count, "`{which}` is there {found} times");
    }
    // The command line is a client like any other, and known by its name.
    browser.script(
        "const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/v1/sessions/${location.hash.split('/').at(-1)}/stream`, ['loggia.v1']);\
         socket.onopen = () => socket.send(JSON.stringify({ type: 'client.hello', client_info: { name: 'loggia ask', version: '1', capabilities: [] } }));\
         socket.onmessage = ({ data }) => { const message = JSON.parse(data); if (message.type === 'command.request_approval') \
           socket.send(JSON.stringify({ type: 'client.approval_response', request_id: message.command_id, approved: false })); };",
    )?;
    check_badges(
        browser,
        &[
            "approved in part by you",
            "denied by you",
            "approved in part by you",
            "denied by loggia ask from the terminal",
        ],
    )?;
    picture("answered-elsewhere")?;
    browser.until(IDLE).map(drop)
}

/// A turn that was cut by a killed server can be continued; once it has been, nobody is offered it again.
fn be_cut_and_go_on(browser: &Browser, server: &mut Server) -> anyhow::Result<()> {
    browser.type_into(PROMPT, "Never end\u{e007}")?;
    browser.until("document.querySelector('.log').textContent.includes('This takes for ever')")?;
    server.restart()?;
    browser
        .until("document.querySelectorAll('.go-on').length === 1 && document.querySelector('.link.live')")?;
    browser.until("document.querySelector('.row .status')?.textContent === 'stopped, can go on'")?;
    browser.click("//button[text()='Continue']")?;
    browser.until("document.querySelector('.log').textContent.includes('Here I go on.')")?;
    browser.until(IDLE)?;
    let gone = "document.querySelectorAll('.go-on').length === 0";
    browser.until(gone)?;
    browser.reload()?;
    browser.until("document.querySelector('.log')?.textContent.includes('Here I go on.')")?;
    browser.until(gone).map(drop)
}

/// A code that is pasted into the address of an open page lets it in anew; one that is none is told, and changes nothing.
fn paste_codes(browser: &Browser) -> anyhow::Result<()> {
    browser.script("window.before = true; location.hash = '#code=0123456789abcdef'")?;
    browser.until("document.querySelector('.list .notice.bad')?.hidden === false && location.hash === ''")?;
    browser.until("window.before && document.querySelector('.workspaces h2')")?;
    browser.script(
        "fetch('/v1/page/code', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{\"scope\":\"drive\"}' })\
         .then(answer => answer.json()).then(({ code }) => location.hash = `#code=${code}`)",
    )?;
    // Loaded again, and as somebody who may do less.
    browser.until("!window.before && document.querySelector('.who')?.textContent.endsWith('may drive')")?;
    let left = browser.script("return location.hash")?;
    ensure!(left == "", "the code is still in the address: {left}");
    Ok(())
}

/// Whoever leaves, or has no cookie, stands at the entrance; the code of before is used up.
fn leave(
    browser: &Browser,
    server: &Server,
    picture: &impl Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    browser.click("//button[text()='Leave']")?;
    browser.until("document.querySelector('.entrance #code')")?;
    browser.forget_cookies()?;
    browser.look(NARROW.0, NARROW.1, "light")?;
    browser.go("about:blank")?;
    browser.go(&server.page)?;
    browser.until("document.querySelector('.entrance .why')?.textContent.includes('used up')")?;
    check_width(browser, NARROW.0)?;
    picture("entrance-phone")
}

/// Nothing is wider than the window.
fn check_width(browser: &Browser, width: u32) -> anyhow::Result<()> {
    let wide = browser.script(
        "return [document.documentElement, ...document.querySelectorAll('.scroller, .workspaces')]\
         .map(node => node.scrollWidth).reduce((a, b) => Math.max(a, b), 0)",
    )?;
    ensure!(
        wide.as_u64().is_some_and(|wide| wide <= u64::from(width)),
        "{wide} points wide in a window of {width}"
    );
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
