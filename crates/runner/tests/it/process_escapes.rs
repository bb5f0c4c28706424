//! Escapes by way of other processes and of the kernel.

use crate::roads::Script::{Python, Shell};
use crate::roads::{Escape, Free, escape};

pub(crate) const ALL: &[Escape] = &[
    escape("killing_a_process_outside", Shell("kill -9 \"$VICTIM\" && echo ESCAPED")),
    escape("signalling_the_daemon", Shell("kill -0 \"$DAEMON\" && echo ESCAPED")),
    escape("tracing_a_process_outside", Python("attempt(lambda: call('ptrace', 16, victim, 0, 0))"))
        .free(Free::WorksWithTracing),
    escape(
        "tracing_the_keeper",
        Python(
            r#"
keeper = int(open("/proc/self/status").read().split("PPid:")[1].split()[0])
keeper = int(open(f"/proc/{keeper}/status").read().split("PPid:")[1].split()[0]) or keeper
def trace():
    call("ptrace", 16, keeper, 0, 0)
    os.waitpid(keeper, 0)
    call("ptrace", 17, keeper, 0, 0)
attempt(trace)
"#,
        ),
    )
    .free(Free::WorksWithTracing),
    escape(
        "reading_another_process_memory",
        // An address that is nobody's: only whoever may look is told that it is wrong.
        Python(
            r#"
class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
here = ctypes.create_string_buffer(8)
mine, theirs = Span(ctypes.addressof(here), 8), Span(8, 8)
libc.process_vm_readv(victim, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
print("ESCAPED" if os.strerror(ctypes.get_errno()) == "Bad address" else "held")
"#,
        ),
    )
    .free(Free::WorksWithTracing),
    escape("reading_another_environment", Shell("tr '\\0' '\\n' < /proc/$VICTIM/environ")),
    escape("reading_the_daemons_environment", Shell("cat /proc/$DAEMON/environ > /dev/null && echo ESCAPED")),
    escape("reading_the_keepers_environment", Shell("cat /proc/$PPID/environ > /dev/null && echo ESCAPED")),
    escape("opening_the_keepers_memory", Shell("(exec 3< /proc/$PPID/mem) && echo ESCAPED"))
        .free(Free::WorksWithTracing),
    escape("opening_another_memory", Python("attempt(lambda: open(f'/proc/{victim}/mem', 'rb'))"))
        .free(Free::WorksWithTracing),
    escape("going_through_another_root", Shell("ls /proc/$VICTIM/root/ > /dev/null && echo ESCAPED; true")),
    escape(
        "going_through_another_directory",
        Shell("ls /proc/$DAEMON/cwd/ > /dev/null && echo ESCAPED; true"),
    ),
    escape(
        "going_through_another_file",
        Shell("ls -l /proc/$DAEMON/fd/ | grep -q ' -> ' && echo ESCAPED; true"),
    ),
    escape(
        "limiting_a_process_outside",
        Python(
            r#"
import resource
attempt(lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE, (64, 64)))
"#,
        ),
    ),
    escape(
        "taking_another_process_file",
        Python(
            r#"
attempt(lambda: call('syscall', 438, call('syscall', 434, victim, 0), 0, 0))
"#,
        ),
    )
    .free(Free::WorksWithTracing),
    escape("making_a_namespace_of_users", Python("attempt(lambda: call('unshare', 0x10000000))"))
        .free(Free::WorksWithNamespaces),
    escape("making_a_namespace_of_mounts", Python("attempt(lambda: call('unshare', 0x00020000))"))
        .free(Free::WorksForRoot),
    escape(
        "being_born_in_a_namespace",
        Python(
            r#"
def clone():
    number, flags = (56 if x86 else 220), 0x10000000 | 17
    child = call("syscall", number, ctypes.c_long(flags), 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
attempt(clone)
"#,
        ),
    )
    .free(Free::WorksWithNamespaces),
    escape(
        "being_born_in_a_namespace_the_new_way",
        Python(
            r#"
def clone3():
    wishes = struct.pack("=11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
    child = call("syscall", 435, wishes, ctypes.c_long(len(wishes)))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
attempt(clone3)
"#,
        ),
    )
    .free(Free::WorksWithNamespaces),
    escape(
        "joining_a_namespace",
        Python(
            r#"
attempt(lambda: call('setns', os.open('/proc/self/ns/uts', os.O_RDONLY), 0))
"#,
        ),
    )
    .free(Free::WorksForRoot),
    escape("changing_the_root", Python("attempt(lambda: os.chroot('/'))")).free(Free::WorksForRoot),
    escape(
        "mounting",
        Python(
            r#"
os.mkdir('point')
attempt(lambda: call('mount', b'tmpfs', b'point', b'tmpfs', 0, None))
libc.umount2(b'point', 2)
"#,
        ),
    )
    .free(Free::WorksForRoot),
    escape("cloning_mounts", Python("attempt(lambda: call('syscall', 428, -100, b'/', 1))"))
        .free(Free::WorksForRoot),
    escape(
        "undoing_a_cover",
        Python(
            r#"
for place in (env['TOOLS'] + '/keys', env['DATA'], '/tmp', '/proc'):
    if libc.umount2(place.encode(), 2) == 0: print('ESCAPED')
"#,
        ),
    )
    .free(Free::Unknown),
    escape(
        "making_a_ring",
        Python(
            r#"
attempt(lambda: call('syscall', 425, 4, ctypes.create_string_buffer(120)))
"#,
        ),
    )
    .free(Free::Unknown),
    escape(
        "loading_a_kernel_program",
        Python(
            r#"
wishes = struct.pack('=IIII', 2, 4, 4, 1) + bytes(56)
attempt(lambda: call('syscall', 321 if x86 else 280, 0, wishes, 72))
"#,
        ),
    )
    .free(Free::WorksForRoot),
    escape(
        "watching_the_processor",
        Python(
            r#"
wishes = struct.pack('=IIQ', 1, 112, 0) + bytes(96)
attempt(lambda: call('syscall', 298 if x86 else 241, wishes, 0, -1, -1, 0))
"#,
        ),
    )
    .free(Free::Unknown),
    escape("handling_page_faults", Python("attempt(lambda: call('syscall', 323 if x86 else 282, 1))"))
        .free(Free::Unknown),
    escape(
        "keeping_a_key",
        Python(
            r#"
attempt(lambda: call('syscall', 248 if x86 else 217, b'user', b'name', b'word', 4, -2))
"#,
        ),
    )
    .free(Free::Unknown),
    escape(
        "opening_a_file_by_its_handle",
        Python(
            r#"
handle = struct.pack('=Ii', 128, 0) + bytes(128)
attempt(lambda: call('name_to_handle_at', -100, b'own', handle, ctypes.byref(ctypes.c_int()), 0))
"#,
        ),
    )
    .free(Free::WorksForRoot),
    escape("reading_the_kernels_log", Python("attempt(lambda: call('klogctl', 10, None, 0))"))
        .free(Free::WorksForRoot),
    escape(
        "setting_the_clock",
        Python(
            r#"
import time
attempt(lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()))
"#,
        ),
    )
    .free(Free::WorksForRoot),
    escape(
        "typing_into_a_terminal",
        Python(
            r#"
import fcntl
try:
    terminal = os.openpty()[1]
except OSError:
    terminal = 0
attempt(lambda: fcntl.ioctl(terminal, 0x5412, b'x'))
"#,
        ),
    )
    .free(Free::Unknown),
    escape(
        "calling_by_other_numbers",
        // Numbers with this bit go through a table of calls of their own.
        Python(
            r#"
if x86 and os.fork() == 0:
    print('ESCAPED' if libc.syscall(0x40000000 | 39) == os.getpid() else 'held', flush=True)
    os._exit(0)
if x86: os.wait()
"#,
        ),
    )
    .free(Free::Unknown),
    escape(
        "calling_as_an_older_processor",
        Python(
            r#"
import mmap
if x86 and os.fork() == 0:
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    # mov eax, 20 (getpid); int 0x80; ret
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    code = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    print("ESCAPED" if code() == os.getpid() else "held", flush=True)
    os._exit(0)
if x86: os.wait()
"#,
        ),
    )
    .free(Free::Unknown),
    escape(
        "gaining_privileges_by_a_file",
        // A copy of a shell that runs as its owner and keeps that.
        Python(
            r#"
import shutil, subprocess
shutil.copy('/bin/sh', 'shell')
os.chmod('shell', 0o6755)
found = subprocess.run(['grep', 'NoNewPrivs', '/proc/self/status'], capture_output=True, text=True)
print(found.stdout.replace('NoNewPrivs:\t0', 'ESCAPED'))
"#,
        ),
    ),
    escape(
        "keeping_privileges",
        Shell(
            "grep -E '^Cap(Eff|Prm|Amb):' /proc/self/status | \
             grep -qvE '0{16}$|0{15}2$|0{14}1b$' && echo ESCAPED; true",
        ),
    )
    .free(Free::WorksForRoot),
    escape(
        "inheriting_files",
        Python(
            r#"
print('ESCAPED' if [n for n in os.listdir('/proc/self/fd') if int(n) > 3] else 'held')
"#,
        ),
    )
    .free(Free::Unknown),
];
