//! Laying schemas over the one that is always there, in order; later ones win, property by property.
//!
//! Entries find each other in two passes: first those of the same field and component, then, for entries of whole
//! fields, the first one left of the same field that names a component. What found nothing is new.

use loggia_domain::{FieldOverlay, MessageSchema, Overlaid, SchemaField, SchemaOverlay};

/// The schema under all of these.
pub(crate) fn merged(mut schema: MessageSchema, overlays: &[SchemaOverlay]) -> MessageSchema {
    for overlay in overlays {
        for (segment, fields) in &overlay.segments {
            lay_over(schema.segments.entry(segment.clone()).or_default(), fields);
        }
    }
    schema
}

fn lay_over(fields: &mut Vec<SchemaField>, overlays: &[FieldOverlay]) {
    let mut unused: Vec<&FieldOverlay> = overlays.iter().filter(|overlay| is_place(overlay)).collect();
    let mut open: Vec<&mut SchemaField> = Vec::new();
    for field in fields.iter_mut() {
        let same =
            |overlay: &&FieldOverlay| (overlay.field, overlay.component) == (field.field, field.component);
        match unused.iter().position(same) {
            Some(index) => change(field, unused.remove(index)),
            None => open.push(field),
        }
    }
    for field in open.into_iter().filter(|field| field.component.is_none()) {
        let below = |overlay: &&FieldOverlay| overlay.field == field.field && overlay.component.is_some();
        if let Some(index) = unused.iter().position(below) {
            change(field, unused.remove(index));
        }
    }
    for overlay in unused {
        let mut field =
            SchemaField { field: overlay.field, component: overlay.component, ..SchemaField::default() };
        change(&mut field, overlay);
        fields.push(field);
    }
}

/// Numbers are from 1.
fn is_place(overlay: &FieldOverlay) -> bool {
    overlay.field > 0 && overlay.component != Some(0)
}

fn change(field: &mut SchemaField, overlay: &FieldOverlay) {
    // A name can be another one, but not none.
    if let Overlaid::To(name) = &overlay.name {
        field.name.clone_from(name);
    }
    put(&mut field.group, &overlay.group);
    put(&mut field.note, &overlay.note);
    put(&mut field.required, &overlay.required);
    put(&mut field.shortest, &overlay.shortest);
    put(&mut field.longest, &overlay.longest);
    put(&mut field.pattern, &overlay.pattern);
    put(&mut field.moment, &overlay.moment);
    put(&mut field.placeholder, &overlay.placeholder);
    put(&mut field.values, &overlay.values);
    put(&mut field.template, &overlay.template);
}

fn put<T: Clone>(property: &mut Option<T>, overlaid: &Overlaid<T>) {
    match overlaid {
        Overlaid::Kept => {}
        Overlaid::Unset => *property = None,
        Overlaid::To(value) => *property = Some(value.clone()),
    }
}
