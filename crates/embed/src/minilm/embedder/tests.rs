//! The model with its real files, where `LOGGIA_MINILM` names a directory with them.
//!
//! The expected numbers were computed apart from this program: by a few lines of NumPy in double precision, from the same
//! files and with the tokenizer of the same authors.

use super::*;

/// What ten thousand steps in single precision may add up to; texts differ by a thousand times as much.
const TOLERANCE: f32 = 1e-4;

const SENTENCE: &str = "This is an example sentence";
const CODE: &str = "fn read_line(reader: &mut impl BufRead) -> io::Result<String>";

/// The model, or nothing where its files are not known. A test that gets nothing has not run, and says so.
async fn model() -> Option<MiniLm> {
    let Some(directory) = std::env::var_os("LOGGIA_MINILM") else {
        eprintln!("NOT RUN: `LOGGIA_MINILM` names no directory with the files of the model");
        return None;
    };
    Some(MiniLm::open(Path::new(&directory)).await.unwrap())
}

async fn vectors(model: &MiniLm, texts: &[&str]) -> Vec<Vec<f32>> {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    let vectors = model.embed(texts).await.unwrap();
    assert!(vectors.iter().all(|vector| vector.len() == model.dimensions()));
    vectors
}

fn nearness(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn assert_near(found: &[f32], expected: &[f32]) {
    let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < TOLERANCE);
    assert!(is_near, "{:?} is not {expected:?}", &found[..expected.len()]);
}

#[tokio::test]
async fn vectors_are_those_of_the_reference() {
    let Some(model) = model().await else { return };
    // More tokens than are looked at.
    let long = (0..300).map(|number| format!("word{number} number")).collect::<Vec<_>>().join(" ");
    let found = vectors(&model, &[SENTENCE, CODE, &long]).await;
    assert_near(&found[0], &[0.067_657, 0.063_496, 0.048_713, 0.079_305, 0.037_448]);
    assert_near(&found[1], &[-0.029_362, 0.055_973, -0.056_154, 0.042_112, -0.019_008]);
    assert_near(&found[2], &[-0.002_993, -0.059_868, -0.006_000, -0.031_196, -0.039_639]);
    assert_near(
        &[nearness(&found[0], &found[1]), nearness(&found[0], &found[2]), nearness(&found[1], &found[2])],
        &[-0.016_954, 0.087_713, 0.107_675],
    );
    for vector in &found {
        assert!((nearness(vector, vector) - 1.0).abs() < TOLERANCE);
    }
}

#[tokio::test]
async fn what_means_the_same_is_nearer_than_what_does_not() {
    let Some(model) = model().await else { return };
    let found = vectors(
        &model,
        &[
            "how a file is read line by line",
            CODE,
            "fn area(width: f64, height: f64) -> f64 { width * height }",
        ],
    )
    .await;
    let (near, far) = (nearness(&found[0], &found[1]), nearness(&found[0], &found[2]));
    assert!(near > far + 0.2, "{near} {far}");
}

#[tokio::test]
async fn a_text_has_the_same_vector_among_others_and_alone() {
    let Some(model) = model().await else { return };
    let texts = [SENTENCE, "", CODE, "é", "a", "b", "c", "d", "e", SENTENCE];
    let found = vectors(&model, &texts).await;
    assert_eq!(found.len(), texts.len());
    for (vector, text) in found.iter().zip(texts) {
        assert_near(vector, &vectors(&model, &[text]).await[0]);
    }
    assert!(vectors(&model, &[]).await.is_empty());
}

#[tokio::test]
async fn a_batch_that_nobody_waits_for_ends_its_turn() {
    let Some(model) = model().await else { return };
    drop(tokio::time::timeout(std::time::Duration::ZERO, vectors(&model, &[SENTENCE])).await);
    assert_eq!(vectors(&model, &[SENTENCE]).await.len(), 1);
}
