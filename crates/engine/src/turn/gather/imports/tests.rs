//! Imports of the common languages, as tables.

use super::*;

/// The imported files with their lines and names.
fn check(path: &str, files: &str, text: &str, expected: &[&str]) {
    let listing: Listing = files.split_whitespace().chain([path]).map(str::to_owned).collect();
    let modules = [Module::parse("go.mod", "module example.org/app\n\ngo 1.22\n").expect("a module")];
    let found = imported(path, text, &listing, &modules);
    let shown = |import: &Import| {
        format!("{}: {} ({})", import.line, import.path, import.names.join(", ")).replace(" ()", "")
    };
    assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), expected, "{path}");
}

#[test]
fn rust() {
    let files = "src/lib.rs src/a.rs src/a/b.rs src/a/b/c.rs src/d/mod.rs src/d/e.rs src/a/f.rs";
    let text = "\
//! use crate::a;
use std::fmt;
use crate::a::{self, b::{Deep, c::*}};
pub(crate) use super::f::{F as G};
use crate::{d::e::E,
    Root};
use super::Thing;
mod c;
use self::c::C;
use serde::Serialize;
let text = \"
use crate::d;\";
";
    check(
        "src/a/b.rs",
        files,
        text,
        &[
            "3: src/a.rs (Thing)",
            "3: src/a/b/c.rs (c, C)",
            "4: src/a/f.rs (F)",
            "5: src/d/e.rs (E)",
            "5: src/lib.rs (Root)",
        ],
    );
    check(
        "src/main.rs",
        "src/a.rs src/d/mod.rs",
        "mod a;\nmod d;\nuse a::X;\n",
        &["1: src/a.rs (a, X)", "2: src/d/mod.rs (d)"],
    );
    check("tests/it/main.rs", "tests/it/turns.rs", "mod turns;\n", &["1: tests/it/turns.rs (turns)"]);
    check("src/d/e.rs", "src/lib.rs src/d/mod.rs", "use super::*;", &["1: src/d/mod.rs"]);
    check("build.rs", "", "use crate::x; use super::super::super::y;", &[]);
}

#[test]
fn python() {
    let files = "pkg/__init__.py pkg/a.py pkg/sub/__init__.py pkg/sub/b.py pkg/util.py src/other/c.py";
    let text = "\
import os, pkg.a as a
from . import util, nothing
from .sub.b import (
    B,  # from pkg import util
    C as D,
)
from pkg import util
import other.c.thing
'''
import pkg.sub
'''
if x:
    from ..pkg import sub
";
    check(
        "pkg/m.py",
        files,
        text,
        &[
            "1: pkg/a.py (pkg.a)",
            "2: pkg/util.py (util, util)",
            "2: pkg/__init__.py (nothing)",
            "3: pkg/sub/b.py (B, C)",
            "8: src/other/c.py (other.c.thing)",
            "13: pkg/sub/__init__.py (sub)",
        ],
    );
    check("a.py", "b.py", "from ...x import b\nfrom ..b import c\n", &[]);
}

#[test]
fn javascript_and_typescript() {
    let files = "src/a.ts src/b/index.tsx src/c.js lib/d.mjs src/e.ts src/f.vue src/g.json src/h.ts";
    let text = "\
import React from 'react';
import A, { type B as C } from './a';
import {
  D,
} from \"./b\";
import './c.js'
const { d } = require('../lib/d.mjs');
export * from './e.js';
const f = await import('./f.vue');
import g from './g.json';
import type { H } from './h';
import x from '../../outside';
import y from './missing';
";
    check(
        "src/m.ts",
        files,
        text,
        &[
            "2: src/a.ts (A, B, C)",
            "3: src/b/index.tsx (D)",
            "6: src/c.js",
            "7: lib/d.mjs (d)",
            "8: src/e.ts",
            "9: src/f.vue",
            "10: src/g.json (g)",
            "11: src/h.ts (H)",
        ],
    );
    check("m.js", "index.js", "import x from '.'", &["1: index.js (x)"]);
}

