// Questions that wait for somebody: may this file change, may this command run, may this tool be used.

import { button, count, el, fill } from "./dom.js";
import { diff } from "./diff.js";
import { inline } from "./markdown.js";

/** What can be said to a whole question. */
const ANSWERS = [
  { label: "Approve once", class: "primary", answer: { approved: true, remember: "once" } },
  { label: "For this session", answer: { approved: true, remember: "session" } },
  { label: "Always in this workspace", answer: { approved: true, remember: "workspace" } },
  { label: "Deny", class: "danger", answer: { approved: false } },
];

/** What the command line calls itself. */
const TERMINAL = "loggia ask";

/**
 * A question as an element.
 *
 * `decide(answer)` sends an answer. The question is open until `close` is called: the server says so, not the button.
 */
export class Question {
  constructor({ id, title, risk, reason, body, patches, remember = [], mayDecide, decide }) {
    this.id = id;
    this.open = true;
    this.buttons = [];
    this.decide = (answer) => {
      if (!this.open) return;
      this.busy(true);
      this.chosen = answer;
      fill(this.foot, el("span", { class: "sending" }, "Sending your answer…"));
      decide({ type: "client.approval_response", request_id: id, ...answer });
    };
    const offer = (label, answer, attributes = {}) => {
      if (!mayDecide) return null;
      const made = button(label, () => this.decide(answer), attributes);
      this.buttons.push(made);
      return made;
    };
    this.diffs = new Map();
    const changes = patches.map((patch) => {
      const at = { file_path: patch.file_path };
      const parts = patch.hunks?.length ?? 0;
      // Of two hunks one is chosen; only of more are several.
      const boxes = parts > 2 && mayDecide ? patch.hunks.map(() => el("input", { type: "checkbox" })) : [];
      const beside = (hunk_index) =>
        parts > 1 &&
        mayDecide &&
        el(
          "span",
          { class: "choices" },
          boxes[hunk_index] && el("label", { class: "small" }, boxes[hunk_index], "Choose"),
          offer("Only this hunk", { approved: true, scope: "hunk", ...at, hunk_index }, { class: "small" }),
          offer("Deny over this", { approved: false, scope: "hunk", ...at, hunk_index }, { class: "small danger" }),
        );
      const made = diff(patch, beside);
      this.diffs.set(patch.patch_id, made);
      const whole =
        patches.length > 1 &&
        mayDecide &&
        el(
          "div",
          { class: "choices file" },
          offer("Only this file", { approved: true, scope: "file", ...at }, { class: "small" }),
          offer("Deny over this file", { approved: false, scope: "file", ...at }, { class: "small danger" }),
        );
      const several = boxes.length > 0 && el("div", { class: "choices file" }, this.chooser(boxes, at));
      const why = patches.length > 1 && patch.rationale && el("p", { class: "why" }, patch.rationale);
      return el("div", { class: "change" }, why, made.node, criteria(patch), several, whole);
    });
    this.foot = el("div", { class: "foot", role: "status" });
    // Nobody is promised what cannot be remembered.
    const holds = ({ answer }) => [undefined, "once", ...remember].includes(answer.remember);
    const answers = ANSWERS.filter(holds).map((row) => offer(row.label, row.answer, { class: row.class }));
    this.bar = el("div", { class: "answers", role: "group", "aria-label": "Your answer" }, answers);
    this.badge = el("span", { class: "badge" }, "waits for an answer");
    this.node = el(
      "article",
      { class: `question risk-${risk ?? "medium"}`, "data-question": id },
      el("header", {}, el("h3", {}, title), risk && el("span", { class: "risk" }, `${risk} risk`), this.badge),
      reason && el("p", { class: "why" }, inline(reason)),
      body,
      changes,
      mayDecide ? this.bar : el("p", { class: "foot" }, "You are watching; somebody who drives has to answer."),
      this.foot,
    );
  }

  /** The button for the hunks whose boxes are ticked; it says how many. */
  chooser(boxes, at) {
    const chosen = () => boxes.flatMap((box, index) => (box.checked ? [index] : []));
    const made = button("", () => this.decide({ approved: true, scope: "hunk", ...at, hunk_indexes: chosen() }), { class: "small" });
    const show = () => {
      const { length } = chosen();
      made.hidden = length === 0;
      fill(made, `Only the ${count(length, "chosen hunk")}`);
    };
    for (const box of boxes) box.addEventListener("change", show);
    this.buttons.push(made, ...boxes);
    show();
    return made;
  }

  /** Whether answers can be given now. */
  busy(busy) {
    for (const made of this.buttons) made.disabled = busy;
  }

  /** The last answer did not arrive, or was not taken. */
  again(why) {
    if (!this.open) return;
    this.busy(false);
    fill(this.foot, why ?? "");
  }

  /** What became of a change, once it is in the files. After a reload nobody knows which hunks were chosen. */
  applied(id) {
    const shown = this.diffs.get(id);
    const hunks = this.chosen?.scope === "hunk" ? this.chosen.hunk_indexes ?? [this.chosen.hunk_index] : null;
    if (shown.hunks < 2) shown.setState("applied");
    else if (hunks) shown.setState(`hunk ${hunks.map((index) => index + 1).join(", ")} of ${shown.hunks} applied`);
    else shown.setState(this.chosen?.approved || this.whole ? "applied" : "applied, at least in part");
  }

  /** Whose answer it was. `me` is what others see of us. */
  decided({ decided_by: by, through, approved, in_part: part }, me) {
    this.whole = approved && !part;
    // The server decides nothing: it takes a question back whose turn or time has ended.
    if (!through && by === "server") return this.close("not answered");
    const word = !approved ? "denied" : part ? "approved in part" : "approved";
    const client = by === me ? "you" : `${by}${by === TERMINAL ? " from the terminal" : ""}`;
    this.close(`${word} by ${through ? client : "the policy"}`);
  }

  /** It is decided. */
  close(text) {
    this.open = false;
    this.buttons.forEach((made) => made.remove());
    this.bar.remove();
    for (const choices of this.node.querySelectorAll(".choices")) choices.remove();
    this.node.classList.add("closed");
    fill(this.badge, text ?? "answered");
    fill(this.foot);
  }
}

function criteria(patch) {
  const list = patch.acceptance_criteria ?? [];
  return list.length > 0 && el("ul", { class: "criteria" }, list.map((text) => el("li", {}, inline(text))));
}
