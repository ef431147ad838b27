// Talking to the service: requests with a token, waiting when it is busy, events that survive a lost connection.
import { BROKEN_OFF, GONE, sentenceFor } from "./words.js";

const TOKEN = "agenticiqa.token";
const LONGEST_PAUSE = 8;

/** What went wrong, as a sentence for people in `message`. */
export class Trouble extends Error {
  constructor(sentence, { status = 0, code = null, pause = null } = {}) {
    super(sentence);
    Object.assign(this, { status, code, pause, gone: status === 0 });
  }
}

/** The service as the page sees it; `askToken(wrong)` resolves to a token or null, `onWait` hears why we wait and how long,
 *  `onShare` which share of an upload has been sent. */
export class Service {
  constructor({ askToken, onWait = () => {}, onShare = () => {} }) {
    Object.assign(this, { askToken, onWait, onShare });
  }

  /** A successful response; everything else is a Trouble. */
  async request(path, options = {}) {
    const response = await this.#send(path, options);
    if (response.status === 401) {
      const token = await this.#freshToken();
      if (!token) throw await troubleOf(response);
      remember(token);
      return this.request(path, options);
    }
    if (!response.ok) throw await troubleOf(response);
    return response;
  }

  async json(path, options) {
    return (await this.request(path, options)).json();
  }

  /** A picture of the service as a URL that an image element may use. */
  async picture(path) {
    return URL.createObjectURL(await (await this.request(path)).blob());
  }

  /** Hands in a form; a full queue or a restarting service is waited for, and said. */
  async submit(path, form, signal, onShare = this.onShare) {
    for (;;) {
      try {
        return await this.json(`${path}?wait=false`, { method: "POST", body: form, signal, onShare });
      } catch (trouble) {
        if (signal?.aborted || !(trouble.gone || trouble.status === 429 || trouble.status === 503)) throw trouble;
        // A service that answers and still breaks off the upload will do so again.
        if (trouble.gone && await this.#answers()) throw new Trouble(BROKEN_OFF);
        const pause = trouble.pause ?? 2;
        this.onWait(trouble.gone ? GONE : `The service is busy. Trying again in ${pause} s.`);
        await sleep(pause, signal);
      }
    }
  }

  /** Every event of a run, once and in order, however often the connection breaks. */
  async *follow(path, signal) {
    let last = 0;
    for (let failures = 0; ;) {
      try {
        for await (const event of this.#stream(path, last, signal)) {
          failures = 0;
          last = Math.max(last, event.id);
          yield event;
          if (event.type === "finished" || event.type === "failed") return;
        }
      } catch (trouble) {
        if (signal?.aborted || (trouble.status && trouble.status < 500)) throw trouble;
        this.onWait(GONE);
      }
      await sleep(Math.min(LONGEST_PAUSE, 0.5 * 2 ** failures++), signal);
    }
  }

  async #answers() {
    return this.#send("/v1/health", {}).then((response) => response.ok, () => false);
  }

  async *#stream(path, last, signal) {
    const response = await this.request(path, { headers: last ? { "Last-Event-ID": String(last) } : {}, signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const blocks = (text + value.replaceAll("\r\n", "\n")).split("\n\n");
        text = blocks.pop();
        for (const block of blocks) {
          const event = parsed(block);
          if (event) yield event;
        }
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  async #send(path, options) {
    const headers = { ...options.headers };
    const token = remembered();
    if (token) headers.Authorization = `Bearer ${token}`;
    try {
      if (options.onShare) return await upload(path, { ...options, headers });
      return await fetch(path, { ...options, headers });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Trouble(GONE);
    }
  }

  // Several requests may be refused at once; one question is enough for all of them.
  #freshToken() {
    this.asking ??= this.askToken(Boolean(remembered())).finally(() => { this.asking = null; });
    return this.asking;
  }
}

function parsed(block) {
  const fields = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  return fields.event && fields.data ? { id: Number(fields.id ?? 0), type: fields.event, data: JSON.parse(fields.data) } : null;
}

async function troubleOf(response) {
  let problem = {};
  try { problem = await response.json(); } catch { /* a proxy may answer without JSON */ }
  const pause = Number(response.headers.get("Retry-After")) || null;
  return new Trouble(sentenceFor(response.status, problem), { status: response.status, code: problem.code, pause });
}

// fetch() does not say how much of a body has been sent.
function upload(path, { method, body, headers, signal, onShare }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) onShare(event.loaded / event.total); });
    request.addEventListener("load", () => resolve(new Response(request.response, { status: request.status, headers: retryOf(request) })));
    request.addEventListener("error", () => reject(new TypeError("the connection broke")));
    request.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    if (signal?.aborted) return reject(new DOMException("aborted", "AbortError"));
    request.send(body);
  });
}

function retryOf(request) {
  const pause = request.getResponseHeader("Retry-After");
  return pause ? { "Retry-After": pause } : {};
}

function sleep(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}

// For this tab only: a token left in long-lived storage outlives the person at the screen.
function remembered() {
  try { return sessionStorage.getItem(TOKEN); } catch { return null; }
}

function remember(token) {
  try { sessionStorage.setItem(TOKEN, token); } catch { /* without storage it is asked for again */ }
}
