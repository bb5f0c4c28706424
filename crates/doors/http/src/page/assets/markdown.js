// A little Markdown: what agents write most. Everything becomes elements and text nodes; nothing is ever parsed as HTML,
// and addresses are shown as text, so that a reply cannot lead anybody anywhere unseen.

import { el } from "./dom.js";

const FENCE = /^ {0,3}(```+|~~~+)\s*([\w+#.-]*)/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const BULLET = /^(\s*)[-*+]\s+(.*)$/;
const NUMBER = /^(\s*)(\d{1,9})[.)]\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;

/** The nodes of a text. */
export function markdown(text) {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const nodes = [];
  for (let at = 0; at < lines.length; ) {
    const fence = FENCE.exec(lines[at]);
    if (fence) {
      const [node, next] = code(lines, at, fence);
      nodes.push(node);
      at = next;
    } else if (lines[at].trim() === "") {
      at += 1;
    } else if (RULE.test(lines[at])) {
      nodes.push(el("hr"));
      at += 1;
    } else if (HEADING.test(lines[at])) {
      const [, marks, title] = HEADING.exec(lines[at]);
      // The page has headings of its own above these.
      nodes.push(el(`h${Math.min(6, marks.length + 2)}`, {}, inline(title)));
      at += 1;
    } else if (lines[at].startsWith(">")) {
      const quoted = [];
      for (; at < lines.length && lines[at].startsWith(">"); at += 1) quoted.push(lines[at].replace(/^>\s?/, ""));
      nodes.push(el("blockquote", {}, markdown(quoted.join("\n"))));
    } else if (BULLET.test(lines[at]) || NUMBER.test(lines[at])) {
      const [node, next] = items(lines, at);
      nodes.push(node);
      at = next;
    } else {
      const [node, next] = paragraph(lines, at);
      nodes.push(node);
      at = next;
    }
  }
  return nodes;
}

function code(lines, start, [, marks, language]) {
  const held = [];
  let at = start + 1;
  for (; at < lines.length && !lines[at].trimStart().startsWith(marks); at += 1) held.push(lines[at]);
  const label = language && el("span", { class: "language" }, language);
  const block = el("div", { class: "code" }, label, el("pre", { tabindex: "0" }, el("code", {}, held.join("\n"))));
  return [block, at + 1];
}

/** A flat list; an item's indentation is told by its depth. */
function items(lines, start) {
  const ordered = NUMBER.test(lines[start]);
  const form = ordered ? NUMBER : BULLET;
  const list = el(ordered ? "ol" : "ul", ordered ? { start: NUMBER.exec(lines[start])[2] } : {});
  let at = start;
  for (; at < lines.length; at += 1) {
    const item = form.exec(lines[at]);
    if (item) {
      const depth = Math.min(3, Math.floor(item[1].length / 2));
      list.append(el("li", depth ? { class: `depth-${depth}` } : {}, inline(item.at(-1))));
    } else if (/^\s{2,}\S/.test(lines[at]) && list.lastChild) {
      list.lastChild.append(" ", ...inline(lines[at].trim()));
    } else {
      break;
    }
  }
  return [list, at];
}

function paragraph(lines, start) {
  const held = [];
  let at = start;
  const begins = (line) =>
    line.trim() === "" || FENCE.test(line) || HEADING.test(line) || BULLET.test(line) || NUMBER.test(line) || line.startsWith(">");
  for (; at < lines.length && (at === start || !begins(lines[at])); at += 1) held.push(lines[at]);
  return [el("p", {}, inline(held.join("\n"))), at];
}

/** Code, strong and emphasised text within a line. */
export function inline(text) {
  const nodes = [];
  const form = /(`+)([^`]|[^`].*?[^`])\1(?!`)|\*\*(?=\S)(.+?)\*\*|(?<![\w*])\*(?=\S)([^*\n]+?)\*(?!\*)/gs;
  let last = 0;
  for (const found of text.matchAll(form)) {
    if (found.index > last) nodes.push(document.createTextNode(text.slice(last, found.index)));
    if (found[2] !== undefined) nodes.push(el("code", {}, found[2].trim() || found[2]));
    else if (found[3] !== undefined) nodes.push(el("strong", {}, inline(found[3])));
    else nodes.push(el("em", {}, found[4]));
    last = found.index + found[0].length;
  }
  if (last < text.length) nodes.push(document.createTextNode(text.slice(last)));
  return nodes;
}
