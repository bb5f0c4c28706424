//! The page for browsers: a few files that are part of the program.
//!
//! Knows their names, their types and the rules under which a browser runs them. Refuses to know what they do: the page
//! is a client like any other, and asks over the same endpoints.
//!
//! What always holds: the files hold no secrets and are the same for everybody; a browser runs nothing on the page
//! that is not one of them, and sends what it learns nowhere but back to us.

use std::sync::{Arc, LazyLock};

use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use loggia_protocol_agent_server::Scope;
use sha2::{Digest, Sha256};

use crate::Door;
use crate::auth::once;
use crate::door::Inner;
use crate::problem::Problem;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const ICON: &str = "image/svg+xml";
const MANIFEST: &str = "application/manifest+json";

/// A file of the page.
struct File {
    name: &'static str,
    media: &'static str,
    text: &'static str,
}

/// What `/` answers.
const INDEX: File = File { name: "index.html", media: HTML, text: include_str!("page/assets/index.html") };

macro_rules! files {
    ($($name:literal $media:ident,)+) => {
        &[$(File { name: $name, media: $media, text: include_str!(concat!("page/assets/", $name)) },)+]
    };
}

/// What it asks for then, below `/page/`.
const FILES: &[File] = files! {
    "page.css" CSS,
    "main.js" SCRIPT,
    "api.js" SCRIPT,
    "dialogs.js" SCRIPT,
    "diff.js" SCRIPT,
    "dom.js" SCRIPT,
    "entrance.js" SCRIPT,
    "list.js" SCRIPT,
    "markdown.js" SCRIPT,
    "question.js" SCRIPT,
    "session.js" SCRIPT,
    "stream.js" SCRIPT,
    "tool.js" SCRIPT,
    "transcript.js" SCRIPT,
    "icon.svg" ICON,
    "page.webmanifest" MANIFEST,
};

/// A tag for everything at once: a browser must never put files of two versions together.
static TAG: LazyLock<HeaderValue> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for file in std::iter::once(&INDEX).chain(FILES) {
        hash.update(file.name);
        hash.update([0]);
        hash.update(file.text);
        hash.update([0]);
    }
    let hex: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::try_from(format!("\"{hex}\"")).expect("hexadecimal digits in quotes")
});

/// The page's routes.
pub(crate) fn routes() -> Router<Arc<Inner>> {
    Router::new().route("/", get(index)).route("/page/{file}", get(file))
}

/// The names of the page's files, for the contract.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|file| file.name)
}

impl Door {
    /// A code with which one browser is let in, once and soon, as one who may do everything: for whoever starts the
    /// server.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn page_code(&self) -> std::io::Result<String> {
        self.0.auth.once.start(Scope::Admin)
    }

    /// The names, as [`page_code_name`] gives them, of the codes that let a browser in now.
    pub fn page_code_names(&self) -> Vec<String> {
        self.0.auth.once.names()
    }

    /// Waits until those may be others: one was made, used up, or has become too old. For one task at a time.
    pub async fn page_codes_changed(&self) {
        self.0.auth.once.changed().await;
    }
}

/// What a code for a page can be called where others read it: nothing of the code can be told from it.
pub fn page_code_name(code: &str) -> String {
    once::name(code)
}

async fn index(host: Option<Extension<Authority>>, headers: HeaderMap) -> Response {
    serve(&INDEX, host.as_deref(), &headers)
}

async fn file(
    host: Option<Extension<Authority>>,
    headers: HeaderMap,
    name: Result<Path<String>, axum::extract::rejection::PathRejection>,
) -> Result<Response, Problem> {
    let absent = || Problem::not_found("the page has no such file");
    let Path(name) = name.map_err(|_| absent())?;
    let file = FILES.iter().find(|file| file.name == name).ok_or_else(absent)?;
    Ok(serve(file, host.as_deref(), &headers))
}

fn serve(file: &File, host: Option<&Authority>, asked: &HeaderMap) -> Response {
    let known = asked.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let is_known = known.flat_map(|tags| tags.split(',')).any(|tag| {
        let tag = tag.trim();
        tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == TAG.as_bytes()
    });
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, HeaderValue::from_static(file.media))], file.text).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(ETAG, TAG.clone());
    // Kept, and asked about every time: the program may be another one by then.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, content_security_policy(host));
    for (name, value) in [
        (REFERRER_POLICY, "no-referrer"),
        (X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What a browser may do on the page. Not every browser takes `'self'` to mean our WebSockets too, so they are named.
fn content_security_policy(host: Option<&Authority>) -> HeaderValue {
    let sockets = host.map(|host| {
        let port = host.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        format!(" ws://{0}{port} wss://{0}{port}", host.host())
    });
    let text = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; manifest-src 'self'; \
         connect-src 'self'{}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        sockets.unwrap_or_default()
    );
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts() -> impl Iterator<Item = &'static File> {
        FILES.iter().filter(|file| file.media == SCRIPT)
    }

    #[test]
    fn text_is_never_made_into_markup() {
        let ways = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "createContextualFragment",
            "DOMParser",
            "document.write",
            "setHTML",
            "srcdoc",
            "eval(",
            "new Function",
            "javascript:",
        ];
        for file in scripts() {
            for way in ways {
                assert!(!file.text.contains(way), "{} uses `{way}`", file.name);
            }
        }
    }

    #[test]
    fn the_page_is_made_of_its_own_files_alone() {
        let quoted = |text: &'static str, before: &'static str| {
            text.split(before).skip(1).filter_map(|rest| rest.split('"').next())
        };
        for file in scripts() {
            for name in quoted(file.text, "from \"./").chain(quoted(file.text, "import(\"./")) {
                assert!(names().any(|known| known == name), "{} imports `{name}`", file.name);
            }
        }
        for name in quoted(INDEX.text, "=\"/page/") {
            assert!(names().any(|known| known == name), "the page asks for `{name}`");
        }
        for file in std::iter::once(&INDEX).chain(FILES).filter(|file| file.media != ICON) {
            for foreign in ["http://", "https://", "//cdn"] {
                assert!(!file.text.contains(foreign), "{} names `{foreign}`", file.name);
            }
        }
        // Neither would run: the policy forbids them.
        for inline in ["<style", " style=", " onclick", "<script>"] {
            assert!(!INDEX.text.contains(inline), "`{inline}`");
        }
    }

    #[test]
    fn every_file_is_said_what_it_is_for() {
        for file in FILES.iter().filter(|file| [SCRIPT, CSS].contains(&file.media)) {
            assert!(file.text.starts_with("//") || file.text.starts_with("/*"), "{}", file.name);
        }
    }

    #[test]
    fn a_policy_names_our_sockets_and_nothing_else_of_a_host() {
        let policy = |host: &'static str| {
            let policy = content_security_policy(Some(&Authority::from_static(host)));
            policy.to_str().unwrap().to_owned()
        };
        let connect = "connect-src 'self' ws://localhost:3199 wss://localhost:3199; base-uri";
        assert!(policy("localhost:3199").contains(connect), "{}", policy("localhost:3199"));
        assert!(policy("a;script-src@localhost:3199").contains(connect));
        assert!(policy("[::1]").contains("ws://[::1] wss://[::1];"));
    }
}
