from reader import about, log, serve

TAG = "editor-ops"


def get(format):
    def command(ask):
        answer = ask("editor/getMessage", {"format": format})
        if "error" in answer:
            log(TAG, "error %s" % answer["error"]["message"])
            return
        result = answer["result"]
        log(TAG, "hasFile %s" % result["hasFile"])
        if "filePath" in result:
            log(TAG, "filePath %s" % result["filePath"])
        log(TAG, "message %r" % result["message"][:200])

    return command


def patch(ask):
    answer = ask("editor/patchMessage", {"patches": [{"path": "PID.5.1", "value": "TEST"}]})
    if "error" in answer:
        log(TAG, "error %s" % answer["error"]["message"])
        return
    result = answer["result"]
    log(TAG, "success %s applied %s" % (result["success"], result["patchesApplied"]))
    for error in result.get("errors", []):
        log(TAG, "%s at %s" % (error["message"], error["path"]))


def put(ask):
    text = "MSH|^~\\&|TEST|||||||ADT^A01|1|P|2.5.1\rPID|1||||TEST^PATIENT"
    answer = ask("editor/setMessage", {"message": text, "format": "hl7"})
    result = answer["result"]
    log(TAG, "success" if result["success"] else result["error"])


commands = {"editor-test/get-" + format: get(format) for format in ("hl7", "json", "yaml", "toml")}
commands.update({"editor-test/patch": patch, "editor-test/set": put})
buttons = ["editor-test/get-hl7", "editor-test/get-json", "editor-test/patch", "editor-test/set"]
serve(TAG, about("Editor", list(commands), buttons), commands)
