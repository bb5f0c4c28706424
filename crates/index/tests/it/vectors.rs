//! Vectors: made in the background, the changed first, kept, and done without when they cannot be made.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use loggia_domain::{
    BoxFuture, CodeContext, CodeIndex, CodeQuery, CodeQuestion, Embedder, EmbedderError, IndexBuild,
    IndexError, QueryKind,
};
use loggia_index::{FileIndex, IndexSettings, Making};

use crate::support::{House, eventually, shown};

/// Knows that some words mean the same.
#[derive(Default)]
struct Meanings {
    batches: Mutex<Vec<Vec<String>>>,
    fails: AtomicBool,
    /// A word that it does not like.
    dislikes: Option<&'static str>,
    asked: AtomicUsize,
}

const MEANINGS: [&[&str]; 4] = [
    &["car", "vehicle", "automobile"],
    &["fruit", "apple", "pear"],
    &["river", "brook", "stream"],
    &["fn", "pub"],
];

impl Embedder for Meanings {
    fn dimensions(&self) -> usize {
        MEANINGS.len()
    }

    fn identity(&self) -> String {
        "meanings".to_owned()
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedderError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.fails.load(Ordering::Relaxed) {
            return Box::pin(async { Err(EmbedderError::Unavailable("the embedder is away".to_owned())) });
        }
        let is_disliked = |text: &String| self.dislikes.is_some_and(|word| text.contains(word));
        if texts.iter().any(is_disliked) {
            return Box::pin(async { Err(EmbedderError::Refused("a word is bad".to_owned())) });
        }
        let count =
            |text: &str, words: &[&str]| words.iter().map(|word| text.matches(word).count()).sum::<usize>();
        let vectors =
            texts.iter().map(|text| MEANINGS.iter().map(|words| count(text, words) as f32 + 0.01).collect());
        let vectors = vectors.collect();
        self.batches.lock().unwrap().push(texts);
        Box::pin(async { Ok(vectors) })
    }
}

fn open(house: &House, meanings: &Arc<Meanings>) -> FileIndex {
    let index = house.open();
    index.embed_with(Arc::clone(meanings) as Arc<dyn Embedder>, Making::All).unwrap();
    index
}

