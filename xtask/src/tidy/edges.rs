//! Which crate may use which. Dependencies point down; this table says where down is.
//!
//! A new edge is a design decision: change the table in the same commit and say why in its message.

use std::collections::BTreeMap;

use crate::tidy::Fault;
use crate::workspace::{Package, Workspace};

/// One crate and what it may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The package's name.
    pub(crate) name: &'static str,
    /// What kind of crate it is.
    pub(crate) role: Role,
    /// Which of our other crates it may use.
    pub(crate) uses: Uses,
}

/// What kind of crate it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Part of what people run.
    Product,
    /// Serves tests; a product crate may only have it as a dev-dependency.
    Tests,
    /// Serves contributors; nobody depends on it.
    Chore,
}

/// Which of our other crates a crate may use.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Uses {
    /// Whatever its role allows.
    Everything,
    /// These.
    Only(&'static [&'static str]),
}

/// Every crate of the workspace, from the bottom up.
pub(crate) const ROWS: &[Row] = &[
    product("loggia-jsonrpc", &[]),
    product("loggia-protocol-agent-server", &["loggia-jsonrpc"]),
    product("loggia-protocol-autohand", &["loggia-jsonrpc"]),
    product("loggia-protocol-endermux", &["loggia-jsonrpc"]),
    product("loggia-protocol-hermes", &["loggia-jsonrpc"]),
    product("loggia-protocol-mehrhof", &["loggia-jsonrpc"]),
    product("loggia-wire", &["loggia-jsonrpc"]),
    // A console's server and client for anybody: they know the protocol and the stream, and nothing that answers.
    product("loggia-endermux-io", &["loggia-protocol-endermux", "loggia-wire"]),
    // Any program behind a console: the keeper's streams on one side, clients on the other.
    product("loggia-wrap", &["loggia-endermux-io", "loggia-protocol-endermux", "loggia-wire"]),
    product("loggia-domain", &[]),
    // Knows files and nothing of ours: what tools read and the engine writes goes through the same handle.
    product("loggia-tree", &[]),
    product("loggia-store", &["loggia-domain"]),
    product("loggia-models", &["loggia-domain"]),
    product("loggia-tools", &["loggia-domain", "loggia-tree"]),
    product("loggia-runner", &["loggia-domain", "loggia-wire"]),
    product("loggia-git", &["loggia-domain", "loggia-wire"]),
    // Files are read through the workspace's handle, under the same ignore rules as the tools.
    product("loggia-index", &["loggia-domain", "loggia-tree"]),
    // Fills the domain's trait for vectors; it knows neither the index nor what the texts are of.
    product("loggia-embed", &["loggia-domain"]),
    // Files of a workspace are read through its handle, by everybody.
    product("loggia-sources", &["loggia-domain", "loggia-tree"]),
    // The message on the desk: its files, too, are reached through the handle.
    product("loggia-messages", &["loggia-domain", "loggia-tree"]),
    product("loggia-engine", &["loggia-domain", "loggia-tree"]),
    // JSON-RPC's crate for its values alone: where a body's fault is, and how deep JSON nests.
    product(
        "loggia-http",
        &["loggia-domain", "loggia-engine", "loggia-jsonrpc", "loggia-protocol-agent-server"],
    ),
    // JSON-RPC's crate for its values alone: errors of calls, and JSON that belongs to somebody else.
    product(
        "loggia-rpc",
        &["loggia-domain", "loggia-engine", "loggia-jsonrpc", "loggia-protocol-autohand", "loggia-wire"],
    ),
    // Commands and what is told; connections, frames and queues are the library's.
    product(
        "loggia-console",
        &["loggia-domain", "loggia-engine", "loggia-endermux-io", "loggia-protocol-endermux"],
    ),
    // Plugins of other people: fills the domain's traits from their processes. JSON-RPC's crate for its values alone.
    product("loggia-plugins", &["loggia-domain", "loggia-jsonrpc", "loggia-protocol-mehrhof", "loggia-wire"]),
    // Extensions of other people: serves what they ask from the domain's traits, and offers their commands.
    product(
        "loggia-extensions",
        &["loggia-domain", "loggia-jsonrpc", "loggia-protocol-hermes", "loggia-wire"],
    ),
    // For authors of plugins and of extensions: the other side of the protocol, for any host.
    product("loggia-plugin-kit", &["loggia-jsonrpc", "loggia-protocol-mehrhof"]),
    product("loggia-extension-kit", &["loggia-jsonrpc", "loggia-protocol-hermes"]),
    // Knows the protocol and nothing of the server: what it can do, every other client can.
    product("loggia-client", &["loggia-protocol-agent-server", "loggia-wire"]),
    // What people see in a terminal, as a client like any other: of the http door, and of consoles.
    product(
        "loggia-cli",
        &["loggia-client", "loggia-endermux-io", "loggia-protocol-agent-server", "loggia-protocol-endermux"],
    ),
    Row { name: "loggia", role: Role::Product, uses: Uses::Everything },
    Row { name: "loggia-testkit", role: Role::Tests, uses: Uses::Only(&["loggia-jsonrpc", "loggia-wire"]) },
    // Providers of models as tests play them, for the models themselves and for the whole program.
    Row { name: "loggia-mock-models", role: Role::Tests, uses: Uses::Only(&["loggia-models"]) },
    // Whole engines with their real parts, and the processes around them.
    Row { name: "loggia-tests", role: Role::Tests, uses: Uses::Everything },
    Row { name: "loggia-bench", role: Role::Chore, uses: Uses::Everything },
    // Apart from the other benchmarks, so that it builds without the product around the index.
    Row {
        name: "loggia-bench-index",
        role: Role::Chore,
        uses: Uses::Only(&["loggia-domain", "loggia-embed", "loggia-index", "loggia-tree"]),
    },
    Row { name: "loggia-fuzz", role: Role::Chore, uses: Uses::Everything },
    // Nothing of ours: it must build when the product does not.
    Row { name: "xtask", role: Role::Chore, uses: Uses::Only(&[]) },
];

