// The reasoning, claim by claim, each with a way to the evidence it rests on.
import { button, make } from "./dom.js";
import { sameReading } from "./evidence.js";
import { kindName } from "./words.js";

const ITEM = "evidence: ";
// "2.13 px" holds no end of a sentence; "sure). The" does.
const SENTENCE = /.*?(?:[.!?](?=\s+[^\s\d]|$)|[。！？]|$)/gsu;
const ALIASES = {
  Blurs: ["blur", "模糊"], "Color distortions": ["color", "colour", "颜色"], Compression: ["compression", "压缩"],
  Noise: ["noise", "噪声"], "Brightness change": ["brightness", "亮度"], Sharpness: ["sharpness", "锐度"], Contrast: ["contrast", "对比度"],
};

/** The claims of a record: their words, and the ids of the evidence elements each rests on. */
export function claimsOf(record) {
  const [text, remark] = partedFromRemark(record.reasoning);
  const sentences = (text.match(SENTENCE) ?? []).map((one) => one.trim()).filter(Boolean);
  const items = record.notes.filter((note) => note.startsWith(ITEM)).map((note) => note.slice(ITEM.length));
  const paired = items.length === sentences.length;
  const claims = sentences.map((words, index) => {
    const named = paired ? namedBy(items[index], record) : [];
    return { words, targets: named.length ? named : mentionedIn(words, record) };
  });
  return remark ? [...claims, { words: remark, targets: ["evidence-notes"] }] : claims;
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

function partedFromRemark(text) {
  const start = text.search(/\[(?:Notes:|说明：)/);
  return start < 0 ? [text, null] : [text.slice(0, start), text.slice(start).replace(/^\[(?:Notes:|说明：)\s*|\]\s*$/g, "")];
}

function namedBy(item, record) {
  const colon = item.indexOf(": ");
  const [sort, rest] = [item.slice(0, colon), item.slice(colon + 2)];
  if (sort === "finding") {
    const found = idsOf("finding", record.distortions, (one) => rest.startsWith(`${one.type},`));
    return found.length ? found : ["evidence-findings"];
  }
  if (sort === "tool") return idsOf("tool", record.tools, (one) => rest.startsWith(`${one.tool} `));
  if (sort === "judgement" || sort === "answer") return ["evidence-score"];
  if (sort === "metrics") return ["evidence-tools"];
  if (sort === "region") return ["evidence-picture"];
  return [];
}

function mentionedIn(words, record) {
  const lower = words.toLowerCase();
  const tools = idsOf("tool", record.tools, (one) => words.includes(one.tool));
  if (tools.length) return tools;
  const findings = idsOf("finding", record.distortions, (one) => (ALIASES[one.type] ?? [one.type.toLowerCase()]).some((alias) => lower.includes(alias)));
  if (findings.length) return findings;
  return /\b(score|rate[sd]?|quality)\b|分/u.test(lower) && record.score !== null ? ["evidence-score"] : [];
}

function idsOf(sort, list, fits) {
  const found = list.flatMap((one, index) => (fits(one) ? [sort === "tool" ? sameReading(list, index) : index] : []));
  return [...new Set(found)].map((index) => `evidence-${sort}-${index}`);
}

function labelOf(id, record) {
  const [, sort, index] = id.split("-");
  if (sort === "finding") return kindName(record.distortions[index].type);
  if (sort === "tool") return record.tools[index].tool;
  return { score: "score", findings: "distortions", tools: "tools", picture: "worst region", notes: "notes" }[sort];
}
