//! What a workflow plugin declares, and which of it belongs together.
//!
//! The protocol does not say which guards and effects belong to which phase. Existing hosts go by names: one that
//! begins with a phase's name and is longer belongs to that phase. All others belong to every phase of their plugin.

use loggia_domain::{StepPlace, WorkflowEffect, WorkflowGuard, WorkflowParts, WorkflowStep};
use loggia_protocol_mehrhof::{PhaseDeclaration, WorkflowInitResult};

use crate::manifest::WorkflowRole;

/// What the running plugin declares; the manifest has a say only in what is critical.
pub(super) fn read(told: WorkflowInitResult, role: &WorkflowRole) -> WorkflowParts {
    let phases: Vec<String> = told.phases.iter().map(|phase| phase.name.clone()).collect();
    let steps = told.phases.into_iter().map(step).collect();
    let guards = told.guards.into_iter().map(|guard| WorkflowGuard {
        steps: belonging(&guard.name, &phases),
        name: guard.name,
        description: guard.description,
    });
    let promised =
        |name: &str| role.effects.iter().any(|effect| effect.name == name && effect.critical == Some(true));
    let effects = told.effects.into_iter().map(|effect| WorkflowEffect {
        steps: belonging(&effect.name, &phases),
        critical: effect.critical == Some(true) || promised(&effect.name),
        name: effect.name,
        description: effect.description,
    });
    WorkflowParts { steps, guards: guards.collect(), effects: effects.collect() }
}

fn step(phase: PhaseDeclaration) -> WorkflowStep {
    let named = |anchor: Option<String>| anchor.filter(|name| !name.is_empty());
    let place = match (named(phase.after), named(phase.before)) {
        // The specification knows only this one, so it counts where both are given.
        (Some(after), _) => StepPlace::After(after),
        (None, Some(before)) => StepPlace::Before(before),
        (None, None) => StepPlace::Last,
    };
    WorkflowStep { name: phase.name, description: phase.description, place }
}

fn belonging(name: &str, phases: &[String]) -> Vec<String> {
    let own = phases.iter().filter(|phase| name.len() > phase.len() && name.starts_with(phase.as_str()));
    // The longest fits best: `scanDeep` is about `scanDeep`, not about `scan`.
    match own.max_by_key(|phase| phase.len()) {
        Some(phase) => vec![phase.clone()],
        None => phases.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(told: &str, role: &WorkflowRole) -> WorkflowParts {
        read(serde_json::from_str(told).unwrap(), role)
    }

    #[test]
    fn guards_belong_to_the_phase_they_are_named_after_or_to_all() {
        let told = r#"{"phases":[{"name":"scan","after":"planning"},{"name":"approval"}],
            "guards":[{"name":"scanClean"},{"name":"isApproved"},{"name":"approval"}]}"#;
        let parts = parts(told, &WorkflowRole::default());
        let seen: Vec<_> =
            parts.guards.iter().map(|guard| (guard.name.as_str(), guard.steps.join(" "))).collect();
        let all = "scan approval".to_owned();
        assert_eq!(seen, [("scanClean", "scan".to_owned()), ("isApproved", all.clone()), ("approval", all)]);
        assert_eq!(parts.steps[0].place, StepPlace::After("planning".to_owned()));
        assert_eq!(parts.steps[1].place, StepPlace::Last);
    }

    #[test]
    fn an_effect_is_critical_if_either_says_so() {
        let effect = |name: &str, critical| loggia_protocol_mehrhof::EffectDeclaration {
            name: name.to_owned(),
            description: None,
            critical,
        };
        let role = WorkflowRole {
            effects: vec![effect("a", Some(true)), effect("b", Some(false))],
            ..Default::default()
        };
        let told = r#"{"effects":[{"name":"a"},{"name":"b","critical":true},{"name":"c"}]}"#;
        let critical: Vec<bool> = parts(told, &role).effects.iter().map(|effect| effect.critical).collect();
        assert_eq!(critical, [true, true, false]);
    }
}
