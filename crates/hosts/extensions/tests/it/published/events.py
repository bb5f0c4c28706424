from reader import about, log, serve

TAG = "events-test"
COUNTS = {"opened": 0, "saved": 0, "changed": 0}


def count():
    log(TAG, "opened %(opened)d saved %(saved)d changed %(changed)d" % COUNTS)


def opened(params):
    COUNTS["opened"] += 1
    log(TAG, "opened %s" % ("new" if params["isNew"] else params.get("filePath", "untitled")))


def saved(params):
    COUNTS["saved"] += 1
    log(TAG, "%s %s" % ("saved as" if params["saveAs"] else "saved", params["filePath"]))


def changed(params):
    COUNTS["changed"] += 1
    path = params.get("filePath", "untitled")
    log(TAG, "changed %s %s %d %r" % (path, params["format"], len(params["message"]), params["message"][:100]))


events = [
    {"name": "message/opened"}, {"name": "message/saved"},
    {"name": "message/changed", "options": {"includeContent": True, "format": "hl7"}},
]
serve(TAG, about("Events", ["events-test/status"], ["events-test/status"], capabilities={"events": events}),
      {"events-test/status": lambda ask: count()}, None,
      {"message/opened": opened, "message/saved": saved, "message/changed": changed}, count)
