//! What was used, and what that cost where it is known.

use loggia_protocol_agent_server::{ReplyMetadata, TokenUsage};

use crate::paint::grouped;

/// Less than this cannot be told in the digits that are shown.
const LEAST_SHOWN: f64 = 0.0001;

/// What a turn or a session used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spent {
    /// In and out.
    tokens: u64,
    /// In US dollars; absent where a price is not known.
    cost: Option<f64>,
}

impl Spent {
    /// Nothing, which costs nothing.
    pub(crate) const NOTHING: Self = Self { tokens: 0, cost: Some(0.0) };

    /// Both together. What one of them cost is not known: nor what both did.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let cost = self.cost.zip(other.cost).map(|(one, other)| one + other);
        Self { tokens: self.tokens.saturating_add(other.tokens), cost }
    }

    /// Whether nothing was used.
    pub(crate) fn is_nothing(self) -> bool {
        self.tokens == 0 && self.cost.is_none_or(|cost| cost == 0.0)
    }

    /// In words: `1,234 tokens, $0.012`. Something that is free is told by its tokens alone.
    pub(crate) fn words(self) -> String {
        let tokens = format!("{} tokens", grouped(self.tokens));
        self.price().map_or(tokens.clone(), |price| format!("{tokens}, {price}"))
    }

    /// What it cost, if that is known and something.
    pub(crate) fn price(self) -> Option<String> {
        self.cost.filter(|cost| *cost > 0.0).map(dollars)
    }

    /// How many tokens, in words, if there were any.
    pub(crate) fn tokens(self) -> Option<String> {
        (self.tokens > 0).then(|| format!("{} tokens", grouped(self.tokens)))
    }
}

impl From<&ReplyMetadata> for Spent {
    fn from(turn: &ReplyMetadata) -> Self {
        Self { tokens: turn.tokens_used, cost: turn.cost_usd }
    }
}

impl From<Option<TokenUsage>> for Spent {
    fn from(session: Option<TokenUsage>) -> Self {
        session.map_or(Self::NOTHING, |used| Self {
            tokens: used.input_tokens.saturating_add(used.output_tokens),
            cost: used.cost_usd,
        })
    }
}

/// Dollars in as many digits as mean something.
fn dollars(amount: f64) -> String {
    match amount {
        amount if amount < LEAST_SHOWN => format!("under ${LEAST_SHOWN}"),
        amount if amount < 0.01 => format!("${amount:.4}"),
        amount if amount < 1.0 => format!("${amount:.3}"),
        amount => format!("${amount:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(tokens: u64, cost: Option<f64>) -> Spent {
        Spent { tokens, cost }
    }

    #[test]
    fn a_cost_is_told_where_it_is_known() {
        assert_eq!(spent(1234, None).words(), "1,234 tokens");
        assert_eq!(spent(1234, Some(0.0)).words(), "1,234 tokens");
        assert_eq!(spent(1234, Some(0.012_34)).words(), "1,234 tokens, $0.012");
        let told = [0.000_01, 0.001_23, 0.5, 12.345].map(dollars);
        assert_eq!(told, ["under $0.0001", "$0.0012", "$0.500", "$12.35"]);
    }

    #[test]
    fn a_sum_is_known_only_if_both_parts_are() {
        assert_eq!(spent(1, Some(0.5)).and(spent(2, Some(0.25))), spent(3, Some(0.75)));
        assert_eq!(spent(1, Some(0.5)).and(spent(2, None)), spent(3, None));
        assert!(Spent::from(None).is_nothing() && !spent(1, None).is_nothing());
    }
}
