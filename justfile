# Short names for the chores. The work is done by `cargo xtask`, which needs nothing but Rust.

# Lists the names.
default:
    @just --list

# Everything a change must pass; `just test --fast` leaves the fuzz step out.
test *arguments:
    cargo xtask test {{arguments}}

# What the compiler does not check.
tidy:
    cargo xtask tidy

# Broken input for the readers, for 60 seconds unless told otherwise.
fuzz *arguments:
    cargo xtask fuzz {{arguments}}

# Kills an engine under load, 200 times unless told otherwise, and checks that nothing told is lost.
crash *arguments:
    cargo xtask crash {{arguments}}

# A stranger tries a running server against its OpenAPI document.
contract *arguments:
    cargo xtask contract {{arguments}}

# A real browser works with the page of a running server; needs Chromium and its driver.
page *arguments:
    cargo xtask page {{arguments}}

# Benchmarks, as ratios.
bench *arguments:
    cargo xtask bench {{arguments}}

# Writes the files that are made from code.
generate *arguments:
    cargo xtask generate {{arguments}}
