//! Tokens, and pairing, which gives a new client one.

use loggia_protocol_agent_server::{
    CreateTokenParams, CreatedToken, PageCode, PageCodeParams, PairParams, PairResult, PairStartResult,
    TokenId, TokenList,
};

use crate::client::Ask;
use crate::{Client, Error};

impl Client {
    /// Makes a code with which a new client can get a token of its own.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn start_pairing(&self) -> Result<PairStartResult, Error> {
        self.ask(Ask::post(&["v1", "pair", "start"])).await
    }

    /// Trades a code for a token. Needs no token.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn pair(&self, params: &PairParams) -> Result<PairResult, Error> {
        self.ask(Ask::post(&["v1", "pair"]).json(params)).await
    }

    /// Makes a code with which a browser can open the page, as `/#code=…`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn page_code(&self, params: &PageCodeParams) -> Result<PageCode, Error> {
        self.ask(Ask::post(&["v1", "page", "code"]).json(params)).await
    }

    /// Lists the tokens; never their text.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn tokens(&self) -> Result<TokenList, Error> {
        self.ask(Ask::get(&["v1", "tokens"])).await
    }

    /// Makes a token. Its text is in this answer and nowhere else.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn create_token(&self, params: &CreateTokenParams) -> Result<CreatedToken, Error> {
        self.ask(Ask::post(&["v1", "tokens"]).json(params)).await
    }

    /// Makes a token worthless.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn revoke_token(&self, id: &TokenId) -> Result<(), Error> {
        self.tell(Ask::delete(&["v1", "tokens", &id.0])).await
    }
}
