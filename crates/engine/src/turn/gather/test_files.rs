//! Which files test which, by their names: names in, names out.
//!
//! Knows the conventions of the common languages. Refuses to read files. What always holds: a path that is told is in the
//! listing, the nearest comes first, and no more than a few are told.

use crate::turn::gather::language::{Language, directory, extension, name, stem};
use crate::turn::gather::listing::{Listing, shared};

/// Tests or sources that are told of one file.
const MOST: usize = 4;

/// Directories that hold tests.
const TEST_DIRECTORIES: [&str; 6] = ["test", "tests", "__tests__", "spec", "specs", "testing"];

/// What a test's name has before the name of what it tests, and after it.
const BEFORE: [&str; 2] = ["test_", "Test"];
const AFTER: [&str; 14] = [
    "_test",
    "_tests",
    "_spec",
    "_unittest",
    "-test",
    "-spec",
    ".test",
    ".spec",
    ".tests",
    "Test",
    "Tests",
    "TestCase",
    "Spec",
    "IT",
];

/// Whether a file is a test.
pub(super) fn is_test(path: &str) -> bool {
    tested(stem(path)).is_some() || is_tests_module(path) || in_test_directory(path)
}

/// The tests of a source file, the nearest first.
pub(super) fn tests_of(path: &str, files: &Listing) -> Vec<String> {
    let wanted = stem(path);
    let own = own_directory(path);
    let belongs = |candidate: &&str| {
        is_like(candidate, path) && {
            let stem = stem(candidate);
            let named_for_it = tested(stem).is_some_and(|tested| tested.eq_ignore_ascii_case(wanted));
            let in_own_tests = own.as_deref().is_some_and(|own| {
                **candidate == format!("{own}/tests.rs") || candidate.starts_with(&format!("{own}/tests/"))
            });
            // In a directory of tests a file is named like what it tests.
            let same_name = stem == wanted && in_test_directory(candidate) && !in_test_directory(path);
            named_for_it || in_own_tests || same_name
        }
    };
    nearest(files.paths().filter(belongs), path)
}

/// What a test file tests, the nearest first.
pub(super) fn sources_of(path: &str, files: &Listing) -> Vec<String> {
    if is_tests_module(path) {
        let module = directory(path);
        return files
            .first([format!("{module}.rs"), format!("{module}/mod.rs"), format!("{module}/lib.rs")])
            .into_iter()
            .collect();
    }
    let stem = stem(path);
    let wanted = tested(stem).unwrap_or(stem);
    let belongs = |candidate: &&str| {
        is_like(candidate, path) && self::stem(candidate).eq_ignore_ascii_case(wanted) && !is_test(candidate)
    };
    nearest(files.paths().filter(belongs), path)
}

/// What a test with this name tests, if the name is that of a test.
fn tested(stem: &str) -> Option<&str> {
    let inner = |rest: &&str| !rest.is_empty();
    let capital = |rest: &&str| rest.starts_with(|char: char| char.is_ascii_uppercase());
    let after = AFTER.into_iter().find_map(|end| stem.strip_suffix(end).filter(inner));
    after.or_else(|| {
        BEFORE.into_iter().find_map(|start| {
            let rest = stem.strip_prefix(start).filter(inner)?;
            // `Testament` is no test of `ament`.
            if start.ends_with('_') { Some(rest) } else { Some(rest).filter(capital) }
        })
    })
}

/// Whether it is the module of tests in a module of Rust.
fn is_tests_module(path: &str) -> bool {
    name(path) == "tests.rs" && !directory(path).is_empty()
}

fn in_test_directory(path: &str) -> bool {
    directory(path).split('/').any(|part| TEST_DIRECTORIES.contains(&part))
}

/// Where a module of Rust has its own modules.
fn own_directory(path: &str) -> Option<String> {
    match (extension(path), name(path)) {
        ("rs", "mod.rs" | "lib.rs" | "main.rs") => Some(directory(path).to_owned()),
        ("rs", _) => path.strip_suffix(".rs").map(str::to_owned),
        _ => None,
    }
}

/// Whether two files are in the same language, and not the same file.
fn is_like(one: &str, other: &str) -> bool {
    let (language, of_other) = (Language::of(one), Language::of(other));
    let unknown = matches!(language, Language::Braces | Language::Indented);
    one != other && language == of_other && (!unknown || extension(one) == extension(other))
}

