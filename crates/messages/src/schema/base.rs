//! The schema that is always there: ten segments of HL7 2.5, as far as people fill them in.
//!
//! Names and groups are for people; lengths and values are what most systems take. It is no copy of the standard, and
//! what it does not know is not wrong.

mod orders;
mod patients;

use loggia_domain::{MessageSchema, SchemaField, SchemaMoment};

/// The schema.
pub(crate) fn schema() -> MessageSchema {
    let tables = patients::SEGMENTS.iter().chain(orders::SEGMENTS);
    let segments = tables.map(|(name, rows)| ((*name).to_owned(), rows.iter().map(Row::field).collect()));
    MessageSchema { segments: segments.collect() }
}

/// A segment's name and its rows.
type Table = (&'static str, &'static [Row]);

/// An entry of the schema.
#[derive(Debug, Clone, Copy)]
struct Row {
    field: u8,
    component: Option<u8>,
    name: &'static str,
    group: &'static str,
    longest: Option<u64>,
    is_required: bool,
    moment: Option<SchemaMoment>,
    values: &'static [(&'static str, &'static str)],
    template: Option<&'static str>,
    note: Option<&'static str>,
}

/// A field with its number, what people call it, and what it is shown with.
const fn row(field: u8, name: &'static str, group: &'static str) -> Row {
    Row {
        field,
        component: None,
        name,
        group,
        longest: None,
        is_required: false,
        moment: None,
        values: &[],
        template: None,
        note: None,
    }
}

impl Row {
    const fn component(self, component: u8) -> Self {
        Self { component: Some(component), ..self }
    }

    const fn longest(self, longest: u64) -> Self {
        Self { longest: Some(longest), ..self }
    }

    const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    const fn date(self) -> Self {
        Self { moment: Some(SchemaMoment::Date), ..self }
    }

    const fn date_time(self) -> Self {
        Self { moment: Some(SchemaMoment::DateTime), ..self }
    }

    const fn values(self, values: &'static [(&'static str, &'static str)]) -> Self {
        Self { values, ..self }
    }

    const fn template(self, template: &'static str) -> Self {
        Self { template: Some(template), ..self }
    }

    const fn note(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }

    fn field(&self) -> SchemaField {
        let values = self.values.iter().map(|(code, label)| ((*code).to_owned(), (*label).to_owned()));
        SchemaField {
            field: self.field,
            component: self.component,
            name: self.name.to_owned(),
            group: Some(self.group.to_owned()),
            note: self.note.map(str::to_owned),
            required: self.is_required.then_some(true),
            longest: self.longest,
            moment: self.moment,
            values: (!self.values.is_empty()).then(|| values.collect()),
            template: self.template.map(str::to_owned),
            ..SchemaField::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ten_segments_are_there_and_every_place_is_there_once() {
        let schema = schema();
        let names: Vec<_> = schema.segments.keys().map(String::as_str).collect();
        assert_eq!(names, ["DG1", "EVN", "MSH", "NK1", "NTE", "OBR", "OBX", "ORC", "PID", "PV1"]);
        for (name, fields) in &schema.segments {
            let mut places: Vec<_> = fields.iter().map(|field| (field.field, field.component)).collect();
            assert!(places.iter().all(|(field, component)| *field > 0 && *component != Some(0)), "{name}");
            assert!(fields.iter().all(|field| !field.name.is_empty()), "{name}");
            let all = places.len();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), all, "{name}");
        }
    }
}
