// All workspaces with their sessions, and what each is doing.

import { ask, list } from "./api.js";
import { ago, button, el, fill } from "./dom.js";

/** How often the list is looked at again while somebody can see it. */
const EVERY_MS = 4000;

const STATUS = {
  idle: "idle",
  running: "working",
  waiting_approval: "needs an answer",
  ended: "ended",
};

/** The end of a path tells more than its beginning. */
function end(path, most = 34) {
  return path.length <= most ? path : `…${path.slice(-most)}`;
}

export class ListView {
  /** `open(id)` shows a session, `refused()` tells that we are no longer let in. */
  constructor(me, { open, refused, leave }) {
    Object.assign(this, { me, open, refused });
    this.current = null;
    this.rows = el("div", { class: "workspaces" }, el("p", { class: "blank" }, "Looking…"));
    this.problem = el("p", { class: "notice bad", role: "alert", hidden: true });
    const pair = me.scope === "admin" && button("Pair a device", () => this.pair(), { class: "small" });
    this.code = el("div", { class: "pairing", role: "status", hidden: true });
    this.node = el(
      "nav",
      { class: "list", "aria-label": "Sessions" },
      el("header", { class: "bar" }, el("h1", {}, "Loggia"), el("div", { class: "tools" }, pair, button("Leave", leave, { class: "small quiet" }))),
      this.code,
      this.problem,
      this.rows,
      el("p", { class: "who" }, `${me.name} · may ${{ read: "watch", drive: "drive", admin: "do everything" }[me.scope]}`),
    );
    this.timer = setInterval(() => document.visibilityState === "visible" && this.load(), EVERY_MS);
    this.load();
  }

  close() {
    clearInterval(this.timer);
  }

  /** Which session is shown beside the list. */
  mark(id) {
    this.current = id;
    this.draw();
  }

  /** Loads soon: something has changed. */
  soon() {
    clearTimeout(this.hurry);
    this.hurry = setTimeout(() => this.load(), 300);
  }

  async load() {
    if (this.loading) return;
    this.loading = true;
    try {
      const [workspaces, sessions] = await Promise.all([list("/v1/workspaces", "workspaces"), list("/v1/sessions", "sessions")]);
      this.problem.hidden = true;
      this.workspaces = workspaces;
      this.sessions = sessions;
      this.draw();
    } catch (error) {
      if (error.status === 401) this.refused();
      this.complain(error.message);
    } finally {
      this.loading = false;
    }
  }

  complain(text) {
    fill(this.problem, text);
    this.problem.hidden = false;
  }

  draw() {
    if (!this.workspaces) return;
    const asked = this.sessions.filter((session) => session.status === "waiting_approval").length;
    if (!this.current) document.title = asked ? `(${asked}) Loggia` : "Loggia";
    // Only when something is different, so that nobody's focus is lost under their fingers.
    const mark = JSON.stringify([this.current, this.workspaces.map((row) => row.workspace_id), this.sessions.map((row) => [row.session_id, row.title, row.status, row.can_continue, ago(row.updated_at)])]);
    if (mark === this.drawn) return;
    this.drawn = mark;
    const focused = this.rows.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const rows = this.workspaces.map((workspace) => this.workspace(workspace));
    fill(this.rows, rows.length ? rows : el("p", { class: "blank" }, "No workspace is registered. Start the server in a project, or name one with --workspace."));
    if (focused) this.rows.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  workspace({ workspace_id: id, name, root_path: root }) {
    const sessions = this.sessions.filter((session) => session.workspace_id === id);
    const begin = this.me.scope !== "read" && button("New session", () => this.begin(id), { class: "small", "data-key": `new ${id}` });
    return el(
      "section",
      {},
      el("header", {}, el("div", {}, el("h2", {}, name), el("p", { class: "root", title: root }, end(root))), begin),
      sessions.length ? el("ul", {}, sessions.map((session) => this.session(session))) : el("p", { class: "none" }, "No sessions yet."),
    );
  }

  session({ session_id: id, title, status, can_continue: cut, updated_at: at }) {
    return el(
      "li",
      {},
      el(
        "a",
        { href: `#/session/${id}`, class: `row ${status}`, "aria-current": id === this.current ? "page" : null, "data-key": id },
        el("span", { class: "dot", "aria-hidden": "true" }),
        el("span", { class: "title" }, title || "Untitled"),
        el("span", { class: "status" }, cut ? "stopped, can go on" : STATUS[status] ?? status),
        el("time", { datetime: at }, ago(at)),
      ),
    );
  }

  async begin(workspace_id) {
    try {
      const session = await ask("POST", "/v1/sessions", { workspace_id });
      this.open(session.session_id);
      this.load();
    } catch (error) {
      this.complain(error.message);
    }
  }

  async pair() {
    try {
      const { code, expires_at: until } = await ask("POST", "/v1/pair/start");
      const spoken = `${code.slice(0, 4)} ${code.slice(4)}`;
      const time = new Date(until).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
      fill(
        this.code,
        el("p", {}, "Open this server’s address on the other device and type"),
        el("p", { class: "code-shown" }, spoken),
        el("p", {}, `Good once, until ${time}.`),
        button("Close", () => (this.code.hidden = true), { class: "small" }),
      );
      this.code.hidden = false;
    } catch (error) {
      this.complain(error.message);
    }
  }
}