/// The nearest of these, by the directories they share apart from those that only say what is in them.
fn nearest<'a>(found: impl Iterator<Item = &'a str>, near: &str) -> Vec<String> {
    let plain = |path: &str| {
        let told = |part: &&str| {
            !TEST_DIRECTORIES.contains(part) && !["src", "main", "lib", "app", "it"].contains(part)
        };
        directory(path).split('/').filter(told).collect::<Vec<_>>().join("/")
    };
    let home = plain(near);
    let mut found: Vec<&str> = found.collect();
    found.sort_by_cached_key(|path| {
        let place = plain(path);
        let alike =
            place.split('/').rev().zip(home.split('/').rev()).take_while(|(one, other)| one == other).count();
        (std::cmp::Reverse(alike), std::cmp::Reverse(shared(path, near)), path.len(), *path)
    });
    found.into_iter().take(MOST).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(files: &str) -> Listing {
        files.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn tests_are_found_by_the_conventions_of_each_language() {
        let check = |path: &str, files: &str, expected: &str| {
            let found = tests_of(path, &listing(&format!("{files} {path}")));
            assert_eq!(found.join(" "), expected, "tests of {path}");
        };
        check(
            "src/foo.rs",
            "src/foo/tests.rs src/foo/tests/deep.rs src/bar/tests.rs",
            "src/foo/tests.rs src/foo/tests/deep.rs",
        );
        check("src/foo.rs", "tests/foo.rs tests/it/foo.rs tests/food.rs", "tests/foo.rs tests/it/foo.rs");
        check("src/lib.rs", "src/tests.rs src/a/tests.rs", "src/tests.rs");
        check(
            "store/rows.go",
            "store/rows_test.go other/rows_test.go store/row_test.go",
            "store/rows_test.go other/rows_test.go",
        );
        check(
            "pkg/auth/login.py",
            "tests/test_login.py tests/auth/test_login.py pkg/auth/login_test.py test_login.txt",
            "pkg/auth/login_test.py tests/auth/test_login.py tests/test_login.py",
        );
        check(
            "src/auth/login.ts",
            "src/auth/login.test.ts src/auth/__tests__/login.ts e2e/login.spec.tsx src/other/login.ts",
            "src/auth/login.test.ts src/auth/__tests__/login.ts e2e/login.spec.tsx",
        );
        check(
            "app/src/main/java/org/x/User.java",
            "app/src/test/java/org/x/UserTest.java app/src/test/java/org/x/UserIT.java app/src/test/java/org/x/UsersTest.java",
            "app/src/test/java/org/x/UserIT.java app/src/test/java/org/x/UserTest.java",
        );
        check(
            "src/parse.cc",
            "src/parse_unittest.cc test/test_parse.cpp",
            "src/parse_unittest.cc test/test_parse.cpp",
        );
        check("lib/user.rb", "spec/user_spec.rb spec/user_spec.py", "spec/user_spec.rb");
        check("src/x.rs", "", "");
    }

    #[test]
    fn what_a_test_is_about_is_found() {
        let check = |path: &str, files: &str, expected: &str| {
            assert!(is_test(path), "{path}");
            assert_eq!(
                sources_of(path, &listing(&format!("{files} {path}"))).join(" "),
                expected,
                "sources of {path}"
            );
        };
        check("src/foo/tests.rs", "src/foo.rs src/lib.rs", "src/foo.rs");
        check("src/tests.rs", "src/lib.rs", "src/lib.rs");
        check("tests/foo.rs", "src/foo.rs src/a/foo.rs", "src/foo.rs src/a/foo.rs");
        check("store/rows_test.go", "store/rows.go other/rows.go", "store/rows.go other/rows.go");
        check("tests/auth/test_login.py", "pkg/login.py pkg/auth/login.py", "pkg/auth/login.py pkg/login.py");
        check("src/login.spec.ts", "src/login.tsx src/login.test.ts", "src/login.tsx");
        check(
            "app/src/test/java/org/x/UserTest.java",
            "app/src/main/java/org/x/User.java",
            "app/src/main/java/org/x/User.java",
        );
    }

    #[test]
    fn names_that_only_look_like_it_are_no_tests() {
        for path in
            ["src/testament.rs", "Testament.java", "src/latest.ts", "contest/a.py", "src/attest.go", "test"]
        {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn no_more_than_a_few_are_told() {
        let files: String = (0..100).map(|number| format!("d{number}/foo_test.go ")).collect();
        assert_eq!(tests_of("foo.go", &listing(&files)).len(), MOST);
    }
}
