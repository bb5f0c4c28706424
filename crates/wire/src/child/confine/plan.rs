//! What a root directory of its own is made of.
//!
//! Turns a [`Confinement`] into places in path order, each with what is put there. Looks at the file system, changes
//! nothing; `root` mounts it and `bubblewrap` writes it as arguments.
//!
//! What always holds:
//! - no place has a link on its way: links are places of their own, and what they lead to is resolved;
//! - a directory between a writable one and something sealed in it is a place too. A mount point cannot be renamed,
//!   so nobody can move the sealed part away together with its parent and make another in its stead.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Confinement, Grant};

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

/// These are made new for every root,
const OWN: &[&str] = &["/proc", "/dev"];
/// except what is a directory for files like others.
const NOT_OWN: &str = "/dev/shm";

/// The places of a root.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Where the system's root is seen. Paths are those below it, and so are absolute links.
    system: PathBuf,
    /// In the order in which they are made: what lies inside comes after.
    pub(super) places: BTreeMap<PathBuf, Place>,
    /// What was asked for and cannot be had this way.
    pub(super) missing: Vec<String>,
}

/// What is put at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// What is there in the system's root.
    Same { write: bool, execute: bool },
    /// An empty directory.
    Empty { write: bool },
    /// A file that cannot be read.
    Blank,
    /// A link to this.
    Link(PathBuf),
}

/// Plans a root, by the system's root as it is seen at `system`.
pub(super) fn make(confinement: &Confinement, system: &Path) -> Plan {
    let mut plan = Plan { system: system.to_owned(), places: BTreeMap::new(), missing: Vec::new() };
    for grant in &confinement.grants {
        if let Err(error) = plan.grant(grant) {
            plan.missing.push(format!("`{}` is not granted: {error}", grant.path.display()));
        }
    }
    for path in &confinement.temporary {
        if let Ok(path) = plan.resolve(path)
            && below(system, &path).is_dir()
        {
            plan.places.entry(path).or_insert(Place::Empty { write: true });
        }
    }
    for path in &confinement.sealed {
        plan.seal(path);
    }
    for path in &confinement.hidden {
        plan.hide(path);
    }
    plan.prune();
    plan
}

impl Plan {
    /// The place whose content shows at a path that is not a place itself.
    pub(super) fn around(&self, path: &Path) -> Option<(&Path, &Place)> {
        path.ancestors().skip(1).find_map(|above| match self.places.get_key_value(above) {
            None | Some((_, Place::Link(_))) => None,
            Some((above, place)) => Some((above.as_path(), place)),
        })
    }

    /// The part of it that does not change from one program to the next: what cannot be written, and what is empty.
    /// The rest may be gone with the program it was made for.
    pub(super) fn lasting(&self) -> Self {
        let is_written = |place: Option<&Place>| matches!(place, Some(Place::Same { write: true, .. }));
        let lasts = |path: &Path| !path.ancestors().any(|above| is_written(self.places.get(above)));
        let places = self.places.iter().filter(|(path, _)| lasts(path));
        Self {
            system: self.system.clone(),
            places: places.map(|(path, place)| (path.clone(), place.clone())).collect(),
            missing: Vec::new(),
        }
    }

    fn grant(&mut self, grant: &Grant) -> io::Result<()> {
        let path = match self.resolve(&grant.path) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if path == Path::new("/") {
            // The new root cannot be the old one; all that is in it can.
            for entry in self.system.read_dir()? {
                self.grant(&Grant { path: path.join(entry?.file_name()), ..grant.clone() })?;
            }
            return Ok(());
        }
        if is_own(&path) {
            return Ok(());
        }
        let place = self.places.entry(path).or_insert(Place::Same { write: false, execute: false });
        if let Place::Same { write, execute } = place {
            *write |= grant.write;
            *execute |= grant.execute;
        }
        Ok(())
    }

