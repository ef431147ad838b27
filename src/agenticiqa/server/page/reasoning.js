// The reasons of an answer, each with a way to the evidence it rests on.
import { button, make } from "./dom.js";
import { sameReading } from "./evidence.js";
import { kindName } from "./words.js";

const PLACES = { judgement: "evidence-score", answer: "evidence-score", metrics: "evidence-tools", region: "evidence-picture" };

/** The claims of a record: their words, and the ids of the evidence elements each rests on. The words of a model that gives
 *  no values with them stand whole. */
export function claimsOf(record) {
  if (!record.reasons?.length) return [{ words: record.reasoning, targets: [] }];
  return record.reasons.map((reason) => ({ words: reason.text, targets: targetsOf(reason, record) }));
}

/** The claims as a list; a click lights the evidence up. */
export function reasoning(record, light) {
  return make("ol", { class: "claims" }, claimsOf(record).map(({ words, targets }) => {
    if (!targets.length) return make("li", { class: "claim" }, words);
    const show = () => light(targets);
    const row = make("li", { class: "claim linked", "data-targets": targets.join(" ") }, words, " ",
      button(targets.map((id) => labelOf(id, record)).join(", "), show, { class: "evidence-link" }));
    row.addEventListener("click", (event) => { if (!event.target.closest("button") && !String(getSelection())) show(); });
    return row;
  }));
}

function targetsOf({ kind, distortion, place, name }, record) {
  if (kind === "tool") return idsOf("tool", record.tools, (one) => one.tool === name);
  if (!distortion) return PLACES[kind] ? [PLACES[kind]] : [];
  const found = idsOf("finding", record.distortions, (one) => one.type === distortion.category && one.object_name === place && one.severity !== "none");
  return found.length ? found : ["evidence-findings"];
}

function idsOf(sort, list, fits) {
  const found = list.flatMap((one, index) => (fits(one) ? [sort === "tool" ? sameReading(list, index) : index] : []));
  return [...new Set(found)].map((index) => `evidence-${sort}-${index}`);
}

function labelOf(id, record) {
  const [, sort, index] = id.split("-");
  if (sort === "finding") return kindName(record.distortions[index].type);
  if (sort === "tool") return record.tools[index].tool;
  return { score: "score", findings: "flaws", tools: "tools", picture: "worst region" }[sort];
}
