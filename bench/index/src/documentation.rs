//! Questions and their files, from documentation: the first line of it, and the file that it was taken out of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use loggia_domain::{CodeIndex, CodeQuery, IndexBuild, QueryKind};
use loggia_index::FileIndex;

use crate::history::Pair;
use crate::open::open;
use crate::retrieval::Plan;
use crate::speed::copy;

/// How many words a line must have to be a question.
const MIN_WORDS: usize = 5;

/// How far from its definition a line of documentation is.
const NEAR: usize = 60;

/// The pairs of a tree, which is copied without the lines that became questions.
pub(crate) async fn pairs(
    source: &Path,
    tree: &Path,
    data: &Path,
    plan: &Plan,
) -> Result<(Vec<Pair>, FileIndex)> {
    copy(source, tree)?;
    let index = open(tree, data)?;
    index.build(IndexBuild::Rebuild).await?;
    let mut found: BTreeSet<(String, String, u32)> = BTreeSet::new();
    for first in 'a'..='z' {
        for second in ['a', 'e', 'i', 'o', 'r', 't', 's'] {
            let query = CodeQuery::new(format!("{first}{second}"), QueryKind::Symbols, 300);
            for finding in index.search(query).await? {
                let doc = finding.definition.map(|definition| definition.doc).unwrap_or_default();
                if doc.split_whitespace().count() >= MIN_WORDS {
                    found.insert((doc, finding.path, finding.start_line));
                }
            }
        }
    }
    let mut drawn: Vec<_> = found.into_iter().collect();
    let mut state = plan.seed;
    while drawn.len() > plan.pairs {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        drawn.swap_remove((state >> 33) as usize % drawn.len());
    }
    let mut by_file: BTreeMap<String, Vec<(String, u32)>> = BTreeMap::new();
    drawn
        .iter()
        .for_each(|(doc, path, line)| by_file.entry(path.clone()).or_default().push((doc.clone(), *line)));
    for (path, docs) in by_file {
        take_out(&tree.join(path), &docs)?;
    }
    index.build(IndexBuild::Refresh).await?;
    let pair = |(question, path, _): (String, String, u32)| Pair {
        question,
        parent: None,
        files: vec![path],
        recent: Vec::new(),
        history: Arc::default(),
    };
    Ok((drawn.into_iter().map(pair).collect(), index))
}

/// Takes the lines out of a file that say what is asked.
fn take_out(path: &Path, docs: &[(String, u32)]) -> Result<()> {
    let text = std::fs::read_to_string(path)?;
    let is_asked = |place: usize, line: &str| {
        docs.iter().any(|(doc, at)| line.contains(doc.as_str()) && place.abs_diff(*at as usize) < NEAR)
    };
    let kept: Vec<&str> =
        text.lines().enumerate().map(|(place, line)| if is_asked(place, line) { "" } else { line }).collect();
    std::fs::write(path, kept.join("\n"))?;
    Ok(())
}
