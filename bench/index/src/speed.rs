//! How quick the index is: builds, updates and queries, beside what people use, in one run.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use loggia_domain::{CodeContext, CodeIndex, CodeQuery, CodeQuestion, IndexBuild, QueryKind, TextMatch};
use loggia_index::FileIndex;

use crate::child::{Built, built_by_child};
use crate::open::{open, runtime};
use crate::table::{Figure, percentile, print};
use crate::tools::{Took, command, is_there, run as time};

/// Files of the languages that have a grammar here.
const ENDINGS: [&str; 24] = [
    "rs", "py", "pyi", "ts", "mts", "tsx", "js", "jsx", "mjs", "cjs", "go", "java", "c", "h", "cc", "cpp",
    "cxx", "hh", "hpp", "cs", "rb", "php", "sh", "bash",
];

/// Files above this size are not indexed, so the others need not read them either.
const MAX_FILE: u64 = 1024 * 1024;

/// How many single files are changed.
const UPDATES: usize = 200;

/// How many questions are asked.
const QUESTIONS: usize = 400;

/// How many places a search shows that is not told otherwise.
const SHOWN: usize = 20;

/// How many words are looked for in both ways.
const WORDS: usize = 30;

/// Which part of the files a branch switch changes.
const SWITCHED: usize = 50;

/// Runs all of it.
pub(crate) fn run(tree: Option<PathBuf>, json: bool) -> Result<()> {
    let source = match tree {
        Some(tree) => tree,
        None => fetched().context("no tree was given and cargo has fetched nothing")?,
    };
    let work = tempfile::tempdir()?;
    // A copy, since files are changed, and links and rules of others should not count.
    let tree = work.path().join("tree");
    let source_files = copy(&source, &tree)?;
    let bytes: u64 = source_files.iter().map(|(_, len)| len).sum();
    if !json {
        println!("{} files, {:.1} MB below {}", source_files.len(), bytes as f64 / 1e6, source.display());
    }
    let mut left_out = Vec::new();
    let mut figures = Vec::new();
    let data = work.path().join("index");
    let built = built_by_child(&tree, &data)?;
    // A second time from nothing, for caches that are warm for everybody.
    std::fs::remove_dir_all(&data)?;
    let built = Built { ..built_by_child(&tree, &data).unwrap_or(built) };
    figures.push(Figure::new("files indexed", built.files, ""));
    figures.push(Figure::new("definitions", built.symbols, ""));
    figures.push(Figure::new("first build, wall", built.wall, "s"));
    figures.push(Figure::new("first build, CPU", built.cpu, "s"));
    figures.push(Figure::new("peak memory of a build", built.peak / 1024.0, "MiB").at_most(500.0));
    let size = built.bytes / bytes as f64;
    figures.push(Figure::new("index size over source bytes", size, "").at_most(1.0));
    beside_ctags(&mut figures, &mut left_out, &built, &source_files, &tree, work.path())?;
    beside_cindex(&mut figures, &mut left_out, &built, &tree, work.path())?;
    let index = open(&tree, &data)?;
    let runtime = runtime()?;
    runtime.block_on(async {
        index.loaded().await;
        words(&index, &tree, &mut figures, &mut left_out).await?;
        questions(&index, &mut figures).await?;
        updates(&index, &tree, &source_files, &mut figures).await?;
        switch(&index, &tree, &source_files, &built, &mut figures).await
    })?;
    print(&figures, &left_out, json);
    Ok(())
}

/// Runs the part about queries.
pub(crate) fn queries(tree: &Path, data: &Path) -> Result<()> {
    let (mut figures, mut left_out) = (Vec::new(), Vec::new());
    let index = open(tree, data)?;
    runtime()?.block_on(async {
        index.loaded().await;
        words(&index, tree, &mut figures, &mut left_out).await?;
        questions(&index, &mut figures).await
    })?;
    print(&figures, &left_out, false);
    Ok(())
}

