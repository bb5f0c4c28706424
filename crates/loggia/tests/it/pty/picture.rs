//! A screen as a picture: SVG text on a dark ground, so that the documents show what the program really drew.
//!
//! Refuses to know what is on the screen. Each row is one line of text, so that a picture can be read, searched and
//! compared as text.

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

/// The place of a character. Any monospaced font fits: every run of text is stretched to its columns.
const CELL: (usize, usize) = (8, 18);
const MARGIN: usize = 12;
const GROUND: &str = "#16181d";
const INK: &str = "#d7dae0";

/// The sixteen colours of a terminal, readable on the ground.
const COLORS: [&str; 16] = [
    "#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf", "#7f848e",
    "#ff7b86", "#b1e18b", "#ffd68a", "#7cc4ff", "#dd92f2", "#6fd3e0", "#ffffff",
];

/// Draws the rows of a screen down to the last one with text, and the cursor.
pub(crate) fn draw(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let cursor = (!screen.hide_cursor()).then(|| screen.cursor_position());
    let used = (0..rows).rposition(|row| {
        (0..columns)
            .any(|column| screen.cell(row, column).is_some_and(|cell| !cell.contents().trim().is_empty()))
    });
    let height = 2 * MARGIN + CELL.1 * used.map_or(1, |last| last + 1);
    let width = 2 * MARGIN + CELL.0 * usize::from(columns);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace, Menlo, \
         Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"13\">\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" \
         fill=\"{GROUND}\"/>\n"
    );
    if let Some((row, column)) = cursor {
        let (x, y) = corner(row, column);
        let (width, height) = CELL;
        writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{INK}\" opacity=\"0.5\"/>"
        )
        .unwrap();
    }
    for row in 0..rows {
        draw_row(&mut svg, screen, row, columns);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_row(svg: &mut String, screen: &Screen, row: u16, columns: u16) {
    let mut spans = String::new();
    let mut from = 0;
    while from < columns {
        let to = run(screen, row, from, columns);
        let cells = (from..to)
            .filter_map(|column| screen.cell(row, column))
            .filter(|cell| !cell.is_wide_continuation());
        let text: String =
            cells.map(|cell| if cell.has_contents() { cell.contents() } else { " " }).collect();
        let style = screen.cell(row, from).map(style).unwrap_or_default();
        if style.ground.is_some() || !text.trim().is_empty() {
            let (x, y) = corner(row, from);
            let width = usize::from(to - from) * CELL.0;
            if let Some(ground) = &style.ground {
                writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" fill=\"{ground}\"/>",
                    CELL.1
                )
                .unwrap();
            }
            let attributes = style.attributes();
            write!(spans, "<tspan x=\"{x}\" textLength=\"{width}\"{attributes}>{}</tspan>", escaped(&text))
                .unwrap();
        }
        from = to;
    }
    if !spans.is_empty() {
        let y = corner(row, 0).1 + CELL.1 - 5;
        writeln!(svg, "<text y=\"{y}\" xml:space=\"preserve\" fill=\"{INK}\">{spans}</text>").unwrap();
    }
}

/// Where a run of cells ends that look the same.
fn run(screen: &Screen, row: u16, from: u16, columns: u16) -> u16 {
    let first = screen.cell(row, from).map(style);
    let differs = |column: &u16| screen.cell(row, *column).map(style) != first;
    (from + 1..columns).find(differs).unwrap_or(columns)
}

/// How a cell looks.
#[derive(Default, PartialEq)]
struct Style {
    ink: Option<String>,
    ground: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
}

fn style(cell: &Cell) -> Style {
    let (mut ink, mut ground) = (color(cell.fgcolor()), color(cell.bgcolor()));
    if cell.inverse() {
        (ink, ground) =
            (Some(ground.unwrap_or_else(|| GROUND.to_owned())), Some(ink.unwrap_or_else(|| INK.to_owned())));
    }
    Style {
        ink,
        ground,
        bold: cell.bold(),
        dim: cell.dim(),
        italic: cell.italic(),
        underline: cell.underline(),
    }
}

impl Style {
    fn attributes(&self) -> String {
        let mut attributes = String::new();
        if let Some(ink) = &self.ink {
            write!(attributes, " fill=\"{ink}\"").unwrap();
        }
        for (on, attribute) in [
            (self.bold, " font-weight=\"bold\""),
            (self.dim, " opacity=\"0.6\""),
            (self.italic, " font-style=\"italic\""),
            (self.underline, " text-decoration=\"underline\""),
        ] {
            if on {
                attributes.push_str(attribute);
            }
        }
        attributes
    }
}

fn color(color: Color) -> Option<String> {
    match color {
        Color::Default => None,
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Color::Idx(index @ 0..16) => Some(COLORS[usize::from(index)].to_owned()),
        // The cube of six levels, and the greys after it.
        Color::Idx(index @ 16..232) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let cube = index - 16;
            Some(format!("#{:02x}{:02x}{:02x}", level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
        }
        Color::Idx(index) => {
            let grey = 8 + 10 * (index - 232);
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
    }
}

fn corner(row: u16, column: u16) -> (usize, usize) {
    (MARGIN + usize::from(column) * CELL.0, MARGIN + usize::from(row) * CELL.1)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
