//! What the commands about plugins print for programs.

use serde_json::{Value, json};

use crate::plugins::{House, OWN, plugin};

fn fields(value: &Value, names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| value[name].clone()).collect()
}

#[test]
fn every_command_about_plugins_tells_programs_what_came_of_it() {
    let house = House::new();
    let stage = &house.stage.0;
    plugin(stage, "outside/source", "provider", "link", &[]);
    let source = stage.path("outside/source/link");
    let source = source.to_str().unwrap();

    let installed = house.json(&["plugin", "install", "--global", source, "--json"]);
    assert_eq!(
        fields(&installed, &["name", "state", "enabled"]),
        [json!("link"), json!("disabled"), json!(false)]
    );
    assert_eq!(installed["directory"], format!("[STAGE]/{OWN}/link"));
    let enabled = house.json(&["plugin", "enable", "link", "--json"]);
    assert_eq!(fields(&enabled, &["name", "state", "enabled"]), [json!("link"), json!("ready"), json!(true)]);
    let validated = house.json(&["plugin", "validate", "link", "--json"]);
    let [result] = &validated["results"].as_array().unwrap()[..] else { panic!("{validated}") };
    assert_eq!(fields(result, &["name", "works"]), [json!("link"), json!(true)]);
    let disabled = house.json(&["plugin", "disable", "link", "--json"]);
    assert_eq!(fields(&disabled, &["state", "enabled"]), [json!("disabled"), json!(false)]);

    let local = house.json(&["plugin", "install", source, "--json"]);
    assert_eq!(
        fields(&local, &["name", "scope", "state"]),
        [json!("link"), json!("project"), json!("untrusted")]
    );
    let removed = house.json(&["plugin", "remove", "link", "--yes", "--json"]);
    assert_eq!(removed, json!({ "name": "link", "directory": "[STAGE]/project/.loggia/plugins/link" }));
    let removed = house.json(&["plugin", "remove", "--global", "link", "--yes", "--json"]);
    assert_eq!(removed["name"], "link");
    assert!(!stage.path(&format!("{OWN}/link")).exists());
    assert_eq!(house.json(&["plugin", "list", "--json"])["plugins"], json!([]));

    let written = house.json(&["plugin", "new", "mine", "--type", "workflow", "--json"]);
    let files = json!(["plugin.yaml", "plugin.py", "loggia_plugin.py"]);
    assert_eq!(written, json!({ "directory": "mine", "files": files }));
    assert!(stage.path("project/mine/plugin.yaml").exists());
    house.end();
}
