//! Where definitions begin and end: the cursor is marked with `¦`.

use super::*;

fn around(text: &str, line: usize, language: Language) -> Scope {
    super::around(text, line, language, &Patience::endless())
}

/// The lines around the mark.
fn scope(path: &str, text: &str) -> String {
    let line = text.lines().position(|line| line.contains('¦')).expect("a mark") + 1;
    let text = text.replace('¦', "");
    let found = around(&text, line, Language::of(path));
    let lines: Vec<&str> = text.lines().collect();
    assert!(found.lines.contains(&line), "{found:?}");
    let name = found.name.unwrap_or_default();
    format!("[{name}]\n{}", lines[found.lines.start() - 1..*found.lines.end()].join("\n"))
}

#[test]
fn functions_of_rust() {
    let text = "\
use std::fmt;

/// Adds.
#[inline]
pub(crate) async fn add<'a>(
    a: &'a u32,
) -> u32 {
    let open = '{';
    println!(\"}\"); // }
    a + 1¦
}

fn other() {}
";
    assert_eq!(
        scope("a.rs", text),
        format!("[add]\n{}", text.replace('¦', "").lines().skip(2).take(9).collect::<Vec<_>>().join("\n"))
    );
    assert_eq!(
        scope("a.rs", "fn a() {\n    fn b() {\n        ¦1\n    }\n}"),
        "[b]\n    fn b() {\n        1\n    }"
    );
    assert_eq!(scope("a.rs", "fn a() {\n    fn b() {}\n    ¦1\n}"), "[a]\nfn a() {\n    fn b() {}\n    1\n}");
    assert_eq!(scope("a.rs", "/// ¦Does.\nfn a() {\n}\nfn b() {}"), "[a]\n/// Does.\nfn a() {\n}");
    assert_eq!(scope("a.rs", "trait T {\n    fn a(&self)¦;\n    fn b() {}\n}"), "[a]\n    fn a(&self);");
    assert_eq!(
        scope("a.rs", "fn x() {}\n\n/// It.\npub struct S {\n    ¦a: u8,\n}\n"),
        "[S]\n/// It.\npub struct S {\n    a: u8,\n}"
    );
    assert_eq!(
        scope("a.rs", "impl<T> Foo<T> {\n    const A: u8 = 1;¦\n}"),
        "[Foo]\nimpl<T> Foo<T> {\n    const A: u8 = 1;\n}"
    );
}

#[test]
fn functions_of_python() {
    let text = "\
import os

@cached
def load(
    path,
):
    '''Reads.

Not indented.
    '''
    if path:
        return 1

    # Else.
    return ¦2

def other():
    pass
";
    let found = scope("a.py", text);
    assert!(found.starts_with("[load]\n@cached\ndef load(") && found.ends_with("    return 2"), "{found}");
    assert_eq!(
        scope("a.py", "class A:\n    x = 1\n\n    async def b(self):\n        ¦return x\n\n    y = 2\n"),
        "[b]\n    async def b(self):\n        return x"
    );
    assert_eq!(scope("a.py", "def a():\n    return 1\n\nb = ¦2\nc = 3\n\nd = 4\n"), "[]\nb = 2\nc = 3");
    assert_eq!(
        scope("a.py", "class A:\n    x = ¦1\n    def b(self):\n        return x\ny = 1\n"),
        "[A]\nclass A:\n    x = 1\n    def b(self):\n        return x"
    );
}

