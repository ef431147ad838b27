// The list of recent runs and folders.
import { at, button, fixed, make } from "./dom.js";
import { keptFolders } from "./gallery.js";
import { recall } from "./history.js";
import { LEVEL_NAMES, QUESTIONS } from "./words.js";

/** Shows what is kept in this browser; `open(run)` and `openFolder(folder)` are called for what is clicked. */
export function listRecent(open, openFolder) {
  const runs = recall();
  const folders = keptFolders();
  at("no-recent").hidden = runs.length + folders.length > 0;
  at("forget").hidden = !(runs.length + folders.length);
  at("recent").replaceChildren(...folders.map((folder) => folderRow(folder, openFolder)), ...runs.map((run) => runRow(run, open)));
}

/** Marks one run as the one shown. */
export function markShown(id) {
  for (const one of at("recent").querySelectorAll("button")) one.setAttribute("aria-current", String(one.dataset.run === id));
}

function folderRow(folder, openFolder) {
  const ended = folder.items.filter((item) => item.status === "finished").length;
  return make("li", {}, button([make("span", { class: "blank" }),
    make("span", {}, make("b", {}, `${folder.items.length} images`), make("small", {}, folder.items.slice(0, 3).map((item) => item.name).join(", "))),
    make("span", { class: "soft" }, `${ended}/${folder.items.length}`)], () => openFolder(folder), { class: "past" }));
}

function runRow(run, open) {
  return make("li", {}, button([
    run.thumbs?.[0] ? make("img", { src: run.thumbs[0], alt: "" }) : make("span", { class: "blank" }),
    make("span", {}, make("b", {}, run.names.join(", ")), make("small", {}, run.query || QUESTIONS[0])),
    summary(run),
  ], () => open(run), { class: "past", "data-run": run.run_id }));
}

function summary(run) {
  if (run.status === "failed") return make("span", { class: "bad" }, "failed");
  if (run.kind === "compare") return make("span", { class: "soft" }, run.status === "finished" ? "ranked" : "…");
  const level = run.assessment?.level;
  if (!run.assessment) return make("span", { class: "soft" }, "…");
  return make("span", { class: level ? `pill level-${level}` : "soft", title: level && LEVEL_NAMES[level] }, fixed(run.assessment.score, 1));
}
