//! The line of steps that tasks of a workspace go along: ours, with those that hooks add between them.
//!
//! Pure: what hooks declare goes in, the line comes out. A step that does not fit is left out with a word about it, and
//! the others go on; what guards it then guards the end of the work, so that a slip in an anchor opens no gate.
//!
//! Rules: hooks in the order they are enabled, steps in the order they are declared; with the same anchor, later ones
//! stand after earlier ones; a step that was added before may be an anchor; one without an anchor stands before the end.

use loggia_domain::{StepPlace, WorkflowEffect, WorkflowGuard, WorkflowParts, WorkflowStep};

/// Our own steps.
pub const PLANNING: &str = "planning";
/// See [`PLANNING`].
pub const IMPLEMENTING: &str = "implementing";
/// See [`PLANNING`].
pub const REVIEWING: &str = "reviewing";
/// The last step: the work is checked and delivered.
pub const DONE: &str = "done";
/// Where tasks are before their first step; an anchor only for what comes after it.
pub const IDLE: &str = "idle";
/// Setting a task up. No anchor: nothing comes before it.
pub const START: &str = "start";

/// The line of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The steps, in order; the last one is [`DONE`].
    pub steps: Vec<LineStep>,
    /// Guards, in the order they are asked, each with the step it guards.
    pub guards: Vec<LineGuard>,
    /// Effects, in the order they are run.
    pub effects: Vec<LineEffect>,
    /// What was left out, and why.
    pub refused: Vec<String>,
}

/// One step of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineStep {
    /// Its name.
    pub name: String,
    /// The hook that added it; nothing if it is ours.
    pub hook: Option<String>,
    /// What happens in it.
    pub description: Option<String>,
}

/// A guard of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineGuard {
    /// Whose.
    pub hook: String,
    /// Its name.
    pub guard: String,
    /// The step.
    pub step: String,
}

/// An effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEffect {
    /// Whose.
    pub hook: String,
    /// Its name.
    pub effect: String,
    /// The steps it follows; nothing if it follows everything that happens to a task.
    pub steps: Option<Vec<String>>,
    /// Whether the task must not go on when it fails.
    pub critical: bool,
}

