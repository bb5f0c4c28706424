//! Windows: opened, closed by their extension, by people, by the end; told exactly once.

use loggia_domain::ExtensionState;
use serde_json::{Value, json};

use crate::support::{One, World, answers, doing, eventually, state, texts};

fn page() -> Value {
    json!({ "url": "http://127.0.0.1:8080/test", "title": "Größe" })
}

#[tokio::test]
async fn a_window_is_shown_as_it_was_asked_for() {
    let small = json!({ "url": "https://x/", "title": "T", "width": 400, "height": 250, "modal": true, "resizable": false });
    let one =
        One::new(doing(json!([["ask", "ui/openWindow", page()], ["ask", "ui/openWindow", small]]))).await;
    let answers = one.answers(2).await;
    let shown = one.world.people.shown();
    for (answer, window) in answers.iter().zip(&shown) {
        assert_eq!(*answer, json!({ "windowId": window.id.to_string() }));
    }
    let sizes: Vec<_> =
        shown.iter().map(|window| (window.width, window.height, window.modal, window.resizable)).collect();
    assert_eq!(sizes, [(800, 600, false, true), (400, 250, true, false)]);
    assert_eq!(
        (shown[0].guest.as_str(), shown[0].title.as_str(), shown[0].url.as_str()),
        ("one", "Größe", "http://127.0.0.1:8080/test")
    );
    one.host.stop().await;
}

#[tokio::test]
async fn an_address_that_is_no_page_is_refused() {
    let urls = ["file:///etc/passwd", "javascript:alert(1)", "not a url", "http://"];
    let steps: Vec<Value> =
        urls.iter().map(|url| json!(["ask", "ui/openWindow", { "url": url, "title": "T" }])).collect();
    let one = One::new(doing(Value::Array(steps))).await;
    for answer in one.answers(urls.len()).await {
        assert_eq!(answer["code"], -32007, "{answer}");
    }
    assert!(one.world.people.shown().is_empty());
    one.host.stop().await;
}

#[tokio::test]
async fn a_window_that_nobody_can_show_is_an_error() {
    let one = One::new(doing(json!([["ask", "ui/openWindow", page()]]))).await;
    one.world.people.are_away();
    let answer = one.answers(1).await.remove(0);
    assert_eq!(
        answer,
        json!({ "code": -32008, "message": "nobody is there to answer: no client shows windows" })
    );
    one.host.stop().await;
}

#[tokio::test]
async fn a_window_closed_by_its_extension_is_answered_first_and_told_once() {
    let one = One::new(doing(json!([["window", page()], ["close-window"], ["close-window"]]))).await;
    let answers = one.answers(3).await;
    assert_eq!(answers[1..], [json!({ "success": true }), json!({ "success": true })]);
    eventually("the event", || one.world.told("one", "window/closed").len() == 1).await;
    let all: Vec<Value> = one.world.wire("one").into_iter().map(|heard| heard["message"].clone()).collect();
    let answered =
        all.iter().position(|message| message["id"] == 2 && message["result"].is_object()).unwrap();
    let told = all.iter().position(|message| message["method"] == "window/closed").unwrap();
    assert!(answered < told, "{all:?}");
    let window = one.world.people.shown()[0].id.to_string();
    assert_eq!(all[told]["params"], json!({ "windowId": window, "reason": "extension" }));
    eventually("its end", || one.world.people.open_windows() == 0).await;
    one.host.stop().await;
    assert_eq!(one.world.told("one", "window/closed").len(), 1);
}

#[tokio::test]
async fn a_window_closed_by_a_person_is_told_once_and_closing_it_again_is_no_mistake() {
    let plan = json!({ "commands": { "open": [["window", page()]], "close": [["close-window"]] } });
    let one = One::new(plan).await;
    one.give("open").await.unwrap().unwrap();
    eventually("the window", || one.all_answers().len() == 1).await;
    let window = one.world.people.shown()[0].id.to_string();
    one.world.people.close(&window);
    eventually("the event", || one.world.told("one", "window/closed").len() == 1).await;
    assert_eq!(one.world.told("one", "window/closed"), [json!({ "windowId": window, "reason": "user" })]);
    one.give("close").await.unwrap().unwrap();
    eventually("the answer", || one.all_answers().len() == 2).await;
    assert_eq!(one.all_answers()[1], json!({ "success": true }));
    one.host.stop().await;
    assert_eq!(one.world.told("one", "window/closed").len(), 1);
}

