//! The file of the socket.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loggia_endermux_io::server::{BindError, Socket};

#[tokio::test]
async fn only_its_owner_may_connect() {
    let directory = tempfile::tempdir().unwrap();
    let socket = Socket::bind(directory.path().join("console.sock")).await.unwrap();
    let made = fs::metadata(socket.path()).unwrap();
    assert!(made.file_type().is_socket());
    assert_eq!(made.permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_live_socket_is_never_replaced_and_a_dead_one_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("console.sock");
    let live = UnixListener::bind(&path).unwrap();
    assert!(matches!(Socket::bind(&path).await, Err(BindError::Taken { .. })));
    drop(live);
    let socket = Socket::bind(&path).await.unwrap();
    assert!(matches!(Socket::bind(&path).await, Err(BindError::Taken { .. })));
    drop(socket);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_file_that_is_no_socket_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("console.sock");
    fs::write(&path, "precious").unwrap();
    assert!(matches!(Socket::bind(&path).await, Err(BindError::InTheWay { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[tokio::test]
async fn a_path_that_nobody_could_connect_to_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x".repeat(120));
    assert!(matches!(Socket::bind(&path).await, Err(BindError::Io { .. })));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_successors_socket_is_not_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("console.sock");
    let first = Socket::bind(&path).await.unwrap();
    fs::remove_file(&path).unwrap();
    let successor = Socket::bind(&path).await.unwrap();
    drop(first);
    assert!(path.exists());
    drop(successor);
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_replace_a_dead_socket_one_wins() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("console.sock");
    drop(UnixListener::bind(&path).unwrap());
    let tasks: Vec<_> = (0..8).map(|_| tokio::spawn(Socket::bind(path.clone()))).collect();
    let mut won = Vec::new();
    for task in tasks {
        won.extend(task.await.unwrap());
    }
    assert_eq!(won.len(), 1);
    assert!(std::os::unix::net::UnixStream::connect(&path).is_ok());
}

#[tokio::test]
async fn whoever_sees_the_file_can_connect() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("console.sock");
    let done = Arc::new(AtomicBool::new(false));
    let watcher = std::thread::spawn({
        let (path, done) = (path.clone(), Arc::clone(&done));
        move || {
            let mut refused = 0;
            while !done.load(Ordering::Relaxed) {
                let error = UnixStream::connect(&path).err().map(|error| error.kind());
                refused += u32::from(error == Some(ErrorKind::ConnectionRefused));
            }
            refused
        }
    });
    for _ in 0..200 {
        drop(Socket::bind(&path).await.unwrap());
    }
    done.store(true, Ordering::Relaxed);
    assert_eq!(watcher.join().unwrap(), 0);
    let left = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 0, "nothing stays behind");
}