    fn seal(&mut self, path: &Path) {
        let Some((granted, Place::Same { write: true, execute })) = self.around_or_at(path) else { return };
        let (granted, execute) = (granted.to_owned(), *execute);
        if real_path(&self.system, path, |_, _| {}).ok().as_deref() != Some(path) {
            // A link could be replaced, and what is not there could be made.
            let what = if below(&self.system, path).symlink_metadata().is_ok() {
                "there is a link on its way"
            } else {
                "it does not exist"
            };
            self.missing.push(format!("`{}` can be written: {what}", path.display()));
            return;
        }
        let between =
            path.ancestors().skip(1).take_while(|above| *above != granted && above.starts_with(&granted));
        for above in between {
            self.places.entry(above.to_owned()).or_insert(Place::Same { write: true, execute });
        }
        self.places.insert(path.to_owned(), Place::Same { write: false, execute });
    }

    fn around_or_at(&self, path: &Path) -> Option<(&Path, &Place)> {
        self.places
            .get_key_value(path)
            .map(|(path, place)| (path.as_path(), place))
            .or_else(|| self.around(path))
    }

    fn hide(&mut self, path: &Path) {
        // What is not there has nothing to hide.
        let Ok(path) = real_path(&self.system, path, |_, _| {}) else { return };
        let place =
            if below(&self.system, &path).is_dir() { Place::Empty { write: false } } else { Place::Blank };
        self.places.insert(path, place);
    }

    /// Leaves out what is there anyhow: links in what is shown or made new, hidden paths in what is not shown, and what
    /// is to be read in something that is shown in the same way.
    fn prune(&mut self) {
        let superfluous = |(path, place): (&PathBuf, &Place)| {
            let around = self.around(path).map(|(_, place)| place);
            let shown = matches!(around, Some(Place::Same { .. }));
            match place {
                Place::Link(_) => shown || is_own(path),
                Place::Blank | Place::Empty { write: false } => !shown,
                // Where something can be written, a place of its own keeps it from being moved away.
                Place::Same { write: false, .. } => around == Some(place),
                Place::Same { write: true, .. } | Place::Empty { write: true } => false,
            }
        };
        let paths: Vec<PathBuf> =
            self.places.iter().filter(|entry| superfluous(*entry)).map(|(path, _)| path.clone()).collect();
        for path in paths {
            self.places.remove(&path);
        }
    }

    /// The real path, with every link on the way noted as a place.
    fn resolve(&mut self, path: &Path) -> io::Result<PathBuf> {
        let places = &mut self.places;
        real_path(&self.system, path, |link, target| {
            places.entry(link).or_insert(Place::Link(target));
        })
    }
}

/// A path in the root that is seen at `system`, without the links on its way. Each is told, with where it leads.
fn real_path(system: &Path, path: &Path, mut on_link: impl FnMut(PathBuf, PathBuf)) -> io::Result<PathBuf> {
    let mut ahead: VecDeque<OsString> = names(path);
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&name);
        let seen = below(system, &next);
        if !seen.symlink_metadata()?.is_symlink() {
            real = next;
            continue;
        }
        links += 1;
        if links > MOST_LINKS {
            return Err(io::Error::other("too many links"));
        }
        let target = seen.read_link()?;
        for name in names(&target).into_iter().rev() {
            ahead.push_front(name);
        }
        if target.is_absolute() {
            real = PathBuf::from("/");
        }
        on_link(next, target);
    }
    Ok(real)
}

/// An absolute path as it is seen where its root is at `root`.
pub(super) fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn is_own(path: &Path) -> bool {
    OWN.iter().any(|own| path.starts_with(own)) && !path.starts_with(NOT_OWN)
}