#[tokio::test]
async fn a_window_that_is_closed_at_once_is_named_before_its_end_is_told() {
    let steps: Vec<Value> = (0..20).map(|_| json!(["ask", "ui/openWindow", page()])).collect();
    let one = One::new(doing(Value::Array(steps))).await;
    one.world.people.are_hasty();
    one.answers(20).await;
    eventually("all events", || one.world.told("one", "window/closed").len() == 20).await;
    let all: Vec<Value> = one.world.wire("one").into_iter().map(|heard| heard["message"].clone()).collect();
    for window in one.world.people.shown() {
        let id = json!(window.id.to_string());
        let named = all.iter().position(|message| message["result"]["windowId"] == id).unwrap();
        let told = all.iter().position(|message| message["params"]["windowId"] == id).unwrap();
        assert!(named < told);
    }
    one.host.stop().await;
}

#[tokio::test]
async fn unknown_windows_and_those_of_others_cannot_be_closed() {
    let mut world = World::new();
    world.puppet("owner", &json!({ "commands": { "open": [["window", page()]] } }));
    let host = world.started().await;
    loggia_domain::GuestCommands::execute(&host, "open".to_owned(), None, None).await.unwrap();
    eventually("the window", || world.people.shown().len() == 1).await;
    let window = world.people.shown()[0].id.to_string();
    host.reconfigure({
        let steps = json!([["ask", "ui/closeWindow", { "windowId": window }], ["ask", "ui/closeWindow", { "windowId": "ext-window-1" }]]);
        world.puppet("thief", &json!({ "init": { "after": steps } }));
        world.entries.clone()
    })
    .await;
    host.start_all().await;
    eventually("both answers", || answers(&texts(&host, "thief")).len() == 2).await;
    for answer in answers(&texts(&host, "thief")) {
        assert_eq!(answer["code"], -32008, "{answer}");
    }
    assert_eq!((world.people.open_windows(), world.told("owner", "window/closed").len()), (1, 0));
    host.stop().await;
}

#[tokio::test]
async fn windows_are_closed_and_told_before_their_extension_is_asked_to_leave() {
    let one = One::new(doing(json!([["window", page()], ["window", page()]]))).await;
    one.answers(2).await;
    eventually("the answers", || one.world.people.open_windows() == 2).await;
    one.host.stop().await;
    let heard = one.world.heard("one");
    let [.., first, second, last] = &heard[..] else { panic!("{heard:?}") };
    for told in [first, second] {
        assert_eq!(
            (&told["method"], &told["params"]["reason"]),
            (&json!("window/closed"), &json!("shutdown"))
        );
    }
    assert_eq!((&last["method"], &last["params"]), (&json!("shutdown"), &json!({ "reason": "closing" })));
    assert_eq!(one.world.people.open_windows(), 0);
}

#[tokio::test]
async fn closing_a_window_once_more_while_leaving_is_no_mistake() {
    let plan = json!({
        "init": { "after": [["window", page()]] },
        "shutdown": { "before": [["close-window"]] }
    });
    let one = One::new(plan).await;
    one.answers(1).await;
    one.host.stop().await;
    assert_eq!(one.all_answers()[1], json!({ "success": true }));
    assert_eq!(one.world.told("one", "window/closed").len(), 1);
}

#[tokio::test]
async fn windows_of_an_extension_that_dies_are_closed() {
    let plan = json!({ "commands": { "go": [["window", page()], ["sleep", 0.05], ["exit", 1]] } });
    let one = One::within(plan, World::be_patient).await;
    one.give("go").await.unwrap().unwrap_err();
    assert_eq!(one.world.people.shown().len(), 1);
    eventually("its end", || one.world.people.open_windows() == 0).await;
    assert!(matches!(state(&one.host, "one"), ExtensionState::Failed(_)));
    one.host.stop().await;
}

#[tokio::test]
async fn windows_are_bounded() {
    let steps: Vec<Value> = (0..33).map(|_| json!(["ask", "ui/openWindow", page()])).collect();
    let one = One::new(doing(Value::Array(steps))).await;
    let answers = one.answers(33).await;
    assert_eq!(answers[32], json!({ "code": -32008, "message": "the extension has too many windows open" }));
    assert_eq!(one.world.people.open_windows(), 32);
    one.host.stop().await;
}
