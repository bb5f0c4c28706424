//! What `docs/policy.md` says of policies is so.
//!
//! Reads the page: its first block is the default policy, its second one an example, and a table tells what the
//! example says to commands.

use loggia_domain::{CommandRequest, Decision, Demand, PolicyLimits};

use super::super::{Judge, Place};
use super::*;

const PAGE: &str = include_str!("../../../../../docs/policy.md");

/// The page's blocks of TOML, in order.
fn blocks() -> Vec<&'static str> {
    let begun = PAGE.split("```toml\n").skip(1);
    begun.map(|rest| rest.split_once("```").expect("a block ends").0).collect()
}

/// The rows of the table with this head, each as its cells without backticks.
fn rows(head: &str) -> Vec<Vec<String>> {
    let (_, table) = PAGE.split_once(head).expect("the page has the table");
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<String>> =
        lines.map(|line| line.trim_matches('|').split(" | ").map(cell).collect()).collect();
    assert!(!rows.is_empty(), "the table `{head}` is empty");
    rows
}

fn cell(text: &str) -> String {
    text.trim().trim_matches('`').to_owned()
}

#[test]
fn the_default_policy_is_as_documented() {
    assert_eq!(format::text_of(&Policy::default()).unwrap(), blocks()[0]);
}

#[test]
fn every_key_is_documented() {
    let limits = PolicyLimits { max_tokens: Some(1), approval_timeout_s: Some(1), ..PolicyLimits::default() };
    let text = format::text_of(&Policy { limits, ..Policy::default() }).unwrap();
    let documented: Vec<String> =
        rows("| Key | Default | Meaning |").into_iter().map(|cells| cells[0].clone()).collect();
    let mut keys = vec!["rules".to_owned()];
    for (name, value) in text.parse::<toml::Table>().unwrap() {
        match value.as_table() {
            Some(section) => keys.extend(section.keys().map(|key| format!("{name}.{key}"))),
            None => keys.push(name),
        }
    }
    keys.iter().for_each(|key| assert!(documented.contains(key), "`{key}` is not in the table"));
    assert_eq!(documented.len(), keys.len());
}

#[test]
fn the_example_says_what_the_page_says() {
    let policy = format::policy_from(blocks()[1], &Policy::default()).unwrap();
    check(&policy).unwrap();
    let place = Place { root: "/home/ada/project".into(), home: Some("/home/ada".into()) };
    let judge = Judge::new(&policy, policy.preset, &[], None, &place).unwrap();
    for cells in rows("| Command | Answer | Because |") {
        let request = CommandRequest { line: cells[0].clone(), ..CommandRequest::default() };
        let verdict = judge.judge("run_command", &Demand { command: Some(request), ..Demand::default() });
        let answer = match verdict.decision {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        };
        assert_eq!(answer, cells[1], "`{}`: {}", cells[0], verdict.reason);
    }
}
