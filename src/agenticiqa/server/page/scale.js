// The scale from 1 to 5: where the score stands, and how sure it is.
import { fixed, make } from "./dom.js";
import { LEVELS, LEVEL_NAMES } from "./words.js";

const percent = (value) => `${((Math.min(5, Math.max(1, value)) - 1) / 4) * 100}%`;

/** The letter of the level nearest to a score. */
export const levelOf = (score) => LEVELS[Math.floor(Math.min(5, Math.max(1, score)) + 0.5)][0];

/** The full scale with level names. */
export function scale(record) {
  return make("div", { class: "scale", role: "img", "aria-label": spoken(record) },
    track(record),
    make("div", { class: "ticks" }, Object.entries(LEVELS).map(([value, [letter, name]]) =>
      make("span", { class: record.level === letter ? "tick here" : "tick", place: { left: percent(Number(value)) } },
        make("b", {}, value), name))));
}

/** Only the track, with a stretch marked on it. */
export function track(record, span = record.interval) {
  const [low, high] = span ?? [];
  return make("div", { class: "track" },
    span && make("span", { class: "interval", place: { left: percent(low), right: `calc(100% - ${percent(high)})` } }),
    record.score !== null && make("span", { class: `marker level-${record.level ?? levelOf(record.score)}`, place: { left: percent(record.score) } }));
}

/** Score, level and interval in words. */
function spoken(record) {
  if (record.score === null) return "No score.";
  const level = record.level ? `, ${record.level_name ?? LEVEL_NAMES[record.level]}` : "";
  const interval = record.interval ? `, 95 % interval ${fixed(record.interval[0])} to ${fixed(record.interval[1])}` : "";
  return `${fixed(record.score)} of 5${level}${interval}`;
}
