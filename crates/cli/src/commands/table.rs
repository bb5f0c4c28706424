//! Rows whose columns stand beneath each other.

use std::borrow::Cow;

use crate::paint::{PLAIN, Paint, SUBJECT, cut, printable, width_of};

/// What is between two columns.
const BETWEEN: &str = "  ";

/// Renders rows under their heads. Where there is not room for everything, the last column is cut.
pub(super) fn table(heads: &[&str], rows: &[Vec<String>], paint: Paint, width: Option<usize>) -> String {
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| width_of(&printable(cell)));
        cells.chain([width_of(heads[column])]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(widest).collect();
    let before: usize = widths.iter().rev().skip(1).map(|width| width + BETWEEN.len()).sum();
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(before).max(1));
    let line = |cells: &[Cow<'_, str>], style| {
        let last = cells.len().saturating_sub(1);
        let mut text = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let shown = if column == last { cut(cell, room) } else { Cow::Borrowed(&**cell) };
            let padding = if column == last { 0 } else { widths[column] - width_of(&shown) + BETWEEN.len() };
            text.push_str(&paint.text(style, shown));
            text.extend(std::iter::repeat_n(' ', padding));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    };
    let heads: Vec<Cow<'_, str>> = heads.iter().map(|head| Cow::Borrowed(*head)).collect();
    let mut text = line(&heads, SUBJECT);
    for row in rows {
        let cells: Vec<Cow<'_, str>> = row.iter().map(|cell| printable(cell)).collect();
        text.push_str(&line(&cells, PLAIN));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_beneath_each_other_and_the_last_is_cut() {
        let rows =
            [vec!["a".to_owned(), "a long title".to_owned()], vec!["漢字".to_owned(), "b\u{7}".to_owned()]];
        let text = |width| table(&["ID", "TITLE"], &rows, Paint { color: false }, width);
        assert_eq!(text(None), "ID    TITLE\na     a long title\n漢字  b\\u{7}\n");
        assert_eq!(text(Some(12)), "ID    TITLE\na     a lon…\n漢字  b\\u{7}\n");
    }
}
