//! From the grammar's tree to simple commands.
//!
//! Knows every kind of compound command. Follows each branch, since any of them may be taken.
//!
//! What always holds: every word of the tree is decoded exactly once, and every script inside one is read.

use brush_parser::ast::{
    self, AndOr, AndOrList, CompoundCommand, CompoundList, CompoundListItem, ExtendedTestExpr,
    FunctionDefinition, Pipeline, RedirectList, SeparatorOperator,
};

use super::super::Place;
use super::super::paths::Directory;
use super::directories::{Directories, Outcome};
use super::{Command, CommandRole, HOLE, Reading, Word, decode, lookalike, syntax};

/// How deep scripts may stand in scripts: `sh -c "sh -c …"`, substitutions in substitutions.
const MAX_DEPTH: usize = 8;
/// How many scripts a line may hold in all.
const MAX_SCRIPTS: usize = 64;
/// How many simple commands a line may run in all.
const MAX_COMMANDS: usize = 1024;

/// Walks a line and collects what it finds.
pub(super) struct Walker<'a> {
    pub(super) place: &'a Place,
    pub(super) reading: Reading,
    pub(super) depth: usize,
    scripts: usize,
    /// Whether what is walked now reads what another command writes.
    pub(super) fed: bool,
}

impl<'a> Walker<'a> {
    pub(super) fn read(line: &str, start: &Directory, place: &'a Place) -> Reading {
        let mut walker = Self { place, reading: Reading::default(), depth: 0, scripts: 0, fed: false };
        if let Some(why) = lookalike::in_line(line) {
            walker.unread(why);
        }
        if may_have_comment(line) {
            // An interactive zsh runs what others take for a comment.
            walker.unruled("it may have a comment");
        }
        walker.script(line, &Directories::only(start.clone()));
        walker.reading
    }

    /// Notes that something could not be read. The first reason is the one that is told.
    pub(super) fn unread(&mut self, why: &str) {
        self.reading.unread.get_or_insert_with(|| why.to_owned());
    }

    /// Notes that no allow rule speaks for this line.
    pub(super) fn unruled(&mut self, why: &str) {
        self.reading.unruled.get_or_insert_with(|| why.to_owned());
    }

    pub(super) fn push(&mut self, command: Command) {
        if self.reading.commands.len() < MAX_COMMANDS {
            self.reading.commands.push(command);
        } else {
            self.unread("it runs too many commands");
        }
    }

    /// Reads a script that stands in the line.
    pub(super) fn script(&mut self, text: &str, directories: &Directories) -> Directories {
        self.scripts += 1;
        if self.depth >= MAX_DEPTH || self.scripts > MAX_SCRIPTS {
            self.unread("it is nested too deeply");
            return directories.clone();
        }
        if text.contains(HOLE) {
            self.unread("it makes a script from words that are not known");
        }
        self.depth += 1;
        let after = match syntax::parse(text) {
            Ok(program) => program
                .complete_commands
                .iter()
                .fold(directories.clone(), |directories, list| self.list(list, directories)),
            Err(why) => {
                self.unread(&why);
                directories.clone()
            }
        };
        self.depth -= 1;
        after
    }

    /// Decodes a word and reads the scripts inside it.
    pub(super) fn word(&mut self, raw: &str, directories: &Directories) -> Word {
        let directory = directories.path(self.place);
        let surroundings = decode::Surroundings {
            home: self.place.home.as_ref().and_then(|home| home.to_str()),
            directory: directory.as_deref(),
        };
        let decoded = decode::decode(raw, surroundings);
        self.inside(decoded, directories)
    }

    /// Reads the scripts inside a text that is expanded but not split into words.
    pub(super) fn expanded(&mut self, text: &str, directories: &Directories) -> Word {
        let decoded = decode::scripts_in(text);
        self.inside(decoded, directories)
    }

    fn inside(&mut self, decoded: decode::Decoded, directories: &Directories) -> Word {
        for script in &decoded.scripts {
            self.script(script, directories);
        }
        if let Some(why) = decoded.odd {
            self.unread(why);
        }
        decoded.word
    }

    pub(super) fn list(&mut self, list: &CompoundList, directories: Directories) -> Directories {
        list.0.iter().fold(directories, |directories, CompoundListItem(and_or, separator)| {
            let after = self.and_or(and_or, &directories);
            match separator {
                SeparatorOperator::Sequence => after,
                SeparatorOperator::Async => directories,
            }
        })
    }

    fn and_or(&mut self, list: &AndOrList, directories: &Directories) -> Directories {
        let mut so_far = self.pipeline(&list.first, directories);
        for next in &list.additional {
            so_far = match next {
                AndOr::And(pipeline) => {
                    let next = self.pipeline(pipeline, &so_far.done);
                    Outcome { done: next.done, failed: so_far.failed.or(next.failed) }
                }
                AndOr::Or(pipeline) => {
                    let next = self.pipeline(pipeline, &so_far.failed);
                    Outcome { done: so_far.done.or(next.done), failed: next.failed }
                }
            };
        }
        so_far.either()
    }

    fn pipeline(&mut self, pipeline: &Pipeline, directories: &Directories) -> Outcome {
        let outcome = match pipeline.seq.as_slice() {
            [] => Outcome::same(directories),
            [only] => self.command(only, directories),
            several => {
                let fed = self.fed;
                let mut last = directories.clone();
                for (position, command) in several.iter().enumerate() {
                    self.fed = fed || position > 0;
                    last = self.command(command, directories).either();
                }
                self.fed = fed;
                // Some shells run the last one themselves, and are then where it went.
                let after = directories.clone().or(last);
                Outcome::same(&after)
            }
        };
        if pipeline.bang { Outcome { done: outcome.failed, failed: outcome.done } } else { outcome }
    }

