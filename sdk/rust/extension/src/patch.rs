//! Changes of single places.

use loggia_protocol_hermes::Patch;

/// Puts a value at a path: `PID.5.1`, `OBX[2].5`.
pub fn set(path: impl Into<String>, value: impl Into<String>) -> Patch {
    Patch { path: path.into(), value: Some(value.into()), ..Patch::default() }
}

/// Clears what stands at a path.
pub fn clear(path: impl Into<String>) -> Patch {
    Patch { path: path.into(), ..Patch::default() }
}

/// Puts a segment in: `NK1`, `OBX[3]`.
pub fn create(path: impl Into<String>) -> Patch {
    Patch { path: path.into(), create: Some(true), ..Patch::default() }
}

/// Takes a segment out.
pub fn remove(path: impl Into<String>) -> Patch {
    Patch { path: path.into(), remove: Some(true), ..Patch::default() }
}
