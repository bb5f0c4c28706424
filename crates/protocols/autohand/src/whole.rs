//! Whole numbers as clients write them.
//!
//! The protocol knows numbers and no kinds of them, and some languages write every number with a fraction. So `2.0` is `2`,
//! and `2.5` is an error that says what is wanted.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// Above this, floating point skips whole numbers, so one cannot be told from its neighbour.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A number that is not negative.
pub(crate) fn unsigned<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Unsigned::deserialize(deserializer).map(|Unsigned(number)| number)
}

/// A number that is not negative, or nothing.
pub(crate) fn optional_unsigned<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::<Unsigned>::deserialize(deserializer)?.map(|Unsigned(number)| number))
}

/// Any whole number, or nothing.
pub(crate) fn optional_signed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    Ok(Option::<Signed>::deserialize(deserializer)?.map(|Signed(number)| number))
}

struct Unsigned(u64);

impl<'de> Deserialize<'de> for Unsigned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = deserializer.deserialize_u64(Whole("a whole number that is not negative"))?;
        let outside = || Error::custom(format!("must be a whole number from 0 to {}", u64::MAX));
        u64::try_from(number).map(Self).map_err(|_| outside())
    }
}

struct Signed(i64);

impl<'de> Deserialize<'de> for Signed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = deserializer.deserialize_i64(Whole("a whole number"))?;
        let outside = || Error::custom(format!("must be a whole number from {} to {}", i64::MIN, i64::MAX));
        i64::try_from(number).map(Self).map_err(|_| outside())
    }
}

/// Reads either way of writing one; holds what is wanted, in words.
struct Whole(&'static str);

impl Visitor<'_> for Whole {
    type Value = i128;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i128, E> {
        Ok(number.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i128, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<i128, E> {
        if number.fract() == 0.0 && number.abs() <= EXACT {
            // Whole and within the exact range, as checked.
            return Ok(number as i128);
        }
        Err(E::invalid_value(Unexpected::Float(number), &self))
    }
}
