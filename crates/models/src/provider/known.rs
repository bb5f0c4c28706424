//! A catalogue of common models: what they look at, what they can do, what they cost.
//!
//! Prices are the providers' list prices as they were known in January 2026, and change; settings override them.
//! A name is matched by its longest known beginning. What always holds: a price is given only for a name that is known
//! whole, apart from a date or a channel at its end, so that a newer model is not sold at an older one's price.

use loggia_domain::{ModelAbilities, Price};

const TOOLS: ModelAbilities = ModelAbilities { tools: true, images: false, reasoning: false };
const SEES: ModelAbilities = ModelAbilities { tools: true, images: true, reasoning: false };
const THINKS: ModelAbilities = ModelAbilities { tools: true, images: false, reasoning: true };
const ALL: ModelAbilities = ModelAbilities { tools: true, images: true, reasoning: true };
/// It looks at pictures and calls no tools.
const ONLY_SEES: ModelAbilities = ModelAbilities { tools: false, images: true, reasoning: false };

/// What is known about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) context_tokens: u64,
    pub(crate) abilities: ModelAbilities,
    pub(crate) price: Option<Price>,
}

/// A row: the beginning of a name, its window, its abilities, and the prices of input, cached input and output in cents
/// of a cent (10,000 are one US dollar) per million tokens; all zero where the price is not known.
type Row = (&'static str, u64, ModelAbilities, [u64; 3]);

/// Where a price is not known.
const UNKNOWN: [u64; 3] = [0; 3];

/// The models, per provider.
#[rustfmt::skip]
const ROWS: &[(&str, &[Row])] = &[
    ("openai", &[
        ("gpt-5.2",            400_000, ALL,    [17_500, 1_750, 140_000]),
        ("gpt-5.1-codex-mini", 400_000, ALL,    [ 2_500,   250,  20_000]),
        ("gpt-5.1-codex",      400_000, ALL,    [12_500, 1_250, 100_000]),
        ("gpt-5.1",            400_000, ALL,    [12_500, 1_250, 100_000]),
        ("gpt-5-codex",        400_000, ALL,    [12_500, 1_250, 100_000]),
        ("gpt-5-mini",         400_000, ALL,    [ 2_500,   250,  20_000]),
        ("gpt-5-nano",         400_000, ALL,    [   500,    50,   4_000]),
        ("gpt-5",              400_000, ALL,    [12_500, 1_250, 100_000]),
        ("gpt-4.1-mini",     1_047_576, SEES,   [ 4_000, 1_000,  16_000]),
        ("gpt-4.1-nano",     1_047_576, SEES,   [ 1_000,   250,   4_000]),
        ("gpt-4.1",          1_047_576, SEES,   [20_000, 5_000,  80_000]),
        ("gpt-4o-mini",        128_000, SEES,   [ 1_500,   750,   6_000]),
        ("gpt-4o",             128_000, SEES,   [25_000, 12_500, 100_000]),
        ("o3",                 200_000, ALL,    [20_000, 5_000,  80_000]),
        ("o4-mini",            200_000, ALL,    [11_000, 2_750,  44_000]),
        ("gpt-",               128_000, SEES,   UNKNOWN),
    ]),
    ("anthropic", &[
        ("claude-opus-4-6",    200_000, ALL,    [ 50_000,  5_000, 250_000]),
        ("claude-opus-4-5",    200_000, ALL,    [ 50_000,  5_000, 250_000]),
        ("claude-opus-4-1",    200_000, ALL,    [150_000, 15_000, 750_000]),
        ("claude-opus-4",      200_000, ALL,    [150_000, 15_000, 750_000]),
        ("claude-sonnet-4-6",  200_000, ALL,    [ 30_000,  3_000, 150_000]),
        ("claude-sonnet-4-5",  200_000, ALL,    [ 30_000,  3_000, 150_000]),
        ("claude-sonnet-4",    200_000, ALL,    [ 30_000,  3_000, 150_000]),
        ("claude-haiku-4-5",   200_000, ALL,    [ 10_000,  1_000,  50_000]),
        ("claude-3-7-sonnet",  200_000, ALL,    [ 30_000,  3_000, 150_000]),
        ("claude-3-5-haiku",   200_000, SEES,   [  8_000,    800,  40_000]),
        ("claude-",            200_000, SEES,   UNKNOWN),
    ]),
    ("gemini", &[
        ("gemini-3-pro",     1_048_576, ALL,    [20_000, 2_000, 120_000]),
        ("gemini-3-flash",   1_048_576, ALL,    [ 5_000,   500,  30_000]),
        ("gemini-2.5-pro",   1_048_576, ALL,    [12_500, 1_250, 100_000]),
        ("gemini-2.5-flash-lite", 1_048_576, ALL, [1_000, 100,    4_000]),
        ("gemini-2.5-flash", 1_048_576, ALL,    [ 3_000,   300,  25_000]),
        ("gemini-",          1_048_576, SEES,   UNKNOWN),
    ]),
    ("deepseek", &[
        ("deepseek-chat",      128_000, TOOLS,  [ 2_800,   280,   4_200]),
        ("deepseek-reasoner",  128_000, THINKS, [ 2_800,   280,   4_200]),
    ]),
    ("xai", &[
        ("grok-4-1-fast",    2_000_000, ALL,    [ 2_000,   500,   5_000]),
        ("grok-4-fast",      2_000_000, ALL,    [ 2_000,   500,   5_000]),
        ("grok-4",             256_000, ALL,    [30_000, 7_500, 150_000]),
        ("grok-code-fast-1",   256_000, THINKS, [ 2_000,   200,  15_000]),
        ("grok-",              131_072, TOOLS,  UNKNOWN),
    ]),
    ("mistral", &[
        ("devstral-medium",    128_000, TOOLS,  [ 4_000, 4_000,  20_000]),
        ("mistral-large",      128_000, SEES,   UNKNOWN),
        ("codestral",          256_000, TOOLS,  [ 3_000, 3_000,   9_000]),
    ]),
    // Open models: whoever serves them sets the price.
    ("", &[
        ("qwen3-coder",        262_144, TOOLS,  UNKNOWN),
        ("qwen3",               40_960, THINKS, UNKNOWN),
        ("qwen2.5-coder",       32_768, TOOLS,  UNKNOWN),
        ("gpt-oss",            131_072, THINKS, UNKNOWN),
        ("llama-3.3",          131_072, TOOLS,  UNKNOWN),
        ("llama3.3",           131_072, TOOLS,  UNKNOWN),
        ("llama3.1",           131_072, TOOLS,  UNKNOWN),
        ("llama3.2-vision",    131_072, ONLY_SEES, UNKNOWN),
        ("devstral",           131_072, TOOLS,  UNKNOWN),
        ("kimi-k2",            262_144, TOOLS,  UNKNOWN),
        ("glm-4.6",            200_000, THINKS, UNKNOWN),
        ("deepseek-r1",        128_000, THINKS, UNKNOWN),
        ("gemma3",             131_072, ONLY_SEES, UNKNOWN),
    ]),
];

/// Millionths of a dollar in what the rows count in.
const UNIT: u64 = 100;

/// What is known about a model with this name, without its provider's.
pub(crate) fn find(model: &str) -> Option<Known> {
    // Gateways name the maker before the model, and write versions with a dot.
    let bare = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let dashed = bare.replace('.', "-");
    let named = |name: &str| rest(&bare, name).or_else(|| rest(&dashed, name));
    let rows = ROWS.iter().flat_map(|(_, rows)| *rows);
    let best = rows.filter(|row| named(row.0).is_some()).max_by_key(|row| row.0.len())?;
    let (name, context_tokens, abilities, prices) = *best;
    let exact = named(name).is_some_and(is_variant);
    let price = Price { input: prices[0] * UNIT, cached_input: prices[1] * UNIT, output: prices[2] * UNIT };
    Some(Known { context_tokens, abilities, price: (exact && prices != UNKNOWN).then_some(price) })
}

fn rest<'a>(model: &'a str, name: &str) -> Option<&'a str> {
    model.strip_prefix(name)
}