fn beside_ctags(
    figures: &mut Vec<Figure>,
    left_out: &mut Vec<String>,
    built: &Built,
    files: &[(String, u64)],
    tree: &Path,
    work: &Path,
) -> Result<()> {
    if !is_there("ctags") {
        left_out.push("universal-ctags is not there".to_owned());
        return Ok(());
    }
    let list = work.join("files");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&list)?);
    for (path, len) in files {
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        if ENDINGS.contains(&ending) && *len <= MAX_FILE {
            writeln!(out, "{}", tree.join(path).display())?;
        }
    }
    out.flush()?;
    drop(out);
    let ctags =
        || time(command("ctags").arg("-f").arg(work.join("tags")).args(["--fields=+nKS", "-L"]).arg(&list));
    ctags()?;
    let took = ctags()?;
    figures
        .push(Figure::new("symbols, wall", built.symbols_wall, "s").beside("ctags", took.wall).at_most(4.0));
    figures.push(Figure::new("symbols, CPU", built.symbols_cpu, "s").beside("ctags", took.cpu).at_most(6.0));
    Ok(())
}

fn beside_cindex(
    figures: &mut Vec<Figure>,
    left_out: &mut Vec<String>,
    built: &Built,
    tree: &Path,
    work: &Path,
) -> Result<()> {
    if !is_there("cindex") {
        left_out.push("codesearch's cindex is not there".to_owned());
        return Ok(());
    }
    let cindex = || {
        let index = work.join("csearchindex");
        drop(std::fs::remove_file(&index));
        time(command("cindex").arg(tree).env("CSEARCHINDEX", index))
    };
    cindex()?;
    let took: Took = cindex()?;
    figures.push(
        Figure::new("text until it can be searched, wall", built.text_wall, "s").beside("cindex", took.wall),
    );
    figures.push(
        Figure::new("text until it can be searched, CPU", built.text_cpu, "s").beside("cindex", took.cpu),
    );
    Ok(())
}

/// Words and phrases, beside ripgrep reading every file.
async fn words(
    index: &FileIndex,
    tree: &Path,
    figures: &mut Vec<Figure>,
    left_out: &mut Vec<String>,
) -> Result<()> {
    let names = sample(index, WORDS).await?;
    let (mut ranked, mut exact, mut scanned) = (Vec::new(), Vec::new(), Vec::new());
    let has_ripgrep = is_there("rg");
    for name in &names {
        ranked.push(milliseconds(index.search(CodeQuery::new(name.as_str(), QueryKind::Text, 10))).await?);
        let phrase =
            CodeQuery { matching: TextMatch::Phrase, ..CodeQuery::new(name.as_str(), QueryKind::Text, 1000) };
        exact.push(milliseconds(index.search(phrase)).await?);
        if has_ripgrep {
            scanned.push(
                time(command("rg").args(["-n", "-F", "--no-ignore", "--hidden", "-e", name]).arg(tree))?.wall
                    * 1e3,
            );
        }
    }
    let mut row = |what: &str, ours: &mut [f64], scanned: &mut [f64], share: f64| {
        let figure = Figure::new(format!("{what}, p{}", share * 100.0), percentile(ours, share), "ms");
        figures.push(match scanned.is_empty() {
            true => figure,
            false => figure.beside("rg", percentile(scanned, share)),
        });
    };
    row("a word, ranked", &mut ranked, &mut scanned, 0.5);
    row("a word, ranked", &mut ranked, &mut scanned, 0.99);
    row("a word, all lines", &mut exact, &mut scanned, 0.5);
    row("a word, all lines", &mut exact, &mut scanned, 0.99);
    if !has_ripgrep {
        left_out.push("ripgrep is not there".to_owned());
    }
    Ok(())
}

/// Questions and searches in all ways, without vectors.
async fn questions(index: &FileIndex, figures: &mut Vec<Figure>) -> Result<()> {
    let names = sample(index, QUESTIONS * 2).await?;
    let (mut fused, mut together, mut symbols) = (Vec::new(), Vec::new(), Vec::new());
    for pair in names.chunks_exact(2) {
        let text =
            format!("where does {} call {} and what happens on errors", pair[0].replace('_', " "), pair[1]);
        let question = CodeQuestion {
            text,
            context: CodeContext::default(),
            history: Arc::default(),
            limit: 8,
            budget: 8000,
        };
        fused.push(milliseconds(index.retrieve(question)).await?);
        let shown = CodeQuery::new(pair[1].as_str(), QueryKind::Fused, SHOWN);
        together.push(milliseconds(index.search(shown)).await?);
        symbols.push(
            milliseconds(index.search(CodeQuery::new(pair[0].as_str(), QueryKind::Symbols, 10))).await?,
        );
    }
    figures.push(Figure::new("a question, p50", percentile(&mut fused, 0.5), "ms"));
    figures.push(Figure::new("a question, p99", percentile(&mut fused, 0.99), "ms").at_most(20.0));
    figures.push(Figure::new("a name in all ways, p50", percentile(&mut together, 0.5), "ms"));
    figures.push(Figure::new("a name in all ways, p99", percentile(&mut together, 0.99), "ms").at_most(20.0));
    figures.push(Figure::new("a symbol, p50", percentile(&mut symbols, 0.5), "ms"));
    figures.push(Figure::new("a symbol, p99", percentile(&mut symbols, 0.99), "ms"));
    Ok(())
}