#[test]
fn go() {
    let files =
        "internal/store/store.go internal/store/rows.go internal/store/store_test.go cmd/x.go root.go";
    let text = "\
package main

import (
\t\"fmt\"
\tdb \"example.org/app/internal/store\"
\t\"example.org/application/internal/store\"
)
import \"example.org/app\"
";
    check(
        "cmd/main.go",
        files,
        text,
        &["5: internal/store/rows.go (store)", "5: internal/store/store.go (store)", "8: root.go (app)"],
    );
}

#[test]
fn java_and_c() {
    let files = "core/src/main/java/org/x/User.java app/src/main/java/org/x/User.java app/src/main/kotlin/org/x/Log.kt";
    let text = "import org.x.User;\nimport static org.x.Log.info;\nimport java.util.List;\nimport org.x.*;\n";
    check(
        "app/src/main/java/org/x/App.java",
        files,
        text,
        &["1: app/src/main/java/org/x/User.java (User)", "2: app/src/main/kotlin/org/x/Log.kt (info)"],
    );
    let files = "src/a.h include/lib/b.h src/stdio.h c.h";
    let text = "#include \"a.h\"\n#include <lib/b.h>\n#include <stdio.h>\n  #  include \"../c.h\"\n#include \"../../d.h\"\n";
    check("src/m.c", files, text, &["1: src/a.h", "2: include/lib/b.h", "4: c.h"]);
}

#[test]
fn what_nobody_knows_imports_nothing() {
    check("a.rb", "b.rb", "require_relative 'b'", &[]);
    check("src/a.rs", "", "use crate::{{{{{{{{{{{{{{{{{{{{{{{{a}}}}}}}}}}}}}}}}}}}}}}}};", &[]);
    check("a.rs", "", "use ;;; use {,,}; use ::; mod", &[]);
}

#[test]
fn files_that_cannot_import_another_one_are_told_by_their_words() {
    let check = |target: &str, text: &str, expected: bool| {
        assert_eq!(may_import(text, target), expected, "{target}: {text}");
    };
    check("src/auth/login.ts", "import { login } from './auth/login'", true);
    check("src/auth/login.ts", "import { a } from './b'", false);
    check("src/auth/index.ts", "import { a } from \"./auth\"", true);
    check("pkg/store/rows.go", "import \"example.org/app/pkg/store\"", true);
    check("main.go", "package x", true);
    check("pkg/__init__.py", "from pkg import a", true);
    check("a/b.h", "#include \"b.h\"", true);
    check("a/b.h", "#include \"c.h\"", false);
    check("src/a.rs", "use super::X;", true);
    check("src/a/mod.rs", "use crate::a::X;", true);
    check("src/lib.rs", "use std::fmt;", false);
    check("a/User.java", "import a.User;", true);
}

#[test]
fn texts_made_to_take_long_do_not() {
    let long = |part: &str| part.repeat((1 << 20) / part.len());
    // Groups that never close: each would go to the end of the text.
    check("m.py", "a.py", &long("from a import (\n"), &[]);
    check("m.py", "a.py", &format!("{}import a\n", long("import x.x.x.x, y\n")), &[]);
    // Names as long as the text, of which each beginning could be a file.
    check("m.py", "a.py", &format!("import {}a\n", long("a.")), &[]);
    check("m.py", "a.py", &format!("from {}a import {}\n", "a.".repeat(1 << 18), long("b, ")), &[]);
    check("m.rs", "a.rs", &format!("use {}{{{}}};\n", "a::".repeat(1 << 17), long("b, ")), &[]);
    let found = |path: &str, text: &str| {
        let listing: Listing =
            ["a.py", "a.rs", "a.ts", "p/a.go", path].map(str::to_owned).into_iter().collect();
        let modules = [Module::parse("go.mod", "module m\n").expect("a module")];
        imported(path, text, &listing, &modules)
    };
    let names = |path: &str, text: &str| found(path, text).first().map_or(0, |import| import.names.len());
    assert_eq!(names("m.py", &format!("from a import {}", long("b, "))), MOST_NAMES);
    assert_eq!(names("main.rs", &format!("use crate::a::{{{}}};", long("b, "))), MOST_NAMES);
    assert_eq!(names("m.ts", &format!("import {{{}}} from './a'", long("b, "))), MOST_NAMES);
    assert_eq!(names("m.go", &format!("import ({})", long("\"m/p\"\n"))), MOST_NAMES);
}
