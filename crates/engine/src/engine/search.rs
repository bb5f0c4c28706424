//! Searching a workspace's code for people, from outside of any session.
//!
//! What always holds: nothing is told of files that the policy does not let be read without asking, as a tool would not;
//! and what is told is masked.

use std::borrow::Cow;
use std::sync::Arc;

use loggia_domain::{
    CodeFinding, CodeIndex, CodeQuery, CodeReference, Definition, IndexError, ReadableCode, ReferenceQuery,
    WorkspaceId,
};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::policy::Judge;
use crate::secrets::Masker;

/// Why code was not searched.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The workspace cannot be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The workspace has no index.
    #[error("there is no code index here")]
    NoIndex,
    /// The index cannot answer.
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl Engine {
    /// Looks for code in a workspace's index, as far as its policy lets files be read.
    ///
    /// # Errors
    /// If the workspace cannot be used, has no index, or that cannot answer.
    pub async fn search_code(
        &self,
        workspace: WorkspaceId,
        query: CodeQuery,
    ) -> Result<Vec<CodeFinding>, SearchError> {
        let (index, judge) = self.code_of(workspace).await?;
        let may_read = |path: &str| judge.may_read(path);
        let found = ReadableCode::new(&*index, &may_read).search(query).await?;
        Ok(found.into_iter().map(|found| masked(&self.shared.masker, found)).collect())
    }

    /// Finds where a name is used in a workspace, as far as its policy lets files be read.
    ///
    /// # Errors
    /// If the workspace cannot be used, has no index, or that cannot answer.
    pub async fn find_references(
        &self,
        workspace: WorkspaceId,
        query: ReferenceQuery,
    ) -> Result<Vec<CodeReference>, SearchError> {
        let (index, judge) = self.code_of(workspace).await?;
        let may_read = |path: &str| judge.may_read(path);
        let found = ReadableCode::new(&*index, &may_read).references(query).await?;
        let masked = |mut found: CodeReference| {
            mask(&self.shared.masker, &mut found.text);
            found
        };
        Ok(found.into_iter().map(masked).collect())
    }

    async fn code_of(&self, workspace: WorkspaceId) -> Result<(Arc<dyn CodeIndex>, Arc<Judge>), SearchError> {
        let open = self.shared.open_workspace(workspace).await?;
        let index = open.index().map(Arc::clone).ok_or(SearchError::NoIndex)?;
        Ok((index, open.judge_alone(&self.shared).await?))
    }
}

/// A place in the code without secrets.
pub(crate) fn masked(masker: &Masker, mut found: CodeFinding) -> CodeFinding {
    mask(masker, &mut found.snippet);
    found.symbol.iter_mut().for_each(|name| mask(masker, name));
    if let Some(Definition { container, signature, doc, .. }) = &mut found.definition {
        container.iter_mut().chain([signature, doc]).for_each(|text| mask(masker, text));
    }
    found
}

fn mask(masker: &Masker, text: &mut String) {
    if let Cow::Owned(masked) = masker.mask(text) {
        *text = masked;
    }
}
