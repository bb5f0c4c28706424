//! Tokens on disk and in use.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn first(data: &Path) -> String {
    fs::read_to_string(data.join("token")).unwrap().trim().to_owned()
}

#[test]
fn the_first_start_makes_an_admin_token_that_only_its_owner_can_read() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let tokens = Tokens::open(&data).unwrap();
    let bearer = tokens.bearer(&first(&data), Shown::Openly).unwrap();
    assert_eq!((bearer.name.as_str(), bearer.scope), (FIRST, Scope::Admin));
    for file in ["token", "tokens.toml"] {
        assert_eq!(fs::metadata(data.join(file)).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
    let list = fs::read_to_string(data.join("tokens.toml")).unwrap();
    assert!(!list.contains(&first(&data)) && list.contains("sha256"), "{list}");
}

#[test]
fn tokens_outlive_a_restart_and_the_first_one_stays() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(directory.path()).unwrap();
    let (secret, _) = tokens.create("editor", Scope::Drive).unwrap();
    let before = first(directory.path());
    assert!(tokens.bearer(&secret.0, Shown::Openly).is_some());
    drop(tokens);
    let tokens = Tokens::open(directory.path()).unwrap();
    assert_eq!(first(directory.path()), before);
    assert!(tokens.bearer(&before, Shown::Openly).is_some());
    assert_eq!(tokens.bearer(&secret.0, Shown::Openly).unwrap().scope, Scope::Drive);
    assert_eq!(tokens.list().iter().filter(|token| token.last_used().is_some()).count(), 2);
}

#[test]
fn a_list_that_nobody_used_is_not_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(directory.path()).unwrap();
    let file = directory.path().join("tokens.toml");
    let inode = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(&file).unwrap());
    // It is replaced whole, so each writing makes another file. This one keeps its number from being used again.
    let written = inode();
    let _kept = fs::File::open(&file).unwrap();
    drop(tokens);
    assert_eq!(inode(), written);
    let tokens = Tokens::open(directory.path()).unwrap();
    tokens.bearer(&first(directory.path()), Shown::Openly).unwrap();
    drop(tokens);
    assert_ne!(inode(), written);
}

#[test]
fn a_revoked_token_is_unknown_at_once_and_its_bearers_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(directory.path()).unwrap();
    let (secret, made) = tokens.create("editor", Scope::Read).unwrap();
    let until = tokens.until_revoked(&Proof::Token(made.id.clone()));
    assert!(!until.is_cancelled());
    assert!(tokens.revoke(&made.id).unwrap());
    assert!(until.is_cancelled() && tokens.bearer(&secret.0, Shown::Openly).is_none());
    assert!(!tokens.revoke(&made.id).unwrap());
    assert!(tokens.until_revoked(&Proof::Token(made.id.clone())).is_cancelled());
    assert!(Tokens::open(directory.path()).unwrap().bearer(&secret.0, Shown::Openly).is_none());
}

#[test]
fn revoking_the_first_token_removes_its_file_and_the_next_start_makes_another() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(directory.path()).unwrap();
    let before = first(directory.path());
    // One of the same name is another one, and stays.
    let (other, _) = tokens.create(FIRST, Scope::Read).unwrap();
    tokens.revoke(&tokens.list()[0].id.clone()).unwrap();
    assert!(!directory.path().join("token").exists());
    drop(tokens);
    let tokens = Tokens::open(directory.path()).unwrap();
    assert!(
        tokens.bearer(&before, Shown::Openly).is_none()
            && tokens.bearer(&first(directory.path()), Shown::Openly).is_some()
    );
    assert!(tokens.bearer(&other.0, Shown::Openly).is_some());
    assert_eq!(tokens.list().len(), 2);
}

