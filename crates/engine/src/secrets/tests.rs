//! Secrets are found, ordinary text is left alone, and pieces add up.

use proptest::prelude::*;

use super::*;

/// Put together here so that no scanner takes this file for a leak.
fn secret(parts: &[&str]) -> String {
    parts.concat()
}

fn letters(count: usize) -> String {
    "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z".chars().cycle().take(count).collect()
}

/// A text with one secret, the secret itself and its kind.
fn samples() -> Vec<(String, String, &'static str)> {
    let long = letters(40);
    let own = |prefix: &str, count: usize| secret(&[prefix, &letters(count)]);
    let mut samples: Vec<(String, String, &'static str)> = [
        (own("sk-ant-api03-", 40), "anthropic key"),
        (own("sk-", 40), "openai key"),
        (own("sk-proj-", 60), "openai key"),
        (own("ghp_", 36), "github token"),
        (own("gho_", 36), "github token"),
        (own("github_pat_", 60), "github token"),
        (own("glpat-", 20), "gitlab token"),
        (secret(&["AKIA", "IOSFODNN7ABCDEFG"]), "aws key id"),
        (own("AIza", 35), "google key"),
        (own("xoxb-", 30), "slack token"),
        (own("sk_live_", 24), "stripe key"),
        (own("npm_", 36), "npm token"),
        (own("hf_", 34), "hugging face token"),
        (format!("eyJ{0}.eyJ{0}.{0}", letters(20)), "json web token"),
        (
            secret(&[
                "-----BEGIN RSA PRIVATE",
                " KEY-----\nMIIE\n",
                &long,
                "\n-----END RSA PRIVATE KEY-----",
            ]),
            "private key",
        ),
        (secret(&["-----BEGIN OPENSSH PRIVATE", " KEY-----\n", &long, "\n", &long]), "private key"),
    ]
    .into_iter()
    .map(|(secret, kind)| (format!("before {secret} after"), secret, kind))
    .collect();
    for (before, after, kind) in [
        ("aws_secret_access_key = ", "", "aws secret key"),
        ("Authorization: Bearer ", "", "authorization"),
        ("\"authorization\": \"token ", "\"", "authorization"),
        ("curl -H 'x: Bearer ", "'", "authorization"),
        ("postgres://ada:", "@db.internal/x", "password"),
        ("DB_PASSWORD=", "", "secret"),
        ("export API_KEY=", "", "secret"),
        ("password = \"", "\"", "secret"),
        ("\"client_secret\": \"", "\",", "secret"),
        ("token: ", "", "secret"),
        ("//registry/:_authToken=", "", "npm token"),
    ] {
        samples.push((format!("x\n{before}{long}{after}\ny"), long.clone(), kind));
    }
    samples
}

#[test]
fn every_kind_of_secret_is_masked_under_its_name() {
    let masker = Masker::default();
    for (text, secret, kind) in samples() {
        let masked = masker.mask(&text);
        assert_eq!(masked, text.replace(secret.as_str(), &format!("[masked: {kind}]")), "{text}");
        assert_eq!(masker.mask(&masked), masked, "masking twice");
    }
}

#[test]
fn ordinary_text_is_left_alone() {
    let masker = Masker::default();
    for text in [
        "",
        "let password: String = read_password()?;",
        "fn token(&self) -> Option<&Token> { self.token.as_ref() }",
        "let token = tokens.next().unwrap_or_default();",
        "password = os.environ[\"DB_PASSWORD\"]",
        "API_KEY=$API_KEY make",
        "API_KEY=${API_KEY}",
        "API_KEY=<your-key-here>",
        "password: \"changeme\"",
        "secret = \"your-secret-here-1234\"",
        "token_type: \"authorization_code\"",
        "https://example.org/a:b@c",
        "postgres://user:password@localhost/db",
        "postgres://$USER:$PASSWORD@localhost/db",
        "git@github.com:owner/repository.git",
        "a task-oriented risk-management desk-1234567890abcdef12345",
        "use crate::secrets::{Masker, MaskStream};",
        "max_tokens: 1000000",
        "the bearer of this letter",
        "Authorization: required",
        "sk-folding-cube-animation-with-a-long-name",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    ] {
        assert!(
            matches!(masker.mask(text), Cow::Borrowed(same) if same == text),
            "{text}: {}",
            masker.mask(text)
        );
    }
}

#[test]
fn values_it_was_told_are_masked_wherever_they_stand() {
    let masker =
        Masker::new(["correct horse".to_owned(), "correct horse battery".to_owned(), "short".to_owned()]);
    assert_eq!(
        masker.mask("x=correct horse battery; correct horse, short"),
        "x=[masked: known secret]; [masked: known secret], short"
    );
    let strange = Masker::new(["a.*(b]+c\\d".to_owned()]);
    assert_eq!(strange.mask("a.*(b]+c\\d axxx(b]+c\\d"), "[masked: known secret] axxx(b]+c\\d");
}

