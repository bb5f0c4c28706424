"""Chooses a JSON file, patches five fields from it, and says so."""

import json

from reader import about, log, serve

TAG = "file-sample"


def run(ask):
    chosen = ask("ui/openFile", {"title": "Patient", "filters": [{"name": "JSON", "extensions": ["json"]}]})
    if "error" in chosen or chosen["result"]["path"] is None:
        log(TAG, "cancelled")
        return
    with open(chosen["result"]["path"], encoding="utf-8") as file:
        fields = json.load(file)
    patches = [{"path": path, "value": value} for path, value in fields.items()]
    answer = ask("editor/patchMessage", {"patches": patches})
    ask("ui/showMessage", {"message": "%d fields" % answer["result"]["patchesApplied"], "kind": "info"})
    log(TAG, "told")


serve(TAG, about("File", ["file-sample/go"], []), {"file-sample/go": run})
