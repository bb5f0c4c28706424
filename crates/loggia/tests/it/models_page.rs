//! What the page about models tells people to write is what the configuration takes.

use crate::stage::{Stage, documents};

/// The blocks of TOML on a page.
fn examples(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(documents().join(page)).unwrap();
    let blocks = text.split("```toml\n").skip(1);
    blocks.map(|block| block.split_once("```").unwrap().0.to_owned()).collect()
}

#[test]
fn every_example_is_understood() {
    let examples = examples("models.md");
    assert!(examples.len() >= 5, "{examples:?}");
    for example in examples {
        let stage = Stage::new();
        stage.user_file(&example);
        let shown = stage.run(&["config", "show", "--json"]);
        assert_eq!(shown.code, Some(0), "{example}\n{shown}");
        let settings = example.lines().filter(|line| line.contains(" = ")).count();
        let taken = shown.to_string().matches("\"user_file\"").count();
        assert_eq!(taken, settings, "{example}\n{shown}");
    }
}

#[test]
fn what_the_page_says_about_models_reaches_them() {
    let examples = examples("models.md");
    let catalogue = examples.iter().find(|example| example.contains("[catalogue.")).unwrap();
    let endpoints = examples.iter().find(|example| example.contains("[models.lab]")).unwrap();
    let stage = Stage::new();
    let model = "[model]\ndefault = \"lab:qwen2.5-coder:32b\"\n";
    stage.user_file(&format!("{model}\n{endpoints}\n{catalogue}"));
    let shown = stage.run(&["config", "show", "catalogue.\"lab:qwen2.5-coder:32b\".context_tokens"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert!(shown.to_string().contains("65536"), "{shown}");
    let half = format!("{model}\n{endpoints}\n[catalogue.\"lab:m\"]\ninput_price = 1\n");
    stage.user_file(&half);
    let shown = stage.run(&["serve", "--addr", "127.0.0.1:0"]);
    assert_eq!(shown.code, Some(3), "{shown}");
    assert!(shown.to_string().contains("a price needs both `input_price` and `output_price`"), "{shown}");
}
