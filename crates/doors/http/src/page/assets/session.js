// One session: what happened, what is asked, what to say next.

import { ask } from "./api.js";
import { button, el, fill } from "./dom.js";
import { Stream } from "./stream.js";
import { Transcript } from "./transcript.js";

/** How near to its end the transcript must be to stay there when it grows. */
const NEAR = 80;

export class SessionView {
  /** `left()` goes back to the list, `refused()` tells that we are no longer let in, `changed()` that the list is old. */
  constructor(id, me, { left, refused, changed }) {
    Object.assign(this, { id, left, refused, listChanged: changed });
    this.name = me.name;
    this.drives = me.scope !== "read";
    this.log = el("div", { class: "log", role: "log", "aria-live": "polite", "aria-label": "Conversation" });
    this.plan = el("details", { class: "plan", hidden: true });
    this.scroller = el("div", { class: "scroller", scroll: () => this.scrolled() }, el("div", { class: "column" }, this.log));
    this.newest = button("Newest", () => this.toEnd(), { class: "newest small", hidden: true });
    this.title = el("h1", {}, "…");
    this.link = el("span", { class: "link connecting", role: "status" }, "Connecting…");
    this.company = el("span", { class: "company" });
    this.doing = el("p", { class: "doing", role: "status" });
    this.build();
    this.transcript = new Transcript({
      root: this.log,
      name: this.name,
      mayDecide: this.drives,
      send: (message) => this.stream.send(message),
      goOn: () => this.intend("continue"),
      changed: () => this.show(),
    });
    this.transcript.onGrowth = () => this.grew();
    this.transcript.renamed = (title) => this.named(title);
    this.atEnd = true;
    // A phone's keyboard and a turned screen leave less room; whoever was at the end stays there.
    this.sizes = new ResizeObserver(() => this.atEnd && this.toEnd());
    this.sizes.observe(this.scroller);
    this.open();
  }

  build() {
    this.undo = button("Undo", () => this.step("undo"), { class: "small", title: "Take back the agent’s last changes to files" });
    this.redo = button("Redo", () => this.step("redo"), { class: "small", title: "Make them again" });
    const back = button("‹", this.left, { class: "back quiet", "aria-label": "All sessions" });
    const tools = this.drives && el("div", { class: "tools" }, this.undo, this.redo);
    const head = el("header", { class: "bar" }, back, el("div", { class: "titles" }, this.title, el("p", { class: "links" }, this.link, this.company)), tools);
    this.node = el("main", { class: "session" }, head, this.plan, this.scroller, this.newest, this.foot());
  }

  foot() {
    if (!this.drives) return el("footer", { class: "prompt" }, this.doing, el("p", { class: "watching" }, "You are watching this session."));
    this.input = el("textarea", {
      rows: "1",
      placeholder: "Say what to do…",
      "aria-label": "Your message",
      input: () => this.grow(),
      keydown: (event) => this.key(event),
    });
    this.sendButton = el("button", { type: "submit", class: "primary" }, "Send");
    this.stop = button("Stop", () => this.cancel(), { class: "danger", hidden: true });
    const form = el("form", { submit: (event) => this.submit(event) }, this.input, this.stop, this.sendButton);
    return el("footer", { class: "prompt" }, this.doing, form);
  }

  async open() {
    try {
      const session = await ask("GET", `/v1/sessions/${encodeURIComponent(this.id)}`);
      this.named(session.title);
      this.transcript.running = session.status === "running" || session.status === "waiting_approval";
    } catch (error) {
      if (error.status === 401) return this.refused();
      if (error.status === 404) return this.over("There is no such session.");
      // The stream keeps trying, and says so.
    }
    if (this.closed) return;
    this.stream = new Stream(this.id, this.name, {
      place: () => this.transcript.place(),
      begin: (after) => this.transcript.begin(after),
      told: (message) => this.transcript.take(message),
      state: (word, text) => this.linked(word, text),
      ended: (why) => this.ended(why),
      lost: () => this.lost(),
    });
    this.show();
  }

  close() {
    this.closed = true;
    this.sizes.disconnect();
    this.stream?.close();
  }

  named(title) {
    fill(this.title, title || "Untitled");
    document.title = `${title || "Session"} · Loggia`;
  }

  linked(word, text) {
    this.link.className = `link ${word}`;
    fill(this.link, text);
    this.show();
  }

  /** Why a stream cannot be opened: worth another try, or not. */
  async lost() {
    try {
      await ask("GET", `/v1/sessions/${encodeURIComponent(this.id)}`);
      return true;
    } catch (error) {
      if (error.status === 401) this.refused();
      else if (error.status === 404) this.over("The session is gone.");
      else return true;
      return false;
    }
  }

