//! The schema, what is laid over it, and what it finds.

use std::collections::BTreeMap;

use loggia_domain::{
    FieldOverlay, MessageDesk, MessageFormat, Opening, Overlaid, SchemaField, SchemaMoment, SchemaOverlay,
};

use crate::support::World;

fn overlay(from: &str, segment: &str, fields: Vec<FieldOverlay>) -> SchemaOverlay {
    SchemaOverlay { from: from.to_owned(), segments: BTreeMap::from([(segment.to_owned(), fields)]) }
}

fn at(field: u8, component: Option<u8>) -> FieldOverlay {
    FieldOverlay { field, component, ..FieldOverlay::default() }
}

fn to(text: &str) -> Overlaid<String> {
    Overlaid::To(text.to_owned())
}

fn entry(world: &World, segment: &str, field: u8, component: Option<u8>) -> SchemaField {
    let schema = world.desk.schema();
    let found =
        schema.segments[segment].iter().find(|entry| (entry.field, entry.component) == (field, component));
    found.unwrap_or_else(|| panic!("{segment}-{field}.{component:?}")).clone()
}

#[tokio::test]
async fn every_property_is_kept_unset_or_replaced() {
    let world = World::new();
    let base = entry(&world, "PID", 8, None);
    assert!(base.values.is_some() && base.longest == Some(1));
    let values = BTreeMap::from([("M".to_owned(), "Male".to_owned())]);
    world.desk.lay_over(vec![overlay(
        "x",
        "PID",
        vec![FieldOverlay {
            values: Overlaid::To(values.clone()),
            group: Overlaid::Unset,
            name: Overlaid::Unset,
            note: to("look"),
            ..at(8, None)
        }],
    )]);
    let expected = SchemaField { values: Some(values), group: None, note: Some("look".to_owned()), ..base };
    assert_eq!(entry(&world, "PID", 8, None), expected, "a name cannot be taken away");
    world.desk.lay_over(vec![]);
    assert_ne!(entry(&world, "PID", 8, None), expected);
}

#[tokio::test]
async fn components_land_on_their_field_if_nothing_else_is_there() {
    let world = World::new();
    let before = world.desk.schema().segments["PID"].len();
    world.desk.lay_over(vec![overlay(
        "x",
        "PID",
        vec![
            FieldOverlay { required: Overlaid::To(true), shortest: Overlaid::To(8), ..at(3, Some(1)) },
            FieldOverlay { template: to("MRN"), ..at(3, Some(4)) },
            FieldOverlay { note: to("exact"), ..at(5, Some(2)) },
        ],
    )]);
    let schema = world.desk.schema();
    let whole = entry(&world, "PID", 3, None);
    assert_eq!((whole.shortest, whole.name.as_str()), (Some(8), "Patient identifiers"));
    assert_eq!(entry(&world, "PID", 5, Some(2)).note.as_deref(), Some("exact"));
    let last = schema.segments["PID"].last().unwrap();
    assert_eq!((last.field, last.component, last.name.as_str()), (3, Some(4), ""));
    assert_eq!(last.template.as_deref(), Some("MRN"));
    assert_eq!(schema.segments["PID"].len(), before + 1);
}

#[tokio::test]
async fn later_overlays_win_property_by_property() {
    let world = World::new();
    let first = FieldOverlay { name: to("one"), note: to("one"), group: to("one"), ..at(2, None) };
    let second = FieldOverlay { note: Overlaid::Unset, group: to("two"), ..at(2, None) };
    world
        .desk
        .lay_over(vec![overlay("a", "ZZ1", vec![first]), overlay("b", "ZZ1", vec![second, at(0, None)])]);
    let expected = SchemaField {
        field: 2,
        name: "one".to_owned(),
        group: Some("two".to_owned()),
        ..SchemaField::default()
    };
    assert_eq!(world.desk.schema().segments["ZZ1"], [expected]);
}

async fn findings(world: &World, text: &str) -> Vec<String> {
    if world.desk.current().await.is_some() {
        world.desk.close(loggia_domain::Unsaved::Discard).await.unwrap();
    }
    world.desk.open(Opening::New { text: text.to_owned(), format: MessageFormat::Hl7 }).await.unwrap();
    let found = world.desk.validate().await.unwrap();
    found
        .iter()
        .map(|found| format!("{}{} {}", if found.wrong { "!" } else { "" }, found.path, found.what))
        .collect()
}

