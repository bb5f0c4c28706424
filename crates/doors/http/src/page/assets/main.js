// The page: who is here, and what is shown.

import { ask } from "./api.js";
import { DialogsView } from "./dialogs.js";
import { append, el, fill } from "./dom.js";
import { entrance, ownName, trade } from "./entrance.js";
import { ListView } from "./list.js";
import { SessionView } from "./session.js";

const app = document.getElementById("app");

let me = null;
let sessions = null;
let session = null;
let dialogs = null;

/** The code in the address, if any. It is taken out at once: it is good once, and no history shall keep it. */
function codeFromAddress() {
  const code = /^#code=([0-9a-zA-Z]+)$/.exec(location.hash)?.[1];
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}

async function begin() {
  const code = codeFromAddress();
  let why = "This browser is not known here yet.";
  if (code) {
    try {
      await trade(code, ownName());
    } catch (error) {
      why = error.message;
    }
  }
  await enter(why);
}

async function enter(why) {
  try {
    me = await ask("GET", "/v1/page/session");
  } catch (error) {
    if (error.status === 0) {
      fill(app, el("p", { class: "blank" }, "The server does not answer. Trying again…"));
      setTimeout(() => enter(why), 2000);
      return;
    }
    shut(error.status === 401 ? why : error.message);
    return;
  }
  const refused = () => shut("This browser is no longer let in.");
  sessions = new ListView(me, { open: (id) => (location.hash = `#/session/${id}`), refused, leave });
  dialogs?.close();
  dialogs = new DialogsView(me, { refused: stillLetIn });
  fill(app, el("div", { class: "house" }, sessions.node), dialogs.node);
  route();
}

/** Whether it is worth trying again, after a stream that was refused. */
async function stillLetIn() {
  try {
    await ask("GET", "/v1/page/session");
    return true;
  } catch (error) {
    if (error.status === 401) shut("This browser is no longer let in.");
    return error.status !== 401;
  }
}

/** Shows what the address names. */
function route() {
  const code = codeFromAddress();
  if (code) {
    const refused = (error) => (sessions ? sessions.complain(error.message) : shut(error.message));
    trade(code, ownName()).then(() => location.reload(), refused);
    return;
  }
  if (!sessions) return;
  const id = /^#\/session\/([\w-]+)$/.exec(location.hash)?.[1] ?? null;
  if (session && session.id === id) return;
  session?.close();
  session?.node.remove();
  session = null;
  const house = app.firstElementChild;
  house.classList.toggle("in-session", id !== null);
  house.querySelector(".nothing")?.remove();
  sessions.mark(id);
  if (id === null) {
    append(house, el("main", { class: "nothing" }, el("p", {}, "Choose a session, or begin one.")));
    return;
  }
  session = new SessionView(id, me, {
    left: () => (location.hash = "#/"),
    refused: () => shut("This browser is no longer let in."),
    changed: () => sessions?.soon(),
  });
  append(house, session.node);
  if (!matchMedia("(pointer: coarse)").matches) session.input?.focus();
}

/** Nobody is let in any more. */
function shut(why) {
  session?.close();
  sessions?.close();
  dialogs?.close();
  [me, sessions, session, dialogs] = [null, null, null, null];
  document.title = "Loggia";
  fill(app, entrance(why, () => enter("")));
  app.querySelector("input")?.focus();
}

async function leave() {
  try {
    await ask("DELETE", "/v1/page/session");
    shut("You have left. This browser is forgotten.");
  } catch (error) {
    sessions?.complain(error.message);
  }
}

window.addEventListener("hashchange", route);
begin();