impl Line {
    /// The line with what these hooks add, each by its name.
    pub fn new<'a>(hooks: impl IntoIterator<Item = (&'a str, &'a WorkflowParts)>) -> Self {
        let own = |name: &str| LineStep { name: name.to_owned(), hook: None, description: None };
        let steps = [PLANNING, IMPLEMENTING, REVIEWING, DONE].map(own).to_vec();
        let mut line = Self { steps, guards: Vec::new(), effects: Vec::new(), refused: Vec::new() };
        // Each added step with its anchor: later ones go after those that are there already.
        let mut added: Vec<(String, StepPlace)> = Vec::new();
        for (hook, parts) in hooks {
            for step in &parts.steps {
                if let Err(why) = line.add(hook, step, &mut added) {
                    line.refused.push(format!("the step `{}` of `{hook}` is left out: {why}", step.name));
                }
            }
            line.guards
                .extend(parts.guards.iter().flat_map(|guard| line.guarded(hook, guard)).collect::<Vec<_>>());
            line.effects.extend(parts.effects.iter().map(|effect| followed(hook, parts, effect)));
        }
        line
    }

    fn add(
        &mut self,
        hook: &str,
        step: &WorkflowStep,
        added: &mut Vec<(String, StepPlace)>,
    ) -> Result<(), String> {
        let name = step.name.trim();
        if name.is_empty() {
            return Err("it has no name".to_owned());
        }
        if self.place_of(name).is_some() || matches!(name, IDLE | START) {
            return Err("there is a step of that name already".to_owned());
        }
        let place = match &step.place {
            StepPlace::After(anchor) => self.after(anchor, &step.place, added)?,
            StepPlace::Before(anchor) if anchor == IDLE => {
                return Err("nothing comes before `idle`".to_owned());
            }
            // Right before it, and so after those that were put there earlier.
            StepPlace::Before(anchor) => self.place_of(anchor).ok_or_else(|| self.unknown(anchor))?,
            StepPlace::Last => self.steps.len() - 1,
        };
        let entry = LineStep {
            name: name.to_owned(),
            hook: Some(hook.to_owned()),
            description: step.description.clone(),
        };
        self.steps.insert(place, entry);
        added.push((name.to_owned(), step.place.clone()));
        Ok(())
    }

    /// Right after an anchor, and after all that stand there for the same reason.
    fn after(&self, anchor: &str, place: &StepPlace, added: &[(String, StepPlace)]) -> Result<usize, String> {
        let mut at = match anchor {
            IDLE => 0,
            DONE => return Err("nothing comes after `done`".to_owned()),
            _ => self.place_of(anchor).ok_or_else(|| self.unknown(anchor))? + 1,
        };
        let belongs = |step: &LineStep| {
            added.iter().any(|(name, theirs)| *name == step.name && theirs == place)
                || self.leads_to(&step.name, place, added)
        };
        while self.steps.get(at).is_some_and(belongs) {
            at += 1;
        }
        Ok(at)
    }

    /// Whether a step stands after one that stands at this place, directly or by another one.
    fn leads_to(&self, name: &str, place: &StepPlace, added: &[(String, StepPlace)]) -> bool {
        let anchor = added.iter().find_map(|(step, theirs)| match theirs {
            StepPlace::After(anchor) if step == name => Some(anchor),
            _ => None,
        });
        anchor.is_some_and(|anchor| {
            added.iter().any(|(step, theirs)| step == anchor && theirs == place)
                || self.leads_to(anchor, place, added)
        })
    }

    fn unknown(&self, anchor: &str) -> String {
        let names: Vec<String> = self.steps.iter().map(|step| format!("`{}`", step.name)).collect();
        format!("there is no step `{anchor}` yet; there are {}", names.join(", "))
    }

    /// Where a step stands.
    pub fn place_of(&self, name: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.name == name)
    }

    fn guarded(&self, hook: &str, guard: &WorkflowGuard) -> Vec<LineGuard> {
        let is_there = |step: &&String| {
            self.steps.iter().any(|line| line.name == **step && line.hook.as_deref() == Some(hook))
        };
        let mut steps: Vec<String> = guard.steps.iter().filter(is_there).cloned().collect();
        if steps.is_empty() {
            steps.push(DONE.to_owned());
        }
        let guards = |step| LineGuard { hook: hook.to_owned(), guard: guard.name.clone(), step };
        steps.into_iter().map(guards).collect()
    }

    /// The steps of hooks between where a task is and where it is to go, without both.
    ///
    /// Going back needs none: what comes before has been passed.
    pub fn between(&self, from: &str, to: &str) -> Vec<&LineStep> {
        let first = self.place_of(from).map_or(0, |place| place + 1);
        let last = self.place_of(to).unwrap_or(self.steps.len());
        let between = self.steps.get(first..last).unwrap_or_default();
        between.iter().filter(|step| step.hook.is_some()).collect()
    }

    /// The steps of hooks that come right after one, before the next of ours.
    pub fn following(&self, step: &str) -> Vec<&LineStep> {
        let first = self.place_of(step).map_or(0, |place| place + 1);
        self.steps[first..].iter().take_while(|step| step.hook.is_some()).collect()
    }
}