#[tokio::test]
async fn doubtful_values_are_found_with_their_places() {
    let world = World::new();
    let field = |field: u8| FieldOverlay { name: to("It"), ..at(field, None) };
    world.desk.lay_over(vec![overlay(
        "x",
        "ZZ1",
        vec![
            FieldOverlay { required: Overlaid::To(true), ..field(1) },
            FieldOverlay { shortest: Overlaid::To(2), longest: Overlaid::To(3), ..field(2) },
            FieldOverlay {
                pattern: to("[a-z]+|[0-9]"),
                values: Overlaid::To(BTreeMap::from([("no".to_owned(), String::new())])),
                ..field(3)
            },
            FieldOverlay { moment: Overlaid::To(SchemaMoment::Date), ..field(4) },
            FieldOverlay { pattern: to("(?=no such thing)"), ..field(5) },
            FieldOverlay {
                values: Overlaid::To(BTreeMap::from([("A".to_owned(), "a".to_owned())])),
                ..field(6)
            },
            FieldOverlay { required: Overlaid::To(true), component: Some(2), ..field(7) },
        ],
    )]);
    let head = "MSH|^~\\&|||||20240131235959||ADT|1|P|2.5\r";
    let found = |text: &'static str| {
        let world = &world;
        async move { findings(world, &format!("{head}{text}")).await }
    };
    assert_eq!(found("ZZ1|x|ab|abc|20240101|?|A|^y").await, Vec::<String>::new());
    assert_eq!(found("ZZ1|x|{now}|{A9}|{x}|?|{z}|^{q}").await, Vec::<String>::new());
    assert_eq!(found("ZZ1|\"\"|\"\"|\"\"|\"\"||\"\"|^y").await, Vec::<String>::new());
    assert_eq!(
        found("ZZ1||a~é\\T\\üö|abc1|2024|?|B|x").await,
        [
            "!ZZ1.1 It must not be empty",
            "ZZ1.2[1] It has 1 characters, and 2 are the fewest",
            "ZZ1.2[2] It has 4 characters, and 3 are the most",
            "ZZ1.3 It is `abc1`, which does not fit `[a-z]+|[0-9]`",
            "ZZ1.4 It is `2024`, which is not a day, as in 20240131",
            "ZZ1.6 It is `B`, which is none of A",
            "!ZZ1.7.2 It must not be empty",
        ]
    );
    assert_eq!(
        found("ZZ1|x||||||^y\rZZ1|x|a|||||^y\rstray\r\r").await,
        ["ZZ1[2].2 It has 1 characters, and 2 are the fewest", " line 4 is no segment and stays as it is"]
    );
    assert_eq!(findings(&world, "").await, ["! the message is empty"]);
}

#[tokio::test]
async fn the_schema_that_is_always_there_finds_the_usual() {
    let world = World::new();
    let good = "MSH|^~\\&|A|B|C|D|20240131235959||ADT^A01|1|P|2.5.1\rEVN||20240131235959\rPID|1||77^^^CLINIC||ROE^ANN||19700101|F\rPV1|1|I";
    assert_eq!(findings(&world, good).await, Vec::<String>::new());
    let bad = "MSH|^~\\&|A\rPID|1||||ROE||1970|X\rOBX|1|QQ|code||v";
    let expected = [
        "!MSH.7 Date and time of the message must not be empty",
        "!MSH.9.1 Message code must not be empty",
        "!MSH.10 Control id must not be empty",
        "!MSH.11 Processing must not be empty",
        "!MSH.12 Version must not be empty",
        "!PID.3 Patient identifiers must not be empty",
        "PID.7 Date of birth is `1970`, which is not a day, as in 20240131",
        "PID.8 Sex is `X`, which is none of A, F, M, N, O, U",
        "OBX.2 Type of value is `QQ`, which is none of CE, CWE, CX, DT, ED, FT, NM, RP, SN, ST, TM, TS, TX",
        "!OBX.11 Status must not be empty",
    ];
    assert_eq!(findings(&world, bad).await, expected);
}