/// Single files that change.
async fn updates(
    index: &FileIndex,
    tree: &Path,
    files: &[(String, u64)],
    figures: &mut Vec<Figure>,
) -> Result<()> {
    index.build(IndexBuild::Refresh).await?;
    let mut took = Vec::new();
    let step = files.len() / UPDATES;
    for number in 0..UPDATES {
        let Some((path, len)) = files.get(number * step) else { break };
        if *len > MAX_FILE || !path.ends_with(".rs") {
            continue;
        }
        let file = tree.join(path);
        let mut text = std::fs::read(&file)?;
        text.extend_from_slice(format!("\n// changed_in_round_{number}\n").as_bytes());
        std::fs::write(&file, text)?;
        let began = Instant::now();
        index.changed(vec![path.clone()]).await?;
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    figures.push(Figure::new(
        "a changed file until it can be searched, p50",
        percentile(&mut took, 0.5),
        "ms",
    ));
    figures.push(
        Figure::new("a changed file until it can be searched, p99", percentile(&mut took, 0.99), "ms")
            .at_most(50.0),
    );
    Ok(())
}

/// Many files that change at once, beside a build of all of them.
async fn switch(
    index: &FileIndex,
    tree: &Path,
    files: &[(String, u64)],
    built: &Built,
    figures: &mut Vec<Figure>,
) -> Result<()> {
    let mut changed = 0;
    for (path, _) in files.iter().step_by(SWITCHED) {
        let file = tree.join(path);
        let mut text = std::fs::read(&file)?;
        text.extend_from_slice(b"\n// on another branch\n");
        std::fs::write(&file, text)?;
        changed += 1;
    }
    let began = Instant::now();
    index.build(IndexBuild::Refresh).await?;
    let what = format!("{changed} files changed at once");
    figures.push(Figure::new(what, began.elapsed().as_secs_f64(), "s").beside("build of all", built.wall));
    Ok(())
}

async fn milliseconds<T, E: std::error::Error + Send + Sync + 'static>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<f64> {
    let began = Instant::now();
    work.await?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// Names that are defined in the tree: the same in every run.
async fn sample(index: &FileIndex, count: usize) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for letters in ["re", "co", "par", "in", "get", "set", "wr", "st", "tr", "ha"] {
        for found in index.search(CodeQuery::new(letters, QueryKind::Symbols, 1000)).await? {
            names.extend(found.symbol.filter(|name| name.len() > 5 && !names.contains(name)));
        }
    }
    anyhow::ensure!(!names.is_empty(), "no names are defined");
    let step = (names.len() / count).max(1);
    Ok(names.into_iter().step_by(step).take(count).collect())
}

/// Where cargo keeps the sources of packages.
fn fetched() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let path = home.join("registry/src");
    path.is_dir().then_some(path)
}

/// Copies the files of a tree. Gives their paths and sizes, sorted.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<Vec<(String, u64)>> {
    let mut files = Vec::new();
    let mut ahead = vec![PathBuf::new()];
    while let Some(directory) = ahead.pop() {
        std::fs::create_dir_all(to.join(&directory))?;
        for entry in std::fs::read_dir(from.join(&directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            let kind = entry.file_type()?;
            // Rules of others would leave out what others index.
            let is_rules =
                matches!(entry.file_name().to_str(), Some(".gitignore" | ".ignore" | ".git") | None);
            if kind.is_dir() && !is_rules {
                ahead.push(path);
            } else if kind.is_file() && !is_rules {
                let len = std::fs::copy(entry.path(), to.join(&path))?;
                files.push((path.to_string_lossy().into_owned(), len));
            }
        }
    }
    files.sort();
    Ok(files)
}
