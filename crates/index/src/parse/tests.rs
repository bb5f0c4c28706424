//! A sample per language: definitions with their kinds and containers, and uses with theirs.

use super::*;

/// What a text defines and uses, as lines.
fn shown(language: Language, text: &str) -> String {
    let facts = Parser::default().facts(language, text);
    let mut lines: Vec<String> = facts
        .symbols
        .iter()
        .map(|symbol| {
            let place =
                if symbol.container.is_empty() { String::new() } else { format!("{}.", symbol.container) };
            let doc = if symbol.doc.is_empty() { String::new() } else { format!(" -- {}", symbol.doc) };
            format!(
                "{}-{} {} {place}{}: {}{doc}",
                symbol.start_line,
                symbol.end_line,
                symbol.kind.word(),
                symbol.name,
                symbol.signature
            )
        })
        .collect();
    let mut names: Vec<String> = Vec::new();
    crate::words::Words::default().split(text, |_| {});
    for word in text.split(|char: char| !crate::words::is_word(char)).filter(|word| !word.is_empty()) {
        if !names.contains(&word.to_owned()) {
            names.push(word.to_owned());
        }
    }
    for name in names {
        for used in facts.uses_of(NameHash::of(name.as_bytes())) {
            if used.kind != ReferenceKind::Value {
                lines.push(format!("{} {:?} {name}", used.line, used.kind));
            }
        }
    }
    lines.join("\n")
}

#[track_caller]
fn check(language: Language, text: &str, expected: &str) {
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(shown(language, text), expected.join("\n"));
}

