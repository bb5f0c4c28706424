//! Escapes by way of files.

use crate::roads::Script::{Python, Shell};
use crate::roads::{Escape, Free, escape};

const NO_RULE_FOR_MODES: &str = "Landlock has no rule for modes, times and attributes";
const NO_RULE_TO_SEAL: &str = "Landlock's rules cannot be taken back below a directory";

pub(crate) const ALL: &[Escape] = &[
    escape("writing_a_new_file_outside", Shell("echo x > \"$OUTSIDE/new\"")),
    escape("appending_to_a_file_outside", Shell("echo x >> \"$OUTSIDE/victim\"")),
    escape("writing_by_way_of_the_parent", Shell("echo x >> ../outside/victim")),
    escape("writing_through_a_symbolic_link", Shell("ln -s \"$OUTSIDE/victim\" link; echo x >> link")),
    escape("writing_through_a_linked_directory", Shell("ln -s \"$OUTSIDE\" link; echo x > link/new")),
    escape("taking_a_hard_link_in", Shell("ln \"$OUTSIDE/victim\" link; echo x >> link")),
    escape("putting_a_hard_link_out", Shell("ln own \"$OUTSIDE/linked\"")),
    escape("moving_a_file_out", Python("attempt(lambda: os.rename('own', env['OUTSIDE'] + '/moved'))")),
    escape("moving_a_file_in", Python("attempt(lambda: os.rename(env['OUTSIDE'] + '/victim', 'stolen'))")),
    escape("removing_a_file_outside", Shell("rm -f \"$OUTSIDE/victim\"")),
    escape("making_a_directory_outside", Shell("mkdir \"$OUTSIDE/directory\"")),
    escape(
        "truncating_a_file_outside",
        Python("attempt(lambda: os.truncate(env['OUTSIDE'] + '/victim', 0))"),
    ),
    escape("changing_a_mode_outside", Shell("chmod 777 \"$OUTSIDE/victim\""))
        .own_root_only_untold(NO_RULE_FOR_MODES),
    escape("changing_a_time_outside", Shell("touch -d @0 \"$OUTSIDE/victim\""))
        .own_root_only_untold(NO_RULE_FOR_MODES),
    escape(
        "changing_an_owner_outside",
        Python("attempt(lambda: os.chown(env['OUTSIDE'] + '/victim', 1, 1))"),
    )
    .free(Free::WorksForRoot),
    escape("reading_a_file_outside", Shell("cat \"$OUTSIDE/victim\"")),
    escape("reading_a_hidden_file", Shell("cat \"$DATA/token\"")),
    escape("reading_something_hidden_in_a_readable_directory", Shell("cat \"$TOOLS/keys/id\"")),
    escape("reading_it_through_a_link", Shell("ln -s \"$TOOLS/keys\" link; cat link/id")),
    escape("listing_a_hidden_directory", Shell("ls \"$DATA\" | grep -q token && echo ESCAPED")),
    escape("reading_the_passwords", Shell("grep -q : /etc/shadow && echo ESCAPED")).free(Free::WorksForRoot),
    escape("leaving_a_file_in_tmp", Shell("echo x > \"/tmp/$MARK-left\"")),
    escape("leaving_a_file_in_var_tmp", Shell("echo x > \"/var/tmp/$MARK-left\"")),
    escape("leaving_a_file_in_the_memory_of_all", Shell("echo x > \"/dev/shm/$MARK-left\"")),
    escape(
        "writing_outside_from_a_program_in_memory",
        Python(
            r#"
memory = os.memfd_create("sh")
os.write(memory, open("/bin/sh", "rb").read())
child = os.fork()
if child == 0:
    os.execve(memory, ["sh", "-c", 'echo x > "$OUTSIDE/new"'], env)
os.waitpid(child, 0)
"#,
        ),
    ),
    escape(
        "making_a_device",
        Python(
            r#"
import stat
attempt(lambda: os.mknod('device', 0o600 | stat.S_IFBLK, os.makedev(7, 0)))
"#,
        ),
    )
    .free(Free::WorksForRoot),
    escape(
        "opening_a_disk",
        Shell(
            "for disk in vda sda nvme0n1 loop0; do\n  head -c 1 /dev/$disk > /dev/null && echo ESCAPED\ndone",
        ),
    )
    .free(Free::Unknown),
    escape(
        "changing_the_kernels_settings",
        // The same words again, so that the machine does not feel it.
        Python(
            r#"
name = '/proc/sys/kernel/core_pattern'
attempt(lambda: open(name, 'r+').write(open(name).read()))
"#,
        ),
    )
    .free(Free::WorksForRoot),
    escape(
        "changing_the_processes_settings",
        Python("attempt(lambda: open('/proc/self/coredump_filter', 'w').write('0'))"),
    ),
    escape("writing_a_sealed_directory", Shell("echo x > .git/hooks/pre-commit"))
        .asking(|scene, asked| asked.read_only = vec![scene.root.join(".git/hooks")])
        .own_root_only(NO_RULE_TO_SEAL),
    escape("writing_a_sealed_file", Shell("echo x >> .git/config"))
        .asking(|scene, asked| asked.read_only = vec![scene.root.join(".git/config")])
        .own_root_only(NO_RULE_TO_SEAL),
    escape("replacing_a_sealed_file", Shell("echo x > new; mv -f new .git/config"))
        .asking(|scene, asked| asked.read_only = vec![scene.root.join(".git/config")])
        .own_root_only(NO_RULE_TO_SEAL),
    escape("removing_a_sealed_directory", Shell("rm -rf .git/hooks"))
        .asking(|scene, asked| asked.read_only = vec![scene.root.join(".git/hooks")])
        .own_root_only(NO_RULE_TO_SEAL),
    escape(
        "moving_a_sealed_directory_away_with_its_parent",
        Shell("mv .git old; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit"),
    )
    .asking(|scene, asked| asked.read_only = vec![scene.root.join(".git/hooks")])
    .own_root_only(NO_RULE_TO_SEAL),
    escape("linking_a_sealed_file", Shell("ln .git/config link; echo x >> link"))
        .asking(|scene, asked| asked.read_only = vec![scene.root.join(".git/config")])
        .own_root_only(NO_RULE_TO_SEAL),
    escape("making_a_sealed_path_that_is_missing", Shell("mkdir .loggia; echo x > .loggia/config"))
        .asking(|scene, asked| asked.read_only = vec![scene.root.join(".loggia")])
        .own_root_only(NO_RULE_TO_SEAL),
    escape("making_a_file_of_a_sealed_path_that_is_missing", Shell("echo x > .loggia"))
        .asking(|scene, asked| asked.read_only = vec![scene.root.join(".loggia/config")])
        .own_root_only(NO_RULE_TO_SEAL),
    escape("reading_a_hidden_path_named_readable", Shell("cat \"$DATA/token\""))
        .asking(|scene, asked| asked.readable.push(scene.data.join("token"))),
];
