// Where somebody is who is not let in: a pairing code opens.

import { ask } from "./api.js";
import { el, fill } from "./dom.js";

/** Trades a code, of a page or for pairing, for the cookie. */
export function trade(code, name) {
  return ask("POST", "/v1/page/session", { code, client_name: name });
}

/** What this browser is called in the list of tokens, if its owner does not say. */
export function ownName() {
  const agent = navigator.userAgent;
  const device = /iPhone|iPad|Android|Windows|Mac OS|Linux/.exec(agent)?.[0] ?? "device";
  const browser = /Firefox|Edg|Chrome|Safari/.exec(agent)?.[0]?.replace("Edg", "Edge") ?? "Browser";
  return `${browser} on ${device.replace("Mac OS", "Mac")}`;
}

/** The form. `entered()` is called once the cookie is there. */
export function entrance(why, entered) {
  const code = el("input", {
    id: "code",
    required: true,
    maxlength: "12",
    size: "12",
    autocomplete: "one-time-code",
    autocapitalize: "characters",
    spellcheck: "false",
    placeholder: "ABCD EFGH",
  });
  const name = el("input", { id: "name", required: true, maxlength: "60", value: ownName(), autocomplete: "off" });
  const problem = el("p", { class: "notice bad", role: "alert", hidden: true });
  const enter = el("button", { type: "submit", class: "primary" }, "Come in");
  const submit = async (event) => {
    event.preventDefault();
    enter.disabled = true;
    problem.hidden = true;
    try {
      await trade(code.value, name.value);
      entered();
    } catch (error) {
      fill(problem, error.message);
      problem.hidden = false;
      enter.disabled = false;
      code.select();
    }
  };
  return el(
    "main",
    { class: "entrance" },
    el("img", { src: "/page/icon.svg", alt: "", width: "48", height: "48" }),
    el("h1", {}, "Loggia"),
    el("p", { class: "why" }, why),
    el(
      "form",
      { submit },
      el("label", { for: "code" }, "Pairing code"),
      code,
      el("label", { for: "name" }, "What to call this device"),
      name,
      problem,
      enter,
    ),
    el("p", { class: "hint" }, "A code is shown by “Pair a device” on a page that is open already. On the server’s own machine, ", el("code", {}, "loggia open"), " opens one."),
  );
}