/// Whether what follows a known name is only a date or a channel.
fn is_variant(rest: &str) -> bool {
    let date = |text: &str| text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match rest.strip_prefix(['-', '@']) {
        None => rest.is_empty(),
        Some("latest" | "preview") => true,
        Some(text) => date(text.strip_prefix("preview-").unwrap_or(text)),
    }
}

/// The known names of a provider's models.
pub(crate) fn names_of(provider: &str) -> impl Iterator<Item = &'static str> {
    let rows = ROWS.iter().filter(move |(name, _)| *name == provider).flat_map(|(_, rows)| *rows);
    rows.map(|row| row.0).filter(|name| !name.ends_with('-'))
}

/// How alike two names must be for one to be a misspelling of the other.
const ALIKE: f64 = 0.75;

/// The name most like this one, if one is like it at all.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|name| (strsim::jaro_winkler(wanted, name), name));
    let best = scored.filter(|(score, _)| *score >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.1 != wanted).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_its_longest_beginning() {
        let price = |name: &str| find(name).and_then(|known| known.price).map(|price| price.input);
        assert_eq!(price("gpt-5"), Some(1_250_000));
        assert_eq!(price("gpt-5-mini"), Some(250_000));
        assert_eq!(price("gpt-5-2025-08-07"), Some(1_250_000));
        assert_eq!(price("claude-sonnet-4-5-20250929"), Some(3_000_000));
        assert_eq!(price("anthropic/claude-sonnet-4.5"), Some(3_000_000));
        assert_eq!(price("gemini-3-pro-preview"), Some(2_000_000));
    }

    #[test]
    fn a_newer_model_is_not_sold_at_an_older_ones_price() {
        let newer = find("gpt-5.9-ultra").unwrap();
        assert_eq!((newer.context_tokens, newer.price), (400_000, None));
        assert_eq!(find("claude-opus-9").unwrap().price, None);
        assert_eq!(find("gpt-5-pro").unwrap().price, None);
        assert_eq!(find("somebodys-model"), None);
    }

    #[test]
    fn a_misspelt_name_finds_the_one_that_was_meant() {
        assert_eq!(nearest("gpt5-mini", names_of("openai")), Some("gpt-5-mini"));
        assert_eq!(nearest("claude-sonet-4-5", names_of("anthropic")), Some("claude-sonnet-4-5"));
        assert_eq!(nearest("zzz", names_of("openai")), None);
    }
}