  ended(why) {
    if (why === "revoked") this.refused();
    else this.over(why === "deleted" ? "The session was deleted." : "The session has ended.");
  }

  over(text) {
    this.linked("over", "Closed");
    this.transcript.notice(text);
    this.transcript.turn(false, "");
    for (const control of [this.input, this.sendButton, this.undo, this.redo]) if (control) control.disabled = true;
  }

  /** Everything around the transcript. */
  show() {
    const { running, doing, waiting } = this.transcript;
    const { length: queued } = this.transcript.queued;
    const then = queued ? ` · ${queued === 1 ? "a message waits" : `${queued} messages wait`} for its end` : "";
    const text = !running ? "" : waiting ? `${waiting === 1 ? "A question waits" : `${waiting} questions wait`} for your answer` : `${doing || "Working"}${then}`;
    if (this.doing.textContent !== text) fill(this.doing, text);
    this.doing.classList.toggle("busy", running && !waiting);
    this.doing.classList.toggle("waits", waiting > 0);
    if (this.stop) this.stop.hidden = !running;
    if (this.sendButton) {
      fill(this.sendButton, running ? "Queue" : "Send");
      this.undo.disabled = this.redo.disabled = running;
    }
    this.showPlan();
    const company = [...this.transcript.others.keys()].sort().join(", ");
    if (this.company.textContent !== company) fill(this.company, company && `with ${company}`);
    const state = `${running} ${waiting}`;
    if (this.shown !== state) {
      this.shown = state;
      this.listChanged();
    }
  }

  showPlan() {
    const { plan, step } = this.transcript;
    this.plan.hidden = !plan;
    if (!plan) return;
    const mark = `${plan.seq} ${step.current}`;
    if (this.planMark === mark) return;
    this.planMark = mark;
    const now = plan.steps.find((row) => row.step_number === step.current);
    const items = plan.steps.map((row) =>
      el(
        "li",
        { class: row.step_number < step.current ? "past" : row === now ? "now" : null, "aria-current": row === now ? "step" : null },
        row.description,
        row.files_involved.length > 0 && el("span", { class: "files" }, row.files_involved.join(", ")),
      ),
    );
    fill(
      this.plan,
      el("summary", {}, el("strong", {}, "Plan"), ` ${step.current} of ${step.total}`, now && el("span", { class: "now" }, now.description)),
      plan.rationale && el("p", { class: "why" }, plan.rationale),
      el("ol", {}, items),
    );
  }

  key(event) {
    const writes = event.shiftKey || event.isComposing || matchMedia("(pointer: coarse)").matches;
    if (event.key !== "Enter" || (writes && !event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    this.submit(event);
  }

  submit(event) {
    event.preventDefault();
    const text = this.input.value.trim();
    if (text === "") return;
    if (!this.stream?.send({ type: "client.user_message", message: text })) {
      this.transcript.notice("There is no connection; your message is still in the box.");
      return;
    }
    this.input.value = "";
    this.grow();
    const isFirst = this.log.querySelector(".person") === null;
    this.transcript.wrote(text);
    this.toEnd();
    if (isFirst) setTimeout(() => this.rename(), 500);
  }

  /** A session takes its title from its first message. */
  async rename() {
    try {
      this.named((await ask("GET", `/v1/sessions/${encodeURIComponent(this.id)}`)).title);
    } catch {
      // The old title does no harm.
    }
  }

  cancel() {
    if (!this.stream.send({ type: "client.cancel", reason: "user_cancelled" })) this.intend("cancel");
  }

  async intend(what) {
    try {
      await ask("POST", `/v1/sessions/${encodeURIComponent(this.id)}/${what}`);
    } catch (error) {
      this.transcript.notice(error.message);
    }
  }

  async step(which) {
    this.undo.disabled = this.redo.disabled = true;
    try {
      // Everybody is told what was done, and so are we.
      const done = await ask("POST", `/v1/sessions/${encodeURIComponent(this.id)}/${which}`);
      if (done.out_of_reach.length) this.transcript.notice(`Out of reach, since it ran in a terminal: ${done.out_of_reach.join("; ")}`);
    } catch (error) {
      this.transcript.notice(error.message);
    }
    this.show();
  }

  grow() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 220)}px`;
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    // A scroll that the window's size caused is not somebody's wish to leave the end.
    if (clientHeight !== this.height) {
      this.height = clientHeight;
      return;
    }
    this.atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    if (this.atEnd) this.newest.hidden = true;
  }

  grew() {
    if (this.atEnd) this.toEnd();
    else this.newest.hidden = false;
  }

  toEnd() {
    this.atEnd = true;
    this.newest.hidden = true;
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      this.scroller.scrollTop = this.scroller.scrollHeight;
    });
  }
}
