//! `[[extensions]]` in configuration files: whose they are, what is wrong with them, and what trust has to do with it.

use serde_json::Value;

use crate::stage::Stage;

const USERS: &str = "[[extensions]]\npath = \"python3 /srv/hello.py\"\n\n[[extensions]]\nname = \"wizard\"\npath = \"/opt/wizard\"\nargs = [\"--quiet\"]\nenabled = false\n";
const OWN: &str = "[[extensions]]\npath = \"python3 tools/lab.py\"\nenv = { LAB = \"north\" }\n";

#[test]
fn extensions_of_a_trusted_workspace_come_after_the_users_and_each_knows_its_line() {
    let stage = Stage::with_workspace(OWN);
    stage.user_file(USERS).trust("project");
    insta::assert_snapshot!(stage.run(&["config", "show", "extensions"]), @r#"
    exit: 0
    --- stdout
    extensions[1]  {"path":"python3 /srv/hello.py"}                                           [STAGE]/home/.config/loggia/config.toml:1
    extensions[2]  {"args":["--quiet"],"enabled":false,"name":"wizard","path":"/opt/wizard"}  [STAGE]/home/.config/loggia/config.toml:4
    extensions[3]  {"env":{"LAB":"north"},"path":"python3 tools/lab.py"}                      [STAGE]/project/.loggia/config.toml:1
    [END]
    "#);
    let shown = stage.run(&["config", "show", "extensions[3]", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{shown}"));
    assert_eq!(
        shown[0]["value"],
        serde_json::json!({ "path": "python3 tools/lab.py", "env": { "LAB": "north" } })
    );
    assert_eq!(
        (&shown[0]["origin"]["kind"], &shown[0]["origin"]["line"]),
        (&"workspace_file".into(), &1.into())
    );
}

#[test]
fn extensions_of_a_workspace_that_is_not_trusted_are_ignored_and_told() {
    let stage = Stage::with_workspace(OWN);
    stage.user_file("[[extensions]]\npath = \"/opt/wizard\"\n");
    insta::assert_snapshot!(stage.run(&["config", "show", "extensions"]), @r#"
    exit: 0
    --- stdout
    extensions[1]  {"path":"/opt/wizard"}  [STAGE]/home/.config/loggia/config.toml:1
    extensions[2]  []                      default
      ignored    {"env":{"LAB":"north"},"path":"python3 tools/lab.py"} from [STAGE]/project/.loggia/config.toml:1: only a trusted workspace may set it, because it decides which programs run
    --- stderr
    warning: ignored `extensions[2] = {"env":{"LAB":"north"},"path":"python3 tools/lab.py"}` from `[STAGE]/project/.loggia/config.toml:1`: only a trusted workspace may set it, because it decides which programs run

    hint: the workspace is not trusted; settings you want go into `[STAGE]/home/.config/loggia/config.toml`
    [END]
    "#);
}

#[test]
fn mistakes_in_an_extensions_table_have_a_place_and_the_nearest_name() {
    let stage = Stage::new();
    stage.user_file("[[extensions]]\npath = \"/opt/wizard\"\narg = [\"--quiet\"]\n");
    insta::assert_snapshot!(stage.run(&["config", "show"]), @"
    exit: 3
    --- stderr
    error: unknown key `extensions.arg` in `[STAGE]/home/.config/loggia/config.toml:3:1`

    hint: did you mean `args`?
    [END]
    ");
    let stage = Stage::with_workspace("[[extensions]]\npath = \"/opt/wizard\"\n\n[[extensions]]\npath = 7\n");
    insta::assert_snapshot!(stage.run(&["config", "show"]), @"
    exit: 3
    --- stderr
    error: `extensions.path` cannot be `7` (in `[STAGE]/project/.loggia/config.toml:5:8`)

    hint: expected text
    [END]
    ");
    let stage = Stage::with_workspace("[[extensions]]\nname = \"lab\"\n");
    insta::assert_snapshot!(stage.run(&["config", "show"]), @"
    exit: 3
    --- stderr
    error: `extensions.path` cannot be left out (in `[STAGE]/project/.loggia/config.toml:1:1`)

    hint: expected `path` in each `[[extensions]]`
    [END]
    ");
    insta::assert_snapshot!(Stage::new().run(&["--set", "extensions=[]", "config", "show"]), @"
    exit: 3
    --- stderr
    error: `extensions` cannot be `[]` (in `--set`)

    hint: expected tables in a file, as in `[[extensions]]`
    [END]
    ");
}
