// Changes to files, hunk by hunk, with line numbers.

import { button, count, el, fill } from "./dom.js";

/** Lines of a hunk that are shown at once; the rest on demand, since a new file may have thousands. */
const SHOWN = 200;

/** A patch as an element. `actions(hunkIndex)` gives what stands beside a hunk, if anything. */
export function diff(patch, actions = () => null) {
  const hunks = patch.hunks ?? [];
  const lines = hunks.flatMap((hunk) => split(hunk.content));
  const added = lines.filter((line) => line.startsWith("+")).length;
  const removed = lines.filter((line) => line.startsWith("-")).length;
  const state = el("span", { class: "state" });
  const head = el(
    "header",
    {},
    el("span", { class: "path" }, patch.file_path),
    el("span", { class: "counts" }, el("ins", {}, `+${added}`), " ", el("del", {}, `−${removed}`)),
    state,
  );
  const bodies = hunks.length
    ? hunks.map((hunk, index) => part(hunk, index, hunks.length, actions))
    : [el("pre", { class: "lines", tabindex: "0" }, patch.diff)];
  const node = el("section", { class: "diff", "aria-label": `Change to ${patch.file_path}` }, head, bodies);
  return { node, hunks: hunks.length, setState: (text) => fill(state, text) };
}

function part(hunk, index, total, actions) {
  const title = `Hunk ${index + 1} of ${total}, line ${hunk.old_start}`;
  const beside = actions(index);
  const head = (total > 1 || beside) && el("div", { class: "hunk-head" }, el("span", {}, title), beside);
  const table = el("div", { class: "lines", tabindex: "0", role: "group", "aria-label": title });
  const rows = numbered(hunk);
  const show = (until) => {
    fill(table, el("div", { class: "rows" }, rows.slice(0, until).map(row)));
    if (until < rows.length) {
      table.append(button(`Show ${count(rows.length - until, "more line")}`, () => show(rows.length), { class: "quiet" }));
    }
  };
  show(SHOWN);
  return el("div", { class: "hunk" }, head, table);
}

function row({ sign, old, now, text }) {
  const kind = { "+": "added", "-": "removed", "\\": "note" }[sign] ?? "kept";
  return el(
    "div",
    { class: `line ${kind}` },
    el("span", { class: "number", "aria-hidden": "true" }, old ?? ""),
    el("span", { class: "number", "aria-hidden": "true" }, now ?? ""),
    el("span", { class: "sign" }, sign === " " ? " " : sign),
    el("span", { class: "text" }, text),
  );
}

function numbered(hunk) {
  let [old, now] = [hunk.old_start, hunk.new_start];
  return split(hunk.content).map((line) => {
    const [sign, text] = [line[0] ?? " ", line.slice(1)];
    if (sign === "+") return { sign, now: now++, text };
    if (sign === "-") return { sign, old: old++, text };
    if (sign === "\\") return { sign, text };
    return { sign: " ", old: old++, now: now++, text };
  });
}

function split(content) {
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
