//! Numbers that look random and are the same every time.
//!
//! SplitMix64: a counter and a mixing function. Plenty for choosing what to break, and any input of a run can be
//! made again without the ones before it.

/// A stream of numbers that depends on where it began and on nothing else.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream for one input: of this run, this target, this number.
    pub fn for_input(seed: u64, target: &str, number: u64) -> Self {
        let mut random = Self(seed ^ hash(target.as_bytes()));
        let start = random.number().wrapping_add(number);
        let mut random = Self(start);
        Self(random.number())
    }

    /// A stream that depends on some bytes, for choices a target makes itself.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(hash(bytes))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        // The slight preference for small numbers does not matter here.
        if end == 0 { 0 } else { (self.number() % end as u64) as usize }
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// FNV-1a: short, and the same on every machine and in every version.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
