//! What a turn is held to beyond the policy, because its client wants it so.
//!
//! Pure. Comes after the verdict of the policy, and can only turn it into a denial: neither a rule that allows, nor an
//! answer that is remembered, nor a free preset is stronger than what the turn was begun with.

use loggia_domain::{Decision, Demand, Restraint};

use super::{Verdict, VerdictSource};

/// The verdict on a call of a turn that is held to this.
pub(crate) fn held(verdict: Verdict, restraint: &Restraint, tool: &str, demand: &Demand) -> Verdict {
    let denied = |reason: String| Verdict {
        decision: Decision::Deny,
        risk: verdict.risk,
        reason,
        source: VerdictSource::Restraint,
    };
    if verdict.decision == Decision::Deny {
        return verdict;
    }
    if restraint.without.iter().any(|name| name == tool) {
        return denied(format!("the turn was begun without `{tool}`"));
    }
    if restraint.reading_only && !demand.only_reads() {
        return denied(
            "the turn was begun for reading only: nothing is changed and nothing is run".to_owned(),
        );
    }
    verdict
}

#[cfg(test)]
mod tests {
    use loggia_domain::{CommandRequest, GuestCommandRequest, Risk};

    use super::*;

    fn decided(restraint: &Restraint, tool: &str, demand: &Demand, decision: Decision) -> Decision {
        let (reason, source) = ("said".to_owned(), VerdictSource::Rule(0));
        held(Verdict { decision, risk: Risk::Low, reason, source }, restraint, tool, demand).decision
    }

    #[test]
    fn reading_goes_on_and_nothing_else_does() {
        let held = Restraint { reading_only: true, without: Vec::new() };
        let path = || vec!["a".to_owned()];
        let reads = Demand { reads: path(), ..Demand::default() };
        let writes = Demand { writes: path(), ..Demand::default() };
        let deletes = Demand { deletes: path(), ..Demand::default() };
        let runs = Demand { command: Some(CommandRequest::default()), ..Demand::default() };
        assert_eq!(decided(&held, "read_file", &reads, Decision::Allow), Decision::Allow);
        assert_eq!(decided(&held, "update_plan", &Demand::default(), Decision::Allow), Decision::Allow);
        assert_eq!(decided(&held, "read_file", &reads, Decision::Ask), Decision::Ask);
        let later = Demand { unnamed_writes: true, ..Demand::default() };
        let guest = Demand { guest_command: Some(GuestCommandRequest::default()), ..Demand::default() };
        for demand in [&writes, &deletes, &runs, &later, &guest] {
            assert_eq!(decided(&held, "t", demand, Decision::Allow), Decision::Deny);
            assert_eq!(decided(&held, "t", demand, Decision::Ask), Decision::Deny);
            assert_eq!(decided(&Restraint::default(), "t", demand, Decision::Allow), Decision::Allow);
        }
    }

    #[test]
    fn a_tool_that_is_left_out_is_not_called_and_a_denial_keeps_its_reason() {
        let without = Restraint { reading_only: false, without: vec!["run_command".to_owned()] };
        let nothing = Demand::default();
        assert_eq!(decided(&without, "run_command", &nothing, Decision::Allow), Decision::Deny);
        assert_eq!(decided(&without, "read_file", &nothing, Decision::Allow), Decision::Allow);
        let (reason, source) = ("built in".to_owned(), VerdictSource::Builtin);
        let verdict = Verdict { decision: Decision::Deny, risk: Risk::High, reason, source };
        assert_eq!(held(verdict.clone(), &without, "run_command", &nothing), verdict);
    }
}
