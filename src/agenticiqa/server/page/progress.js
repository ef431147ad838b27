// A run at work: what is being done, in a line, and a way to leave it.
import { announce, button, fixed, make } from "./dom.js";
import { badge } from "./timeline.js";
import { DOING } from "./words.js";

/** A moving picture of a run at work. */
export class Progress {
  constructor(names, cancel) {
    Object.assign(this, { names, scores: new Map(), doing: new Map() });
    this.sent = make("progress", { class: "upload", max: 1, value: 0, "aria-label": "Sent" });
    this.clock = make("span", { class: "clock", "aria-hidden": "true" });
    this.line = make("p", { class: "doing" }, "Sending the image …");
    this.images = make("ol", { class: "images" });
    this.element = make("section", { class: "card working", "aria-label": "Progress", "aria-busy": "true" },
      make("div", { class: "card-head" }, make("h2", {}, names.length > 1 ? "Comparing" : "Assessing"), this.clock,
        button("Cancel", cancel, { class: "secondary" })), this.line, this.sent, names.length > 1 && this.images);
    const begun = performance.now();
    this.timer = setInterval(() => { this.clock.textContent = `${fixed((performance.now() - begun) / 1000, 1)} s`; }, 100);
    this.#show();
  }

  /** Shows which share of the upload has been sent. */
  sending(share) {
    this.sent.value = share;
    this.line.textContent = share < 1 ? `Sending: ${Math.round(share * 100)} %` : "Sent; waiting for the service.";
  }

  take({ type, data }) {
    this.sent.hidden = true;
    const step = data.status === "started" && DOING[data.subtask ?? data.node];
    if (type === "requeued") this.scores.clear();
    if (type === "image") this.scores.set(data.image, data.score);
    if (step) this.doing.set(data.image ?? 1, step);
    this.say(this.#inWords(type, data, step));
    this.#show();
  }

  say(words) {
    if (!words) return;
    this.line.textContent = words;
    announce(words);
  }

  stop() {
    clearInterval(this.timer);
    this.element.setAttribute("aria-busy", "false");
  }

  #inWords(type, data, step) {
    const which = this.names.length > 1 && data.image ? `${this.names[data.image - 1]}: ` : "";
    if (type === "queued") return data.position > 1 ? `Waiting in the queue at place ${data.position}.` : "Waiting for its turn.";
    if (type === "requeued") return "The service restarted; the run begins again.";
    return step && `${which}${step}${data.iteration ? `, pass ${data.iteration + 1}` : ""} …`;
  }

  #show() {
    this.images.replaceChildren(...this.names.map((name, index) => {
      const [done, doing] = [this.scores.has(index + 1), this.doing.get(index + 1)];
      const status = done ? "finished" : doing ? "started" : "waiting";
      return make("li", { class: `step ${status}` }, make("div", { class: "step-head" }, badge({ status }), make("b", {}, name),
        make("span", { class: "soft" }, done ? `${fixed(this.scores.get(index + 1))} of 5` : doing ? `${doing} …` : "waiting")));
    }));
  }
}
