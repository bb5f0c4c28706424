//! How secrets look.
//!
//! One line for each kind. A kind is known by its own letters (`ghp_…`) or by where it stands (`password = …`); what is
//! known only by where it stands must also look like no word, no code and no placeholder.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A secret in a text.
#[derive(Debug, Clone)]
pub(super) struct Secret {
    /// What is masked.
    pub(super) span: Range<usize>,
    /// Where that begins by which it is known.
    pub(super) begins: usize,
    pub(super) kind: &'static str,
}

/// One way a secret looks.
pub(super) struct Format {
    kind: &'static str,
    /// What is masked is the group `s` or `t`, or all of it.
    regex: Regex,
    /// Whether a match is one.
    is_secret: Check,
}

impl Format {
    /// Adds every place where it stands.
    pub(super) fn find(&self, text: &str, secrets: &mut Vec<Secret>) {
        secrets.extend(self.regex.captures_iter(text).filter_map(|captures| {
            let whole = captures.get_match();
            let found = captures.name("s").or_else(|| captures.name("t")).unwrap_or(whole);
            let secret = Secret { span: found.range(), begins: whole.start(), kind: self.kind };
            (self.is_secret)(found.as_str()).then_some(secret)
        }));
    }
}

/// How a private key begins; its end need not be there.
pub(super) const KEY_BEGINS: &str = "-----BEGIN ";

/// What secrets begin with that are known by their own letters. A stream holds back what may become one of these.
pub(super) const BEGINNINGS: &[&str] = &[
    "sk-",
    "sk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glrt-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "xox",
    "xapp-",
    "https://hooks.slack.com/",
    "whsec_",
    "eyJ",
    "npm_",
    "pypi-",
    "hf_",
    "SG.",
    "dop_v1_",
    "-----BEGIN ",
];

/// Names that a secret may follow, in small letters and without `_`.
pub(super) const NAMES: &[&str] = &[
    "accesskey",
    "apikey",
    "authkey",
    "authorization",
    "authtoken",
    "bearer",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "token",
];

/// Whether what stands where a secret could stand is one.
type Check = fn(&str) -> bool;

/// Kinds, how they look, and what else must hold; the more telling first.
const TABLE: &[(&str, &str, Check)] = &[
    (
        "private key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|-[^-])*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[nr])+(?:[A-Za-z0-9+/]{16,}=*|[A-Za-z0-9+/]+=+))*)",
        is_anything,
    ),
    ("anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{16,}", is_anything),
    ("openai key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}", is_random),
    ("github token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})", is_anything),
    ("gitlab token", r"\bgl(?:pat|dt|rt)-[A-Za-z0-9_-]{16,}", is_anything),
    ("aws key id", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", is_anything),
    (
        "aws secret key",
        r#"(?i)aws_?secret_?access_?key["']?[ \t]*[=:][ \t]*["']?(?<s>[A-Za-z0-9/+]{40})"#,
        is_anything,
    ),
    ("google key", r"\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,})", is_anything),
    (
        "slack token",
        r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}|https://hooks\.slack\.com/services/[A-Za-z0-9/_-]{10,}",
        is_anything,
    ),
    ("stripe key", r"\b(?:[rs]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{16,})", is_anything),
    ("json web token", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", is_anything),
    ("npm token", r"\bnpm_[A-Za-z0-9]{30,}", is_anything),
    ("npm token", r"_authToken=(?<s>[^\s$]{8,})", is_no_placeholder),
    ("pypi token", r"\bpypi-[A-Za-z0-9_-]{30,}", is_anything),
    ("hugging face token", r"\bhf_[A-Za-z0-9]{30,}", is_anything),
    ("sendgrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", is_anything),
    ("digitalocean token", r"\bdop_v1_[a-f0-9]{64}", is_anything),
    (
        "authorization",
        r#"(?i)\bauthorization["']?[ \t]*[:=][ \t]*["']?(?:(?:bearer|basic|digest|token)[ \t]+)?(?<s>[^\s"',;\[$<{]{8,})"#,
        is_random,
    ),
    ("authorization", r"(?i)\bbearer[ \t]+(?<s>[A-Za-z0-9._~+/=-]{16,})", is_random),
    ("password", r#"://[^\s/:@"'<>\[\]]*:(?<s>[^\s/@"'<>\[\]]{3,})@"#, is_no_placeholder),
    (
        "secret",
        r#"(?i)[a-z0-9_.-]*(?:password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key|auth_?key|credentials?)["']?[ \t]*(?:=>|:=|[=:])[ \t]*(?:"(?<s>[^\s"]{8,})"|'(?<t>[^\s']{8,})')"#,
        is_quoted_secret,
    ),
    (
        "secret",
        r"\b[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|AUTH_?KEY|CREDENTIALS?)=(?<s>[^\s\x22',;\[$<{(]{8,})",
        is_no_placeholder,
    ),
    (
        "secret",
        r"(?i)(?:password|passwd|passphrase|secret|token|api_?key|access_?key|auth_?key)[ \t]*(?:=|: )[ \t]*(?<s>[A-Za-z0-9_/+=~-]{16,})",
        is_random,
    ),
];

/// Every format.
pub(super) fn all() -> &'static [Format] {
    static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
        let compile = |&(kind, regex, is_secret): &(&'static str, &str, Check)| Format {
            kind,
            regex: Regex::new(regex).expect("the table's expressions are tested"),
            is_secret,
        };
        TABLE.iter().map(compile).collect()
    });
    &FORMATS
}

fn is_anything(_text: &str) -> bool {
    true
}

/// Letters and digits mixed as no word, path or name mixes them.
fn is_random(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    digits >= 2 && letters >= 2 && is_no_placeholder(text)
}

/// What stands between quotes: not a sentence, a name or a placeholder.
fn is_quoted_secret(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphabetic() || "_-./:".contains(c);
    !text.chars().all(is_word) && is_no_placeholder(text)
}

/// Not what people write where a secret would stand.
fn is_no_placeholder(text: &str) -> bool {
    const PLACEHOLDERS: &[&str] = &[
        "admin",
        "changeit",
        "changeme",
        "dummy",
        "example",
        "pass",
        "passw0rd",
        "password",
        "placeholder",
        "postgres",
        "redacted",
        "root",
        "secret",
        "test",
        "token",
        "user",
        "username",
        "your",
        "xxx",
        "***",
        "...",
    ];
    let lower = text.to_ascii_lowercase();
    let is_one = PLACEHOLDERS.contains(&lower.as_str());
    let holds_one = ["your", "example", "placeholder", "changeme", "redacted", "xxxx", "****", "...."]
        .iter()
        .any(|part| lower.contains(part));
    let is_code = text.starts_with(['$', '<', '{', '%', '[', '('])
        || text.contains("${")
        || text.contains("{{")
        || text.contains("()");
    !is_one && !holds_one && !is_code
}