#[test]
fn a_browsers_token_ends_by_itself_and_outlives_a_restart_until_then() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(directory.path()).unwrap();
    let expires = Timestamp(Timestamp::now().0 + 60_000);
    let (secret, made) = tokens.create_page("phone", Scope::Drive, expires).unwrap();
    let proof = Proof::Token(made.id.clone());
    assert_eq!(tokens.expires(&proof), Some(expires));
    drop(tokens);
    let tokens = Tokens::open(directory.path()).unwrap();
    assert_eq!(tokens.expires(&proof), Some(expires));
    assert!(tokens.bearer_at(&secret.0, Shown::InCookie, Timestamp(expires.0 - 1)).is_some());
    assert!(tokens.bearer_at(&secret.0, Shown::InCookie, expires).is_none());
}

#[test]
fn a_browsers_token_is_good_in_a_cookie_only_and_others_in_none() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(directory.path()).unwrap();
    let expires = Timestamp(Timestamp::now().0 + 60_000);
    let (page, made) = tokens.create_page("phone", Scope::Drive, expires).unwrap();
    let (editor, _) = tokens.create("editor", Scope::Drive).unwrap();
    assert!(tokens.bearer(&page.0, Shown::Openly).is_none() && made.last_used().is_none());
    assert!(tokens.bearer(&page.0, Shown::InCookie).is_some());
    assert!(tokens.bearer(&editor.0, Shown::Openly).is_some());
    assert!(tokens.bearer(&editor.0, Shown::InCookie).is_none());
}

#[test]
fn browsers_that_nobody_uses_make_room_for_others_and_nobody_else_does() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(directory.path()).unwrap();
    let expires = Timestamp(Timestamp::now().0 + 60_000);
    let (editor, _) = tokens.create("editor", Scope::Drive).unwrap();
    let pages: Vec<_> =
        (0..MAX_PAGES).map(|_| tokens.create_page("page", Scope::Drive, expires).unwrap()).collect();
    // All but one are used later than they were made.
    let later = Timestamp(Timestamp::now().0 + 1000);
    pages.iter().skip(1).for_each(|(secret, _)| drop(tokens.bearer_at(&secret.0, Shown::InCookie, later)));
    let gone = tokens.until_revoked(&Proof::Token(pages[0].1.id.clone()));
    tokens.create_page("one more", Scope::Drive, expires).unwrap();
    assert!(gone.is_cancelled() && tokens.bearer(&pages[0].0.0, Shown::InCookie).is_none());
    assert!(pages.iter().skip(1).all(|(secret, _)| tokens.bearer(&secret.0, Shown::InCookie).is_some()));
    assert!(tokens.bearer(&editor.0, Shown::Openly).is_some());
}

#[test]
fn damaged_files_are_errors_and_are_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    for (file, text) in [("tokens.toml", "[[token]]\nid = 1"), ("token", "hunter2")] {
        drop(Tokens::open(directory.path()).unwrap());
        let path = directory.path().join(file);
        let good = fs::read_to_string(&path).unwrap();
        fs::write(&path, text).unwrap();
        assert!(matches!(Tokens::open(directory.path()), Err(TokenError::Damaged { .. })), "{file}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        fs::write(&path, good).unwrap();
    }
}

#[test]
fn names_that_cannot_be_shown_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(directory.path()).unwrap();
    for name in ["", "  ", "a\nb", "\0", &"x".repeat(MAX_NAME + 1)] {
        assert!(matches!(tokens.create(name, Scope::Read), Err(TokenError::Name)), "{name:?}");
    }
}

#[test]
fn the_list_says_how_it_is_changed() {
    let directory = tempfile::tempdir().unwrap();
    drop(Tokens::open(directory.path()).unwrap());
    let list = fs::read_to_string(directory.path().join("tokens.toml")).unwrap();
    assert!(
        list.starts_with('#') && list.contains("`/v1/tokens`") && !list.contains("loggia token"),
        "{list}"
    );
}

#[test]
fn a_change_on_its_way_to_the_disk_keeps_nobody_out() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(directory.path()).unwrap();
    let token = first(directory.path());
    let changing = tokens.changing();
    assert!(tokens.bearer(&token, Shown::Openly).is_some() && tokens.list().len() == 1);
    drop(changing);
}
