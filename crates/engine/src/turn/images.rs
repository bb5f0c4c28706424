//! Images that people showed: which of them a model is shown, and their bytes.
//!
//! The newest ones, as many as a request may hold. Of the others a model is told that they were there, so that what was
//! said about them makes sense.

use std::collections::HashMap;
use std::sync::Arc;

use loggia_domain::{ContentHash, Instruction, ModelImage, ModelMessage, Seq, Store};

use crate::engine::{MAX_IMAGES, MAX_IMAGES_BYTES};
use crate::session::{HistoryItem, Said};

/// The images of a conversation that a model is shown.
#[derive(Debug, Default)]
pub(super) struct Images {
    /// Whether the model can look at any.
    seen: bool,
    /// By the instruction and the place in it; nothing where the bytes are gone.
    chosen: HashMap<(Seq, usize), Option<Arc<[u8]>>>,
}

impl Images {
    /// Which ones are shown, without their bytes: enough to count them.
    pub(super) fn counted(said: &[Arc<HistoryItem>], seen: bool) -> Self {
        let nothing = || Some(Arc::from([]));
        let chosen = match seen {
            true => newest(said).into_iter().map(|(place, _)| (place, nothing())).collect(),
            false => HashMap::new(),
        };
        Self { seen, chosen }
    }

    /// Which ones are shown, with their bytes.
    pub(super) async fn load(store: &Arc<dyn Store>, said: &[Arc<HistoryItem>], seen: bool) -> Self {
        if !seen {
            return Self::default();
        }
        let (mut chosen, mut loaded) = (HashMap::new(), HashMap::<ContentHash, Option<Arc<[u8]>>>::new());
        for (place, hash) in newest(said) {
            let bytes = match loaded.get(&hash) {
                Some(bytes) => bytes.clone(),
                None => read(store, hash).await,
            };
            loaded.insert(hash, bytes.clone());
            chosen.insert(place, bytes);
        }
        Self { seen, chosen }
    }

    /// An instruction with what its user showed; `text` is what its user said.
    pub(super) fn message(&self, seq: Seq, instruction: &Instruction, text: String) -> ModelMessage {
        if instruction.images.is_empty() {
            return ModelMessage::User(text);
        }
        let (mut images, mut told) = (Vec::new(), String::new());
        for (place, image) in instruction.images.iter().enumerate() {
            let why_not = match self.chosen.get(&(seq, place)) {
                Some(Some(bytes)) => {
                    let (media_type, bytes) = (image.media_type.clone(), Arc::clone(bytes));
                    images.push(ModelImage { media_type, bytes });
                    ""
                }
                Some(None) => ", which is not there any more",
                None if self.seen => ", which is left out to make room",
                None => ", which you cannot look at",
            };
            told.push_str(&format!("[{}{why_not}]\n", image.mark(place + 1)));
        }
        told.push_str(&text);
        match images.is_empty() {
            true => ModelMessage::User(told),
            false => ModelMessage::Shown { text: told, images },
        }
    }
}

/// The newest images that fit into one request, with their places.
fn newest(said: &[Arc<HistoryItem>]) -> Vec<((Seq, usize), ContentHash)> {
    let shown = said.iter().rev().filter_map(|item| match &item.said {
        Said::User { instruction, .. } => Some((item.seq, instruction)),
        _ => None,
    });
    let images = shown.flat_map(|(seq, instruction)| {
        instruction.images.iter().enumerate().rev().map(move |(place, image)| ((seq, place), image))
    });
    let mut room = MAX_IMAGES_BYTES;
    let fitting = images.take(MAX_IMAGES).map_while(|(place, image)| {
        room = room.checked_sub(image.bytes)?;
        Some((place, image.hash))
    });
    fitting.collect()
}

async fn read(store: &Arc<dyn Store>, hash: ContentHash) -> Option<Arc<[u8]>> {
    match store.blob(hash).await {
        Ok(bytes) => Some(bytes.into()),
        // The text is worked on without it; a store that does not answer at all ends the turn when it is written to.
        Err(error) => {
            tracing::warn!(%error, "an image cannot be shown to the model");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use loggia_domain::{Actor, Image};

    use super::*;

    fn shown(seq: u64, sizes: &[u64]) -> Arc<HistoryItem> {
        let image = |bytes: &u64| Image {
            hash: ContentHash::of(&bytes.to_le_bytes()),
            media_type: "image/png".to_owned(),
            bytes: *bytes,
            name: None,
        };
        let images = sizes.iter().map(image).collect();
        let instruction = Instruction { images, ..Instruction::default() };
        Arc::new(HistoryItem { seq: Seq(seq), said: Said::User { instruction, by: Actor::Engine } })
    }

    fn chosen(said: &[Arc<HistoryItem>]) -> Vec<(u64, usize)> {
        newest(said).into_iter().map(|((seq, place), _)| (seq.0, place)).collect()
    }

    #[test]
    fn the_newest_images_are_shown_as_far_as_they_fit() {
        let said = [shown(1, &[1, MAX_IMAGES_BYTES]), shown(2, &[5, 6])];
        assert_eq!(chosen(&said), [(2, 1), (2, 0)]);
        let many: Vec<_> = (0..30).map(|seq| shown(seq, &[1; 10])).collect();
        assert_eq!(chosen(&many).len(), MAX_IMAGES);
        assert_eq!(chosen(&many)[0], (29, 9));
    }

    #[test]
    fn what_is_not_shown_is_told() {
        let said = [shown(1, &[MAX_IMAGES_BYTES]), shown(2, &[5])];
        let message = |images: &Images, place: usize| {
            let Said::User { instruction, .. } = &said[place].said else { panic!() };
            images.message(said[place].seq, instruction, "Look.".to_owned())
        };
        let counted = Images::counted(&said, true);
        let left_out = "[Image #1, which is left out to make room]\nLook.";
        assert_eq!(message(&counted, 0), ModelMessage::User(left_out.to_owned()));
        let ModelMessage::Shown { text, images } = message(&counted, 1) else { panic!() };
        assert_eq!((text.as_str(), images.len()), ("[Image #1]\nLook.", 1));
        let blind = Images::counted(&said, false);
        let unseen = "[Image #1, which you cannot look at]\nLook.";
        assert_eq!(message(&blind, 1), ModelMessage::User(unseen.to_owned()));
    }
}