    fn command(&mut self, command: &ast::Command, directories: &Directories) -> Outcome {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, directories),
            ast::Command::Compound(compound, redirections) => {
                let fed = self.fed;
                self.fed |= self.opened(redirections.as_ref(), directories);
                let after = self.compound(compound, directories);
                self.fed = fed;
                Outcome::same(&after)
            }
            ast::Command::Function(function) => {
                self.function(function, directories);
                Outcome::same(directories)
            }
            ast::Command::ExtendedTest(test, redirections) => {
                self.unruled("it has a `[[ … ]]`");
                self.opened(redirections.as_ref(), directories);
                self.test(&test.expr, directories);
                Outcome::same(directories)
            }
        }
    }

    /// Notes the files that are opened for a compound command; whether one of them feeds it.
    fn opened(&mut self, list: Option<&RedirectList>, directories: &Directories) -> bool {
        let Some(list) = list else { return false };
        let mut opened = super::redirect::Opened::default();
        for redirection in &list.0 {
            self.redirection(redirection, directories, &mut opened);
        }
        self.push(Command {
            role: CommandRole::Carries,
            assignments: Vec::new(),
            words: Vec::new(),
            redirections: opened.files,
            directories: directories.to_vec(),
            fed: false,
        });
        opened.feeds
    }

    fn compound(&mut self, compound: &CompoundCommand, directories: &Directories) -> Directories {
        let here = || directories.clone();
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list, here()),
            CompoundCommand::Subshell(subshell) => {
                self.list(&subshell.list, here());
                here()
            }
            CompoundCommand::IfClause(clause) => {
                let mut conditions = self.list(&clause.condition, here());
                let mut after = self.list(&clause.then, conditions.clone());
                for branch in clause.elses.iter().flatten() {
                    if let Some(condition) = &branch.condition {
                        conditions = self.list(condition, conditions);
                    }
                    after = after.or(self.list(&branch.body, conditions.clone()));
                }
                after.or(conditions)
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.repeated(&[&clause.0, &clause.1.list], directories)
            }
            CompoundCommand::ForClause(clause) => {
                for value in clause.values.iter().flatten() {
                    self.word(&value.value, directories);
                }
                self.repeated(&[&clause.body.list], directories)
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                self.unruled("it has arithmetic");
                for expression in
                    [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten()
                {
                    self.expanded(&expression.value, directories);
                }
                self.repeated(&[&clause.body.list], directories)
            }
            CompoundCommand::CaseClause(clause) => {
                self.unruled("it has a `case`");
                self.word(&clause.value.value, directories);
                let mut after = here();
                for item in &clause.cases {
                    for pattern in &item.patterns {
                        self.word(&pattern.value, directories);
                    }
                    if let Some(list) = &item.cmd {
                        after = after.clone().or(self.list(list, after));
                    }
                }
                after
            }
            CompoundCommand::Arithmetic(arithmetic) => {
                self.arithmetic(&arithmetic.expr.value, directories);
                here()
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.unruled("it has a coprocess");
                self.command(&coprocess.body, directories);
                here()
            }
        }
    }

    /// What may run more than once: if it moves elsewhere, its second time begins who knows where.
    fn repeated(&mut self, lists: &[&CompoundList], directories: &Directories) -> Directories {
        let first = self.reading.commands.len();
        let after = lists.iter().fold(directories.clone(), |directories, list| self.list(list, directories));
        if after == *directories {
            return after;
        }
        for command in &mut self.reading.commands[first..] {
            if !command.directories.contains(&Directory::Unknown) {
                command.directories.push(Directory::Unknown);
            }
        }
        after.or(directories.clone()).or_unknown()
    }

    /// `((…))`: arithmetic for bash, a subshell in a subshell for dash.
    fn arithmetic(&mut self, text: &str, directories: &Directories) {
        self.unruled("it has arithmetic");
        self.expanded(text, directories);
        if let Ok(program) = syntax::parse(text) {
            for list in &program.complete_commands {
                self.list(list, directories.clone());
            }
        }
    }

    fn function(&mut self, function: &FunctionDefinition, directories: &Directories) {
        self.unruled("it defines a function");
        let name = self.word(&function.fname.value, directories);
        let first = self.reading.commands.len();
        self.opened(function.body.1.as_ref(), directories);
        // Nobody knows where it will be called from.
        self.compound(&function.body.0, &directories.clone().or_unknown());
        let calls = self.reading.commands[first..]
            .iter()
            .filter(|command| command.name() == Some(&name.text))
            .count();
        if calls >= 2 || calls == 1 && starts_in_background(&function.body.0) {
            self.reading.fork_bomb = true;
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr, directories: &Directories) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                // dash takes what follows `&&` for a command.
                self.unread("shells disagree on `&&` and `||` inside `[[ … ]]`");
                self.test(left, directories);
                self.test(right, directories);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner, directories);
            }
            ExtendedTestExpr::UnaryTest(_, word) => {
                self.word(&word.value, directories);
            }
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.word(&left.value, directories);
                self.expanded(&right.value, directories);
            }
        }
    }
}

/// Whether a `#` stands where it could begin a comment, quoted or not.
fn may_have_comment(line: &str) -> bool {
    let mut before = ' ';
    line.chars().any(|c| {
        let begins = c == '#' && (before.is_whitespace() || ";&|()<>`".contains(before));
        before = c;
        begins
    })
}

fn starts_in_background(body: &CompoundCommand) -> bool {
    let list = match body {
        CompoundCommand::BraceGroup(group) => &group.list,
        CompoundCommand::Subshell(subshell) => &subshell.list,
        _ => return false,
    };
    list.0.iter().any(|CompoundListItem(_, separator)| matches!(separator, SeparatorOperator::Async))
}
