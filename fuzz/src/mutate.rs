//! Breaking a sample in the ways in which real bytes break, and in a few that only an enemy thinks of.
//!
//! Knows bytes and a dictionary of words that mean something to one reader or another. Refuses to know which reader
//! is meant. Invariant: an input never grows over [`MAX_INPUT`].

use crate::Random;

/// Long enough to cross every cap the targets set, short enough for thousands of inputs a second.
const MAX_INPUT: usize = 64 * 1024;

/// Copied and inserted blocks are this long at most, so that inputs stay near the size of their samples.
const MAX_BLOCK: usize = 256;

/// How deep the nesting goes that is put in now and then: deeper than a thread's stack lets a recursion go.
const MAX_NESTING: usize = 30_000;

/// What readers look for, and numbers where they begin to differ.
const DICTIONARY: &[&[u8]] = &[
    b"Content-Length: ",
    b"content-length:",
    b"Content-Type: application/json\r\n",
    b"\r\n\r\n",
    b"\r\n",
    b"\r\r\n",
    b"\n",
    b"\r",
    b"\0",
    b"\x0b",
    b"\x0c",
    b"\x7f",
    b"{",
    b"}",
    b"[",
    b"]",
    b"{}",
    b"[]",
    b"\"",
    b"\\",
    b":",
    b",",
    b"null",
    b"true",
    b"false",
    b"0",
    b"-0",
    b"-1",
    b"1.0",
    b"1e3",
    b"1E400",
    b"0.1",
    b"127",
    b"128",
    b"255",
    b"256",
    b"65535",
    b"65536",
    b"2147483647",
    b"2147483648",
    b"-2147483649",
    b"4294967295",
    b"9007199254740993",
    // Read carelessly and written again, it is another number each time.
    b"92.590071954740993",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"\x00\x00\x00\x00",
    b"\x00\x00\x00\x01",
    b"\x00\x00\x00\x20",
    b"\x7f\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"\xff\xff\xff\xff",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\\u0000",
    b"\\ud800",
    b"\\ud83d\\ude00",
    "é😀".as_bytes(),
    b"\"jsonrpc\":\"2.0\"",
    b"\"jsonrpc\":\"1.0\",",
    b"\"id\":1",
    b",\"id\":2",
    b"\"id\":null,",
    b"\"id\":\"a\",",
    b"\"method\":\"echo\"",
    b"\"params\":",
    b"\"result\":",
    b"\"error\":null,",
    b"\"type\":",
    b"\"data\":",
];

/// Makes inputs out of samples.
#[derive(Debug)]
pub struct Mutator<'a> {
    samples: &'a [Vec<u8>],
}

impl<'a> Mutator<'a> {
    /// Starts from these samples; without any, from nothing.
    pub fn new(samples: &'a [Vec<u8>]) -> Self {
        Self { samples }
    }

    /// Fills `input` with one broken sample.
    pub fn fill(&self, random: &mut Random, input: &mut Vec<u8>) {
        input.clear();
        input.extend_from_slice(self.sample(random));
        // Mostly one or two faults: a message that is wrong in one place gets furthest into a reader.
        let faults = 1 + random.below(2) + if random.one_in(4) { random.below(8) } else { 0 };
        for _ in 0..faults {
            self.break_once(random, input);
        }
        input.truncate(MAX_INPUT);
    }

    fn sample(&self, random: &mut Random) -> &'a [u8] {
        self.samples.get(random.below(self.samples.len())).map_or(&[], Vec::as_slice)
    }

    fn break_once(&self, random: &mut Random, input: &mut Vec<u8>) {
        match random.below(12) {
            0 => flip_bit(random, input),
            1 => set_byte(random, input),
            2 => insert_bytes(random, input),
            3 => delete_block(random, input),
            4 => duplicate_block(random, input),
            5 => self.splice(random, input),
            6 => {
                let end = random.below(input.len() + 1);
                input.truncate(end);
            }
            7 => change_number(random, input),
            8 if random.one_in(32) => nest(random, input),
            _ => use_word(random, input),
        }
    }

    /// Puts a piece of another sample somewhere, over what is there or before it.
    fn splice(&self, random: &mut Random, input: &mut Vec<u8>) {
        let other = self.sample(random);
        let piece = block(random, other.len(), other.len());
        let at = random.below(input.len() + 1);
        let end = if random.one_in(2) { input.len().min(at + piece.len()) } else { at };
        input.splice(at..end, other[piece].iter().copied());
    }
}

/// A range inside `length` bytes, at most `longest` long.
fn block(random: &mut Random, length: usize, longest: usize) -> std::ops::Range<usize> {
    let start = random.below(length);
    let end = (start + 1 + random.below(longest)).min(length);
    start..end.max(start)
}

fn flip_bit(random: &mut Random, input: &mut [u8]) {
    let at = random.below(input.len());
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn set_byte(random: &mut Random, input: &mut [u8]) {
    let at = random.below(input.len());
    if let Some(byte) = input.get_mut(at) {
        *byte = random.number() as u8;
    }
}

fn insert_bytes(random: &mut Random, input: &mut Vec<u8>) {
    let at = random.below(input.len() + 1);
    let (byte, count) = (random.number() as u8, 1 + random.below(4));
    input.splice(at..at, std::iter::repeat_n(byte, count));
}

fn delete_block(random: &mut Random, input: &mut Vec<u8>) {
    let longest = if random.one_in(2) { 4 } else { MAX_BLOCK };
    let gone = block(random, input.len(), longest);
    input.drain(gone);
}

fn duplicate_block(random: &mut Random, input: &mut Vec<u8>) {
    let copied = block(random, input.len(), MAX_BLOCK);
    let copy = input[copied].to_vec();
    let at = random.below(input.len() + 1);
    let times = if random.one_in(8) { 1 + random.below(16) } else { 1 };
    input.splice(at..at, copy.repeat(times));
}

fn use_word(random: &mut Random, input: &mut Vec<u8>) {
    let word = DICTIONARY[random.below(DICTIONARY.len())];
    let at = random.below(input.len() + 1);
    let end = if random.one_in(3) { input.len().min(at + word.len()) } else { at };
    input.splice(at..end, word.iter().copied());
}

/// Puts another number where one stands.
fn change_number(random: &mut Random, input: &mut Vec<u8>) {
    let from = random.below(input.len());
    let Some(start) = input[from..].iter().position(u8::is_ascii_digit).map(|offset| from + offset) else {
        return;
    };
    let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = if random.one_in(2) { random.number() >> random.below(64) } else { random.below(40) as u64 };
    input.splice(start..start + length, number.to_string().into_bytes());
}

/// Opens many brackets, and sometimes closes them again.
fn nest(random: &mut Random, input: &mut Vec<u8>) {
    let (open, close): (&[u8], &[u8]) = if random.one_in(2) { (b"[", b"]") } else { (b"{\"a\":", b"}") };
    // Around the depth at which readers begin to refuse, or far beyond it.
    let depth = if random.one_in(2) { 120 + random.below(16) } else { random.below(MAX_NESTING) };
    let mut nested = open.repeat(depth);
    if random.one_in(2) {
        nested.push(b'0');
        nested.extend(close.repeat(depth));
    }
    let at = random.below(input.len() + 1);
    input.splice(at..at, nested);
}
