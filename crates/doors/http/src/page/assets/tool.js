// Calls of tools: one line each, and what they gave, on demand.

import { el, fill } from "./dom.js";

/** Characters of a tool's output that are kept on the page: its end is what people look for. */
const MOST_OUTPUT = 40000;

const VERBS = {
  read_file: "Read",
  list_directory: "List",
  find_files: "Find",
  search_text: "Search",
  search_symbols: "Search symbols",
  vector_search: "Search by meaning",
  write_file: "Write",
  propose_diff: "Edit",
  delete_file: "Delete",
  execute_command: "Run",
  update_plan: "Plan",
};

/** What a tool does, in a word. */
export function verb(name) {
  return VERBS[name] ?? name;
}

/** One call of a tool: a line, and what it gave, on demand. */
export class Tool {
  constructor(name, args, key) {
    Object.assign(this, { name, args, key, id: args?.command_id, printed: "" });
    this.mark = el("span", { class: "mark", "aria-hidden": "true" });
    this.aside = el("span", { class: "aside" });
    this.body = el("div", { class: "result" });
    const [word, object] = described(name, args);
    const what = el("span", { class: "what" }, word, object && " ", object && el("code", {}, object));
    this.node = el("details", { class: "tool running empty" }, el("summary", {}, this.mark, what, this.aside), this.body);
    // What has nothing inside does not open.
    this.node.firstChild.addEventListener("click", (event) => this.node.classList.contains("empty") && event.preventDefault());
  }

  note(text) {
    fill(this.aside, text);
  }

  print(chunk) {
    this.printed = (this.printed + chunk).slice(-MOST_OUTPUT);
    this.show(this.printed);
    this.node.open = true;
  }

  show(text) {
    this.node.classList.toggle("empty", text === "");
    fill(this.body, el("pre", { tabindex: "0" }, text));
  }

  end(status, result) {
    const [denied, failed] = [result?.denied === true, status === "failed"];
    this.node.className = `tool ${denied ? "denied" : failed ? "failed" : status === "completed" ? "done" : "stopped"}`;
    const facts = [
      denied ? "denied" : result?.cancelled ? "cancelled" : failed ? "failed" : status === "stopped" ? "stopped" : null,
      result?.timed_out && "timed out",
      result?.exit_code !== undefined && `exit ${result.exit_code}`,
      result?.duration_ms >= 1000 && `${(result.duration_ms / 1000).toFixed(1)} s`,
    ].filter(Boolean);
    this.note(facts.join(" · "));
    this.node.open = false;
    const text = result?.output ?? result?.error ?? this.printed;
    this.show(String(text ?? "").slice(-MOST_OUTPUT));
  }
}

function described(name, args) {
  if (args === null || typeof args !== "object") return [verb(name), String(args ?? "").slice(0, 200)];
  const object = args.command ?? args.file_path ?? args.path ?? args.pattern ?? args.query ?? args.name;
  if (name === "update_plan") return ["Plan", ""];
  return [verb(name), typeof object === "string" ? object.slice(0, 300) : ""];
}
