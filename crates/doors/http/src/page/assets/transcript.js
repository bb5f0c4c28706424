// What happened in a session, as it is told: the past first, then what happens now.
//
// Every entry knows the event it came from, or, if it came without a number, the last event before it. When the stream is
// opened again after an event, whatever came later is taken away and told again: nothing is shown twice, nothing is lost.
//
// A stream begins with the questions that are open, before the past. They stand at the end all the same, where they
// belong, and their numbers say nothing about how far we are.

import { button, count, el, fill, sentence } from "./dom.js";
import { diff } from "./diff.js";
import { markdown } from "./markdown.js";
import { Question } from "./question.js";
import { Tool, verb } from "./tool.js";

/** Entries kept on the page; older ones are still in the journal. */
const MOST_ENTRIES = 1500;

/** From here on a running reply is drawn less often: drawing it takes longer than a frame. */
const LONG_REPLY = 20000;

export class Transcript {
  /** `name` is what others see of us; `send` sends a message and says whether it could; `changed` hears of the turn, the plan and what is open. */
  constructor({ root, name, mayDecide, send, goOn, changed }) {
    Object.assign(this, { root, name, mayDecide, send, goOn, changed });
    this.entries = [];
    this.highest = 0;
    this.complete = 0;
    this.patches = new Map();
    this.questions = new Map();
    this.tools = [];
    this.reply = null;
    this.unsure = [];
    /** What was said to begin the last turn. */
    this.began = null;
    /** What was said while a turn ran, and waits for its end. */
    this.queued = [];
    /** The questions a stream began with, while it is told; nothing before its first state. */
    this.open = null;
    /** Whether what is taken in now is one of them. */
    this.early = false;
    /** Who else is here, and through how many windows. */
    this.others = new Map();
    this.running = false;
    this.doing = "";
    this.plan = null;
    this.step = { current: 0, total: 0 };
    this.finalSeq = null;
  }

  /** The last event that was heard whole. */
  place() {
    return this.complete;
  }

  /** How many questions wait. */
  get waiting() {
    return [...this.questions.values()].filter((question) => question.open).length;
  }

  /** A stream begins after an event: what is shown of later ones will be told again. */
  begin(after) {
    const stays = (entry) => ((entry.seq ?? null) === null ? entry.base < after : entry.seq <= after) && entry !== this.reply;
    for (const entry of this.entries.filter((entry) => !stays(entry))) {
      entry.node.remove();
      if (entry.question) this.questions.delete(entry.question.id);
      if (entry.own !== undefined) this.unsure.push(entry.own);
    }
    this.entries = this.entries.filter(stays);
    this.tools = this.tools.filter((tool) => this.entries.includes(tool.entry));
    for (const said of this.queued) if (!stays(said) && said.own !== undefined) this.unsure.push(said.own);
    this.queued = this.queued.filter(stays);
    this.reply = null;
    this.open = null;
    this.others.clear();
    // A turn whose beginning is told again runs from there on; what begins it must not wait for its end.
    if (!this.began || !stays(this.began)) this.running = false;
    this.highest = after;
    for (const question of this.questions.values()) question.again();
    if (this.unsure.length) setTimeout(() => this.doubt(), 3000);
  }

  /** What I wrote, shown before the server has it. */
  wrote(text) {
    this.say({ from: "You", message: text, at: new Date().toISOString(), own: text }, "Sent");
  }

  /** Somebody says something: to be shown now, or when the turn that runs has ended. */
  say(said, doing) {
    if (this.running) {
      this.queued.push({ ...said, base: this.highest });
      this.changed();
      return;
    }
    const { from, message, at, seq, own } = said;
    this.closeReply();
    this.began = this.add(person(from, message, at), { seq, own });
    this.turn(true, doing);
  }

  /** A turn has ended: whoever waits is next. */
  over() {
    this.turn(false, "");
    const next = this.queued.shift();
    if (next) this.say(next, "Sent");
  }

  /** Takes a message in. */
  take(message) {
    this.early = this.isEarly(message);
    if (!this.early && message.seq > this.highest) {
      this.complete = this.highest;
      this.highest = message.seq;
    }
    const handler = HANDLERS[message.type];
    // A server may be newer than its page was: what it says then is not for us.
    if (handler) this[handler](message);
    if (message.type === "session.state" && message.seq !== undefined && message.seq === this.finalSeq) {
      this.complete = this.highest;
    }
  }

  /** Whether it is one of the questions a stream begins with. */
  isEarly({ type, state, seq, request_id: request, command_id: command, patch_id: patch }) {
    if (type === "session.state" && seq === undefined && this.open === null) {
      this.open = new Set([...state.pending_approvals, ...state.pending_patches]);
    }
    return seq !== undefined && seq > this.highest && this.open?.has(request ?? command ?? patch) === true;
  }

