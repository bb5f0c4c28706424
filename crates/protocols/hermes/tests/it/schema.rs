//! Three-state properties and the numbers of fields.

use loggia_jsonrpc::decode;
use loggia_protocol_hermes::{DataType, FieldOverride, Override};

/// Reads an override of field 1 with more properties, and writes it back.
fn check(properties: &str) -> FieldOverride {
    let text = format!(r#"{{"field":1{properties}}}"#);
    let value: FieldOverride = decode(&text).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    value
}

#[test]
fn a_property_is_absent_null_or_a_value_and_stays_so() {
    assert_eq!(check("").note, Override::Inherit);
    assert_eq!(check(r#","note":null"#).note, Override::Unset);
    assert_eq!(check(r#","note":"n""#).note, Override::Replace("n".to_owned()));
    assert_eq!(check(r#","required":false"#).required, Override::Replace(false));
    assert_eq!(check(r#","values":{}"#).values, Override::Replace([].into()));
}

#[test]
fn a_property_lies_over_the_one_below() {
    assert_eq!(Override::Inherit.over(Some(1)), Some(1));
    assert_eq!(Override::Unset.over(Some(1)), None);
    assert_eq!(Override::Replace(2).over(Some(1)), Some(2));
    assert_eq!(Override::Replace(2).over(None), Some(2));
}

#[test]
fn unknown_data_types_are_kept() {
    assert_eq!(check(r#","datatype":"date""#).datatype, Override::Replace(DataType::Date));
    assert_eq!(check(r#","datatype":"datetime""#).datatype, Override::Replace(DataType::DateTime));
    assert_eq!(
        check(r#","datatype":"money""#).datatype,
        Override::Replace(DataType::Other("money".to_owned()))
    );
}

#[test]
fn field_and_component_numbers_are_1_to_255() {
    for (text, fits) in [
        (r#"{"field":1}"#, true),
        (r#"{"field":255,"component":255}"#, true),
        (r#"{"field":0}"#, false),
        (r#"{"field":256}"#, false),
        (r#"{"field":1,"component":0}"#, false),
        (r#"{"component":1}"#, false),
    ] {
        assert_eq!(decode::<FieldOverride>(text).is_ok(), fits, "{text}");
    }
}
