//! Facts as bytes: numbers of variable length, then compressed as a whole.
//!
//! Knows the layout and nothing of what is in it. What is read back is what was written, or an error: every length is
//! checked before anything is allocated for it.

use std::io;

use loggia_domain::{ReferenceKind, SymbolKind};

use crate::chunks::{Chunk, ChunkHash};
use crate::facts::{Facts, NameHash, Symbol, Use};
use crate::numbers::{Reader, Writer};

/// The bytes are not what we wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored symbols of a file cannot be read")]
pub(crate) struct DamagedFacts;

/// The most that the facts of one file may come to: a file of the largest size has less.
const MAX_FACTS: usize = 64 * 1024 * 1024;

/// How many texts a definition has.
const TEXTS: usize = 4;

const USE_KINDS: [ReferenceKind; 4] =
    [ReferenceKind::Call, ReferenceKind::Type, ReferenceKind::Import, ReferenceKind::Value];

/// Facts as they are stored.
pub(crate) fn encode(facts: &Facts) -> Vec<u8> {
    let mut out = Writer::default();
    out.number(facts.symbols.len() as u64);
    let mut last = 0;
    for symbol in &facts.symbols {
        out.byte(symbol.kind as u8);
        out.number(u64::from(symbol.start_line.saturating_sub(last)));
        out.number(u64::from(symbol.end_line - symbol.start_line));
        last = symbol.start_line;
        let texts: [&str; TEXTS] = [&symbol.name, &symbol.container, &symbol.signature, &symbol.doc];
        texts.into_iter().for_each(|text| out.text(text));
    }
    out.number(facts.chunks.len() as u64);
    for chunk in &facts.chunks {
        // Every line is in one piece, so where one begins is known from the one before.
        out.number(u64::from(chunk.end_line - chunk.start_line));
        out.number(chunk.symbol.map_or(0, |symbol| u64::from(symbol) + 1));
        out.fixed(chunk.hash.0.to_le_bytes());
    }
    out.number(facts.uses.len() as u64);
    let (mut name, mut line) = (0, 0);
    for used in &facts.uses {
        let step = used.name.0 - name;
        if step > 0 {
            line = 0;
        }
        // A kind fits beside the step of lines; a step of names is zero for all but the first use of each.
        out.number(u64::from(step));
        out.number(u64::from(used.line - line) << 2 | used.kind as u64);
        (name, line) = (used.name.0, used.line);
    }
    lz4_flex::block::compress_prepend_size(&out.bytes)
}

/// Facts from what was stored.
pub(crate) fn decode(bytes: &[u8]) -> Result<Facts, DamagedFacts> {
    let plain = plain(bytes)?;
    let mut reader = Reader::new(&plain);
    let mut facts = read_outline(&mut reader).map_err(|_| DamagedFacts)?;
    facts.uses = read_uses(&mut reader).map_err(|_| DamagedFacts)?;
    Ok(facts)
}

/// The same without the uses of names, which most queries do not ask for and which are most of it.
pub(crate) fn decode_outline(bytes: &[u8]) -> Result<Facts, DamagedFacts> {
    read_outline(&mut Reader::new(&plain(bytes)?)).map_err(|_| DamagedFacts)
}

/// The pieces alone: whoever looks for words in them asks for nothing else.
pub(crate) fn decode_pieces(bytes: &[u8]) -> Result<Vec<Chunk>, DamagedFacts> {
    let plain = plain(bytes)?;
    let mut reader = Reader::new(&plain);
    pass_symbols(&mut reader).and_then(|()| read_pieces(&mut reader)).map_err(|_| DamagedFacts)
}

fn plain(bytes: &[u8]) -> Result<Vec<u8>, DamagedFacts> {
    let size = bytes.first_chunk().map_or(0, |size| u32::from_le_bytes(*size) as usize);
    if size > MAX_FACTS {
        return Err(DamagedFacts);
    }
    lz4_flex::block::decompress_size_prepended(bytes).map_err(|_| DamagedFacts)
}

