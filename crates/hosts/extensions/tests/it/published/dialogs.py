from reader import about, log, serve

TAG = "dialog-test"
HL7 = {"name": "HL7", "extensions": ["hl7", "txt"]}
ALL = {"name": "All", "extensions": ["*"]}


def command(method, params, tell):
    def run(ask):
        answer = ask(method, params)
        if "error" in answer:
            log(TAG, "error %s" % answer["error"]["message"])
        else:
            tell(answer["result"])

    return run


def path(result):
    log(TAG, "cancelled" if result["path"] is None else "path %s" % result["path"])


def paths(result):
    if result["paths"] is None:
        log(TAG, "cancelled")
        return
    log(TAG, "%d files" % len(result["paths"]))
    for one in result["paths"]:
        log(TAG, "path %s" % one)


def acknowledged(result):
    log(TAG, "acknowledged %s" % result["acknowledged"])


commands = {
    "dialog-test/confirm": command("ui/showConfirm", {"message": "?", "buttons": "yesNo"},
                                   lambda result: log(TAG, "confirmed %s" % result["confirmed"])),
    "dialog-test/open-file": command("ui/openFile", {"title": "t", "filters": [HL7, ALL]}, path),
    "dialog-test/open-files": command("ui/openFiles", {"title": "t", "filters": [HL7]}, paths),
    "dialog-test/save-file": command("ui/saveFile", {"title": "t", "defaultName": "test.hl7", "filters": [HL7]}, path),
    "dialog-test/select-dir": command("ui/selectDirectory", {"title": "t"}, path),
}
for name, kind in (("info", "info"), ("warn", "warning"), ("error", "error")):
    params = {"title": "t", "message": "m", "kind": kind}
    commands["dialog-test/message-" + name] = command("ui/showMessage", params, acknowledged)
serve(TAG, about("Dialogs", list(commands), list(commands)[:4]), commands)