const fn product(name: &'static str, uses: &'static [&'static str]) -> Row {
    Row { name, role: Role::Product, uses: Uses::Only(uses) }
}

const TABLE: &str = "xtask/src/tidy/edges.rs";

pub(super) fn check(workspace: &Workspace) -> Vec<Fault> {
    let manifests: BTreeMap<&str, String> = workspace
        .members
        .iter()
        .map(|package| (package.name.as_str(), workspace.relative(&package.manifest_path)))
        .collect();
    compare(&workspace.members, ROWS)
        .into_iter()
        .map(|(name, what, fix)| match manifests.get(name.as_str()) {
            Some(manifest) => Fault::new(manifest.clone(), 1, what, fix),
            None => Fault::new(TABLE, 1, what, fix),
        })
        .collect()
}

/// The crates that break the table: name, what is wrong, how to put it right.
fn compare(members: &[Package], rows: &[Row]) -> Vec<(String, String, String)> {
    let row_of = |name: &str| rows.iter().find(|row| row.name == name);
    let mut faults = Vec::new();
    for row in rows.iter().filter(|row| members.iter().all(|package| package.name != row.name)) {
        let what = format!("`{}` is in the table but not in the workspace", row.name);
        faults.push((row.name.to_owned(), what, "remove its row".to_owned()));
    }
    for package in members {
        let Some(user) = row_of(&package.name) else {
            let what = format!("`{}` is not in the table of allowed edges", package.name);
            faults.push((package.name.clone(), what, format!("add a row to {TABLE}")));
            continue;
        };
        for dependency in &package.dependencies {
            let Some(used) = row_of(&dependency.name) else { continue };
            if let Some(fix) = objection(user, used, dependency.kind.as_deref()) {
                let what = format!("`{}` may not use `{}`", user.name, used.name);
                faults.push((package.name.clone(), what, fix));
            }
        }
    }
    faults
}

/// Why one crate may not use another, as what to do about it.
fn objection(user: &Row, used: &Row, kind: Option<&str>) -> Option<String> {
    if used.role == Role::Chore {
        return Some("nobody depends on a chore; move what you need into a crate".to_owned());
    }
    if used.role == Role::Tests {
        let fine = kind == Some("dev") || user.role != Role::Product;
        return (!fine).then(|| "make it a dev-dependency".to_owned());
    }
    match (user.uses, used.uses) {
        (Uses::Everything, _) => None,
        (Uses::Only(names), _) if names.contains(&used.name) => None,
        // Tests stand beside the crate: they may use real parts, but nothing that is built on it.
        (_, Uses::Only(below)) if kind == Some("dev") && !below.contains(&user.name) => None,
        _ => Some(format!("turn the dependency round, or change {TABLE} and say why")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::workspace::Dependency;

    const ROWS: &[Row] = &[
        product("low", &[]),
        product("high", &["low"]),
        Row { name: "kit", role: Role::Tests, uses: Uses::Only(&["low"]) },
        Row { name: "chore", role: Role::Chore, uses: Uses::Everything },
    ];

    /// A workspace from lines like `high: low, dev kit`; the faults as lines.
    fn faults(text: &str) -> String {
        let package = |line: &str| {
            let (name, uses) = line.split_once(':').expect("a colon");
            let dependency = |text: &str| {
                let (kind, name) =
                    text.split_once(' ').map_or((None, text), |(kind, name)| (Some(kind), name));
                Dependency { name: name.to_owned(), kind: kind.map(str::to_owned) }
            };
            Package {
                id: name.to_owned(),
                name: name.to_owned(),
                version: "1.0.0".to_owned(),
                license: None,
                description: None,
                manifest_path: PathBuf::new(),
                dependencies: uses
                    .split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .map(dependency)
                    .collect(),
                targets: Vec::new(),
            }
        };
        let members: Vec<Package> = text.split(';').map(str::trim).map(package).collect();
        let lines = compare(&members, ROWS).into_iter().map(|(name, what, _)| format!("{name}: {what}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn allowed_edges_pass() {
        assert_eq!(
            faults("low: serde, dev kit; high: low, build low, dev kit; kit: low; chore: high, kit"),
            ""
        );
    }

    #[test]
    fn an_edge_that_points_up_is_a_fault() {
        assert_eq!(faults("low: high; high:; kit:; chore:"), "low: `low` may not use `high`");
        assert_eq!(faults("low: dev high; high:; kit:; chore:"), "low: `low` may not use `high`");
    }

    #[test]
    fn a_test_crate_in_a_product_is_a_fault() {
        assert_eq!(faults("low: kit; high:; kit:; chore:"), "low: `low` may not use `kit`");
    }

    #[test]
    fn nobody_may_use_a_chore() {
        assert_eq!(faults("low:; high: dev chore; kit:; chore:"), "high: `high` may not use `chore`");
    }

    #[test]
    fn the_table_and_the_workspace_have_the_same_crates() {
        assert_eq!(
            faults("low:; high:; kit:; other: low"),
            "chore: `chore` is in the table but not in the workspace\n\
             other: `other` is not in the table of allowed edges"
        );
    }
}