  echo({ from, message, seq, at }) {
    const known = this.unsure.indexOf(message);
    if (known >= 0) this.unsure.splice(known, 1);
    // Another window of this browser is still the same person.
    const mine = known >= 0 || from === this.name;
    this.say({ from: mine ? "You" : from, message, at, seq }, this.doing);
  }

  thinking({ message }) {
    this.turn(true, message);
  }

  token({ token }) {
    if (!this.reply) {
      this.reply = this.add(el("div", { class: "reply" }), {});
      this.reply.text = "";
    }
    this.reply.text += token;
    this.turn(true, this.doing || "Writing");
    this.draw(this.reply);
  }

  final({ message, metadata, seq }) {
    this.finalSeq = seq;
    const last = this.lastReply();
    if (this.reply) {
      if (message) this.reply.text = message;
      this.closeReply();
    } else if (message && last?.text !== message) {
      const entry = this.add(el("div", { class: "reply" }), { seq });
      entry.text = message;
      fill(entry.node, markdown(message));
    }
    const facts = [
      metadata.files_modified > 0 && `${count(metadata.files_modified, "file")} changed`,
      metadata.tokens_used > 0 && count(metadata.tokens_used, "token"),
      !metadata.success && "not finished",
    ].filter(Boolean);
    if (facts.length) this.add(el("p", { class: "facts" }, facts.join(" · ")), { seq });
    for (const tool of this.tools) tool.end("stopped", "");
    this.tools = [];
    this.over();
  }

  error({ error, seq }) {
    if (error.code === "ALREADY_DECIDED") {
      const by = error.details?.decided_by;
      this.notice(by ? `${by} was quicker: this is decided.` : "This was decided already.", { seq });
      return;
    }
    const interrupted = error.details?.interrupted === true;
    const by = error.details?.cancelled_by;
    const text = error.code === "CANCELLED" ? `Stopped${by ? ` by ${by}` : ""}.` : sentence(error.message);
    const node = el("div", { class: error.code === "CANCELLED" ? "notice" : "notice bad", role: "alert" }, el("p", {}, text));
    if (interrupted && this.mayDecide) node.append(button("Continue", this.goOn, { class: "small go-on" }));
    this.closeReply();
    this.add(node, { seq });
    if (interrupted) this.over();
    if (seq === undefined) for (const question of this.questions.values()) question.again(text);
  }

  planned(message) {
    this.plan = message;
    this.changed();
  }

  retrieved({ message, seq }) {
    this.closeReply();
    this.add(el("p", { class: "tool done" }, el("span", { class: "what" }, message)), { seq });
  }

  tool(message) {
    const { tool_name: name, args, status, result, executor, seq } = message;
    this.closeReply();
    const key = `${name} ${JSON.stringify(args)}`;
    const id = args?.command_id;
    let tool = this.tools.find((tool) => tool.key === key || (id !== undefined && tool.id === id));
    if (!tool && executor) tool = this.tools.findLast((tool) => tool.name === name);
    if (!tool) {
      tool = new Tool(name, args, key);
      tool.entry = this.add(tool.node, { seq });
      this.tools.push(tool);
    }
    if (executor) tool.note(`by ${executor}`);
    if (status === "completed" || status === "failed") {
      tool.end(status, result);
      this.tools = this.tools.filter((other) => other !== tool);
    } else {
      this.turn(true, this.doing);
    }
  }

  output({ command_id: id, chunk }) {
    this.tools.find((tool) => tool.id === id)?.print(chunk);
    this.follow();
  }

  patch(message) {
    this.patches.set(message.patch_id, message);
    if (message.requires_approval) return;
    const shown = diff(message);
    shown.setState("allowed by the policy");
    const why = el("p", { class: "why" }, message.rationale);
    this.add(el("div", { class: "change" }, why, shown.node), { seq: message.seq });
  }

  askTool({ request_id: id, tool_name: name, args, risk_level: risk, remember, seq }) {
    const ids = args?.patch_ids ?? (args?.patch_id ? [args.patch_id] : []);
    const patches = ids.map((id) => this.patches.get(id)).filter(Boolean);
    const paths = patches.map((patch) => patch.file_path);
    const what = paths.length === 1 ? paths[0] : `${paths.length} files`;
    const title = paths.length ? `${verb(name)} ${what}?` : `Use ${name}?`;
    const body = patches.length === 0 && el("pre", { class: "args", tabindex: "0" }, JSON.stringify(args, null, 2));
    const reason = patches[0]?.rationale ?? args?.reason;
    this.ask({ id, title, risk, reason: patches.length > 1 ? null : reason, body, patches, remember }, seq);
  }

  askCommand({ command_id: id, command, working_directory: where, environment, requires_approval: asks, reason, remember, seq }) {
    if (!asks) return;
    const variables = Object.entries(environment ?? {}).map(([name, value]) => `${name}=${value}`);
    const body = el(
      "div",
      { class: "command" },
      el("pre", { tabindex: "0" }, el("code", {}, command)),
      el("p", { class: "where" }, `in ${where}`, variables.length > 0 && `, with ${variables.join(" ")}`),
    );
    this.ask({ id, title: "Run this command?", reason, body, patches: [], remember }, seq);
  }

