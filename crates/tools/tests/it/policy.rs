//! What may not be read is not told, and what leads outside is forbidden, in every tool.

use serde_json::{Value, json};

use crate::support::Workspace;

fn guarded() -> Workspace {
    let mut workspace =
        Workspace::new(&[("secret/key", "needle\n"), ("open", "needle\n"), ("secret.txt", "needle\n")]);
    workspace.deny("secret");
    workspace
}

#[test]
fn denied_files_are_not_revealed() {
    let workspace = guarded();
    assert_eq!(workspace.call("list_directory", json!({"path": "."})), "open (7 bytes)");
    assert_eq!(workspace.call("list_directory", json!({"path": "secret"})), "[the directory is empty]");
    assert_eq!(workspace.call("find_files", json!({"glob": "**"})), "open");
    assert_eq!(workspace.call("search_text", json!({"query": "needle"})), "open:1:needle");
    assert_eq!(workspace.call("read_file", json!({"path": "key"})), "failed: `key` does not exist");
    assert_eq!(
        workspace.call("read_file", json!({"path": "secrte.txt"})),
        "failed: `secrte.txt` does not exist"
    );
}

#[test]
fn denied_files_of_the_overlay_are_not_revealed_either() {
    let mut workspace = guarded();
    workspace.overlay("secret/new", Some("needle\n"));
    assert_eq!(workspace.call("find_files", json!({"glob": "**"})), "open");
    assert_eq!(workspace.call("search_text", json!({"query": "needle"})), "open:1:needle");
    assert_eq!(workspace.call("list_directory", json!({"path": "secret"})), "[the directory is empty]");
}

#[test]
fn a_link_to_a_denied_file_is_not_followed() {
    let workspace = guarded();
    workspace.link("innocent", "secret/key");
    workspace.link("directory", "secret");
    let told = "is a link to what the policy does not let be read";
    let read = |path: &str| workspace.call("read_file", json!({"path": path}));
    assert_eq!(read("innocent"), format!("forbidden: `innocent` {told}"));
    assert_eq!(read("directory/key"), format!("forbidden: `directory/key` {told}"));
    assert_eq!(
        workspace.call("list_directory", json!({"path": "directory"})),
        format!("forbidden: `directory` {told}")
    );
}

#[test]
fn what_leads_outside_is_forbidden() {
    type ArgumentsFor = fn(&str) -> Value;
    let workspace = Workspace::new(&[("x", "inside\n")]);
    std::fs::write(workspace.outside().join("outside.txt"), "outside\n").unwrap();
    workspace.link("relative", "../outside.txt");
    workspace.link("absolute", workspace.outside().join("outside.txt"));
    workspace.link("up", "..");
    std::fs::hard_link(workspace.outside().join("outside.txt"), workspace.path().join("hard")).unwrap();
    let paths = [
        ("relative", "`relative` leads outside the workspace"),
        ("absolute", "`absolute` leads outside the workspace"),
        ("up/outside.txt", "`up/outside.txt` leads outside the workspace"),
        ("../outside.txt", "`../outside.txt` goes up with `..`"),
        ("x/../../outside.txt", "`x/../../outside.txt` goes up with `..`"),
        ("/etc/passwd", "`/etc/passwd` is absolute"),
        ("C:\\x", "`C:\\x` is absolute"),
        ("hard", "`hard` has more than one hard link"),
    ];
    let calls: [(&str, ArgumentsFor); 5] = [
        ("read_file", |path| json!({"path": path})),
        ("write_file", |path| json!({"path": path, "content": "new\n"})),
        ("edit_file", |path| json!({"path": path, "old": "outside", "new": "x"})),
        ("delete_file", |path| json!({"path": path})),
        (
            "apply_patch",
            |path| json!({"diff": format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-outside\n+x\n")}),
        ),
    ];
    for (path, told) in paths {
        for (tool, arguments) in calls {
            // A backslash begins an escape in a diff, so that diff is refused for another reason.
            if tool == "apply_patch" && path.contains('\\') {
                continue;
            }
            let outcome = workspace.call(tool, arguments(path));
            assert!(outcome.starts_with(&format!("forbidden: {told}")), "{tool} {path}: {outcome}");
        }
    }
    assert_eq!(
        workspace.call("search_text", json!({"query": "outside"})),
        "[no line matches; ignored and binary files are not searched]\n[1 file too large or not readable]"
    );
}

#[test]
fn a_fifo_is_not_opened() {
    let workspace = Workspace::new(&[]);
    crate::list::make_fifo(&workspace.path().join("fifo"));
    assert_eq!(
        workspace.call("read_file", json!({"path": "fifo"})),
        "failed: `fifo` is a fifo, socket or device, not a file"
    );
    assert!(
        workspace.call("write_file", json!({"path": "fifo", "content": ""})).starts_with("failed: `fifo` is")
    );
}
