// What extensions ask and show, whatever session is looked at.

import { button, el, fill, sentence } from "./dom.js";
import { Stream } from "./stream.js";

/** The words of the two answers to a question. */
const WORDS = { yes_no: ["Yes", "No"], ok_cancel: ["OK", "Cancel"] };

/** What is to be chosen. */
const CHOICES = {
  open_file: "A file that is there",
  open_files: "Files that are there, one a line",
  save_file: "A place for a file",
  select_directory: "A directory",
};

export class DialogsView {
  /** `refused()` tells whether we are still let in, after a connection that never opened. */
  constructor(me, { refused }) {
    this.me = me;
    this.open = new Map();
    this.node = el("div", { class: "dialogs", role: "region", "aria-label": "Extensions", "aria-live": "polite" });
    this.stream = new Stream(null, me.name, {
      place: () => 0,
      // Everything that is open is told again.
      begin: () => this.clear(),
      told: (message) => this.told(message),
      state: () => {},
      ended: () => this.clear(),
      lost: refused,
    });
  }

  close() {
    this.stream.close();
    this.clear();
  }

  clear() {
    this.open.clear();
    fill(this.node);
  }

  told(message) {
    switch (message.type) {
      case "ui.dialog.request":
        return this.show(message.dialog_id, this.dialog(message));
      case "ui.window.opened":
        return this.show(message.window_id, this.window(message));
      case "ui.dialog.closed":
        return this.hide(message.dialog_id);
      case "ui.window.closed":
        return this.hide(message.window_id);
      case "server.error":
        return this.complain(message.error);
      default:
        return undefined;
    }
  }

  show(id, card) {
    this.hide(id);
    this.open.set(id, card);
    this.node.append(card);
  }

  hide(id) {
    this.open.get(id)?.remove();
    this.open.delete(id);
  }

  /** An answer was not taken: the dialog that was answered last says why. */
  complain({ message }) {
    const foot = this.open.get(this.answered)?.querySelector(".foot");
    if (foot) fill(foot, sentence(message));
  }

  answer(dialog_id, answer) {
    this.answered = dialog_id;
    this.stream.send({ type: "ui.dialog.response", dialog_id, ...answer });
  }

  card({ extension, title, level }, ...body) {
    return el(
      "article",
      { class: `dialog ${level ?? ""}` },
      el("header", {}, el("h3", {}, title || extension), title && el("span", { class: "from" }, extension)),
      body,
      el("p", { class: "foot", role: "status" }, this.me.scope === "read" && "You are watching; somebody who drives has to answer."),
    );
  }

  dialog(request) {
    const { dialog_id: id, kind, message } = request;
    const text = message && el("p", { class: "said" }, message);
    const may = this.me.scope !== "read";
    const offer = (label, answer, attributes) => may && button(label, () => this.answer(id, answer), attributes);
    if (kind === "message") return this.card(request, text, offer("OK", { acknowledged: true }, { class: "primary" }));
    if (kind === "confirm") {
      const [yes, no] = WORDS[request.buttons] ?? WORDS.yes_no;
      return this.card(request, text, offer(yes, { confirmed: true }, { class: "primary" }), offer(no, { confirmed: false }));
    }
    const several = kind === "open_files";
    const input = el(several ? "textarea" : "input", {
      "aria-label": CHOICES[kind] ?? "A path",
      placeholder: CHOICES[kind] ?? "A path",
      spellcheck: "false",
      autocapitalize: "off",
    });
    input.value = [request.start_path, request.suggested_name].filter(Boolean).join("/");
    const choose = (event) => {
      event.preventDefault();
      const lines = several ? input.value.split("\n") : [input.value];
      this.answer(id, { paths: lines.map((line) => line.trim()).filter(Boolean) });
    };
    const form = el("form", { submit: choose }, input, el("button", { class: "primary" }, "Choose"), offer("Cancel", { cancelled: true }));
    return this.card(request, text, may && form);
  }

  window(opened) {
    const { window_id, url, title } = opened;
    const close = () => this.stream.send({ type: "ui.window.closed", window_id });
    // The page is the extension's: it gets nothing of ours, not even who sent somebody there.
    const link = /^https?:\/\//i.test(url) && el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, url);
    return this.card({ ...opened, title }, el("p", { class: "said" }, link || url), this.me.scope !== "read" && button("Close", close));
  }
}