  ask(question, seq) {
    if (this.questions.has(question.id)) return;
    this.closeReply();
    const decide = (answer) => {
      if (!this.send(answer)) made.again("There is no connection; your answer was not sent.");
    };
    const made = new Question({ ...question, mayDecide: this.mayDecide, decide });
    made.seq = seq;
    this.questions.set(question.id, made);
    this.add(made.node, { seq, question: made });
    // One that a stream begins with says nothing about what comes next, which is the past.
    if (!this.early) this.turn(true, "Waiting for an answer");
  }

  state({ state, decided, seq }) {
    if (decided) this.questions.get(decided.request_id)?.decided(decided, this.name);
    const open = new Set(state.pending_approvals);
    const applied = new Set(state.applied_patches);
    for (const question of this.questions.values()) {
      // A state of the past knows nothing of what was asked after it.
      if (seq < question.seq) continue;
      if (question.open && !open.has(question.id)) question.close();
      for (const [id, shown] of question.diffs) {
        if (applied.has(id)) question.applied(id);
        else if (!question.open) shown.setState(state.pending_patches.includes(id) ? "" : "not applied");
      }
    }
    this.step = { current: state.current_step, total: state.total_steps };
    this.changed();
  }

  /** Something happened beside the turns, or somebody came or went. */
  news({ kind, by, message, files, title, seq }) {
    if (kind === "joined" || kind === "left") {
      const windows = (this.others.get(by) ?? 0) + (kind === "joined" ? 1 : -1);
      if (windows > 0) this.others.set(by, windows);
      else this.others.delete(by);
    } else {
      this.closeReply();
      if (kind === "continued") this.turn(true, "Going on");
      this.notice(sentence(files?.length ? `${message} (${files.join(", ")})` : message), { seq });
      if (title) this.renamed?.(title);
    }
    this.changed();
  }

  /** A line for the reader that is in no journal. */
  notice(text, { seq } = {}) {
    this.add(el("p", { class: "notice" }, text), { seq });
  }

  add(node, { seq, own, question }) {
    const entry = { node, seq: seq ?? null, base: this.highest, own, question };
    const later = this.entries.findIndex((other) => other.question?.open && other.seq > (seq ?? this.highest));
    if (later < 0) {
      this.entries.push(entry);
      this.root.append(node);
    } else {
      this.entries[later].node.before(node);
      this.entries.splice(later, 0, entry);
    }
    if (this.entries.length > MOST_ENTRIES) {
      const old = this.entries.shift();
      old.node.remove();
      this.root.dataset.cut = "true";
    }
    this.follow();
    return entry;
  }

  lastReply() {
    const last = this.entries.findLastIndex((entry) => entry.text !== undefined);
    const since = this.entries.findLastIndex((entry) => entry.node.classList.contains("person"));
    return last > since ? this.entries[last] : null;
  }

  closeReply() {
    const entry = this.reply;
    if (!entry) return;
    this.reply = null;
    clearTimeout(entry.timer);
    entry.timer = null;
    fill(entry.node, markdown(entry.text));
    this.follow();
  }

  draw(entry) {
    if (entry.timer) return;
    const wait = entry.text.length > LONG_REPLY ? 300 : 30;
    entry.timer = setTimeout(() => {
      entry.timer = null;
      if (this.reply !== entry) return;
      fill(entry.node, markdown(entry.text));
      this.follow();
    }, wait);
  }

  turn(running, doing) {
    if (this.running === running && this.doing === doing) return;
    // Once something runs, there is nothing left to continue.
    if (running) for (const old of this.root.querySelectorAll(".go-on")) old.remove();
    this.running = running;
    this.doing = doing;
    this.changed();
  }

  /** What I wrote when the connection broke, and nobody has told since. */
  doubt() {
    for (const text of this.unsure.splice(0)) {
      this.notice(`This may not have arrived: “${text.slice(0, 200)}”`);
    }
  }

  follow() {
    this.onGrowth?.();
  }
}

const HANDLERS = {
  "client.echo": "echo",
  "assistant.thinking": "thinking",
  "assistant.token": "token",
  "assistant.message_final": "final",
  "server.error": "error",
  "agent.plan": "planned",
  "agent.retrieve.status": "retrieved",
  "tool.execute": "tool",
  "tool.output": "output",
  "patch.proposed": "patch",
  "tool.request_approval": "askTool",
  "command.request_approval": "askCommand",
  "session.state": "state",
  "session.notice": "news",
};

function person(name, text, at) {
  const time = at && el("time", { datetime: at }, new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  return el(
    "div",
    { class: name === "You" ? "person own" : "person" },
    el("p", { class: "from" }, name, time),
    el("p", { class: "said" }, text),
  );
}
