//! `import` of Java, Kotlin and Scala: classes by their packages, wherever those are kept.

use std::sync::LazyLock;

use regex::Regex;

use super::{Import, Lines, MOST};
use crate::turn::gather::language::name;
use crate::turn::gather::listing::Listing;

const EXTENSIONS: [&str; 4] = ["java", "kt", "scala", "groovy"];

static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t]*import[ \t]+(?:static[ \t]+)?(?<class>\w+(?:\.\w+)+)")
        .expect("the expression is right")
});

pub(super) fn imports(path: &str, text: &str, files: &Listing) -> Vec<Import> {
    let mut lines = Lines::of(text.as_bytes());
    let import = |captures: regex::Captures<'_>| {
        let class = captures.name("class")?;
        let dotted = class.as_str().replace('.', "/");
        // The last names may be those of a class in a class, or of a method.
        let ends = std::iter::successors(Some(dotted.as_str()), |path| {
            path.rsplit_once('/').map(|(above, _)| above)
        });
        let candidates = ends.take_while(|path| path.contains('/')).take(3);
        let found = candidates.flat_map(|end| EXTENSIONS.map(|extension| format!("{end}.{extension}")));
        let found = found.into_iter().find_map(|end| files.ending(&end, path))?;
        let names = vec![name(&dotted).to_owned()];
        Some(Import { path: found, line: lines.line(class.start()), names })
    };
    IMPORT.captures_iter(text).take(MOST).filter_map(import).collect()
}
