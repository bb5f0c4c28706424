#!/usr/bin/env python3
"""An agent that repeats its prompt into a file. Put your model where the comment says so."""

import os

from loggia_plugin import Agent, NotReady, serve

NAME = "starter-name"


class Parrot(Agent):
    name = NAME
    model = "parrot-1"
    capabilities = ["streaming", "tool_use"]

    def available(self):
        # A real agent looks for its key here, and says which one is missing.
        if os.environ.get("PARROT_ASLEEP"):
            raise NotReady("PARROT_ASLEEP is set")

    def run(self, run):
        run.thinking("What is in the way of `PARROT.md`?")
        if run.offers("list_files"):
            # The host runs the tool, under the workspace's policy, and this waits for what comes out.
            files = run.call("list_files", path=".")
            run.text("I looked around: %d lines of files. " % len(files.splitlines()))
        # Ask your model here, and tell what it says as it comes.
        for word in run.prompt.split():
            run.text(word + " ")
        run.file("PARROT.md", run.prompt + "\n")
        run.usage(input_tokens=len(run.prompt.split()), output_tokens=len(run.prompt.split()))


if __name__ == "__main__":
    serve(Parrot())
