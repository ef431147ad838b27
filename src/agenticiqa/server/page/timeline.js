// The passes of an agent: planner, executor with its subtasks, summarizer, and why a new plan was made.
import { fixed, icon, make } from "./dom.js";
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

/** How an image of a run was judged, pass by pass; a run opened from a link has no events, only times. */
export function timeline(run, record, number) {
  const passes = passesOf(run.events ?? []).filter((pass) => pass.image === number);
  const told = explained(passes.length ? passes : [fromLedger(record)], record);
  const reason = (index) => (record.replan_history[index] ?? "").replace(/^\[Iteration \d+\]\s*/, "");
  return make("section", {}, make("h3", {}, "Step by step"),
    make("ol", { class: "timeline" }, told.map((pass, index) => make("li", {},
      make("h4", {}, told.length > 1 ? `Pass ${index + 1}` : "One pass"), passCards(pass),
      reason(index) && make("p", { class: "replan" }, icon("again"), make("span", {}, make("b", {}, index < told.length - 1 ? "New plan, because: " : "Still open: "), reason(index)))))),
    record.replan_history.length === 0 && make("p", { class: "soft small" }, "The evidence sufficed; no new plan was needed."));
}

/** A sign for waiting, working, done or failed. */
export function badge(state) {
  const status = state?.status ?? "waiting";
  const words = { waiting: "waiting", started: "working", finished: "done", failed: "failed" }[status];
  const sign = status === "finished" ? icon("done") : status === "failed" ? icon("failed") : null;
  return make("span", { class: `badge ${status}` }, sign, make("span", { class: "unseen" }, words));
}

function passCards(pass) {
  return make("ol", { class: "flow" }, Object.entries(STEPS).map(([node, name]) => {
    const state = pass.nodes[node];
    return make("li", { class: `step ${state?.status ?? "waiting"}` },
      make("div", { class: "step-head" }, badge(state), make("b", {}, name), took(state)),
      node === "executor" ? subtasks(pass) : null,
      facts(state));
  }));
}

// The record holds the plan and the evidence of the last pass only.
function explained(passes, record) {
  const last = passes.at(-1);
  const { planner, executor, summarizer } = last.nodes;
  const scope = record.plan?.query_scope;
  const plan = record.plan && { asks_for: record.plan.query_type === "IQA" ? "a rating" : "an answer",
    looks_at: Array.isArray(scope) ? scope : "the whole image", reference: record.plan.reference_mode === "Full-Reference" ? "used" : "none" };
  const used = [...new Set(record.tools.map((one) => one.tool))];
  const found = { distortions: record.distortions.filter((one) => one.severity !== "none").length, tools: used };
  const said = { answer: record.answer };
  const nodes = { planner: { ...planner, facts: plan }, executor: { ...executor, facts: found }, summarizer: { ...summarizer, facts: said } };
  return [...passes.slice(0, -1), { ...last, nodes }];
}

function fromLedger(record) {
  const nodes = Object.fromEntries(Object.entries(record.ledger.nodes).map(([node, { seconds }]) => [node, { node, status: "finished", seconds }]));
  return { image: 1, iteration: 0, nodes, subtasks: {} };
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