fn read_outline(reader: &mut Reader<'_>) -> io::Result<Facts> {
    let mut facts = Facts::default();
    let mut last = 0_u32;
    for _ in 0..reader.count()? {
        let kind = usize::from(reader.byte()?);
        let kind = *SymbolKind::ALL.get(kind).ok_or_else(Reader::damage)?;
        let start_line = last.checked_add(reader.small()?).ok_or_else(Reader::damage)?;
        let end_line = start_line.checked_add(reader.small()?).ok_or_else(Reader::damage)?;
        last = start_line;
        facts.symbols.push(Symbol {
            kind,
            start_line,
            end_line,
            name: reader.text()?.into(),
            container: reader.text()?.into(),
            signature: reader.text()?.into(),
            doc: reader.text()?.into(),
        });
    }
    facts.chunks = read_pieces(reader)?;
    Ok(facts)
}

fn pass_symbols(reader: &mut Reader<'_>) -> io::Result<()> {
    for _ in 0..reader.count()? {
        reader.byte()?;
        reader.small()?;
        reader.small()?;
        for _ in 0..TEXTS {
            let count = reader.count()?;
            reader.bytes(count)?;
        }
    }
    Ok(())
}

fn read_pieces(reader: &mut Reader<'_>) -> io::Result<Vec<Chunk>> {
    let mut start_line = 1_u32;
    let mut chunks = Vec::new();
    for _ in 0..reader.count()? {
        let end_line = start_line.checked_add(reader.small()?).ok_or_else(Reader::damage)?;
        let symbol = reader.small()?.checked_sub(1);
        let hash = ChunkHash(u64::from_le_bytes(reader.fixed()?));
        chunks.push(Chunk { start_line, end_line, symbol, hash });
        start_line = end_line.checked_add(1).ok_or_else(Reader::damage)?;
    }
    Ok(chunks)
}

fn read_uses(reader: &mut Reader<'_>) -> io::Result<Vec<Use>> {
    let (mut name, mut line) = (0_u32, 0_u32);
    let count = reader.count()?;
    let mut uses = Vec::with_capacity(count);
    for _ in 0..count {
        let step = reader.small()?;
        if step > 0 {
            line = 0;
        }
        name = name.checked_add(step).ok_or_else(Reader::damage)?;
        let packed = reader.number()?;
        let kind = USE_KINDS[(packed & 3) as usize];
        let lines = u32::try_from(packed >> 2).map_err(|_| Reader::damage())?;
        line = line.checked_add(lines).ok_or_else(Reader::damage)?;
        uses.push(Use { name: NameHash(name), line, kind });
    }
    reader.end()?;
    Ok(uses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Facts {
        let symbol = |name: &str, start_line, end_line| Symbol {
            name: name.into(),
            kind: SymbolKind::Method,
            container: "Thing".into(),
            signature: "fn f()".into(),
            doc: "Does.".into(),
            start_line,
            end_line,
        };
        let used = |name: &[u8], line, kind| Use { name: NameHash::of(name), line, kind };
        let mut uses = vec![
            used(b"a", 3, ReferenceKind::Call),
            used(b"a", 3, ReferenceKind::Value),
            used(b"a", 900, ReferenceKind::Type),
            used(b"b", 1, ReferenceKind::Import),
        ];
        uses.sort_unstable();
        let chunk = |start_line, end_line, symbol| Chunk { start_line, end_line, symbol, hash: ChunkHash(7) };
        Facts {
            symbols: vec![symbol("f", 2, 9), symbol("g", 2, 2), symbol("h", 70_000, 70_001)],
            uses,
            chunks: vec![chunk(1, 60, Some(0)), chunk(61, 61, None)],
        }
    }

    #[test]
    fn facts_come_back_as_they_were() {
        for facts in [Facts::default(), sample()] {
            assert_eq!(decode(&encode(&facts)).as_ref(), Ok(&facts));
            let outline = Facts { uses: Vec::new(), ..facts.clone() };
            assert_eq!(decode_outline(&encode(&facts)), Ok(outline));
            assert_eq!(decode_pieces(&encode(&facts)), Ok(facts.chunks));
        }
        assert_eq!(sample().uses_of(NameHash::of(b"a")).len(), 3);
        assert_eq!(sample().uses_of(NameHash::of(b"none")).len(), 0);
    }

    #[test]
    fn damaged_bytes_are_an_error_and_never_a_panic() {
        let whole = encode(&sample());
        for cut in 0..whole.len() {
            assert_eq!(decode(&whole[..cut]), Err(DamagedFacts));
            assert_eq!(decode_pieces(&whole[..cut]), Err(DamagedFacts));
        }
        for at in 0..whole.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                // Another value may come of it, which the checksum around it finds; here it must only end well.
                let _ = (decode(&bytes), decode_pieces(&bytes));
            }
        }
    }
}
