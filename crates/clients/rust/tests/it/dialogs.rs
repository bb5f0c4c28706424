//! Dialogs of extensions on the stream that belongs to no session.

use loggia_client::{Heard, NotSent};
use loggia_protocol_agent_server::{ClientCapability, DialogId, DialogResponse, ServerMessage, WindowId};

use crate::play::Play;

const ASKED: &str = r#"{"type":"ui.dialog.request","dialog_id":"dlg_1","workspace_id":"ws_1","extension":"demo","kind":"confirm","message":"Go on?","buttons":"yes_no"}"#;
const CLOSED: &str = r#"{"type":"ui.dialog.closed","dialog_id":"dlg_1","reason":"answered","by":"me"}"#;

fn response(confirmed: Option<bool>, cancelled: Option<bool>) -> DialogResponse {
    let (acknowledged, paths) = (None, None);
    DialogResponse { dialog_id: DialogId("dlg_1".to_owned()), acknowledged, confirmed, paths, cancelled }
}

#[tokio::test]
async fn a_dialog_is_heard_and_answered_and_told_again_after_a_cut() {
    let play = Play::begin().await;
    let server = async {
        let (target, mut peer) = play.stream().await;
        assert_eq!(target, "/v1/stream");
        peer.say(ASKED).await;
        peer.cut_in(CLOSED, 10).await;
        let (_, mut peer) = play.stream().await;
        peer.say(ASKED).await;
        let answers = [peer.hear().await, peer.hear().await, peer.hear().await];
        peer.say(CLOSED).await;
        (answers, peer)
    };
    let client = async {
        let follow = play.client.follow_all().also_able_to(ClientCapability::Dialogs);
        let mut stream = follow.open().await.unwrap();
        let mut asked = 0;
        while asked < 2 {
            if let Heard::Message(ServerMessage::DialogRequest(request)) =
                stream.next().await.unwrap().unwrap()
            {
                assert_eq!(request.dialog_id.0, "dlg_1");
                asked += 1;
            }
        }
        let speaker = stream.speaker();
        for wrong in [response(None, None), response(Some(true), Some(true)), response(None, Some(false))] {
            assert!(matches!(speaker.answer_dialog(wrong).await, Err(NotSent::Invalid(_))));
        }
        speaker.answer_dialog(response(Some(true), None)).await.unwrap();
        speaker.cancel_dialog(DialogId("dlg_2".to_owned())).await.unwrap();
        speaker.close_window(WindowId("win_1".to_owned())).await.unwrap();
        loop {
            if let Heard::Message(ServerMessage::DialogClosed(closed)) = stream.next().await.unwrap().unwrap()
            {
                return closed.by.unwrap();
            }
        }
    };
    let ((answers, _peer), by) = tokio::join!(server, client);
    assert_eq!(by, "me");
    assert_eq!(
        answers,
        [
            r#"{"type":"ui.dialog.response","dialog_id":"dlg_1","confirmed":true}"#,
            r#"{"type":"ui.dialog.response","dialog_id":"dlg_2","cancelled":true}"#,
            r#"{"type":"ui.window.closed","window_id":"win_1"}"#,
        ]
    );
}