#[test]
fn functions_of_javascript_and_typescript() {
    assert_eq!(scope("a.js", "function a() {\n  return ¦1;\n}\nb();"), "[a]\nfunction a() {\n  return 1;\n}");
    assert_eq!(
        scope("a.ts", "export const login = async (name: string): Promise<void> => {\n  ¦go();\n};\n"),
        "[login]\nexport const login = async (name: string): Promise<void> => {\n  go();\n}".to_owned() + ";"
    );
    assert_eq!(
        scope(
            "a.ts",
            "class A {\n  private async load(id: { a: number }): { b: string } {\n    ¦return x;\n  }\n}"
        ),
        "[load]\n  private async load(id: { a: number }): { b: string } {\n    return x;\n  }"
    );
    assert_eq!(
        scope("a.ts", "class A {\n  load() {\n    if (a) {\n      ¦b();\n    }\n  }\n}"),
        "[load]\n  load() {\n    if (a) {\n      b();\n    }\n  }"
    );
    assert_eq!(
        scope("a.ts", "export interface User {\n  ¦name: string;\n}"),
        "[User]\nexport interface User {\n  name: string;\n}"
    );
}

#[test]
fn functions_of_other_languages() {
    assert_eq!(
        scope("a.go", "// Add adds.\nfunc (s *Set) Add(x int) error {\n\treturn ¦nil\n}\n"),
        "[Add]\n// Add adds.\nfunc (s *Set) Add(x int) error {\n\treturn nil\n}"
    );
    assert_eq!(
        scope(
            "A.java",
            "class A {\n  @Override\n  public List<String> names(int a)\n      throws E {\n    for (int i : a) {\n      ¦x();\n    }\n  }\n}"
        ),
        "[names]\n  @Override\n  public List<String> names(int a)\n      throws E {\n    for (int i : a) {\n      x();\n    }\n  }"
    );
    assert_eq!(
        scope("a.c", "#include <x.h>\nstatic int\nadd(int a)\n{\n  ¦call(a,\n    2);\n  return a;\n}\n"),
        "[add]\nadd(int a)\n{\n  call(a,\n    2);\n  return a;\n}"
    );
    assert_eq!(
        scope("a.cpp", "void Foo::bar() const {\n  ¦x();\n}"),
        "[bar]\nvoid Foo::bar() const {\n  x();\n}"
    );
    assert_eq!(
        scope("a.rb", "class A\n  # It.\n  def b(x)\n    ¦x\n  end\n\n  def c\n  end\nend"),
        "[b]\n  # It.\n  def b(x)\n    x\n  end"
    );
    assert_eq!(
        scope("a.lua", "local function f(x)\n  return ¦x\nend\nf(1)"),
        "[f]\nlocal function f(x)\n  return x\nend"
    );
}

#[test]
fn text_without_definitions_has_the_lines_near_by() {
    assert_eq!(scope("a.txt", "a\n\nb\n¦c\nd\n\ne"), "[]\nb\nc\nd");
    assert_eq!(around("", 7, Language::Rust).lines, 1..=1);
    let long = "x\n".repeat(100);
    assert_eq!(around(&long, 50, Language::Indented).lines, 40..=60);
    assert_eq!(around(&long, 4000, Language::Rust).lines.end(), &100);
}

#[test]
fn tests_in_a_file_of_rust_are_found() {
    let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn b() {}\n}\n";
    assert_eq!(inline_tests(text), Some(3..=7));
    assert_eq!(inline_tests("fn a() {}\nmod tests;\n"), None);
}

#[test]
fn braces_that_never_close_are_read_a_bounded_number_of_times() {
    for line in ["fn f() {\n".to_owned(), format!("fn f() {{ {}\n", "x ".repeat(1000))] {
        let text = line.repeat((1 << 20) / line.len());
        let source = Source::new(&text, Language::Rust);
        let last = source.plain.len();
        assert_eq!(source.enclosing(last, Kind::Function, &Patience::endless()), None);
        // What is left would not do for another line, and no line took more than there was.
        assert!(source.left.get() < line.len(), "{}", source.left.get());
    }
}

#[test]
fn who_waits_no_more_gets_the_lines_near_by() {
    let text = format!("fn f() {{\n{}}}\n", "    1;\n".repeat(1000));
    assert_eq!(around(&text, 900, Language::Rust).lines, 1..=1002);
    assert_eq!(super::around(&text, 900, Language::Rust, &Patience::over()).lines, 890..=910);
}
