// What the answer rests on: tools with their disagreement, time and cost, versions.
import { fixed, make } from "./dom.js";
import { levelOf } from "./scale.js";
import { KINDS, STEPS, kindName, placeName } from "./words.js";

/** The kinds of distortion that were looked for and not found; only where all kinds were looked for: a question about one kind says nothing of the others. */
export function absent(record) {
  const missing = Object.keys(KINDS).filter((kind) => !record.distortions.some((one) => one.type === kind));
  if (!record.plan?.plan.distortion_detection || !missing.length) return null;
  return make("div", { class: "absent" }, make("h4", {}, "Looked for and not found"), make("ul", { class: "chips" }, missing.map((kind) => make("li", { class: "chip" }, kindName(kind)))));
}

/** The place of the first reading that says the same as this one: a tool asked about two flaws gives one row. */
export function sameReading(tools, index) {
  const { tool, object_name, raw, calibrated, error } = tools[index];
  return tools.findIndex((one) => one.tool === tool && one.object_name === object_name && one.raw === raw && one.calibrated === calibrated && one.error === error);
}

/** Tool scores raw and calibrated on one axis, and how far they lie apart. */
export function tools(record) {
  const rows = [
    record.score !== null && { name: "Score", calibrated: record.score, kind: "fused" },
    record.model_score !== null && Math.abs(record.model_score - record.score) >= 0.005 && { name: "Model", calibrated: record.model_score, kind: "model" },
    ...record.tools.map((reading, index) => ({ ...reading, name: reading.tool, kind: reading.voted ? "tool" : "tool aside", id: `evidence-tool-${index}`,
      about: record.tools.filter((_, other) => sameReading(record.tools, other) === index).map((one) => one.distortion) }))
      .filter((_, index) => sameReading(record.tools, index) === index),
    ...metricsIn(record).filter((one) => !record.tools.some((reading) => reading.tool === one.name)),
  ].filter(Boolean);
  return make("section", { id: "evidence-tools", tabindex: "-1" },
    make("h3", {}, "Tool scores"), disagreement(rows),
    make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table of tool scores" }, make("table", { class: "tools" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Source"), make("th", { scope: "col", class: "axis" }, axis()),
        make("th", { scope: "col", class: "number" }, "1–5"), make("th", { scope: "col", class: "number" }, "Raw"))),
      rows.some(inner) ? [make("tbody", {}, rows.filter((one) => !inner(one)).map(toolRow)), judged(rows.filter(inner))] : make("tbody", {}, rows.map(toolRow)))),
    make("p", { class: "soft small" }, "Filled dots count towards the score; hollow ones are shown for comparison."));
}

/** The calibrated scores of metrics that contradict each other. */
function metricsIn(record) {
  return (record.reasons ?? []).filter((reason) => reason.kind === "metrics").flatMap((reason) => [{ name: reason.name, value: reason.number }, ...reason.others])
    .map(({ name, value }) => ({ name, calibrated: value, kind: "tool aside inner" }));
}

function disagreement(rows) {
  const judged = rows.filter((one) => one.kind !== "fused" && typeof one.calibrated === "number");
  if (judged.length < 2) return null;
  const [low, high] = [Math.min, Math.max].map((pick) => pick(...judged.map((one) => one.calibrated)));
  const [lowest, highest] = [low, high].map((value) => judged.find((one) => one.calibrated === value).name);
  const gap = high - low;
  const verdict = gap < 0.5 ? "The sources agree" : gap < 1 ? "The sources differ a little" : "The sources disagree";
  return make("p", { class: "gap" }, make("b", {}, `${verdict}: `), `${fixed(gap)} points between ${lowest} and ${highest}.`);
}

const inner = (one) => one.kind.endsWith("inner");

function judged(rows) {
  return make("tbody", {}, make("tr", { class: "group" }, make("th", { scope: "rowgroup", colspan: 4 }, "Weighed inside the model's score")), rows.map(toolRow));
}

function axis() {
  return make("span", { class: "axis-numbers" }, [1, 2, 3, 4, 5].map((value) => make("span", {}, String(value))));
}

function toolRow(one) {
  const details = [one.about?.map(kindName).join(", "), placeName(one.object_name), one.fallback && "stand-in", ...(one.notes ?? [])].filter(Boolean);
  const known = typeof one.calibrated === "number";
  return make("tr", { id: one.id, tabindex: one.id && "-1", class: one.kind },
    make("th", { scope: "row" }, breakable(one.name), details.length > 0 && make("small", {}, details.join(" · ")), one.error && make("small", { class: "bad" }, one.error)),
    make("td", { class: "axis" }, make("div", { class: "lane" }, known && make("i", {
      class: `level-${levelOf(one.calibrated)}`, place: { left: `${((one.calibrated - 1) / 4) * 100}%` } }))),
    make("td", { class: "number" }, fixed(one.calibrated)),
    make("td", { class: "number" }, one.raw === undefined ? "" : rawText(one.raw)));
}

function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, index) => (index ? [make("wbr"), part] : [part]));
}

function rawText(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : "–";
}

/** Calls, tokens, cost and seconds. */
export function costs(record, run) {
  const nodes = record.ledger.nodes;
  const counts = Object.values(nodes);
  const sum = (read) => counts.reduce((total, one) => total + read(one), 0);
  const unknown = counts.some((one) => one.cost_usd === null);
  const wall = run.started && run.finished ? (new Date(run.finished) - new Date(run.started)) / 1000 : null;
  const facts = [
    ["Time", wall === null ? `${fixed(sum((one) => one.seconds))} s` : `${fixed(wall)} s`],
    ["Calls", String(sum((one) => one.calls))],
    ["Tokens", sum((one) => one.input_tokens + one.output_tokens).toLocaleString("en")],
    ["Cost", unknown ? "not known" : dollars(sum((one) => one.cost_usd))],
  ];
  return make("section", {}, make("h3", {}, "Cost and time"),
    make("dl", { class: "costs" }, facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))),
    shares(nodes));
}

function dollars(sum) {
  return sum ? `$${sum.toFixed(4)}` : "$0";
}

function shares(nodes) {
  const total = Object.values(nodes).reduce((sum, one) => sum + one.seconds, 0) || 1;
  return make("ul", { class: "node-times" }, Object.entries(STEPS).filter(([node]) => nodes[node]).map(([node, name]) => {
    const { seconds, calls } = nodes[node];
    return make("li", {}, make("span", {}, name), make("i", { "aria-hidden": "true", place: { width: `${Math.max(1, (seconds / total) * 100)}%` } }),
      make("span", { class: "took" }, `${fixed(seconds)} s · ${calls} ${calls === 1 ? "call" : "calls"}`));
  }));
}

/** What made this result. */
export function origin(from) {
  const rows = [
    ["Version", from.version], ["Models", [...new Set(Object.values(from.models))].join(", ")], ["Terms", from.terms],
    ["How scores were combined", `${from.fusion.form}, weight of the tools (η) ${from.fusion.eta}, temperature ${from.fusion.temperature}`],
    ...Object.entries(from.images).map(([label, one]) => [label, [`${one.width} × ${one.height}`, `SHA-256 ${one.sha256.slice(0, 12)}…`, ...one.notes].join(" · ")]),
  ];
  return make("section", {}, make("h3", {}, "What made this result"),
    make("dl", { class: "origin" }, rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))));
}
