//! What comes of something that happened: notifications, and answers the client has given beforehand.

use loggia_domain::{ApprovalAnswer, ApprovalId};
use loggia_jsonrpc::Notification;
use loggia_wire::peer::Notice;

/// What comes of something that happened.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// To be told, in this order, in one write.
    pub(crate) notices: Vec<Notice>,
    /// To be answered in the client's name, since its mode says how.
    pub(crate) decide: Vec<(ApprovalId, ApprovalAnswer)>,
    /// Questions the client is asked with this.
    pub(crate) asked: Vec<ApprovalId>,
}

impl Said {
    /// Adds a notification.
    pub(crate) fn say<N: Notification>(&mut self, params: &N::Params) {
        self.notices.push(notice::<N>(params));
    }
}

/// A notification of ours, written down.
pub(crate) fn notice<N: Notification>(params: &N::Params) -> Notice {
    Notice::new::<N>(params).expect("the protocol's own types are JSON")
}
