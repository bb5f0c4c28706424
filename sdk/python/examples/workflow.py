#!/usr/bin/env python3
"""A phase for approval, a guard that waits for it, and an effect that writes down what happens."""

from loggia_plugin import Phase, Workflow, allow, deny, log, serve

NAME = "starter-name"

flow = Workflow(NAME, phases=[Phase("approval", "Somebody looks at it", after="reviewing")])


@flow.guard("approved", "Critical tasks need an approval")
def approved(context):
    if "critical" not in (context.get("labels") or []):
        return allow()
    if (context.get("metadata") or {}).get("approved"):
        return allow(warning="it is critical; somebody approved it")
    return deny("critical tasks need an approval: set `approved` in the task's metadata")


@flow.effect("write_down", "Writes down what happens to a task")
def write_down(context):
    # What goes to standard error is in the host's log.
    log(context.get("event", "something"), "of", context.get("title", "a task"))
    return "written down"


if __name__ == "__main__":
    serve(flow)
