// Planner, executor and summarizer at work: the events of a run, pass by pass.
import { announce, button, fixed, icon, make } from "./dom.js";
import { STEPS, SUBTASKS } from "./words.js";

/** What the events of a run say so far: passes per image, in order. */
export function passesOf(events) {
  const passes = new Map();
  for (const { type, data } of events) {
    if (type === "requeued") passes.clear();
    if (type !== "node" && type !== "subtask") continue;
    const key = `${data.image ?? 1}.${data.iteration ?? 0}`;
    if (!passes.has(key)) passes.set(key, { image: data.image ?? 1, iteration: data.iteration ?? 0, nodes: {}, subtasks: {} });
    const pass = passes.get(key);
    if (type === "node") pass.nodes[data.node] = data;
    else pass.subtasks[data.subtask] = data;
  }
  return [...passes.values()];
}

/** The three nodes of one pass as connected cards. */
export function passCards(pass) {
  return make("ol", { class: "flow" }, Object.entries(STEPS).map(([node, [name, task]]) => {
    const state = pass.nodes[node];
    return make("li", { class: `step ${state?.status ?? "waiting"}` },
      make("div", { class: "step-head" }, badge(state), make("b", {}, name), took(state)),
      make("p", { class: "soft" }, task),
      node === "executor" ? subtasks(pass) : null,
      facts(state));
  }));
}

/** A moving picture of a running agent. */
export class Progress {
  constructor(names, cancel) {
    Object.assign(this, { names, events: [] });
    this.sent = make("progress", { class: "upload", max: 1, value: 0, "aria-label": "Sent" });
    this.clock = make("span", { class: "clock", "aria-hidden": "true" });
    this.line = make("p", { class: "doing" }, "Sending the image …");
    this.body = make("div", { class: "passes" });
    this.element = make("section", { class: "card working", "aria-label": "Progress", "aria-busy": "true" },
      make("div", { class: "card-head" }, make("h2", {}, names.length > 1 ? "Comparing" : "Assessing"), this.clock,
        button("Cancel", cancel, { class: "secondary" })), this.line, this.sent, this.body);
    const begun = performance.now();
    this.timer = setInterval(() => { this.clock.textContent = `${fixed((performance.now() - begun) / 1000, 1)} s`; }, 100);
    this.#show();
  }

  /** Shows which share of the upload has been sent. */
  sending(share) {
    this.sent.value = share;
    this.line.textContent = share < 1 ? `Sending: ${Math.round(share * 100)} %` : "Sent; waiting for the service.";
  }

  take(event) {
    this.sent.hidden = true;
    this.events.push(event);
    this.say(inWords(event, this.names));
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

  #show() {
    const passes = passesOf(this.events);
    this.body.replaceChildren(...(this.names.length > 1 ? [this.#images(passes)] : shown(passes)));
  }

  #images(passes) {
    return make("ol", { class: "images" }, this.names.map((name, index) => {
      const done = this.events.findLast((event) => event.type === "image" && event.data.image === index + 1);
      const mine = passes.filter((pass) => pass.image === index + 1).at(-1);
      const node = mine && Object.values(mine.nodes).findLast((one) => one.status === "started");
      const status = done ? "finished" : mine ? "started" : "waiting";
      const words = done ? `${fixed(done.data.score)} of 5` : node ? `${STEPS[node.node]?.[0] ?? node.node} …` : "waiting";
      return make("li", { class: `step ${status}` },
        make("div", { class: "step-head" }, badge({ status }), make("b", {}, name), make("span", { class: "soft" }, words)));
    }));
  }
}

function shown(passes) {
  const all = passes.length ? passes : [{ nodes: {}, subtasks: {}, iteration: 0 }];
  return all.flatMap((pass, index) => [all.length > 1 ? make("h3", {}, `Pass ${index + 1}`) : null, passCards(pass)]).filter(Boolean);
}

function inWords({ type, data }, names) {
  const which = names.length > 1 && data.image ? `${names[data.image - 1]}: ` : "";
  if (type === "queued") return data.position > 1 ? `Waiting in the queue at place ${data.position}.` : "Waiting for its turn.";
  if (type === "requeued") return "The service restarted; the run begins again.";
  if (type === "subtask" && data.status === "started") return `${which}Executor: ${(SUBTASKS[data.subtask] ?? data.subtask).toLowerCase()} …`;
  if (type === "node" && data.status === "started") return `${which}${STEPS[data.node]?.[0] ?? data.node} ${STEPS[data.node]?.[1] ?? ""}${data.iteration ? `, pass ${data.iteration + 1}` : ""} …`;
  return null;
}

function badge(state) {
  const status = state?.status ?? "waiting";
  const words = { waiting: "waiting", started: "working", finished: "done", failed: "failed" }[status];
  const sign = status === "finished" ? icon("done") : status === "failed" ? icon("failed") : null;
  return make("span", { class: `badge ${status}` }, sign, make("span", { class: "unseen" }, words));
}

function took(state) {
  return typeof state?.seconds === "number" ? make("span", { class: "took" }, `${fixed(state.seconds)} s`) : null;
}

function subtasks(pass) {
  const found = Object.values(pass.subtasks);
  if (!found.length) return null;
  return make("ul", { class: "subtasks" }, found.map((one) => make("li", { class: one.status },
    badge(one), make("span", {}, SUBTASKS[one.subtask] ?? one.subtask), took(one))));
}

function facts(state) {
  const found = Object.entries(state?.facts ?? {});
  if (!found.length) return null;
  return make("dl", { class: "facts" }, found.map(([name, value]) => make("div", {},
    make("dt", {}, name.replaceAll("_", " ")), make("dd", {}, plain(value)))));
}

function plain(value) {
  return Array.isArray(value) ? value.join(", ") || "none" : String(value);
}
