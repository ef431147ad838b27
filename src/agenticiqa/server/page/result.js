// One finished run: verdict, picture, reasons, evidence and how it came about.
import { announce, button, fixed, icon, make } from "./dom.js";
import { costs, distortions, tools } from "./evidence.js";
import { passCards, passesOf } from "./progress.js";
import { reasoning } from "./reasoning.js";
import { scale } from "./scale.js";
import { Viewer } from "./viewer.js";
import { LEVEL_NAMES } from "./words.js";

/** The result of image `number` (from 1) of a run; pictures follow when the service sends them. */
export function result(run, record, number, service) {
  const viewer = new Viewer(run.names[number - 1] ?? "the image", record.regions);
  fillViewer(viewer, run, number, service);
  return make("article", { class: "result" },
    verdict(run, record, number),
    make("div", { class: "columns" }, viewer.element,
      make("section", { class: "card" }, make("h2", {}, "Why"), reasoning(record, lightUp), notes(record))),
    make("div", { class: "columns stacks" }, make("div", {}, distortions(record, run.advice?.[number - 1]), timeline(run, record, number)),
      make("div", {}, tools(record), costs(record, run))));
}

/** Buttons that hand the result over, ask again or delete; a report is of what is shown: one image, or all of a comparison. */
export function actions(run, content, service, number, { onTrouble, again, remove }) {
  const name = (run.names[0] ?? "image").replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N}._-]+/gu, "_") || "image";
  const save = async () => {
    try { download(await service.picture(number && run.kind === "compare" ? `${run.urls.report}?n=${number}` : run.urls.report), `${name}-quality.html`); } catch (trouble) { onTrouble(trouble); }
  };
  const copier = (words, text) => async (event) => {
    const pressed = event.currentTarget.lastChild;
    await copy(text());
    pressed.textContent = "Copied";
    announce(`${words} copied.`);
    setTimeout(() => { pressed.textContent = words; }, 2000);
  };
  const json = copier("Copy JSON", () => JSON.stringify(content, null, 2));
  const link = copier("Copy link", () => new URL(`#${run.run_id}`, location.href).href);
  return make("div", { class: "actions" },
    again && make("button", { type: "button", class: "secondary", onclick: again }, icon("again"), "Assess again"),
    make("button", { type: "button", class: "secondary", onclick: json }, icon("copy"), "Copy JSON"),
    make("button", { type: "button", class: "secondary", onclick: link }, icon("copy"), "Copy link"),
    make("button", { type: "button", class: "secondary", onclick: save }, icon("save"), "Save report"),
    make("button", { type: "button", class: "secondary", onclick: remove }, icon("close"), "Delete"));
}

function verdict(run, record, number) {
  const name = run.names[number - 1];
  const letter = record.level;
  return make("section", { class: "card verdict", id: "evidence-score", tabindex: "-1" },
    make("div", { class: "answer" },
      make("p", { class: "soft small" }, [name, run.reference_name && `against ${run.reference_name}`].filter(Boolean).join(" ")),
      make("p", { class: "question" }, record.query),
      make("p", { class: "said" }, answerWords(record)),
      record.error && make("p", { class: "bad" }, record.error)),
    record.score === null ? make("p", { class: "no-score soft" }, "There is no score for this run.")
      : make("div", { class: "score" },
        make("p", { class: "big" }, make("b", {}, fixed(record.score)), make("span", { class: "soft" }, "of 5"),
          letter && make("span", { class: `pill level-${letter}` }, record.level_name ?? LEVEL_NAMES[letter])),
        scale(record),
        make("p", { class: "soft small" }, record.interval
          ? `95 % interval ${fixed(record.interval[0])} to ${fixed(record.interval[1])}. Columns: probability of each level.` : "No interval is known for this score.")));
}

// A bare letter says little: it is a level when the quality was rated, an option when options were given.
function answerWords(record) {
  const letter = record.answer.trim();
  if (/^none\.?$/i.test(letter)) return "Nothing wrong was found";
  if (!/^[A-Z]$/.test(letter)) return record.answer;
  const option = new RegExp(`(?:^|\\s)${letter}[.)、:：]\\s*(.+?)(?=\\s+[A-Z][.)、:：]\\s|$)`, "u").exec(record.query);
  if (option) return `${letter}. ${option[1]}`;
  return record.plan?.query_type === "IQA" && LEVEL_NAMES[letter] ? LEVEL_NAMES[letter] : letter;
}

function notes(record) {
  const told = record.notes.filter((note) => !note.startsWith("evidence: "));
  const failed = Object.entries(record.evidence_errors).map(([step, reason]) => `${step.replaceAll("_", " ")} failed: ${reason}`);
  const all = [...told, ...failed, ...(record.gap ? [`Open gap: ${record.gap}`] : [])];
  if (!all.length) return null;
  return make("div", { id: "evidence-notes", class: "notes", tabindex: "-1" }, make("h3", {}, "Notes"), make("ul", {}, all.map((note) => make("li", {}, note))));
}

function timeline(run, record, number) {
  const passes = passesOf(run.events ?? []).filter((pass) => pass.image === number);
  const told = explained(passes.length ? passes : [fromLedger(record)], record);
  const reason = (index) => (record.replan_history[index] ?? "").replace(/^\[Iteration \d+\]\s*/, "");
  return make("section", { class: "card" }, make("h2", {}, "How it was found"),
    make("ol", { class: "timeline" }, told.map((pass, index) => make("li", {},
      make("h3", {}, told.length > 1 ? `Pass ${index + 1}` : "One pass"), passCards(pass),
      reason(index) && make("p", { class: "replan" }, icon("again"), make("span", {}, make("b", {}, index < told.length - 1 ? "New plan, because: " : "Still open: "), reason(index)))))),
    record.replan_history.length === 0 && make("p", { class: "soft small" }, "The evidence sufficed; no new plan was needed."));
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

async function fillViewer(viewer, run, number, service) {
  const kept = run.thumbs?.[number - 1];
  if (kept) viewer.setImage(kept);
  const attempt = async (path, use) => { if (path) try { await use(path); } catch { /* the words stand without the picture */ } };
  await attempt(run.urls?.images?.[number - 1], async (path) => viewer.setImage(await service.picture(path)));
  await attempt(run.urls?.reference, async (path) => viewer.setReference(await service.picture(path)));
  const { images, reference } = run.originals ?? {};
  if (images?.[number - 1]) viewer.setOriginals(URL.createObjectURL(images[number - 1]), reference && URL.createObjectURL(reference));
  await attempt(run.urls?.grids?.[number - 1], async (path) => viewer.setMap(await service.json(path)));
}

function lightUp(ids) {
  const found = ids.map((id) => document.getElementById(id)).filter(Boolean);
  if (!found.length) return;
  document.querySelectorAll(".lit").forEach((one) => one.classList.remove("lit"));
  found.forEach((one) => one.classList.add("lit"));
  found[0].focus({ preventScroll: true });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  found[0].scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
}

/** Saves what a URL holds under a name. */
export function download(url, name) {
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// The clipboard is closed to pages from another machine without TLS; the old way still works there.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea", { class: "unseen", readonly: true, "aria-hidden": "true" });
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
