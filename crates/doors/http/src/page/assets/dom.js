// Making elements. Text goes in as text nodes only: whatever a model, a file or another person wrote is shown, never run.

/** An element with attributes and children. Functions become listeners; `null`, `undefined` and `false` are left out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

/** Adds children: nodes, texts, and lists of them. */
export function append(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** Replaces everything in an element. */
export function fill(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/** A button. */
export function button(label, onclick, attributes = {}) {
  return el("button", { type: "button", click: onclick, ...attributes }, label);
}

/** A moment as people say it. */
export function ago(text, now = Date.now()) {
  const minutes = Math.round((now - Date.parse(text)) / 60000);
  if (!Number.isFinite(minutes)) return "";
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.round(minutes / 60)} h`;
  if (minutes < 7 * 24 * 60) return `${Math.round(minutes / 1440)} d`;
  return new Date(Date.parse(text)).toLocaleDateString();
}

/** A number with its noun. */
export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString()} ${number === 1 ? one : many}`;
}

/** What the server says, which is written to stand anywhere, as a sentence. */
export function sentence(text) {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
