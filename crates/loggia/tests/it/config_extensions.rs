//! `[[extensions]]` in configuration files: whose they are, what is wrong with them, and what trust has to do with it.

use serde_json::Value;

use crate::stage::Stage;

const USERS: &str = "[[extensions]]\npath = \"python3 /srv/hello.py\"\n\n[[extensions]]\nname = \"wizard\"\npath = \"/opt/wizard\"\nargs = [\"--quiet\"]\nenabled = false\n";
const OWN: &str = "[[extensions]]\npath = \"python3 tools/lab.py\"\nenv = { LAB = \"north\" }\n";

#[test]
fn extensions_of_a_trusted_workspace_come_after_the_users_and_each_knows_its_line() {
    let stage = Stage::with_workspace(OWN);
    stage.user_file(USERS).trust("project");
    insta::assert_snapshot!(stage.run(&["config", "show", "extensions"]), @"");
    let shown = stage.run(&["config", "show", "extensions[3]", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{shown}"));
    assert_eq!(shown[0]["value"], serde_json::json!({ "path": "python3 tools/lab.py", "env": { "LAB": "north" } }));
    assert_eq!((&shown[0]["origin"]["kind"], &shown[0]["origin"]["line"]), (&"workspace_file".into(), &1.into()));
}

#[test]
fn extensions_of_a_workspace_that_is_not_trusted_are_ignored_and_told() {
    let stage = Stage::with_workspace(OWN);
    stage.user_file("[[extensions]]\npath = \"/opt/wizard\"\n");
    insta::assert_snapshot!(stage.run(&["config", "show", "extensions"]), @"");
}

#[test]
fn mistakes_in_an_extensions_table_have_a_place_and_the_nearest_name() {
    let stage = Stage::new();
    stage.user_file("[[extensions]]\npath = \"/opt/wizard\"\narguments = [\"--quiet\"]\n");
    insta::assert_snapshot!(stage.run(&["config", "show"]), @"");
    let stage = Stage::with_workspace("[[extensions]]\npath = \"/opt/wizard\"\n\n[[extensions]]\npath = 7\n");
    insta::assert_snapshot!(stage.run(&["config", "show"]), @"");
    let stage = Stage::with_workspace("[[extensions]]\nname = \"lab\"\n");
    insta::assert_snapshot!(stage.run(&["config", "show"]), @"");
    insta::assert_snapshot!(Stage::new().run(&["--set", "extensions=[]", "config", "show"]), @"");
}
