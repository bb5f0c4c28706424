//! Details of `loggia serve` that matter when something goes wrong, or when others are to connect.

use std::net::TcpStream;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use loggia_client::{Heard, Lost};
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use serde_json::Value;

use crate::server::{Server, body};
use crate::stage::Stage;
use crate::turn;

const DATA: &str = "home/.local/share/loggia";

fn private(stage: &Stage, relative: &str) {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(stage.path(relative)).unwrap();
}

#[test]
fn a_log_that_cannot_be_written_is_told_while_the_starter_is_there() {
    let stage = Stage::new();
    private(&stage, DATA);
    std::fs::create_dir(stage.path(DATA).join("daemon.log")).unwrap();
    insta::assert_snapshot!(stage.run(&["serve", "--detach", "--addr", "127.0.0.1:0"]), @r"
    exit: 5
    --- stderr
    error: cannot write the log `[STAGE]/home/.local/share/loggia/daemon.log`
      cause: Is a directory (os error 21)

    hint: look at it with `ls -ld '[STAGE]/home/.local/share/loggia/daemon.log'`; `LOGGIA_DATA_DIR` and `LOGGIA_RUNTIME_DIR` name other directories
    [END]
    ");
    assert_eq!(stage.run(&["status"]).code, Some(5), "nothing was left running");
    assert!(!stage.path(DATA).join("run/http.sock").exists(), "nor its socket");
}

#[test]
fn a_detached_server_can_write_to_its_output_and_logs_its_life() {
    let stage = Stage::new();
    let shown = stage.run(&["serve", "--detach", "--json", "--addr", "127.0.0.1:0"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    let status: Value = serde_json::from_str(&stage.run(&["status", "--json"]).stdout).unwrap();
    let pid = &status["pid"];
    let output = std::fs::read_link(format!("/proc/{pid}/fd/1")).unwrap();
    assert_eq!(output.to_str(), Some("/dev/null"));
    let facts = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/1")).unwrap();
    let flags = facts.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
    assert_eq!(u32::from_str_radix(flags, 8).unwrap() & 0o3, 0o2, "open for reading and writing");
    assert_eq!(stage.run(&["stop"]).code, Some(0));
    let log = std::fs::read_to_string(stage.path(DATA).join("daemon.log")).unwrap();
    let first = log.lines().next().unwrap();
    assert!(first.contains("Z  INFO started url=http://127.0.0.1:"), "{log}");
    assert!(log.lines().last().unwrap().ends_with(" INFO stopped"), "{log}");
}

#[test]
fn the_socket_of_somebody_else_stays() {
    let stage = Stage::new();
    private(&stage, "runtime");
    let path = stage.path("runtime/http.sock");
    let _somebody = UnixListener::bind(&path).unwrap();
    let variable = ("LOGGIA_RUNTIME_DIR", stage.path("runtime").to_str().unwrap().to_owned());
    let shown = stage.run_with(&[(variable.0, &variable.1)], &["serve", "--addr", "127.0.0.1:0"]);
    assert_eq!(shown.code, Some(5), "{shown}");
    assert!(
        shown.stderr.starts_with("error: somebody answers on `[STAGE]/runtime/http.sock` already"),
        "{shown}"
    );
    assert!(path.exists(), "it was not ours to remove");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_hears_that_the_server_stops() {
    let stage = Stage::new();
    let server = turn::start(&stage, &[], &[]);
    let client = turn::client(&server);
    let session = turn::session(&stage, &client).await;
    let mut stream = client.follow(&session).open().await.unwrap();
    assert!(matches!(stream.next().await, Some(Ok(Heard::Connected(_)))));
    let ended = tokio::spawn(turn::end(server));
    let why = loop {
        match stream.next().await.unwrap().unwrap() {
            Heard::Disconnected { why, .. } => break why,
            Heard::Message(_) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(why, Lost::Stopping);
    assert_eq!(ended.await.unwrap(), (Some(0), String::new(), String::new()));
}

/// The name of this machine.
fn machine() -> String {
    rustix::system::uname().nodename().to_str().unwrap().to_owned()
}

#[test]
fn whoever_listens_for_others_is_told_how_they_are_answered() {
    let stage = Stage::new();
    let server = Server::start(&stage, &["--addr", "0.0.0.0:0", "--tls", "self-signed"]);
    let port = server.address().port().to_string();
    server.signal(rustix::process::Signal::TERM);
    let (code, _, stderr) = server.wait();
    assert_eq!(code, Some(0));
    let stage_path = stage.path("");
    let told = stderr
        .replace(&port, "[PORT]")
        .replace(stage_path.to_str().unwrap().trim_end_matches('/'), "[STAGE]")
        .replace(&machine(), "[MACHINE]");
    insta::assert_snapshot!(told, @r#"
    warning: `0.0.0.0:[PORT]` is heard by others, but only requests to `localhost` and the loopback's addresses are answered

    hint: list the names and addresses others use, separated by commas: `hosts = "[MACHINE]"` under `[server]` in `[STAGE]/home/.config/loggia/config.toml`, or `--set server.hosts=[MACHINE]`
    "#);
    let server = Server::start(
        &stage,
        &["--addr", "0.0.0.0:0", "--tls", "self-signed", "--set", "server.hosts=localhost"],
    );
    server.end();
}

/// Whether a client that trusts only the certificate in a file believes a server under a name.
fn believes(server: &Server, trusted: &CertificateDer<'static>, name: &str) -> bool {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    connection.complete_io(&mut stream).is_ok()
}

/// The two moments between which a certificate holds, as `YYMMDD…`: the only such texts in it.
fn validity(certificate: &CertificateDer<'_>) -> Vec<String> {
    let is_moment = |bytes: &&[u8]| bytes[..2] == [0x17, 13] && bytes[14] == b'Z';
    let moments = certificate.windows(15).filter(is_moment);
    moments.map(|bytes| String::from_utf8(bytes[2..].to_vec()).unwrap()).collect()
}

#[test]
fn a_certificate_of_our_own_is_made_for_all_our_names_and_for_ten_years() {
    let stage = Stage::new();
    let flags = ["--tls", "self-signed", "--set", "server.hosts=agent.example,192.0.2.7"];
    let server = Server::start(&stage, &flags);
    let file = stage.path(DATA).join("tls/self-signed.pem");
    let certificate = CertificateDer::from_pem_file(&file).unwrap();
    for name in ["localhost", "127.0.0.1", "::1", "agent.example", "192.0.2.7", &machine()] {
        assert!(believes(&server, &certificate, name), "not under `{name}`");
    }
    assert!(!believes(&server, &certificate, "elsewhere.example"));
    let years: Vec<u32> = validity(&certificate).iter().map(|moment| moment[..2].parse().unwrap()).collect();
    let [from, to] = years[..] else { panic!("{years:?}") };
    assert!((9..=10).contains(&(to - from)), "from 20{from} to 20{to}");
    server.end();

    // It stays when names come later, and that is told.
    let server = Server::start(&stage, &["--tls", "self-signed", "--set", "server.hosts=new.example"]);
    server.signal(rustix::process::Signal::TERM);
    let (code, _, stderr) = server.wait();
    assert_eq!(code, Some(0));
    assert!(
        stderr.starts_with("warning: the certificate `") && stderr.contains("was not made for `new.example`")
    );
    assert_eq!(CertificateDer::from_pem_file(&file).unwrap(), certificate);
}

#[test]
fn what_one_workspace_says_of_itself_is_not_for_the_others() {
    let stage =
        Stage::with_workspace("[policy]\npreset = \"full\"\n[sandbox]\nrequired = false\nnetwork = true\n");
    stage.trust("project");
    let data = stage.path("home/.local/share/loggia");
    std::fs::set_permissions(data, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let server = Server::start(&stage, &[]);
    let workspaces = body(&server.get_locally("/v1/workspaces"));
    let id = workspaces["workspaces"][0]["workspace_id"].as_str().unwrap();
    let policy = body(&server.get_locally(&format!("/v1/workspaces/{id}/policy")));
    assert_eq!(policy["preset"], "ask", "{policy}");
    assert_eq!(
        (&policy["sandbox"]["required"], &policy["sandbox"]["network"]),
        (&true.into(), &false.into()),
        "{policy}"
    );
    server.end();
}

#[test]
fn the_configuration_is_the_policy_of_workspaces_that_have_none() {
    let stage = Stage::with_workspace("");
    stage.user_file("[policy]\npreset = \"read-only\"\nmax_steps = 7\napproval_timeout_s = 60\n[sandbox]\nnetwork = true\n");
    let server =
        Server::start(&stage, &["--set", "runner.command_timeout_s=5", "--set", "runner.output_bytes=1000"]);
    let workspaces = body(&server.get_locally("/v1/workspaces"));
    let id = workspaces["workspaces"][0]["workspace_id"].as_str().unwrap();
    let policy = body(&server.get_locally(&format!("/v1/workspaces/{id}/policy")));
    assert_eq!(policy["preset"], "read-only", "{policy}");
    assert_eq!(policy["sandbox"]["network"], true, "{policy}");
    let limits = &policy["limits"];
    assert_eq!(
        (
            &limits["max_steps"],
            &limits["approval_timeout_s"],
            &limits["command_timeout_s"],
            &limits["output_bytes"]
        ),
        (&7.into(), &60.into(), &5.into(), &1000.into()),
        "{policy}"
    );
    server.end();
}
