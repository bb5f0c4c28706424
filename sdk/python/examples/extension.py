#!/usr/bin/env python3
"""A first extension: it writes a patient's name in capitals, asks before it clears it, and counts what is saved."""

from loggia_extension import Extension, HostError, log

NAME = "starter-name"

extension = Extension(NAME, "0.1.0", description="Names of patients")


@extension.command(NAME + "/upper", label="Name in capitals")
def upper(host):
    """Changes two places of the open message, as one step for undo."""
    fields = patient(host)
    if fields is None:
        host.show_message("The open message has no patient.", kind="warning")
        return
    name = (fields[5].split("^") + ["", ""])[:2]
    done = host.patch({"PID.5.1": name[0].upper(), "PID.5.2": name[1].upper()})
    for error in done.errors:
        log("%(path)s: %(message)s" % error, "warn")
    log("%d places changed" % done.applied)


@extension.command(NAME + "/clear", label="Clear the name")
def clear(host):
    """Asks first. Where nobody can be asked, the host says so and nothing happens."""
    try:
        if host.confirm("Clear the patient's name?", title=NAME):
            host.patch({"PID.5": None})
    except HostError as error:
        log("nothing was changed: %s" % error.message, "warn")


@extension.saved
def saved(host, event):
    """Keeps count, in a directory of its own."""
    count = extension.data_directory / "saved"
    number = int(count.read_text()) + 1 if count.exists() else 1
    count.write_text(str(number))
    log("saved %s, number %d" % (event.file_path, number))


def patient(host):
    """The fields of the first patient, at least six of them; nothing if there is none."""
    for segment in host.get_message("hl7").segments():
        if segment.startswith("PID|"):
            fields = segment.split("|")
            return fields + [""] * (6 - len(fields))
    return None


if __name__ == "__main__":
    extension.run()