#[cfg(feature = "rust")]
#[test]
fn rust() {
    let text = "use std::fmt::Debug;
/// A thing.
#[derive(Debug)]
pub struct Thing<T> { size: u32, inner: T }
impl<T> Thing<T> {
    /// Makes one.
    pub fn new(inner: T) -> Self { let local = helper(1); Thing { size: local, inner } }
}
enum Kind { One, Two(u8) }
trait Walks { fn walk(&self); }
const LIMIT: usize = 3;
mod inner { pub fn deep() { crate::helper::<u8>(2); x.walk(); println!(\"{}\", 1); } }
macro_rules! shout { () => {} }
";
    check(
        Language::Rust,
        text,
        "4-4 struct Thing: pub struct Thing<T> -- A thing.
        4-4 field Thing.size: size: u32
        4-4 field Thing.inner: inner: T
        7-7 method Thing.new: pub fn new(inner: T) -> Self -- Makes one.
        9-9 enum Kind: enum Kind
        9-9 enum_member Kind.One: One
        9-9 enum_member Kind.Two: Two
        10-10 trait Walks: trait Walks
        10-10 method Walks.walk: fn walk(&self)
        11-11 constant LIMIT: const LIMIT: usize = 3
        12-12 module inner: mod inner
        12-12 function inner.deep: pub fn deep()
        13-13 macro shout: macro_rules! shout { () => {} }
        1 Import std
        1 Import fmt
        1 Import Debug
        5 Type Thing
        7 Type Thing
        4 Type T
        5 Type T
        7 Type T
        7 Type Self
        7 Call helper
        12 Call helper
        12 Call walk
        12 Call println",
    );
}

#[cfg(feature = "python")]
#[test]
fn python() {
    let text = "import os
from a.b import c
LIMIT = 3
class Thing(Base):
    size: int = 0
    def walk(self, far: Far) -> None:
        \"\"\"Walks.

        Far.\"\"\"
        local = 1
        self.step(local)
        helper()
@decorated
def helper(): pass
";
    check(
        Language::Python,
        text,
        "3-3 variable LIMIT: LIMIT = 3
        4-12 class Thing: class Thing(Base)
        5-5 field Thing.size: size: int = 0
        6-12 method Thing.walk: def walk(self, far: Far) -> None -- Walks.
        14-14 function helper: def helper()
        1 Import os
        2 Import a
        2 Import b
        2 Import c
        5 Type int
        6 Type Far
        11 Call step
        12 Call helper
        13 Call decorated",
    );
}

#[cfg(feature = "typescript")]
#[test]
fn typescript_and_tsx() {
    let text = "import { a } from './a';
/** A thing. */
export class Thing extends Base<Q> implements Walks {
  size: number = 0;
  walk(far: Far): void { const local = 1; this.step(local); }
}
interface Walks { far: string; walk(): void }
type Id = string | Far;
enum Kind { One = 1 }
export const make = (x: Far) => new Thing(x);
const limit = 3;
function helper<T>(): T { return make(1); }
";
    let expected = "3-6 class Thing: class Thing extends Base<Q> implements Walks -- A thing.
        4-4 field Thing.size: size: number = 0
        5-5 method Thing.walk: walk(far: Far): void
        7-7 interface Walks: interface Walks
        7-7 field Walks.far: far: string
        7-7 method Walks.walk: walk(): void
        8-8 type Id: type Id = string | Far
        9-9 enum Kind: enum Kind
        9-9 enum_member Kind.One: One = 1
        10-10 function make: make = (x: Far) => new Thing(x)
        11-11 variable limit: limit = 3
        12-12 function helper: function helper<T>(): T
        1 Import a
        10 Call Thing
        3 Type Q
        3 Type Walks
        5 Type Far
        8 Type Far
        10 Type Far
        5 Call step
        12 Call make
        12 Type T";
    check(Language::TypeScript, text, expected);
    check(Language::Tsx, text, expected);
    check(
        Language::Tsx,
        "export function App() { return <Page title='x'><Row /></Page>; }\n",
        "1-1 function App: function App()
        1 Call Page
        1 Call Row",
    );
}

#[cfg(feature = "javascript")]
#[test]
fn javascript() {
    let text = "import a from 'a';
class Thing { size = 0; walk() { a.step(); } }
const make = function () { return new Thing(); };
function* each() {}
";
    check(
        Language::JavaScript,
        text,
        "2-2 class Thing: class Thing
        2-2 field Thing.size: size = 0
        2-2 method Thing.walk: walk()
        3-3 function make: make = function () { return new Thing(); }
        4-4 function each: function* each()
        1 Import a
        3 Call Thing
        2 Call step",
    );
}

#[cfg(feature = "go")]
#[test]
fn go() {
    let text = "package p
import \"fmt\"
// Thing is.
type Thing struct { Size, Far int }
type Walks interface { Walk(far int) error }
type Id = string
const Limit = 3
var a, b int
func (t *Thing) Walk(far int) error { local := 1; fmt.Println(local); return helper() }
func helper() error { return nil }
";
    check(
        Language::Go,
        text,
        "4-4 struct Thing: Thing struct { Size, Far int } -- Thing is.
        4-4 field Thing.Size: Size, Far int
        4-4 field Thing.Far: Size, Far int
        5-5 interface Walks: Walks interface { Walk(far int) error }
        5-5 method Walks.Walk: Walk(far int) error
        6-6 type Id: Id = string
        7-7 constant Limit: Limit = 3
        8-8 variable a: a, b int
        8-8 variable b: a, b int
        9-9 method Thing.Walk: func (t *Thing) Walk(far int) error
        10-10 function helper: func helper() error
        9 Type Thing
        4 Type int
        5 Type int
        8 Type int
        9 Type int
        5 Type error
        9 Type error
        10 Type error
        6 Type string
        9 Call Println
        9 Call helper",
    );
}

#[cfg(feature = "java")]
#[test]
fn java() {
    let text = "package p;
import a.B;
/** A thing. */
public class Thing extends Base {
  private int size = 0;
  Thing() { int local = 1; helper(local); }
  void walk(Far far) { far.step(); new Other(); }
}
interface Walks { void walk(); }
enum Kind { ONE }
";
    check(
        Language::Java,
        text,
        "4-8 class Thing: public class Thing extends Base -- A thing.
        5-5 field Thing.size: size = 0
        6-6 method Thing.Thing: Thing()
        7-7 method Thing.walk: void walk(Far far)
        9-9 interface Walks: interface Walks
        9-9 method Walks.walk: void walk()
        10-10 enum Kind: enum Kind
        10-10 enum_member Kind.ONE: ONE
        1 Import p
        2 Import a
        2 Import B
        4 Type Base
        6 Call helper
        7 Type Far
        7 Call step
        7 Call Other",
    );
}

#[cfg(feature = "c")]
#[test]
fn c() {
    let text = "#include <a.h>
#define LIMIT 3
/* A thing. */
struct thing { int size, *far; };
typedef struct thing thing_t;
enum kind { ONE, TWO };
int helper(int x);
static int count, *rest;
static char *walk(struct thing *t) { int local = 1; helper(local); t->step(1); return 0; }
";
    check(
        Language::C,
        text,
        "2-2 macro LIMIT: #define LIMIT 3
        4-4 struct thing: struct thing -- A thing.
        4-4 field thing.size: int size, *far
        4-4 field thing.far: int size, *far
        5-5 type thing_t: typedef struct thing thing_t
        6-6 enum kind: enum kind
        6-6 enum_member kind.ONE: ONE
        6-6 enum_member kind.TWO: TWO
        7-7 function helper: int helper(int x)
        8-8 variable count: static int count, *rest
        8-8 variable rest: static int count, *rest
        9-9 function walk: static char *walk(struct thing *t)
        5 Type thing
        9 Type thing
        9 Call helper
        9 Call step",
    );
}

#[cfg(feature = "cpp")]
#[test]
fn cpp() {
    let text = "#include <a>
namespace far {
// A thing.
class Thing : public Base {
 public:
  Thing();
  int walk(int x) const { return helper(x); }
  int size;
};
template <class T> T make() { return T(); }
using Id = int;
}
int far::Thing::size_of(int x) { int local = 1; return other->step(local) + std::move(x); }
";
    check(
        Language::Cpp,
        text,
        "2-12 module far: namespace far
        4-9 class far.Thing: class Thing : public Base -- A thing.
        6-6 method Thing.Thing: Thing()
        7-7 method Thing.walk: int walk(int x) const
        8-8 field Thing.size: int size
        10-10 function far.make: T make()
        11-11 type far.Id: using Id = int
        13-13 method Thing.size_of: int far::Thing::size_of(int x)
        4 Type Base
        7 Call helper
        10 Call T
        10 Type T
        13 Call step
        13 Call move",
    );
}

#[cfg(feature = "csharp")]
#[test]
fn csharp() {
    let text = "using System;
namespace Far {
/// <summary>A thing.</summary>
public class Thing : Base {
  private int size = 0;
  public int Size { get; set; }
  public Thing() { var local = Helper(1); }
  void Walk(Far far) { far.Step(); new Other(); }
}
interface IWalks { void Walk(); }
enum Kind { One }
}
";
    check(
        Language::CSharp,
        text,
        "2-12 module Far: namespace Far
        4-9 class Far.Thing: public class Thing : Base -- A thing.</summary>
        5-5 field Thing.size: size = 0
        6-6 field Thing.Size: public int Size { get; set; }
        7-7 method Thing.Thing: public Thing()
        8-8 method Thing.Walk: void Walk(Far far)
        10-10 interface Far.IWalks: interface IWalks
        10-10 method IWalks.Walk: void Walk()
        11-11 enum Far.Kind: enum Kind
        11-11 enum_member Kind.One: One
        1 Import System
        8 Type Far
        4 Type Base
        7 Call Helper
        8 Call Step
        8 Call Other",
    );
}

#[cfg(feature = "ruby")]
#[test]
fn ruby() {
    let text = "require 'a'
LIMIT = 3
module Far
  # A thing.
  class Thing < Base
    def walk(far)
      local = helper(1)
      far.step
    end
    def self.make; new; end
  end
end
";
    check(
        Language::Ruby,
        text,
        "2-2 constant LIMIT: LIMIT = 3
        3-12 module Far: module Far
        5-11 class Far.Thing: class Thing < Base -- A thing.
        6-9 method Thing.walk: def walk(far)
        10-10 method Thing.make: def self.make; new; end
        1 Call require
        5 Type Base
        7 Call helper
        8 Call step",
    );
}

#[cfg(feature = "php")]
#[test]
fn php() {
    let text = "<?php
namespace Far\\Away;
use Other\\Base;
/** A thing. */
class Thing extends Base implements Walks {
  const LIMIT = 3;
  private int $size = 0;
  public function walk(Far $far): void { $local = helper(1); $far->step(); new Other(); }
}
interface Walks {}
trait Runs {}
function helper($x) { return Thing::make(); }
";
    check(
        Language::Php,
        text,
        "2-2 module Away: namespace Far\\Away
        5-9 class Thing: class Thing extends Base implements Walks -- A thing.
        6-6 constant Thing.LIMIT: LIMIT = 3
        7-7 field Thing.size: $size = 0
        8-8 method Thing.walk: public function walk(Far $far): void
        10-10 interface Walks: interface Walks
        11-11 trait Runs: trait Runs
        12-12 function helper: function helper($x)
        8 Type Far
        3 Import Other
        8 Call Other
        3 Import Base
        5 Type Base
        5 Type Walks
        8 Call helper
        8 Call step
        12 Call make",
    );
}

#[cfg(feature = "bash")]
#[test]
fn bash() {
    let text = "#!/bin/bash
LIMIT=3
# Walks.
walk() {
  local far=1
  helper \"$far\"
}
function helper { echo \"$LIMIT\"; }
walk
";
    check(
        Language::Bash,
        text,
        "2-2 variable LIMIT: LIMIT=3
        4-7 function walk: walk() -- Walks.
        8-8 function helper: function helper
        9 Call walk
        6 Call helper
        8 Call echo",
    );
}

#[test]
fn broken_text_gives_what_can_be_made_out_and_deep_text_does_not_overflow() {
    #[cfg(feature = "rust")]
    {
        let shown = shown(Language::Rust, "fn one() { } }}}} fn two( { \n struct Three;\n");
        assert!(shown.contains("function one") && shown.contains("struct Three"), "{shown}");
        let deep = format!("fn f() {{ {}{} }}", "(".repeat(20_000), ")".repeat(20_000));
        assert_eq!(Parser::default().facts(Language::Rust, &deep).symbols.len(), 1);
    }
    assert_eq!(Parser::default().facts(Language::Prose, "Words."), Facts::default());
}
