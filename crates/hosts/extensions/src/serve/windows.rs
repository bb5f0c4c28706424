//! Windows: an extension's own pages, shown by whoever can.

use std::sync::Arc;

use loggia_domain as domain;
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_hermes::{
    CloseWindow, CloseWindowParams, CloseWindowResult, OpenWindow, OpenWindowParams, OpenWindowResult,
    WindowCloseReason, WindowId, codes, limits,
};
use loggia_wire::peer::Router;
use url::Url;

use super::{Reply, Then, on};
use crate::guest::Guest;
use crate::traffic::Aim;
use crate::windows::{Closing, watch, window_closed};

pub(super) fn serve(router: Router, guest: &Arc<Guest>) -> Router {
    let router = on::<OpenWindow, _, _>(router, guest, Aim::People, |guest, params| async move {
        match open(&guest, params).await {
            Ok((window_id, told)) => {
                Reply { outcome: Ok(OpenWindowResult { window_id }), then: Some(Then::Release(told)) }
            }
            Err(error) => Reply::from(Err(error)),
        }
    });
    on::<CloseWindow, _, _>(router, guest, Aim::People, |guest, params| async move { close(&guest, params) })
}

async fn open(
    guest: &Arc<Guest>,
    params: OpenWindowParams,
) -> Result<(WindowId, tokio::sync::oneshot::Sender<()>), ErrorObject> {
    check_url(&params.url)?;
    let failed = |words: String| ErrorObject::new(codes::WINDOW_ERROR, words);
    if guest.leaving.is_cancelled() {
        return Err(failed("the extension is being stopped".to_owned()));
    }
    if !guest.windows.has_room() {
        return Err(failed("the extension has too many windows open".to_owned()));
    }
    let id = domain::WindowId::new();
    let window = domain::GuestWindow {
        id,
        workspace: guest.context.workspace.id,
        guest: guest.name.clone(),
        url: params.url,
        title: params.title,
        width: params.width.unwrap_or(limits::DEFAULT_WINDOW_WIDTH),
        height: params.height.unwrap_or(limits::DEFAULT_WINDOW_HEIGHT),
        modal: params.modal.unwrap_or(false),
        resizable: params.resizable.unwrap_or(true),
    };
    let shown = tokio::select! {
        biased;
        () = guest.leaving.cancelled() => return Err(failed("the extension is being stopped".to_owned())),
        shown = guest.context.dialogs.show(window) => shown.map_err(|error| failed(error.to_string()))?,
    };
    let id = WindowId(id.to_string());
    let told = watch(guest, id.clone(), shown);
    Ok((id, told))
}

fn close(guest: &Guest, params: CloseWindowParams) -> Reply<CloseWindowResult> {
    let id = params.window_id;
    let closed = Ok(CloseWindowResult { success: true });
    match guest.windows.close(&id) {
        Closing::Closed => {
            Reply { outcome: closed, then: Some(Then::Post(window_closed(id, WindowCloseReason::Extension))) }
        }
        Closing::Already => Reply::from(closed),
        Closing::Unknown => {
            let words = format!("the extension has no window `{}`", id.0);
            Reply::from(Err(ErrorObject::new(codes::WINDOW_ERROR, words)))
        }
    }
}

/// A page comes over http or https; nothing else is shown.
fn check_url(url: &str) -> Result<(), ErrorObject> {
    let invalid = |words: String| ErrorObject::new(codes::INVALID_URL, words);
    match Url::parse(url) {
        Ok(read) if matches!(read.scheme(), "http" | "https") && read.has_host() => Ok(()),
        Ok(_) => Err(invalid("only http and https URLs can be opened".to_owned())),
        Err(error) => Err(invalid(format!("the URL cannot be read: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_over_http_or_https() {
        for good in ["http://127.0.0.1:8080/test", "https://example.com/?a=b#c", "HTTP://LOCALHOST"] {
            check_url(good).unwrap();
        }
        for bad in
            ["", "test", "file:///etc/passwd", "javascript:alert(1)", "http://", "ftp://x/", "http:// x"]
        {
            assert_eq!(check_url(bad).unwrap_err().code, codes::INVALID_URL, "{bad}");
        }
    }
}