fn names(path: &Path) -> VecDeque<OsString> {
    let name = |component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// A directory with some files; the plan for it as lines, with the directory's own path as `~`.
    fn check(confine: impl FnOnce(&Path) -> Confinement, expected: &str) {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap();
        for path in ["project/.git/hooks", "project/src", "tools/bin", "data/keys", "real"] {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        for path in ["project/.git/config", "data/token", "real/file"] {
            std::fs::write(home.join(path), "").unwrap();
        }
        std::os::unix::fs::symlink("real", home.join("link")).unwrap();
        let plan = make(&confine(&home), Path::new("/"));
        let mut text = String::new();
        for (path, place) in plan.places {
            writeln!(text, "{} {place:?}", path.display()).unwrap();
        }
        for missing in plan.missing {
            writeln!(text, "missing: {missing}").unwrap();
        }
        let text = text.replace(home.to_str().unwrap(), "~");
        assert_eq!(text.trim_end(), expected.trim_end());
    }

    fn writing_project(home: &Path) -> Confinement {
        Confinement { grants: vec![Grant::write(home.join("project"))], ..Confinement::default() }
    }

    #[test]
    fn grants_become_places_in_path_order() {
        check(
            |home| Confinement {
                grants: vec![
                    Grant::read(home.join("tools/bin")).no_execute(),
                    Grant::write(home.join("project")),
                    Grant::read(home.join("nowhere")),
                    Grant::read("/proc/self"),
                ],
                ..Confinement::default()
            },
            "~/project Same { write: true, execute: true }\n\
             ~/tools/bin Same { write: false, execute: false }",
        );
    }

    #[test]
    fn what_cannot_be_reached_is_not_granted() {
        check(
            |home| {
                std::os::unix::fs::symlink("loop", home.join("loop")).unwrap();
                Confinement { grants: vec![Grant::read(home.join("loop"))], ..writing_project(home) }
            },
            "~/loop Link(\"loop\")\nmissing: `~/loop` is not granted: too many links",
        );
    }

    #[test]
    fn links_on_the_way_are_made_again() {
        check(
            |home| Confinement {
                grants: vec![Grant::read(home.join("link/file"))],
                ..Confinement::default()
            },
            "~/link Link(\"real\")\n~/real/file Same { write: false, execute: true }",
        );
    }

    #[test]
    fn links_in_what_is_shown_are_there_already() {
        check(
            |home| Confinement {
                grants: vec![Grant::read(home), Grant::read(home.join("link/file"))],
                ..Confinement::default()
            },
            "~ Same { write: false, execute: true }",
        );
    }

    #[test]
    fn the_way_to_something_sealed_is_pinned() {
        check(
            |home| Confinement {
                sealed: vec![home.join("project/.git/hooks"), home.join("project/.git/config")],
                ..writing_project(home)
            },
            "~/project Same { write: true, execute: true }\n\
             ~/project/.git Same { write: true, execute: true }\n\
             ~/project/.git/config Same { write: false, execute: true }\n\
             ~/project/.git/hooks Same { write: false, execute: true }",
        );
    }

    #[test]
    fn what_cannot_be_sealed_is_told() {
        check(
            |home| {
                std::os::unix::fs::symlink("src", home.join("project/link")).unwrap();
                Confinement {
                    sealed: vec![home.join("project/.loggia"), home.join("project/link"), home.join("tools")],
                    ..writing_project(home)
                }
            },
            "~/project Same { write: true, execute: true }\n\
             missing: `~/project/.loggia` can be written: it does not exist\n\
             missing: `~/project/link` can be written: there is a link on its way",
        );
    }

    #[test]
    fn hidden_paths_are_covered_where_something_would_show_them() {
        check(
            |home| Confinement {
                grants: vec![Grant::read(home.join("data")), Grant::read(home.join("tools"))],
                hidden: vec![
                    home.join("data/keys"),
                    home.join("data/token"),
                    home.join("project"),
                    home.join("none"),
                ],
                ..Confinement::default()
            },
            "~/data Same { write: false, execute: true }\n\
             ~/data/keys Empty { write: false }\n\
             ~/data/token Blank\n\
             ~/tools Same { write: false, execute: true }",
        );
    }

    #[test]
    fn a_grant_deep_in_something_hidden_stays() {
        check(
            |home| Confinement {
                grants: vec![Grant::read(home), Grant::write(home.join("data/keys"))],
                hidden: vec![home.join("data")],
                ..Confinement::default()
            },
            "~ Same { write: false, execute: true }\n\
             ~/data Empty { write: false }\n\
             ~/data/keys Same { write: true, execute: true }",
        );
    }

    #[test]
    fn hidden_beats_a_grant_of_the_same_path() {
        check(
            |home| Confinement {
                grants: vec![Grant::read(home), Grant::write(home.join("data"))],
                hidden: vec![home.join("data")],
                ..Confinement::default()
            },
            "~ Same { write: false, execute: true }\n~/data Empty { write: false }",
        );
    }

    #[test]
    fn what_is_shown_in_the_same_way_already_needs_no_place() {
        check(
            |home| Confinement {
                grants: vec![
                    Grant::read(home.join("tools")),
                    Grant::read(home.join("tools/bin")),
                    Grant::read(home.join("data")),
                    Grant::read(home.join("data/keys")).no_execute(),
                    Grant::read(home.join("data/token")),
                ],
                hidden: vec![home.join("data/keys")],
                ..Confinement::default()
            },
            "~/data Same { write: false, execute: true }\n\
             ~/data/keys Empty { write: false }\n\
             ~/tools Same { write: false, execute: true }",
        );
    }

    #[test]
    fn what_lasts_is_neither_written_nor_in_something_written() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap();
        for path in ["project/.git", "project/keys", "tools/keys", "temporary/project"] {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        let confinement = Confinement {
            grants: vec![
                Grant::read(home.join("tools")),
                Grant::write(home.join("project")),
                Grant::write(home.join("temporary/project")),
            ],
            sealed: vec![home.join("project/.git")],
            hidden: vec![home.join("project/keys"), home.join("tools/keys")],
            temporary: vec![home.join("temporary")],
            ..Confinement::default()
        };
        let plan = make(&confinement, Path::new("/"));
        let names = |plan: &Plan| -> Vec<String> {
            plan.places.keys().map(|path| path.strip_prefix(&home).unwrap().display().to_string()).collect()
        };
        assert_eq!(plan.places.len(), 7, "{:?}", names(&plan));
        assert_eq!(names(&plan.lasting()), ["temporary", "tools", "tools/keys"]);
    }

    #[test]
    fn a_root_seen_elsewhere_is_planned_by_its_own_paths() {
        let directory = tempfile::tempdir().unwrap();
        let system = directory.path();
        std::fs::create_dir_all(system.join("usr/bin")).unwrap();
        std::fs::create_dir_all(system.join("etc/keys")).unwrap();
        std::os::unix::fs::symlink("/usr/bin", system.join("bin")).unwrap();
        let confinement = Confinement {
            grants: vec![Grant::read("/bin"), Grant::write("/etc")],
            sealed: vec!["/etc/keys".into(), "/etc/none".into()],
            ..Confinement::default()
        };
        let plan = make(&confinement, system);
        let read = Place::Same { write: false, execute: true };
        let expected = [
            ("/bin", Place::Link("/usr/bin".into())),
            ("/etc", Place::Same { write: true, execute: true }),
            ("/etc/keys", read.clone()),
            ("/usr/bin", read),
        ];
        assert_eq!(plan.places, expected.map(|(path, place)| (PathBuf::from(path), place)).into());
        assert_eq!(plan.missing, ["`/etc/none` can be written: it does not exist"]);
    }

    #[test]
    fn temporary_directories_are_empty_and_writable() {
        check(
            |home| Confinement {
                temporary: vec![home.join("data"), home.join("none")],
                ..Confinement::default()
            },
            "~/data Empty { write: true }",
        );
    }
}
