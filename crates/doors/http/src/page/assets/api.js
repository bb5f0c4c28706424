// Asking the server. The cookie goes along by itself; every bad answer is a problem with a text for people.

import { sentence } from "./dom.js";

/** How long an answer may take: the server is near, and a person waits. */
const PATIENCE_MS = 20000;

/** A bad answer, or none (`status` 0). */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Asks, and gives what the answer's body says. */
export async function ask(method, path, body) {
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    throw new Refused(0, "The server does not answer.");
  }
  const text = await answer.text();
  const value = parse(text);
  if (!answer.ok) throw new Refused(answer.status, sentence(value?.detail ?? value?.title ?? `The server answered ${answer.status}`));
  return value;
}

/** All rows of a listing that comes in pages, up to a bound. */
export async function list(path, key, most = 500) {
  const rows = [];
  let cursor = null;
  do {
    const query = new URLSearchParams({ limit: "100" });
    if (cursor) query.set("cursor", cursor);
    const page = await ask("GET", `${path}?${query}`);
    rows.push(...page[key]);
    cursor = page.next_cursor ?? null;
  } while (cursor && rows.length < most);
  return rows;
}

function parse(text) {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
