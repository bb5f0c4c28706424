//! What the targets start from: the golden messages of the protocols, and framing written by hand.
//!
//! The golden files are read when they are needed, relative to this crate, in the order of their names, so that the
//! same tree gives the same samples.

use std::io;
use std::path::{Path, PathBuf};

use bytes::BytesMut;
use loggia_jsonrpc::{Body, Dialect, Incoming, Version, read};
use loggia_wire::framing::{Codec, ContentLength, LengthPrefixed};

use crate::targets::protocols::{ROWS, Row};

/// Where golden files are, with the protocol's folder first.
const GOLDEN: &[&str] = &[
    "agent-server/golden",
    "agent-server/golden-http",
    "agent-server/golden-http-strict",
    "autohand/golden",
    "endermux/golden",
    "hermes/golden",
    "mehrhof/golden",
];

/// Every how many golden messages one serves as a sample of framing: a framing does not look into a message.
const FRAMED: usize = 16;

/// Golden files are judged by their protocol; here a missing version is fine.
const LENIENT: Dialect = Dialect { version: Version::Optional, ..Dialect::STANDARD };

/// Streams of Content-Length frames.
pub(crate) fn content_length() -> io::Result<Vec<Vec<u8>>> {
    let mut samples = framed(&ContentLength::new(usize::MAX))?;
    for text in [
        "Content-Length: 2\r\n\r\n{}Content-Length: 4\r\n\r\nnull",
        "content-length:2\n\n{}\r\n\r\nCONTENT-LENGTH : 3\r\r\n\r\r\n[1]",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 10\r\n\r\n0123456789",
        "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde",
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 0\r\n\r\nContent-Length: 0\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n",
        "Content-Length: 1000000\r\n\r\nshort",
        "Content-Length: 48\r\n\r\n",
        "no colon\r\n\r\n",
        "\r\n\r\n",
        "",
    ] {
        samples.push(text.into());
    }
    // At the cap of a header block, in one line and in many.
    samples.push([b"X: ".as_slice(), &[b'x'; 8190], b"\r\nContent-Length: 1\r\n\r\n1"].concat());
    samples.push([b"a:b\r\n".repeat(1640).as_slice(), b"Content-Length: 1\r\n\r\n1"].concat());
    Ok(samples)
}

/// Streams of lines.
pub(crate) fn lines() -> io::Result<Vec<Vec<u8>>> {
    let mut samples: Vec<Vec<u8>> = messages()?.into_iter().step_by(FRAMED).collect();
    for text in [
        "{}\n[]\n",
        "a\r\nb\r\n\r\n \t \r\nc",
        "12345678901234567890123456789012\r\n12345678901234567890123456789012\n",
        "123456789012345678901234567890123\nshort\n",
        "12345678901234567890123456789012\r\r\n",
        "1234567890123456789012345678901234567890123456789012345678901234567890",
        "\n\n\n",
        "\r",
        "",
    ] {
        samples.push(text.into());
    }
    Ok(samples)
}

/// Streams of length-prefixed frames in both layouts.
pub(crate) fn length_prefixed() -> io::Result<Vec<Vec<u8>>> {
    let mut samples = framed(&LengthPrefixed::plain(usize::MAX >> 1))?;
    samples.extend(framed(&LengthPrefixed::tagged(usize::MAX >> 1, usize::MAX >> 1))?);
    samples.extend(framed(&LengthPrefixed::tagged(usize::MAX >> 1, usize::MAX >> 1).compress_from(1))?);
    for bytes in [
        b"\x00\x00\x00\x02{}\x00\x00\x00\x02[]".as_slice(),
        b"\x00\x00\x00\x03\x00{}\x00\x00\x00\x01\x00",
        b"\x00\x00\x00\x02\x01\x1f",
        b"\x00\x00\x00\x02\x02{",
        b"\x00\x00\x00\x00",
        b"\x80\x00\x00\x00",
        b"\x7f\xff\xff\xff{",
        b"\x00\x00\x10\x00{",
        b"\x00\x00\x00",
        b"",
    ] {
        samples.push(bytes.to_vec());
    }
    // A small body that inflates to much.
    let bomb =
        write(&LengthPrefixed::tagged(usize::MAX >> 1, usize::MAX >> 1).compress_from(1), &[&[b' '; 4096]]);
    samples.push(bomb);
    Ok(samples)
}

/// Whole messages, one each.
pub(crate) fn messages() -> io::Result<Vec<Vec<u8>>> {
    let mut samples: Vec<Vec<u8>> = golden()?.into_iter().map(|(_, _, line)| line.into_bytes()).collect();
    samples.extend(ENVELOPES.iter().map(|text| text.as_bytes().to_vec()));
    samples.push([b"[".repeat(20_000), b"]".repeat(20_000)].concat());
    samples.push([b"{\"a\":".repeat(5_000).as_slice(), b"1", &b"}".repeat(5_000)].concat());
    Ok(samples)
}

