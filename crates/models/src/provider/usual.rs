//! The endpoints everybody knows.

use crate::EndpointKind;
use crate::address::Address;

/// An endpoint that need not be configured.
#[derive(Debug)]
pub(crate) struct Usual {
    pub(crate) name: &'static str,
    pub(crate) kind: EndpointKind,
    pub(crate) address: &'static str,
    /// The variable that holds another address, if its own tools read one.
    pub(crate) address_variable: Option<&'static str>,
    /// The variables that may hold its key; empty if it needs none.
    pub(crate) key_variables: &'static [&'static str],
    /// Which model to use when only the key is there.
    pub(crate) default_model: Option<&'static str>,
}

const fn compatible(
    name: &'static str,
    address: &'static str,
    key_variables: &'static [&'static str],
    default_model: Option<&'static str>,
) -> Usual {
    Usual { name, kind: EndpointKind::OpenAi, address, address_variable: None, key_variables, default_model }
}

/// The endpoints that need not be configured, in the order in which a default is looked for.
pub(crate) const USUAL: &[Usual] = &[
    Usual {
        name: "ollama",
        kind: EndpointKind::Ollama,
        address: "http://localhost:11434",
        address_variable: Some("OLLAMA_HOST"),
        key_variables: &[],
        default_model: None,
    },
    compatible("lmstudio", "http://localhost:1234/v1", &[], None),
    compatible("llamacpp", "http://localhost:8080/v1", &[], None),
    Usual {
        name: "anthropic",
        kind: EndpointKind::Anthropic,
        address: "https://api.anthropic.com/v1",
        address_variable: Some("ANTHROPIC_BASE_URL"),
        key_variables: &["ANTHROPIC_API_KEY"],
        default_model: Some("claude-sonnet-4-5"),
    },
    Usual {
        name: "openai",
        kind: EndpointKind::OpenAi,
        address: "https://api.openai.com/v1",
        address_variable: Some("OPENAI_BASE_URL"),
        key_variables: &["OPENAI_API_KEY"],
        default_model: Some("gpt-5"),
    },
    Usual {
        name: "gemini",
        kind: EndpointKind::Gemini,
        address: "https://generativelanguage.googleapis.com/v1beta",
        address_variable: None,
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        default_model: Some("gemini-2.5-pro"),
    },
    compatible(
        "openrouter",
        "https://openrouter.ai/api/v1",
        &["OPENROUTER_API_KEY"],
        Some("anthropic/claude-sonnet-4.5"),
    ),
    compatible("deepseek", "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"], Some("deepseek-chat")),
    compatible("xai", "https://api.x.ai/v1", &["XAI_API_KEY"], Some("grok-code-fast-1")),
    compatible("groq", "https://api.groq.com/openai/v1", &["GROQ_API_KEY"], Some("openai/gpt-oss-120b")),
    compatible("mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"], Some("devstral-medium-latest")),
    compatible("together", "https://api.together.xyz/v1", &["TOGETHER_API_KEY"], None),
    compatible("fireworks", "https://api.fireworks.ai/inference/v1", &["FIREWORKS_API_KEY"], None),
];

impl Usual {
    /// Whether this address is its own, and not somebody else's server that speaks the same.
    pub(crate) fn is_at(&self, address: &Address) -> bool {
        Address::parse(self.kind, self.address).is_ok_and(|own| own.host() == address.host())
    }

    /// Whether it is a server that people run on their own machine.
    pub(crate) fn is_local(&self) -> bool {
        self.key_variables.is_empty()
    }
}
