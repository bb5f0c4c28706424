// A session's stream: a WebSocket that is opened again when it is lost, after the last event that was heard whole.
// Without a session, the stream of what belongs to none.

/** The first pause before another try, and the longest. */
const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 15000;

/** A page that was out of sight for so long may have lost its connection without hearing of it. */
const ASLEEP_MS = 30000;

/** After these the stream is not opened again. */
const ENDS = { 1000: "ended", 4404: "deleted", 4401: "revoked" };

export class Stream {
  /**
   * `place()` gives the event to go on after. `told(message)`, `state(word, text)` and `ended(why)` are called;
   * `lost()` tells whether it is still worth trying, after a connection that never opened.
   */
  constructor(session, name, { place, begin, told, state, ended, lost }) {
    Object.assign(this, { session, name, place, begin, told, state, ended, lost });
    this.pause = FIRST_PAUSE_MS;
    this.hiddenAt = null;
    this.closed = false;
    this.listeners = [
      [window, "online", () => this.hurry()],
      [document, "visibilitychange", () => this.look()],
    ];
    for (const [target, name, listener] of this.listeners) target.addEventListener(name, listener);
    this.connect();
  }

  get live() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Sends a message; says whether it could be sent. */
  send(message) {
    if (!this.live) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Ends it for good. */
  close() {
    this.closed = true;
    clearTimeout(this.timer);
    for (const [target, name, listener] of this.listeners) target.removeEventListener(name, listener);
    this.drop();
  }

  connect() {
    clearTimeout(this.timer);
    if (this.closed) return;
    this.state("connecting", "Connecting…");
    const after = this.place();
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const path = this.session ? `/v1/sessions/${encodeURIComponent(this.session)}/stream?after=${after}` : "/v1/stream";
    const socket = new WebSocket(`${scheme}//${location.host}${path}`, ["loggia.v1"]);
    this.socket = socket;
    let opened = false;
    socket.addEventListener("open", () => {
      opened = true;
      this.begin(after);
      const capabilities = this.session ? ["delta_only", "queue"] : ["dialogs"];
      this.send({ type: "client.hello", client_info: { name: this.name, version: "1", capabilities } });
    });
    socket.addEventListener("message", ({ data }) => {
      if (this.socket !== socket) return;
      const message = JSON.parse(data);
      if (message.type === "server.hello") {
        this.pause = FIRST_PAUSE_MS;
        this.state("live", "Live");
      }
      this.told(message);
    });
    socket.addEventListener("close", ({ code }) => {
      if (this.socket !== socket || this.closed) return;
      if (ENDS[code]) {
        this.close();
        this.ended(ENDS[code]);
        return;
      }
      this.again(opened, code);
    });
  }

  async again(opened, code) {
    // A browser does not tell why a stream was refused; asking for something else does.
    if (!opened && !(await this.lost())) return;
    if (this.closed) return;
    const pause = this.pause * (0.75 + Math.random() / 2);
    this.pause = Math.min(LONGEST_PAUSE_MS, this.pause * 2);
    const why = code === 1001 ? "The server has stopped" : "Connection lost";
    this.state("waiting", `${why}. Trying again in ${Math.max(1, Math.round(pause / 1000))} s…`);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), pause);
  }

  /** Does not wait for the next try. */
  hurry() {
    if (this.closed || this.live) return;
    this.pause = FIRST_PAUSE_MS;
    this.drop();
    this.connect();
  }

  look() {
    if (document.visibilityState === "hidden") {
      this.hiddenAt = Date.now();
      return;
    }
    const asleep = this.hiddenAt !== null && Date.now() - this.hiddenAt > ASLEEP_MS;
    this.hiddenAt = null;
    if (this.closed) return;
    if (asleep) this.drop();
    this.hurry();
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    socket?.close(1000);
  }
}
