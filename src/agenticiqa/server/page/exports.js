// A folder's results as files to keep: CSV, JSON, and one report.
import { fixed, make } from "./dom.js";
import { LEVEL_NAMES, kindName } from "./words.js";

/** One line per image, for spreadsheets. */
export function csvOf(items) {
  const quoted = (value) => {
    const text = String(value ?? "");
    // A leading = + - @, tab or line break would be a formula to a spreadsheet.
    const safe = /^[=+@\t\r\n-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const rows = items.map((item) => [item.name, item.status, item.score, item.interval?.[0], item.interval?.[1], item.level, item.answer,
    item.flaws?.map((one) => `${one.type} (${one.severity})`).join("; "), item.error, item.run_id, item.sha256, item.decision]);
  const head = ["image", "status", "score", "low", "high", "level", "answer", "distortions", "error", "run", "sha256", "decision"];
  return [head, ...rows].map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

/** One path per line, for `agenticiqa sort`; of an uploaded picture the browser knows the name alone. */
export function listOf(items) {
  return items.map((item) => item.path ?? item.folder_path ?? item.name).map((path) => `${path}\n`).join("");
}

/** The same with all fields, for programs. */
export function jsonOf(items) {
  const plain = ({ name, path, status, decision, answer, score, level, interval, flaws, error, run_id, sha256 }) => ({ name, path, status, decision, answer, score, level, interval, flaws, error, run_id, sha256 });
  return JSON.stringify(items.map(plain), null, 2);
}

/** One page about the folder, with date, hashes and what to do about each finding. */
export function reportOf(folder) {
  const page = document.implementation.createHTMLDocument("Image quality of a folder");
  const style = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ccc;padding:.4rem .6rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}";
  page.documentElement.lang = "en";
  page.head.append(make("meta", { charset: "utf-8" }), make("style", {}, style));
  const head = ["Image", "Score of 5", "Level", "95 % interval", "Found", "What to do", "Run", "SHA-256"];
  page.body.append(make("h1", {}, `${folder.items.length} images`), make("p", {}, `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC. ${folder.query || "Rated for overall quality."}`),
    make("table", {}, make("thead", {}, make("tr", {}, head.map((words) => make("th", {}, words)))), make("tbody", {}, folder.items.map(row))));
  return `<!doctype html>\n${page.documentElement.outerHTML}`;
}

function row(item) {
  const cells = [item.name, fixed(item.score), LEVEL_NAMES[item.level] ?? "", item.interval ? `${fixed(item.interval[0])} to ${fixed(item.interval[1])}` : "",
    item.flaws?.map((one) => `${kindName(one.type)} (${one.severity})`).join(", ") || item.error || "",
    [...new Set(item.flaws?.map((one) => one.advice).filter(Boolean))].join(" "), item.run_id ?? "", item.sha256 ?? ""];
  return make("tr", {}, cells.map((words) => make("td", {}, words)));
}
