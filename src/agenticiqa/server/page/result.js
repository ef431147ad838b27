// One finished run: the answer, the picture, what is wrong and what to do about it; how it was judged is folded.
import { announce, button, fixed, icon, make } from "./dom.js";
import { absent, costs, origin, tools } from "./evidence.js";
import { flawList } from "./flaws.js";
import { reasoning } from "./reasoning.js";
import { scale, track } from "./scale.js";
import { shownOf } from "./shown.js";
import { timeline } from "./timeline.js";
import { Viewer } from "./viewer.js";
import { LEVEL_NAMES } from "./words.js";

/** The result of image `number` (from 1) of a run; pictures follow when the service sends them. */
export function result(run, record, number, service, tools) {
  const shown = shownOf(record);
  const viewer = new Viewer(run.names[number - 1] ?? "the image", record.regions);
  fillViewer(viewer, run, number, service);
  return make("article", { class: "result" },
    verdict(run, record, number, shown, tools),
    make("div", { class: "columns" }, viewer.element, flawList(shown.flaws, viewer)),
    judged(run, record, number));
}

/** Buttons that hand the result over or ask again; a report is of what is shown: one image, or all of a comparison. */
export function actions(run, content, service, number, { onTrouble, again, another }) {
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
  return make("div", { class: "actions tools-row" },
    another && button([icon("grow"), "Compare with another"], another, { class: "secondary" }),
    button([icon("save"), "Save report"], save, { class: "secondary" }),
    button([icon("copy"), "Copy link"], link, { class: "secondary" }),
    button([icon("copy"), "Copy JSON"], json, { class: "secondary" }),
    again && button([icon("again"), "Assess again"], again, { class: "secondary" }));
}

function verdict(run, record, number, shown, tools) {
  const name = run.names[number - 1];
  return make("section", { class: "card verdict", id: "evidence-score", tabindex: "-1" },
    make("div", { class: "answer" },
      make("p", { class: "soft small" }, [name, run.reference_name && `against ${run.reference_name}`].filter(Boolean).join(" ")),
      make("p", { class: "question" }, record.query),
      make("h2", { class: "said", tabindex: "-1" }, shown.sentence),
      shown.remedy && make("p", { class: "remedy" }, shown.remedy),
      record.error && make("p", { class: "bad" }, record.error)),
    record.score === null ? make("p", { class: "no-score soft" }, "There is no score for this run.")
      : make("div", { class: "score" },
        make("p", { class: "big" }, make("b", {}, fixed(record.score, 1)), make("span", { class: "soft" }, "of 5"),
          record.level && make("span", { class: `pill level-${record.level}` }, record.level_name ?? LEVEL_NAMES[record.level])),
        make("div", { "aria-hidden": "true" }, track(record, shown.certainty?.span)),
        shown.certainty && make("p", { class: "certainty" }, shown.certainty.words)),
    tools);
}

/** Everything the answer rests on, for those who want to know. */
function judged(run, record, number) {
  return make("details", { class: "card judged" }, make("summary", {}, "How this was judged"),
    make("div", { class: "judged-parts" },
      make("section", {}, make("h3", {}, "Reasons"), reasoning(record, lightUp), notes(record), absent(record)),
      record.score !== null && make("section", {}, make("h3", {}, "Score and interval"), scale(record),
        make("p", { class: "soft small" }, record.interval ? `95 of 100 such scores lie between ${fixed(record.interval[0])} and ${fixed(record.interval[1])}.` : "No interval is known for this score.")),
      tools(record), timeline(run, record, number), costs(record, run), origin(record.provenance)));
}

function notes(record) {
  const failed = Object.entries(record.evidence_errors).map(([step, reason]) => `${step.replaceAll("_", " ")} failed: ${reason}`);
  const all = [...record.notes, ...failed, ...(record.gap ? [`Open gap: ${record.gap}`] : [])];
  if (!all.length) return null;
  return make("div", { id: "evidence-notes", class: "notes", tabindex: "-1" }, make("h4", {}, "Notes"), make("ul", {}, all.map((note) => make("li", {}, note))));
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
  for (const one of found) one.closest("details")?.setAttribute("open", "");
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
