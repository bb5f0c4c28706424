//! `loggia status` of a server that has something to tell.

use serde_json::Value;

use crate::stage::Stage;
use crate::turn;

#[tokio::test(flavor = "multi_thread")]
async fn it_tells_what_the_server_holds_and_does() {
    let stage = Stage::new();
    let server = turn::start(&stage, &[], &[]);
    let client = turn::client(&server);
    let session = turn::session(&stage, &client).await;
    let mut stream = client.follow(&session).named("tester", "1").open().await.unwrap();
    stream.speaker().prompt("go").await.unwrap();
    // The command is asked about, and nobody answers.
    turn::until_asked(&mut stream).await;
    let status: Value = serde_json::from_str(&stage.run(&["status", "--json"]).stdout).unwrap();
    assert_eq!(
        status["sessions"],
        serde_json::json!({ "loaded": 1, "running": 0, "waiting": 1 }),
        "{status}"
    );
    assert_eq!(status["clients"], 1);
    assert!(status["model"].as_str().unwrap().starts_with("scripted:"), "{status}");
    assert_eq!(status["workspaces"][0]["root_path"], "[STAGE]/project");
    assert_eq!((&status["pid"], &status["url"]), (&server.pid().into(), &server.ready["url"]));
    assert_eq!(status["http_socket"], "[STAGE]/home/.local/share/loggia/run/http.sock");
    let memory = status["rss_bytes"].as_u64().unwrap();
    assert!(memory > 1 << 20, "{memory}");

    let shown = stage.run(&["status"]).stdout;
    for line in [
        "  sessions  1 in memory, 0 running, 1 waiting for an answer\n",
        "  clients   1\n",
        "  workspace [STAGE]/project\n",
        "  socket    [STAGE]/home/.local/share/loggia/run/http.sock\n",
        "  model     scripted:[STAGE]/script.toml\n",
        "  version   [VERSION]\n",
    ] {
        assert!(shown.contains(line), "no `{line}` in\n{shown}");
    }
    stream.close().await;
    assert_eq!(turn::end(server).await.0, Some(0));
}
