//! Tables: rows are collected, then their columns stand beneath each other if there is room.

use crate::paint::{ASIDE, Paint, SUBJECT, printable, width_of};

/// How many rows are collected before they are shown: a screenful or two.
pub(super) const MAX_ROWS: usize = 200;

/// What is between two columns.
const BETWEEN: &str = " │ ";

/// Renders rows as they were written.
pub(super) fn render(rows: &[String], paint: Paint, width: usize, out: &mut String) {
    let cells: Vec<Vec<String>> = rows.iter().map(|row| split(row)).collect();
    let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| cells.iter().filter(|row| !is_ruler(row)).filter_map(move |row| row.get(column)))
        .map(|cells| cells.map(|cell| width_of(cell)).max().unwrap_or(0))
        .collect();
    let all = widths.iter().sum::<usize>() + width_of(BETWEEN) * columns.saturating_sub(1);
    if !paint.color || all > width {
        for row in rows {
            out.push_str(&printable(row));
            out.push('\n');
        }
        return;
    }
    let has_head = cells.get(1).is_some_and(|row| is_ruler(row));
    for (index, row) in cells.iter().enumerate() {
        if is_ruler(row) {
            let lines: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            out.push_str(&paint.text(ASIDE, lines.join("─┼─")));
        } else {
            let last = columns.saturating_sub(1);
            for (column, width) in widths.iter().enumerate() {
                let cell = row.get(column).map(String::as_str).unwrap_or_default();
                let padding = if column == last { 0 } else { width - width_of(cell) };
                let style = if has_head && index == 0 { SUBJECT } else { crate::paint::PLAIN };
                out.push_str(&paint.text(style, cell));
                out.push_str(&" ".repeat(padding));
                if column < last {
                    out.push_str(&paint.text(ASIDE, BETWEEN));
                }
            }
        }
        out.push('\n');
    }
}

/// A row's cells, printable, without the marks that only a style would show.
fn split(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    row.split('|').map(|cell| printable(cell.trim()).replace("**", "").replace('`', "")).collect()
}

/// The line beneath the head.
fn is_ruler(row: &[String]) -> bool {
    let ruler = |cell: &String| cell.contains('-') && cell.chars().all(|character| "-: ".contains(character));
    !row.is_empty() && row.iter().all(ruler)
}