#[test]
fn overlapping_secrets_leave_one_mark() {
    let token = secret(&["ghp_", &letters(36)]);
    let masked = Masker::default().mask(&format!("GITHUB_TOKEN={token}")).into_owned();
    assert_eq!(masked.matches("[masked: ").count(), 1, "{masked}");
    assert!(!masked.contains(&token[4..]));
}

#[test]
fn plain_words_are_not_held_for_long() {
    let mut stream = Masker::default().stream();
    assert_eq!(stream.push("Hello wor"), "Hello ");
    assert_eq!(stream.release(), "wor");
    assert_eq!(stream.push("ld, the token "), "ld, the ");
    assert_eq!(stream.push("is "), "token is ");
    assert_eq!(stream.push("ghp"), "");
    assert_eq!(stream.release(), "", "this may become a token");
    assert_eq!(stream.finish(), "ghp");
}

#[test]
fn what_is_held_is_bounded() {
    let mut stream = Masker::default().stream();
    let mut given = 0;
    for _ in 0..300 {
        given += stream.push(&"é".repeat(100)).len();
    }
    assert!(60_000 - given <= 9 * 1024, "{given}");
    let mut key = Masker::default().stream();
    let mut text = key.push(&secret(&["-----BEGIN PRIVATE", " KEY-----\n"]));
    for _ in 0..300 {
        text.push_str(&key.push(&format!("{}\n", letters(64))));
    }
    assert!(text.len() > 5_000, "a key without an end is given up");
}

#[test]
fn a_name_in_what_is_taken_for_a_key_is_not_cut_off_it() {
    let key = secret(&["-----BEGIN OPENSSH PRIVATE", " KEY-----\n", &letters(40)]);
    let text = format!("before {key} afterpasswordtoken = 0a0a__-----BEGIN ");
    let masker = Masker::default();
    let mut stream = masker.stream();
    let mut given: String = text.chars().map(|c| stream.push(&c.to_string())).collect();
    given.push_str(&stream.finish());
    assert_eq!(given, masker.mask(&text));
}

fn pieces() -> impl Strategy<Value = String> {
    let samples: Vec<String> = samples().into_iter().map(|(text, ..)| text).collect();
    prop_oneof![
        proptest::sample::select(samples),
        proptest::sample::select(vec![
            " ",
            "\n",
            "password",
            "token = ",
            "Authorization: ",
            "\"",
            "'",
            "://",
            "@",
            ":",
            "sk-",
            "ghp_",
            "-----BEGIN ",
            "-----",
            "é",
            "correct ",
            "horse battery",
            "Bearer ",
        ])
        .prop_map(ToOwned::to_owned),
        "[a-zA-Z0-9_=. -]{0,12}",
    ]
}

proptest! {
    #[test]
    fn pieces_add_up_to_the_whole(
        parts in proptest::collection::vec(pieces(), 0..8),
        cuts in proptest::collection::vec(1_usize..40, 1..50),
    ) {
        let text = parts.concat();
        let masker = Masker::new(["correct horse battery".to_owned()]);
        let mut stream = masker.stream();
        let mut given = String::new();
        let mut characters = text.chars().peekable();
        let mut cuts = cuts.into_iter().cycle();
        while characters.peek().is_some() {
            let piece: String = characters.by_ref().take(cuts.next().unwrap_or(1)).collect();
            given.push_str(&stream.push(&piece));
        }
        given.push_str(&stream.finish());
        prop_assert_eq!(given, masker.mask(&text).into_owned());
    }

    #[test]
    fn a_secret_survives_no_cut_and_no_pause(
        index in 0..samples().len(),
        cuts in proptest::collection::vec(1_usize..12, 1..20),
        pauses in proptest::collection::vec(any::<bool>(), 1..20),
    ) {
        let (text, secret, _) = samples().swap_remove(index);
        let mut stream = Masker::default().stream();
        let mut given = String::new();
        let mut characters = text.chars().peekable();
        for (cut, pause) in cuts.into_iter().cycle().zip(pauses.into_iter().cycle()) {
            let piece: String = characters.by_ref().take(cut).collect();
            given.push_str(&stream.push(&piece));
            if pause {
                given.push_str(&stream.release());
            }
            if characters.peek().is_none() {
                break;
            }
        }
        given.push_str(&stream.finish());
        prop_assert!(!given.contains(&secret), "{}", given);
    }

    #[test]
    fn any_text_is_masked_without_harm(text in any::<String>()) {
        let masker = Masker::new(["correct horse battery".to_owned()]);
        let masked = masker.mask(&text).into_owned();
        prop_assert_eq!(masker.mask(&masked), masked.as_str());
    }
}
