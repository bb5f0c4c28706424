//! A call whose future is dropped ends soon.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use loggia_domain::ToolContext;
use serde_json::json;

use crate::support::Workspace;

const FILES: usize = 500;

#[test]
fn a_dropped_search_stops_looking() {
    for (tool, arguments) in
        [("search_text", json!({"query": "needle"})), ("find_files", json!({"glob": "*"}))]
    {
        let workspace = Workspace::new(&[]);
        for number in 0..FILES {
            workspace.write(&format!("{number}"), b"hay\n");
        }
        let (asked, was_asked) = mpsc::channel::<()>();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let (may_go_on, count) = (Mutex::new(may_go_on), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&count);
        let may_read = move |_: &str| {
            counted.fetch_add(1, Ordering::SeqCst);
            // The test holds the other ends until it has seen what it waits for.
            let _ = asked.send(());
            let _ = may_go_on.lock().unwrap().recv();
            true
        };
        let context = ToolContext { may_read: Arc::new(may_read), overlay: Arc::default() };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let _inside = runtime.enter();
        let mut call = workspace.prepare(tool, &arguments).unwrap().run(context);
        let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Pending);
        was_asked.recv().unwrap();
        drop(call);
        // From here on every question is answered at once; the call must end by itself.
        drop(go_on);
        while was_asked.recv().is_ok() {}
        assert!(count.load(Ordering::SeqCst) < FILES, "{tool} looked at every file");
    }
}
