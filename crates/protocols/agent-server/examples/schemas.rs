//! Writes the JSON Schema of every message and body into a directory, or checks that it is there and current:
//! `schemas DIR [--check]`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who started it")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use loggia_protocol_agent_server::SCHEMAS;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (directory, check) = match arguments.as_slice() {
        [directory] => (directory, false),
        [directory, flag] if flag == "--check" => (directory, true),
        _ => {
            eprintln!("usage: schemas DIR [--check]");
            return ExitCode::from(2);
        }
    };
    match keep_current(Path::new(directory), check) {
        Ok(stale) if check && !stale.is_empty() => {
            eprintln!("not current: {}", stale.join(", "));
            ExitCode::FAILURE
        }
        Ok(stale) => {
            let verb = if check { "are current" } else { "written" };
            println!("{directory}: {} schemas {verb}, {} changed", SCHEMAS.len(), stale.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: `{directory}`: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Brings the directory's schemas up to date, unless told to look only. Gives the files that differ.
fn keep_current(directory: &Path, check: bool) -> std::io::Result<Vec<String>> {
    std::fs::create_dir_all(directory)?;
    let wanted: BTreeMap<String, String> =
        SCHEMAS.iter().map(|row| (format!("{}.json", row.name), row.text())).collect();
    let mut stale = Vec::new();
    for (name, text) in &wanted {
        let path = directory.join(name);
        if std::fs::read_to_string(&path).ok().as_ref() != Some(text) {
            stale.push(name.clone());
            if !check {
                std::fs::write(&path, text)?;
            }
        }
    }
    for entry in std::fs::read_dir(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") && !wanted.contains_key(&name) {
            if !check {
                std::fs::remove_file(directory.join(&name))?;
            }
            stale.push(name);
        }
    }
    Ok(stale)
}
