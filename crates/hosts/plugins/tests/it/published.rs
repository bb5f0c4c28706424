//! Plugins as they are published run as they are.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use loggia_domain::{GuestError, ProviderAbility};
use loggia_plugins::{Outcome, Plugins, Report, Scope, check};

use crate::support::{Home, options};

const LINK: &str = include_str!("link.py");
const TEMPLATE: &str = include_str!("template.py");

const LINK_MANIFEST: &str = "version: \"1\"\nname: link\ntype: provider\nprotocol: \"1\"\n\
    executable:\n  command: [python3, ./link.py]\n\
    provider:\n  name: link\n  schemes: [link, url]\n  priority: 30\n  capabilities: [read, snapshot]\n";

const TEMPLATE_MANIFEST: &str = "version: \"1\"\nname: template\ntype: provider\nprotocol: \"1\"\n\
    executable:\n  command: [python3, ./template.py]\nprovider:\n  name: template\n  schemes: [template]\n";

/// A home with both of them, and the host that found them.
fn home() -> (Home, Plugins) {
    let mut home = Home::new();
    for (name, manifest, program) in
        [("link", LINK_MANIFEST, LINK), ("template", TEMPLATE_MANIFEST, TEMPLATE)]
    {
        home.enabled.push(name.to_owned());
        let directory = home.add_raw(Scope::Global, name, manifest);
        std::fs::write(directory.join(format!("{name}.py")), program).unwrap();
    }
    let host = home.host();
    (home, host)
}

/// A web server on this machine: what it says to a path, on a thread that goes with the test.
fn web(answer: fn(&str) -> (&'static str, &'static str, String)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            let (status, kind, body) = answer(first.split(' ').nth(1).unwrap());
            let head = format!(
                "HTTP/1.0 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
        }
    });
    format!("http://{address}")
}

