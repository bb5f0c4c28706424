//! Escapes by way of sockets.

use crate::roads::Script::Python;
use crate::roads::{Escape, Free, escape};

const CONNECT_TO_THE_DAEMON: &str =
    "attempt(lambda: socket.socket(socket.AF_UNIX).connect(env['DATA'] + '/daemon.sock'))";
const CONNECT_TO_AN_ABSTRACT_NAME: &str =
    "attempt(lambda: socket.socket(socket.AF_UNIX).connect('\\0' + env['ABSTRACT']))";
const CONNECT_TO_THE_MACHINE: &str =
    "attempt(lambda: socket.create_connection(('127.0.0.1', int(env['TCP']))))";

pub(crate) const ALL: &[Escape] = &[
    escape("connecting_to_the_machine_itself", Python(CONNECT_TO_THE_MACHINE)),
    escape(
        "sending_a_datagram",
        Python(
            r#"
where = ('127.0.0.1', int(env['UDP']))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', where))
"#,
        ),
    ),
    escape(
        "opening_a_socket_of_the_sixth_version",
        Python("attempt(lambda: socket.socket(socket.AF_INET6))"),
    )
    .free(Free::Unknown),
    escape(
        "listening",
        Python(
            r#"
def listen():
    server = socket.socket()
    server.bind(('127.0.0.1', 0))
    server.listen()
attempt(listen)
"#,
        ),
    ),
    escape(
        "asking_the_kernel_for_routes",
        Python("attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))"),
    ),
    escape(
        "opening_a_raw_socket",
        Python("attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))"),
    )
    .free(Free::WorksForRoot),
    escape(
        "opening_a_packet_socket",
        Python("attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))"),
    )
    .free(Free::WorksForRoot),
    escape("opening_a_socket_to_the_host", Python("attempt(lambda: socket.socket(40, socket.SOCK_STREAM))"))
        .free(Free::Unknown),
    escape(
        "opening_a_socket_to_the_cipher",
        Python("attempt(lambda: socket.socket(38, socket.SOCK_SEQPACKET))"),
    )
    .free(Free::Unknown),
    escape("connecting_to_the_daemon", Python(CONNECT_TO_THE_DAEMON)),
    escape("connecting_to_an_abstract_name", Python(CONNECT_TO_AN_ABSTRACT_NAME)),
    escape("opening_a_unix_socket", Python("attempt(lambda: socket.socket(socket.AF_UNIX))")),
    escape(
        "sending_from_one_end_of_a_pair",
        Python(
            r#"
where = env['OUTSIDE'] + '/log.sock'
attempt(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', where))
"#,
        ),
    ),
    escape(
        "connecting_one_end_of_a_pair",
        Python(
            r#"
attempt(lambda: socket.socketpair()[0].connect(env['DATA'] + '/daemon.sock'))
"#,
        ),
    )
    .free(Free::Unknown),
    escape("connecting_to_the_daemon_where_unix_sockets_are_allowed", Python(CONNECT_TO_THE_DAEMON))
        .asking(|_, asked| asked.unix_sockets = true)
        .own_root_only("Landlock has a rule for sockets in the file system since Linux 7.1 only"),
    escape(
        "connecting_to_an_abstract_name_where_unix_sockets_are_allowed",
        Python(CONNECT_TO_AN_ABSTRACT_NAME),
    )
    .asking(|_, asked| asked.unix_sockets = true)
    .partial_without_own_root(),
    escape(
        "connecting_to_an_abstract_name_where_all_sockets_are_allowed",
        Python(CONNECT_TO_AN_ABSTRACT_NAME),
    )
    .asking(|_, asked| {
        asked.unix_sockets = true;
        asked.network = true;
    })
    .partial_without_own_root(),
    escape("connecting_to_the_machine_where_unix_sockets_are_allowed", Python(CONNECT_TO_THE_MACHINE))
        .asking(|_, asked| asked.unix_sockets = true)
        .partial_without_own_root(),
    escape("connecting_to_the_daemon_where_the_network_is_allowed", Python(CONNECT_TO_THE_DAEMON))
        .asking(|_, asked| asked.network = true),
    escape(
        "opening_a_packet_socket_where_the_network_is_allowed",
        Python("attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))"),
    )
    .asking(|_, asked| asked.network = true)
    .free(Free::WorksForRoot),
    escape(
        "listening_to_the_kernel_where_the_network_is_allowed",
        // Its events of devices.
        Python(
            r#"
attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15))
"#,
        ),
    )
    .asking(|_, asked| asked.network = true),
];