/// Envelopes in unusual clothes.
const ENVELOPES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":[1,2.5,"é"]}}"#,
    r#" { "jsonrpc" : "2.0" , "id" : "q" , "method" : "echo" , "params" : [ ] } "#,
    r#"{"jsonrpc":"2.0","method":"echo","params":{},"id":2}"#,
    r#"{"params":7,"method":"step","id":0,"jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"abort"}"#,
    r#"{"jsonrpc":"2.0","id":1.0,"method":"step","params":null}"#,
    r#"{"jsonrpc":"2.0","method":"told","params":"news"}"#,
    r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"nobody","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"x":1}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":true}"#,
    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":[1]}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":"no"}"#,
    r#"{"id":1,"method":"echo","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":{"a":1},"method":"echo","params":1,"extra":[{}]}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"echo","params":1},{"jsonrpc":"2.0","method":"told"},7]"#,
    r#"[{"jsonrpc":"2.0","id":1,"result":1}]"#,
    // A form feed is white space to many, but not to JSON.
    "{\"jsonrpc\":\"2.0\",\u{c}\"id\":1,\"result\":{}}",
    "[]",
    "{}",
    "7",
    "\u{feff}{}",
    "",
];

/// Several messages to the peer's little router, one per line.
pub(crate) fn conversations() -> io::Result<Vec<Vec<u8>>> {
    let mut samples: Vec<Vec<u8>> = ENVELOPES.iter().map(|text| text.as_bytes().to_vec()).collect();
    samples.push(ENVELOPES.join("\n").into_bytes());
    // More at once than the limits allow.
    for method in ["echo", "step", "abort", "told", "nobody"] {
        let line = |id: usize| match id % 3 {
            0 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{}}}}\n"),
            1 => format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{{}},\"id\":{id}}}\n"),
            _ => format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"{method}\",\"params\":{id}}}\n"),
        };
        samples.push((0..12).map(line).collect::<String>().into_bytes());
        let members: Vec<String> = (0..8).map(|id| line(id).trim_end().to_owned()).collect();
        samples.push(format!("[{}]", members.join(",")).into_bytes());
        samples.push(format!("[{},{}]", members.join(","), members.join(",")).into_bytes());
    }
    // The last one comes when too many are under way, and has its id at the end.
    let echo =
        |id: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"echo\",\"params\":{{}}}}\n");
    let last = "{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"params\":{},\"id\":9}\n";
    samples.push([(1..5).map(echo).collect::<String>().as_bytes(), last.as_bytes()].concat());
    for framed in ["Content-Length: 2\r\n\r\n{}", "Content-Length: 2\r\n\r\n{}Content-Length: x\r\n\r\n"] {
        samples.push(framed.into());
    }
    Ok(samples)
}

/// Messages to a console: one per line, and as the frames of a whole connection.
pub(crate) fn consoles() -> io::Result<Vec<Vec<u8>>> {
    let lines: Vec<String> = golden()?
        .into_iter()
        .filter(|(folder, ..)| folder.starts_with("endermux"))
        .map(|(.., line)| line)
        .collect();
    let mut samples: Vec<Vec<u8>> = lines.chunks(8).map(|lines| lines.join("\n").into_bytes()).collect();
    let bodies: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    for codec in
        [LengthPrefixed::plain(usize::MAX >> 1), LengthPrefixed::tagged(usize::MAX >> 1, usize::MAX >> 1)]
    {
        samples.push(write(&codec, &bodies));
        samples.push(write(&codec.compress_from(1), &bodies));
    }
    Ok(samples)
}

/// Paths into documents, some with a value behind a NUL.
pub(crate) fn message_paths() -> io::Result<Vec<Vec<u8>>> {
    let paths = [
        "PID",
        "OBX[2]",
        "PID.5",
        "PID-5-1",
        "PID 3 4",
        "PID.3.4.2",
        "PID.3[2].1",
        "MSH.2",
        "NK1",
        "ZZ9[3].2\0x^y",
        "PID.0",
        "PID.5[99999999999]",
        "XYZ[0].1.2.3.4.5",
        "PID.9999[9999].9999.9999\0\\T\\\\",
        "PID.1\0\r\n|~&\\",
        "a",
        "a.\"b c\"[1].d",
        "a.\"b c\"[0]\0[1,{}]",
        "e[0]\0null",
        "z.y",
        "x.y\0yes",
        "t[0].u",
        "new.way\0- x: y",
        "[0]",
        "a..b",
        "\"",
        "a[",
        "",
    ];
    Ok(paths.iter().map(|path| path.as_bytes().to_vec()).collect())
}