fn house() -> House {
    House::with(&[
        ("a.rs", "/// The automobile.\npub fn drive() {}\n"),
        ("b.rs", "/// The pear.\npub fn eat() {}\n"),
        ("c.rs", "/// The brook.\npub fn swim() {}\n"),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_are_found_by_what_they_mean() {
    let house = house();
    let meanings = Arc::new(Meanings::default());
    let index = open(&house, &meanings);
    index.build(IndexBuild::Rebuild).await.unwrap();
    eventually("vectors", || index.details().vectors == Some(3)).await;
    let found = index.search(CodeQuery::new("vehicle", QueryKind::Vectors, 1)).await.unwrap();
    assert_eq!(shown(&found), "a.rs:1-2 drive");
    // No word of the question is in the file.
    let question = CodeQuestion {
        text: "stream".to_owned(),
        context: CodeContext::default(),
        history: Arc::default(),
        limit: 1,
        budget: 1000,
    };
    let retrieved = index.retrieve(question).await.unwrap();
    assert_eq!(shown(&retrieved.findings), "c.rs:1-2 swim");
    assert!(meanings.batches.lock().unwrap().iter().all(|batch| batch.len() <= 8));
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_are_kept_and_only_what_changed_is_embedded_again() {
    let house = house();
    let meanings = Arc::new(Meanings::default());
    let index = open(&house, &meanings);
    index.build(IndexBuild::Rebuild).await.unwrap();
    eventually("vectors", || index.details().vectors == Some(3)).await;
    drop(index);
    let again = Arc::new(Meanings::default());
    let index = open(&house, &again);
    index.build(IndexBuild::Rebuild).await.unwrap();
    house.write("b.rs", "/// The apple of an automobile.\npub fn eat() {}\n");
    index.changed(vec!["b.rs".to_owned()]).await.unwrap();
    eventually("the change", || !again.batches.lock().unwrap().is_empty()).await;
    eventually("its vector", || index.details().vectors == Some(4)).await;
    let batches = again.batches.lock().unwrap().clone();
    assert_eq!(batches.len(), 1, "{batches:?}");
    assert!(batches[0].len() == 1 && batches[0][0].contains("apple"), "{batches:?}");
    // The old piece is not there any more, though its vector is.
    let found = index.search(CodeQuery::new("pear", QueryKind::Vectors, 10)).await.unwrap();
    assert_eq!(found.iter().filter(|found| found.path == "b.rs").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_piece_that_was_edited_often_crowds_out_no_other() {
    let house = house();
    let index = open(&house, &Arc::new(Meanings::default()));
    index.build(IndexBuild::Rebuild).await.unwrap();
    eventually("vectors", || index.details().vectors == Some(3)).await;
    for edit in 1..=50 {
        house.write("b.rs", format!("/// The {}.\npub fn eat() {{}}\n", "pear ".repeat(edit + 1)));
        index.changed(vec!["b.rs".to_owned()]).await.unwrap();
        eventually("the edit", || index.details().vectors == Some(3 + edit as u64)).await;
    }
    let found = index.search(CodeQuery::new("apple", QueryKind::Vectors, 3)).await.unwrap();
    let mut paths: Vec<&str> = found.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(paths[0], "b.rs");
    paths.sort_unstable();
    assert_eq!(paths, ["a.rs", "b.rs", "c.rs"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_of_secret_files_are_given_to_no_embedder() {
    let house = house();
    house.write("keys/.env", "PEAR=fruit\n");
    let is_secret = |path: &str| path == "keys/.env";
    let index = FileIndex::open(IndexSettings { is_secret, ..house.settings() }).unwrap();
    let meanings = Arc::new(Meanings::default());
    index.embed_with(Arc::clone(&meanings) as Arc<dyn Embedder>, Making::All).unwrap();
    index.build(IndexBuild::Rebuild).await.unwrap();
    eventually("vectors", || index.details().vectors == Some(3)).await;
    // Nor when it changes, is looked for by name, or lies beside files that do.
    house.write("keys/.env", "PEAR=apple\n");
    house.write("b.rs", "/// The apple.\npub fn eat() {}\n");
    index.changed(vec!["keys/.env".to_owned(), "b.rs".to_owned()]).await.unwrap();
    let question = CodeQuestion {
        text: "PEAR".to_owned(),
        context: CodeContext::default(),
        history: Arc::default(),
        limit: 5,
        budget: 1000,
    };
    let retrieved = index.retrieve(question.clone()).await.unwrap();
    assert!(shown(&retrieved.findings).contains("keys/.env"), "{retrieved:?}");
    index.embed_for(question, 5).await.unwrap();
    eventually("the change", || index.details().vectors == Some(4)).await;
    let batches = meanings.batches.lock().unwrap().concat();
    assert!(batches.iter().all(|text| !text.contains("PEAR=")), "{batches:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_use_most_is_embedded_first() {
    let house = House::with(&[("z.rs", "pub fn most_used() {}\n"), ("m.rs", "pub fn less_used() {}\n")]);
    for number in 0..20 {
        let uses = if number < 3 { "most_used(); less_used();" } else { "most_used();" };
        house.write(&format!("f{number}.rs"), format!("fn user_{number}() {{ {uses} }}\n"));
    }
    drop(house.built().await);
    let meanings = Arc::new(Meanings::default());
    let index = open(&house, &meanings);
    eventually("vectors", || index.details().vectors == Some(22)).await;
    let batches = meanings.batches.lock().unwrap().concat();
    let is_about = |place: usize, words: &str| batches[place].contains(words);
    assert!(is_about(0, "pub fn most_used") && is_about(1, "pub fn less_used"), "{batches:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_that_cannot_be_kept_are_told_and_may_be_tried_again() {
    let house = house();
    let index = house.built().await;
    let in_the_way = house.data.path().join("vectors");
    std::fs::create_dir(&in_the_way).unwrap();
    let meanings = Arc::new(Meanings::default());
    let give = || index.embed_with(Arc::clone(&meanings) as Arc<dyn Embedder>, Making::All);
    give().unwrap_err();
    let notes = index.details().notes;
    assert!(notes.len() == 1 && notes[0].starts_with("vectors cannot be kept: "), "{notes:?}");
    assert_eq!(index.details().vectors, None);
    std::fs::remove_dir(&in_the_way).unwrap();
    give().unwrap();
    assert_eq!(index.details().notes, Vec::<String>::new());
    eventually("vectors", || index.details().vectors == Some(3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_piece_that_is_refused_is_passed_over_and_all_others_get_vectors() {
    let house = house();
    for number in 0..20 {
        let word = if number % 7 == 3 { "odious" } else { "plain" };
        house.write(&format!("f{number:02}.rs"), format!("pub fn {word}_{number}() {{}}\n"));
    }
    let meanings = Arc::new(Meanings { dislikes: Some("odious"), ..Meanings::default() });
    let index = open(&house, &meanings);
    index.build(IndexBuild::Rebuild).await.unwrap();
    eventually("vectors", || index.details().vectors == Some(20)).await;
    eventually("a note", || !index.details().notes.is_empty()).await;
    let note = "3 pieces of code were refused by the embedder and have no vector: a word is bad";
    assert_eq!(index.details().notes, [note]);
    // It is asked for the rest, but not for these again.
    let asked = meanings.asked.load(Ordering::Relaxed);
    house.write("b.rs", "/// The apple.\npub fn eat() {}\n");
    index.changed(vec!["b.rs".to_owned()]).await.unwrap();
    eventually("the change", || index.details().vectors == Some(21)).await;
    assert_eq!(meanings.asked.load(Ordering::Relaxed), asked + 1);
    // One that changed may be to its liking.
    house.write("f03.rs", "pub fn plain_3() {}\n");
    index.changed(vec!["f03.rs".to_owned()]).await.unwrap();
    eventually("the changed one", || index.details().vectors == Some(22)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedder_that_is_away_is_told_and_done_without() {
    let house = house();
    let meanings = Arc::new(Meanings::default());
    meanings.fails.store(true, Ordering::Relaxed);
    let index = open(&house, &meanings);
    index.build(IndexBuild::Rebuild).await.unwrap();
    eventually("a failure", || !index.details().notes.is_empty()).await;
    assert_eq!(index.details().vectors, Some(0));
    assert_eq!(index.details().notes, ["vectors are not made for now: the embedder is away"]);
    let error = index.search(CodeQuery::new("pear", QueryKind::Vectors, 3)).await.unwrap_err();
    assert_eq!(error, IndexError::Unavailable("the embedder is away".to_owned()));
    let fused = index.search(CodeQuery::new("pear", QueryKind::Fused, 3)).await.unwrap();
    assert_eq!(shown(&fused), "b.rs:1-2 eat");
    // Once it is back, all that it failed with is made up for.
    meanings.fails.store(false, Ordering::Relaxed);
    house.write("b.rs", "/// The apple.\npub fn eat() {}\n");
    index.changed(vec!["b.rs".to_owned()]).await.unwrap();
    eventually("all of them", || index.details().vectors == Some(3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_not_wanted_take_no_places_of_those_that_are() {
    let house = House::with(&[("docs/far.md", "A stone.\n")]);
    for number in 0..80 {
        house.write(
            &format!("src/f{number}.rs"),
            format!("/// The pear of {number}.\npub fn eat_{number}() {{}}\n"),
        );
    }
    let meanings = Arc::new(Meanings::default());
    let index = open(&house, &meanings);
    index.build(IndexBuild::Rebuild).await.unwrap();
    eventually("vectors", || index.details().vectors == Some(81)).await;
    let query =
        CodeQuery { paths: vec!["docs/".to_owned()], ..CodeQuery::new("pear", QueryKind::Vectors, 3) };
    assert_eq!(shown(&index.search(query).await.unwrap()), "docs/far.md:1-1");
}