fn pages(path: &str) -> (&'static str, &'static str, String) {
    match path {
        "/fix-login.html" => {
            let page = "<html><head><title>Fix login bug</title></head><body><h1>Größe</h1><p>It fails.</p></body></html>";
            ("200 OK", "text/html; charset=utf-8", page.to_owned())
        }
        "/notes.md" => ("200 OK", "text/markdown", "# Notes\n\ntext".to_owned()),
        "/data.json" => ("200 OK", "application/json", r#"{"a":[1]}"#.to_owned()),
        "/large.txt" => ("200 OK", "text/plain", "x".repeat(5 * 1024 * 1024)),
        "/odd.txt" => ("200 OK", "text/plain; charset=klingon", "x".to_owned()),
        _ => ("404 Not Found", "text/plain", String::new()),
    }
}

#[tokio::test]
async fn the_link_provider_brings_tasks_from_web_pages() {
    let (_home, host) = home();
    let site = web(pages);
    let provider = host.providers().remove(0);
    assert!(provider.can(ProviderAbility::Snapshot) && !provider.can(ProviderAbility::List));
    for (reference, claimed) in [
        ("link:https://e.com/x", true),
        ("url:x", true),
        ("https://e.com", true),
        ("jira:1", false),
        ("LINK:x", false),
        ("", false),
    ] {
        assert_eq!(provider.claims(reference.to_owned()).await.unwrap(), claimed, "{reference}");
    }
    let key = provider.resolve(format!("link:{site}/fix-login.html")).await.unwrap();
    assert_eq!(key, format!("{site}/fix-login.html"));
    let item = provider.fetch(key.clone()).await.unwrap();
    assert_eq!((item.title.as_str(), item.description.as_str()), ("Fix login bug", "Größe\nIt fails."));
    assert_eq!((item.label.as_deref(), item.location.as_deref()), (Some("fix-login"), Some(key.as_str())));
    assert_eq!(
        (item.kind.as_deref(), item.status.as_deref(), item.priority),
        (Some("task"), Some("open"), Some(3))
    );
    assert!(provider.snapshot(key).await.unwrap().contains("<h1>Größe</h1>"));
    let notes = provider.fetch(format!("{site}/notes.md")).await.unwrap();
    assert_eq!((notes.title.as_str(), notes.label.as_deref()), ("Notes", Some("notes")));
    let data = provider.fetch(format!("{site}/data.json")).await.unwrap();
    assert_eq!((data.title.as_str(), data.label.as_deref()), ("JSON Content", Some("data-json")));
    assert_eq!(provider.snapshot(format!("{site}/large.txt")).await.unwrap().len(), 5 * 1024 * 1024);
    host.stop().await;
}

#[tokio::test]
async fn what_the_link_provider_cannot_do_is_told_in_its_words() {
    let (_home, host) = home();
    let site = web(pages);
    let provider = host.providers().remove(0);
    let refused = |words: &str| {
        GuestError::Refused(format!("plugin `link`, `provider.parse`: it refuses: Invalid URL: {words}"))
    };
    assert_eq!(
        provider.resolve("link:github.com/u/r".to_owned()).await.unwrap_err(),
        refused("github.com/u/r")
    );
    assert_eq!(provider.resolve("link:".to_owned()).await.unwrap_err(), refused(""));
    for (key, words) in [
        (format!("{site}/gone"), "HTTP 404: Not Found (-32000)"),
        (format!("{site}/odd.txt"), "Fetch error: unknown encoding: klingon (-32000)"),
        (String::new(), "No URL provided (-32000)"),
        ("0123456789ab".to_owned(), "unknown url type: '0123456789ab' (-32000)"),
    ] {
        let error = provider.fetch(key).await.unwrap_err();
        let expected = format!("plugin `link`, `provider.fetch`: it answered: {words}");
        assert_eq!(error, GuestError::Failed(expected));
    }
    assert!(host.get("link").unwrap().sketch().pid.is_some(), "it is still there");
    host.get("link").unwrap().ping().await.unwrap();
    host.stop().await;
}

#[tokio::test]
async fn the_template_of_the_specification_runs_and_leaves_when_asked() {
    let (_home, host) = home();
    let plugin = host.get("template").unwrap().clone();
    plugin.ping().await.unwrap();
    let provider = host.providers().remove(1);
    let error = provider.fetch("1".to_owned()).await.unwrap_err();
    let expected =
        "plugin `template`, `provider.fetch`: it answered: Method not found: provider.fetch (-32601)";
    assert_eq!(error, GuestError::Failed(expected.to_owned()));
    plugin.stop().await;
    assert_eq!(plugin.sketch().pid, None);
    host.stop().await;
}

#[tokio::test]
async fn the_published_ones_pass_with_notes() {
    let (home, _host) = home();
    let site = web(pages);
    let mut with_task = options(&home);
    with_task.reference = Some(format!("link:{site}/fix-login.html"));
    let report = check(&home.of("link"), &with_task).await;
    assert!(report.has_passed(), "{}", report.render());
    assert_eq!(noted(&report), ["ping", "shutdown", "shutdown: it leaves by itself"]);
    let report = check(&home.of("template"), &options(&home)).await;
    let failed: Vec<&str> = names(&report, |outcome| matches!(outcome, Outcome::Failed { .. }));
    // It is a beginning, not a provider: it knows neither `match` nor `parse`.
    assert_eq!(
        failed,
        [
            "provider.match: a reference of its own",
            "provider.match: a reference of nobody",
            "provider.match: nothing at all",
        ]
    );
    assert_eq!(noted(&report), Vec::<&str>::new());
}

#[tokio::test]
async fn lines_that_are_no_messages_show_who_dies_of_them() {
    let (home, _host) = home();
    let mut rough = options(&home);
    rough.malformed = true;
    let report = check(&home.of("link"), &rough).await;
    let failed = names(&report, |outcome| matches!(outcome, Outcome::Failed { .. }));
    assert_eq!(failed, ["malformed: a list", "malformed: a number"]);
    let report = check(&home.of("template"), &rough).await;
    let failed = names(&report, |outcome| matches!(outcome, Outcome::Failed { .. }));
    assert!(failed.iter().all(|name| name.starts_with("provider.match")), "{failed:?}");
}

fn noted(report: &Report) -> Vec<&str> {
    names(report, |outcome| matches!(outcome, Outcome::Noted { .. }))
}

fn names(report: &Report, wanted: impl Fn(&Outcome) -> bool) -> Vec<&str> {
    report.cases.iter().filter(|case| wanted(&case.outcome)).map(|case| case.name.as_str()).collect()
}
