#!/usr/bin/env python3
"""Tasks from Markdown files: `starter-name:hello` is the file `tasks/hello.md` beside this program."""

from pathlib import Path

from loggia_plugin import InvalidReference, NotFound, Provider, WorkUnit, serve

NAME = "starter-name"


class Tasks(Provider):
    name = NAME
    schemes = [NAME]

    def init(self, config):
        # Whatever people write below `plugins.config.starter-name` of their configuration.
        self.directory = Path(config.get("directory", Path(__file__).parent / "tasks"))

    def parse(self, input):
        id = super().parse(input)
        if not id.replace("-", "").replace("_", "").isalnum():
            raise InvalidReference("`%s` is no name of a task: letters, digits, `-` and `_`" % id)
        return id

    def fetch(self, id):
        text = self.snapshot(id)
        title, _, description = text.partition("\n")
        return WorkUnit(
            id=id, external_key=id, title=title.lstrip("# ").strip() or id, description=description.strip(),
            status="open", task_type="task", reference=NAME + ":" + id,
        )

    def snapshot(self, id):
        file = self.directory / (id + ".md")
        # What was not made by `parse` may lead anywhere.
        if file.parent != self.directory or not file.is_file():
            raise NotFound("there is no task `%s`" % id)
        return file.read_text(encoding="utf-8")

    def list(self, filter, limit, offset):
        ids = sorted(file.stem for file in self.directory.glob("*.md"))
        return [self.fetch(id) for id in ids[offset:offset + limit]], len(ids)


if __name__ == "__main__":
    serve(Tasks())