/// Documents, each behind the byte that chooses its format.
pub(crate) fn documents() -> io::Result<Vec<Vec<u8>>> {
    let documents = [
        "\0MSH|^~\\&|A\rPID|1||77^^^CLINIC&9.8&ISO~88||ROE^ANN",
        "\0MSH|^~\\&#|A||\n\r\nNK1\nPID|\\T\\|C:\\x|a&b&|~|\r",
        "\0MSH#!*?+#A\nPID#1!2*3+4?F?",
        "\0MSH|^~\\&|é€\u{1f600}\u{85}\u{2028}",
        "\0",
        r#"{"segments":[{"segment":"MSH","fields":{"2":"^~\\&"}},{"segment":"PID","fields":{"3":[{"1":1.50},null]}}]}"#,
        r#"{"a":[1,-0,1e400,0.10,"\ud83d\ude00",true,null,{}],"":{"<<":"~"}}"#,
        "\x02segments:\n  - segment: MSH\n    fields: {\"2\": '^~\\&'}\n  - segment: PID\n    fields:\n      \"3\": [a, ~]\n",
        "\x02a: &x [1, .inf, 0x1F, 1_000, yes, !!str 5]\nb: *x\nc: |\n  text\n\n  more\nd: >-\n  folded\n  text\n? e\n: f\n",
        "\x02# only a note\n",
        "\x03[[segments]]\nsegment = \"MSH\"\n[segments.fields]\n\"3\" = [{ \"1\" = \"77\" }, \"\"]\n",
        "\x03a = 1_000\nb = 1979-05-27T07:32:00Z\nc.d = [1, 2.50, nan, -inf]\n[e]\nf = 'x'\n[[g]]\nh = { i = true }\n",
    ];
    // JSON begins with its own byte here, to be readable.
    let chosen = |text: &str| if text.starts_with('{') { format!("\x01{text}") } else { text.to_owned() };
    Ok(documents.iter().map(|document| chosen(document).into_bytes()).collect())
}

/// Texts of typed values, each behind the two bytes that choose its type.
pub(crate) fn typed() -> io::Result<Vec<Vec<u8>>> {
    let mut samples = Vec::new();
    for (folder, name, line) in golden()? {
        let Some((of_params, text)) = typed_part(&folder, &line) else { continue };
        let place = ROWS.iter().position(|row| match row {
            Row::Params(method) => of_params == Some(true) && file_name(method.name) == name,
            Row::Result(method) => of_params == Some(false) && file_name(method.name) == name,
            Row::Message(message) => of_params.is_none() && file_name(message.name) == name,
        });
        if let Some(place) = place {
            samples.push([&(place as u16).to_be_bytes(), text.as_bytes()].concat());
        }
    }
    Ok(samples)
}

/// What of a golden line is typed, and whether it is parameters; neither parameters nor a result where the line is no
/// JSON-RPC. Nothing for a failure.
fn typed_part(folder: &str, line: &str) -> Option<(Option<bool>, String)> {
    if folder.starts_with("agent-server") || folder.starts_with("endermux") {
        return Some((None, line.to_owned()));
    }
    let Ok(Body::One(message)) = read(line.as_bytes(), &LENIENT) else { return None };
    match message {
        Incoming::Request { params, .. } | Incoming::Notification { params, .. } => {
            Some((Some(true), params.map_or("{}", |raw| raw.get()).to_owned()))
        }
        Incoming::Response { outcome: Ok(result), .. } => Some((Some(false), result.get().to_owned())),
        Incoming::Response { .. } | Incoming::Invalid(_) => None,
    }
}

fn file_name(name: &str) -> String {
    format!("{}.jsonl", name.replace('/', "-"))
}

/// Every golden message: its folder, its file, its line.
fn golden() -> io::Result<Vec<(String, String, String)>> {
    let protocols = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/protocols");
    let mut messages = Vec::new();
    for folder in GOLDEN {
        let entries: io::Result<Vec<PathBuf>> =
            std::fs::read_dir(protocols.join(folder))?.map(|entry| entry.map(|entry| entry.path())).collect();
        let mut files = entries?;
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file)?;
            let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            messages.extend(lines.map(|line| ((*folder).to_owned(), name.clone(), line.to_owned())));
        }
    }
    Ok(messages)
}

/// A few golden messages as streams of this framing, alone and together.
fn framed<C: Codec>(codec: &C) -> io::Result<Vec<Vec<u8>>> {
    let lines: Vec<String> = golden()?.into_iter().map(|(_, _, line)| line).step_by(FRAMED).collect();
    let mut samples: Vec<Vec<u8>> = lines.iter().map(|line| write(codec, &[line.as_bytes()])).collect();
    samples.extend(lines.chunks(3).map(|lines| {
        let bodies: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
        write(codec, &bodies)
    }));
    samples.push(write(codec, &[b"{}", b"{\"a\":1}", b"[1,2,3]", b"{ }"]));
    Ok(samples)
}

fn write<C: Codec>(codec: &C, bodies: &[&[u8]]) -> Vec<u8> {
    let mut codec = codec.clone();
    let mut stream = BytesMut::new();
    for body in bodies {
        codec.encode(body, &mut stream).expect("samples are below every cap");
    }
    stream.to_vec()
}
