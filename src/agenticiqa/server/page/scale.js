// The scale from 1 to 5: where the score stands, how sure it is, and how likely each level is.
import { fixed, make } from "./dom.js";
import { LEVELS, LEVEL_NAMES } from "./words.js";

const percent = (value) => `${((Math.min(5, Math.max(1, value)) - 1) / 4) * 100}%`;

/** The letter of the level nearest to a score. */
export const levelOf = (score) => LEVELS[Math.floor(Math.min(5, Math.max(1, score)) + 0.5)][0];

/** The full scale with level names and, where they are known, the probability of each. */
export function scale(record) {
  return make("div", { class: "scale", role: "img", "aria-label": spoken(record) },
    record.level_probabilities && probabilities(record.level_probabilities),
    track(record),
    make("div", { class: "ticks" }, Object.entries(LEVELS).map(([value, [letter, name]]) =>
      make("span", { class: record.level === letter ? "tick here" : "tick", place: { left: percent(Number(value)) } },
        make("b", {}, value), name))));
}

/** Only the track, for cards and lists. */
export function track(record) {
  const [low, high] = record.interval ?? [];
  return make("div", { class: "track" },
    record.interval && make("span", { class: "interval", place: { left: percent(low), right: `calc(100% - ${percent(high)})` } }),
    record.score !== null && make("span", { class: `marker level-${record.level ?? levelOf(record.score)}`, place: { left: percent(record.score) } }));
}

/** Score, level and interval in words. */
export function spoken(record) {
  if (record.score === null) return "No score.";
  const level = record.level ? `, ${record.level_name ?? LEVEL_NAMES[record.level]}` : "";
  const interval = record.interval ? `, 95 % interval ${fixed(record.interval[0])} to ${fixed(record.interval[1])}` : "";
  return `${fixed(record.score)} of 5${level}${interval}`;
}

function probabilities(shares) {
  return make("div", { class: "shares" }, Object.entries(LEVELS).map(([value, [letter]]) => {
    const share = shares[letter] ?? 0;
    return make("span", { class: "share", place: { left: percent(Number(value)) } },
      make("i", {}, share >= 0.005 ? `${(share * 100).toFixed(0)} %` : ""),
      make("em", { class: `level-${letter}`, place: { height: `${Math.max(2, share * 56)}px` } }));
  }));
}
