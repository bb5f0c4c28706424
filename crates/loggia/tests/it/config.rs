//! `loggia config show` and `config path`: every layer and its place in the order.

use crate::stage::Stage;

#[test]
fn all_settings_are_shown_with_where_they_came_from() {
    let stage = Stage::with_workspace("[policy]\nmax_steps = 5\n");
    stage.user_file("[server]\n\naddr = \"127.0.0.1:4000\"\n");
    let variables = [("LOGGIA_SANDBOX_REQUIRED", "true")];
    let arguments = ["config", "show", "--set", "policy.preset=read-only", "--log-level", "error"];
    insta::assert_snapshot!(stage.run_with(&variables, &arguments), @r#"
    exit: 0
    --- stdout
    server.addr                 "127.0.0.1:4000"        [STAGE]/home/.config/loggia/config.toml:3
    server.hosts                ""                      default
    server.origins              ""                      default
    server.idle_exit_minutes    30                      default
    log.level                   "error"                 --log-level
    log.format                  "text"                  default
    ui.color                    "auto"                  default
    rpc.preview                 false                   default
    rpc.permission_timers       false                   default
    rpc.merge_updates_ms        0                       default
    model.default               ""                      default
    index.auto                  true                    default
    index.embedder              ""                      default
    index.weights               ""                      default
    policy.preset               "read-only"             --set
    policy.approval_timeout_s   "none"                  default
    policy.max_steps            5                       [STAGE]/project/.loggia/config.toml:2
    policy.max_tokens           "none"                  default
    sandbox.required            true                    LOGGIA_SANDBOX_REQUIRED
    sandbox.network             false                   default
    runner.command_timeout_s    120                     default
    runner.output_bytes         1048576                 default
    runner.extension_timeout_s  600                     default
    dialogs.unattended          "fail"                  default
    dialogs.directories         ""                      default
    plugins.enabled             ""                      default
    plugins.variables           ""                      default
    plugins.silence_s           300                     default
    plugins.run_s               1800                    default
    plugins.line_bytes          67108864                default
    tasks.scheme                "file"                  default
    tasks.branch                "{type}/{key}--{slug}"  default
    tasks.commit_prefix         "[{key}]"               default
    tasks.quality               "quality"               default
    tasks.tries                 3                       default
    tasks.agent                 ""                      default
    tasks.planning_agent        ""                      default
    tasks.implementing_agent    ""                      default
    tasks.reviewing_agent       ""                      default
    telemetry.otlp_endpoint     ""                      default
    [END]
    "#);
}

#[test]
fn one_setting_is_shown_with_all_there_is_to_know() {
    insta::assert_snapshot!(Stage::new().run(&["config", "show", "policy.approval_timeout_s"]), @r#"
    exit: 0
    --- stdout
    policy.approval_timeout_s = "none"
      from       default
      meaning    Seconds after which an unanswered question counts as refused; `none` waits for ever.
      takes      a whole number, zero or more, or `none`
      default    "none"
      variable   LOGGIA_POLICY_APPROVAL_TIMEOUT_S
      workspace  may tighten it: a smaller number
      used by    `loggia serve`
    [END]
    "#);
}

#[test]
fn json_has_the_same_facts() {
    let stage = Stage::with_workspace("[policy]\npreset = \"full\"\n");
    insta::assert_snapshot!(stage.run(&["-q", "config", "show", "policy.preset", "--json"]), @r#"
    exit: 0
    --- stdout
    [
      {
        "key": "policy.preset",
        "value": "ask",
        "origin": {
          "kind": "default"
        },
        "doc": "What happens to a tool call that no rule matches.",
        "used_by": "`loggia serve`",
        "ignored": [
          {
            "value": "full",
            "origin": {
              "kind": "workspace_file",
              "path": "[STAGE]/project/.loggia/config.toml",
              "line": 2
            },
            "reason": "only a trusted workspace may loosen `\"ask\"`"
          }
        ]
      }
    ]
    [END]
    "#);
}

#[test]
fn json_of_everything_is_an_array_with_every_key() {
    let shown = Stage::new().run(&["config", "show", "--json"]);
    let settings: Vec<serde_json::Value> = serde_json::from_str(&shown.stdout).unwrap();
    assert!(settings.len() > 10);
    for setting in settings {
        for field in ["key", "value", "origin", "doc", "used_by", "ignored"] {
            assert!(setting.get(field).is_some(), "{field} is missing in {setting}");
        }
    }
}

/// Says the value and the kind of origin of a key.
fn effective(stage: &Stage, variables: &[(&str, &str)], arguments: &[&str], key: &str) -> String {
    let shown = stage.run_with(variables, &[arguments, &["config", "show", "--json", key]].concat());
    let settings: serde_json::Value =
        serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{shown}"));
    format!("{} {}", settings[0]["value"], settings[0]["origin"]["kind"].as_str().unwrap())
}

#[test]
fn each_layer_wins_over_the_one_before() {
    let key = "policy.max_steps";
    let stage = Stage::new();
    std::fs::create_dir_all(stage.path("project/.loggia")).unwrap();
    assert_eq!(effective(&stage, &[], &[], key), "100 default");
    stage.user_file("policy.max_steps = 50");
    assert_eq!(effective(&stage, &[], &[], key), "50 user_file");
    stage.write("project/.loggia/config.toml", "policy.max_steps = 40");
    assert_eq!(effective(&stage, &[], &[], key), "40 workspace_file");
    let variables = [("LOGGIA_POLICY_MAX_STEPS", "60")];
    assert_eq!(effective(&stage, &variables, &[], key), "60 variable");
    assert_eq!(effective(&stage, &variables, &["--set", "policy.max_steps=70"], key), "70 flag");
    let twice = ["--set", "policy.max_steps=70", "--set", "policy.max_steps=80"];
    assert_eq!(effective(&stage, &variables, &twice, key), "80 flag");
}

#[test]
fn a_flag_of_its_own_wins_over_set_and_over_the_variable() {
    let variables = [("LOGGIA_LOG_LEVEL", "info")];
    let stage = Stage::new();
    let level = |arguments: &[&str]| effective(&stage, &variables, arguments, "log.level");
    assert_eq!(level(&[]), "\"info\" variable");
    assert_eq!(level(&["--set", "log.level=off"]), "\"off\" flag");
    assert_eq!(level(&["--set", "log.level=off", "--log-level", "error"]), "\"error\" flag");
    assert_eq!(level(&["-q"]), "\"error\" flag");
    assert_eq!(level(&["-v"]), "\"debug\" flag");
    assert_eq!(level(&["-vv"]), "\"trace\" flag");
    assert_eq!(level(&["-vvvv"]), "\"trace\" flag");
}

#[test]
fn the_model_has_a_short_variable_and_the_long_one_is_stronger() {
    let stage = Stage::new();
    let short = ("LOGGIA_MODEL", "a:short");
    assert_eq!(effective(&stage, &[short], &[], "model.default"), "\"a:short\" variable");
    let both = [short, ("LOGGIA_MODEL_DEFAULT", "b:long")];
    assert_eq!(effective(&stage, &both, &[], "model.default"), "\"b:long\" variable");
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let stage = Stage::new();
    assert_eq!(
        effective(&stage, &[("LOGGIA_SERVER_ADDR", "")], &[], "server.addr"),
        "\"127.0.0.1:3199\" default"
    );
}

#[test]
fn the_directories_follow_xdg_and_our_own_variables() {
    let stage = Stage::new();
    stage.write("xdg/loggia/config.toml", "policy.max_steps = 1");
    stage.write("own/config.toml", "policy.max_steps = 2");
    let xdg = stage.path("xdg");
    let own = stage.path("own");
    let xdg = ("XDG_CONFIG_HOME", xdg.to_str().unwrap());
    let own = ("LOGGIA_CONFIG_DIR", own.to_str().unwrap());
    assert_eq!(effective(&stage, &[xdg], &[], "policy.max_steps"), "1 user_file");
    assert_eq!(effective(&stage, &[xdg, own], &[], "policy.max_steps"), "2 user_file");
}

#[test]
fn the_workspace_is_found_from_below_and_ends_at_the_nearest_root() {
    let stage = Stage::with_workspace("policy.max_steps = 7");
    let from = |directory: &str| {
        std::fs::create_dir_all(stage.path(directory)).unwrap();
        let mut command = stage.command(&["config", "show", "policy.max_steps"]);
        command.current_dir(stage.path(directory));
        stage.finish(command, b"").stdout.lines().next().unwrap().to_owned()
    };
    assert_eq!(from("project/deep/down"), "policy.max_steps = 7");
    std::fs::create_dir_all(stage.path("project/inner/.git")).unwrap();
    assert_eq!(from("project/inner/src"), "policy.max_steps = 100");
    assert_eq!(from("outside"), "policy.max_steps = 100");
}

#[test]
fn the_files_are_told_whether_or_not_they_exist() {
    let stage = Stage::with_workspace("");
    stage.user_file("this is not TOML");
    insta::assert_snapshot!(stage.run(&["config", "path"]), @r"
    exit: 0
    --- stdout
    user       present  [STAGE]/home/.config/loggia/config.toml
    workspace  present  [STAGE]/project/.loggia/config.toml
    trust      absent   [STAGE]/home/.local/share/loggia/trust.toml
    [END]
    ");
    insta::assert_snapshot!(stage.run(&["config", "path", "--json"]), @r#"
    exit: 0
    --- stdout
    [
      {
        "role": "user",
        "path": "[STAGE]/home/.config/loggia/config.toml",
        "exists": true
      },
      {
        "role": "workspace",
        "path": "[STAGE]/project/.loggia/config.toml",
        "exists": true
      },
      {
        "role": "trust",
        "path": "[STAGE]/home/.local/share/loggia/trust.toml",
        "exists": false
      }
    ]
    [END]
    "#);
}

#[test]
fn outside_a_workspace_there_is_no_workspace_file() {
    insta::assert_snapshot!(Stage::new().run(&["config", "path"]), @r"
    exit: 0
    --- stdout
    user       absent   [STAGE]/home/.config/loggia/config.toml
    trust      absent   [STAGE]/home/.local/share/loggia/trust.toml
    [END]
    ");
}
