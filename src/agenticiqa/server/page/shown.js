// What of a record is shown above the fold: the one place that knows the record's fields. Values become words here or in
// the service; no sentence is ever taken apart.
import { LEVEL_NAMES, LEVELS, REMEDY, SEVERITIES, kindName, placeName } from "./words.js";

// The answer of a record to a question that is not about quality.
const UNABLE = "Unable to determine";

// Which map of the service shows where a flaw is.
const LAYERS = { Blurs: ["softness"], Noise: ["noise"], darken: ["shadows"], brighten: ["highlights"], "Brightness change": ["highlights", "shadows"] };
const SURE_ENOUGH = 0.8;

/** An assessment as a visitor reads it. */
export function shownOf(record) {
  const flaws = flawsOf(record);
  return { sentence: sentenceOf(record, flaws), certainty: certaintyOf(record), flaws, remedy: record.answer === UNABLE && !record.error ? REMEDY : null };
}

/** What is wrong, the worst first; a remedy that two flaws share is said with the first of them. */
export function flawsOf(record) {
  const advice = record.distortions.map((finding) => finding.advice);
  const strength = ({ severity }) => SEVERITIES.indexOf(severity);
  return record.distortions
    .map((finding, index) => ({ index, kind: finding.type, name: kindName(finding.type), place: placeName(finding.object_name), severity: finding.severity,
      strength: strength(finding), words: finding.explanation, layers: LAYERS[finding.kind] ?? LAYERS[finding.type] ?? [], advice: advice.indexOf(advice[index]) === index ? advice[index] : null }))
    .filter((flaw) => flaw.strength !== 0)
    .sort((one, other) => other.strength - one.strength);
}

/** How sure the score is, in levels: their names in words, and the stretch of the scale they cover. */
export function certaintyOf(record) {
  const letters = Object.values(LEVELS).map(([letter]) => letter);
  const [first, last] = likelyLevels(record, letters);
  if (first === undefined) return null;
  const names = letters.slice(first, last + 1).map((letter) => LEVEL_NAMES[letter]);
  const words = names.length > 2 ? `Probably between ${names[0]} and ${names.at(-1)}.` : names.length > 1 ? `Probably ${names.join(" or ")}.` : `Almost surely ${names[0]}.`;
  return { words, span: [Math.max(1, first + 0.5), Math.min(5, last + 1.5)] };
}

// The levels that the 80 % interval touches; of a record without one, the fewest neighbours that hold most of the probability.
function likelyLevels({ level, level_probabilities: shares, likely_interval: interval }, letters) {
  const place = (score) => Math.min(4, Math.max(0, Math.floor(score - 0.5)));
  if (interval) return interval.map(place);
  if (!shares || !level) return [];
  const share = (at) => shares[letters[at]] ?? -1;
  let [first, last] = [letters.indexOf(level), letters.indexOf(level)];
  while (letters.slice(first, last + 1).reduce((sum, letter) => sum + (shares[letter] ?? 0), 0) < SURE_ENOUGH) {
    if (share(first - 1) >= share(last + 1)) first -= 1;
    else last += 1;
  }
  return [first, last];
}

/** What a gallery keeps of a run. */
export function briefly({ assessment }) {
  if (!assessment) return {};
  const flaws = flawsOf(assessment).filter((flaw) => flaw.strength > 0).map(({ kind, severity, advice: remedy }) => ({ type: kind, severity, advice: remedy }));
  const { answer, score, level, interval } = assessment;
  return { answer, score, level, interval, flaws, sha256: assessment.provenance.images["test image"]?.sha256 ?? null };
}

function sentenceOf(record, flaws) {
  if (record.answer === UNABLE && record.score !== null) return `That cannot be told; the quality is ${LEVEL_NAMES[record.level].toLowerCase()}.`;
  if (record.plan?.query_type !== "IQA" || !LEVEL_NAMES[record.level]) return optionOf(record) ?? record.answer;
  const worst = flaws.filter((flaw) => flaw.strength > 0 && flaw.strength === flaws[0].strength).slice(0, 2);
  const why = worst.length ? `: ${worst.map((flaw) => `${flaw.severity} ${flaw.name.toLowerCase()}`).join(" and ")}` : "; nothing wrong was found";
  return `The quality is ${LEVEL_NAMES[record.level].toLowerCase()}${why}.`;
}

// A bare letter says little: it stands for one of the options.
function optionOf({ answer, choices }) {
  const option = choices?.[answer.trim()];
  return option ? `${answer.trim()}. ${option}` : null;
}