fn followed(hook: &str, parts: &WorkflowParts, effect: &WorkflowEffect) -> LineEffect {
    let steps = (!parts.steps.is_empty()).then(|| effect.steps.clone());
    LineEffect { hook: hook.to_owned(), effect: effect.name.clone(), steps, critical: effect.critical }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hooks as words: `hook: step>anchor step<anchor step`.
    fn parts(text: &str) -> (String, WorkflowParts) {
        let (hook, steps) = text.split_once(": ").unwrap();
        let step = |text: &str| {
            let (name, place) = match text.split_once(['>', '<']) {
                Some((name, anchor)) if text.contains('>') => (name, StepPlace::After(anchor.to_owned())),
                Some((name, anchor)) => (name, StepPlace::Before(anchor.to_owned())),
                None => (text, StepPlace::Last),
            };
            WorkflowStep { name: name.to_owned(), description: None, place }
        };
        let steps = steps.split(' ').map(step).collect();
        (hook.to_owned(), WorkflowParts { steps, ..WorkflowParts::default() })
    }

    fn line(hooks: &[&str]) -> Line {
        let hooks: Vec<_> = hooks.iter().map(|hook| parts(hook)).collect();
        Line::new(hooks.iter().map(|(name, parts)| (name.as_str(), parts)))
    }

    fn check(hooks: &[&str], expected: &str) {
        let line = line(hooks);
        let names: Vec<&str> = line.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names.join(" "), expected, "{hooks:?}");
        assert_eq!(line.refused, Vec::<String>::new());
    }

    #[test]
    fn steps_stand_where_their_anchors_say() {
        check(&[], "planning implementing reviewing done");
        check(&["a: scan>planning"], "planning scan implementing reviewing done");
        check(&["a: scan<implementing"], "planning scan implementing reviewing done");
        check(&["a: approval>reviewing"], "planning implementing reviewing approval done");
        check(&["a: last"], "planning implementing reviewing last done");
        check(&["a: first>idle"], "first planning implementing reviewing done");
        check(&["a: gate<done"], "planning implementing reviewing gate done");
    }

    #[test]
    fn with_the_same_anchor_later_ones_stand_after_earlier_ones() {
        check(&["a: x>planning y>planning"], "planning x y implementing reviewing done");
        check(&["a: x>planning", "b: y>planning"], "planning x y implementing reviewing done");
        check(&["b: y>planning", "a: x>planning"], "planning y x implementing reviewing done");
        check(&["a: x<done", "b: y<done", "c: z"], "planning implementing reviewing x y z done");
    }

    #[test]
    fn a_step_that_was_added_before_is_an_anchor() {
        check(&["a: x>planning", "b: y>x"], "planning x y implementing reviewing done");
        check(&["a: x>planning", "b: y<x"], "planning y x implementing reviewing done");
        check(&["a: x>planning w>x", "b: y>planning"], "planning x w y implementing reviewing done");
    }

    #[test]
    fn a_step_that_does_not_fit_is_left_out_with_a_word() {
        let line = line(&[
            "a: x>nowhere ok>planning planning>reviewing",
            "b: ok>reviewing y>done z<idle idle>planning",
        ]);
        let names: Vec<&str> = line.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names.join(" "), "planning ok implementing reviewing done");
        assert_eq!(
            line.refused,
            [
                "the step `x` of `a` is left out: there is no step `nowhere` yet; there are `planning`, \
                 `implementing`, `reviewing`, `done`",
                "the step `planning` of `a` is left out: there is a step of that name already",
                "the step `ok` of `b` is left out: there is a step of that name already",
                "the step `y` of `b` is left out: nothing comes after `done`",
                "the step `z` of `b` is left out: nothing comes before `idle`",
                "the step `idle` of `b` is left out: there is a step of that name already",
            ]
        );
    }

    #[test]
    fn guards_without_a_step_that_is_there_guard_the_end() {
        let guard = |name: &str, steps: &[&str]| WorkflowGuard {
            name: name.to_owned(),
            description: None,
            steps: steps.iter().map(|step| (*step).to_owned()).collect(),
        };
        let (_, mut with_steps) = parts("a: x>planning bad>nowhere");
        with_steps.guards = vec![guard("both", &["x", "bad"]), guard("lost", &["bad"])];
        let without = WorkflowParts { guards: vec![guard("end", &[])], ..WorkflowParts::default() };
        let line = Line::new([("a", &with_steps), ("b", &without)]);
        let seen: Vec<String> = line
            .guards
            .iter()
            .map(|guard| format!("{}.{} {}", guard.hook, guard.guard, guard.step))
            .collect();
        assert_eq!(seen, ["a.both x", "a.lost done", "b.end done"]);
    }

    #[test]
    fn what_is_due_lies_between_where_a_task_is_and_where_it_goes() {
        let line = line(&["a: first>idle scan>planning test>implementing ok>reviewing last"]);
        let due = |from: &str, to: &str| {
            line.between(from, to).iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(due(IDLE, PLANNING), "first");
        assert_eq!(due(PLANNING, IMPLEMENTING), "scan");
        assert_eq!(due("scan", IMPLEMENTING), "");
        assert_eq!(due(IMPLEMENTING, DONE), "test ok last");
        assert_eq!(due(REVIEWING, IMPLEMENTING), "");
        assert_eq!(due("gone", IMPLEMENTING), "first scan");
        let after = |step: &str| {
            line.following(step).iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(after(REVIEWING), "ok last");
        assert_eq!(after(IMPLEMENTING), "test");
    }
}
