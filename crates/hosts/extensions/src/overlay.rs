//! What an extension lays over the schema, from its words to ours.

use std::collections::BTreeMap;

use loggia_domain::{FieldOverlay, Overlaid, SchemaMoment, SchemaOverlay};
use loggia_protocol_hermes::limits::MAX_FIELD_LENGTH;
use loggia_protocol_hermes::{DataType, FieldOverride, Override, SchemaOverrides};

/// What an extension of this name lays over the schema.
pub(crate) fn overlay(from: &str, overrides: SchemaOverrides) -> SchemaOverlay {
    let fields = |fields: Vec<FieldOverride>| fields.into_iter().map(field).collect();
    let segments: BTreeMap<_, _> =
        overrides.segments.into_iter().map(|(name, segment)| (name, fields(segment.fields))).collect();
    SchemaOverlay { from: from.to_owned(), segments }
}

fn field(given: FieldOverride) -> FieldOverlay {
    let length = |length: Override<u64>| match overlaid(length) {
        Overlaid::To(length) => Overlaid::To(length.min(MAX_FIELD_LENGTH)),
        other => other,
    };
    FieldOverlay {
        field: given.field.get(),
        component: given.component.map(std::num::NonZeroU8::get),
        // A field without a name cannot be shown, so the one below stays.
        name: match given.name {
            Override::Replace(name) => Overlaid::To(name),
            Override::Inherit | Override::Unset => Overlaid::Kept,
        },
        group: overlaid(given.group),
        note: overlaid(given.note),
        required: overlaid(given.required),
        shortest: length(given.minlength),
        longest: length(given.maxlength),
        pattern: overlaid(given.pattern),
        moment: match given.datatype {
            // A kind that nobody knows changes nothing.
            Override::Inherit | Override::Replace(DataType::Other(_)) => Overlaid::Kept,
            Override::Unset => Overlaid::Unset,
            Override::Replace(DataType::Date) => Overlaid::To(SchemaMoment::Date),
            Override::Replace(DataType::DateTime) => Overlaid::To(SchemaMoment::DateTime),
        },
        placeholder: overlaid(given.placeholder),
        values: overlaid(given.values),
        template: overlaid(given.template),
    }
}

fn overlaid<T>(given: Override<T>) -> Overlaid<T> {
    match given {
        Override::Inherit => Overlaid::Kept,
        Override::Unset => Overlaid::Unset,
        Override::Replace(value) => Overlaid::To(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_kept_unset_or_replaced() {
        let text = r#"{"segments":{"PID":{"fields":[
            {"field":3,"component":1,"required":true,"minlength":8,"maxlength":99999999,"pattern":"\\d{8}"},
            {"field":8,"name":null,"note":null,"values":{"M":"Male"},"datatype":"weekday"},
            {"field":7,"name":"Born","datatype":"date","template":"{now}"}]}}}"#;
        let overlay = overlay("lab", serde_json::from_str(text).unwrap());
        let expected = vec![
            FieldOverlay {
                field: 3,
                component: Some(1),
                required: Overlaid::To(true),
                shortest: Overlaid::To(8),
                longest: Overlaid::To(65_535),
                pattern: Overlaid::To("\\d{8}".to_owned()),
                ..FieldOverlay::default()
            },
            FieldOverlay {
                field: 8,
                note: Overlaid::Unset,
                values: Overlaid::To([("M".to_owned(), "Male".to_owned())].into()),
                ..FieldOverlay::default()
            },
            FieldOverlay {
                field: 7,
                name: Overlaid::To("Born".to_owned()),
                moment: Overlaid::To(SchemaMoment::Date),
                template: Overlaid::To("{now}".to_owned()),
                ..FieldOverlay::default()
            },
        ];
        assert_eq!((overlay.from.as_str(), &overlay.segments["PID"]), ("lab", &expected));
    }
}
