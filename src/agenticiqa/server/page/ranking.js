// Several images side by side, the best first, with what can be said about every pair.
import { button, fixed, make, showPicture } from "./dom.js";
import { spoken, track } from "./scale.js";
import { LEVEL_NAMES, kindName } from "./words.js";

const VERDICTS = { better: "is better than", "no clear difference": "does not clearly differ from", unknown: "cannot be compared with" };

/** The ranking of a run; `open(number)` shows one image's result. */
export function ranking(run, service, open) {
  const { entries, pairs } = run.ranking;
  return make("article", { class: "result" },
    make("section", { class: "card answer" }, make("p", { class: "question" }, run.query || "Which image is best?"), make("p", { class: "said" }, answerOf(run))),
    make("ol", { class: "ranks" }, entries.map((entry, place) => card(run, entry, run.order?.[place] ?? place + 1, service, open))),
    make("section", { class: "card" }, make("h2", {}, "Pair by pair"),
      make("ul", { class: "pair-lines" }, pairs.map(pairLine)),
      make("p", { class: "soft small" }, "The share is the probability that people on average prefer the first.")));
}

// Places stand for names in the ranking: two images may be called the same.
function answerOf(run) {
  const { answer, entries, pairs } = run.ranking;
  const named = (words) => words.replace(/\b\d+\b/g, (place) => run.names[place - 1] ?? place);
  if (answer) return named(answer);
  const [first, second] = entries;
  const close = pairs.find((pair) => [pair.first, pair.second].includes(first.name) && [pair.first, pair.second].includes(second?.name));
  return close?.verdict === "no clear difference" ? `No clear difference between ${named(first.name)} and ${named(second.name)}` : `${named(first.name)} is the best`;
}

function card(run, entry, number, service, open) {
  const { assessment: record } = entry;
  const name = run.names[number - 1] ?? entry.name;
  const picture = make("img", { alt: "", src: run.thumbs?.[number - 1] });
  service.picture(run.urls.images[number - 1]).then((url) => showPicture(picture, url), () => {});
  const found = record.distortions.filter((one) => one.severity && one.severity !== "none");
  return make("li", { class: "card rank" },
    make("div", { class: "rank-head" }, make("span", { class: "place" }, entry.rank ? `${entry.rank}` : "–"), make("h3", { title: name }, name)),
    make("div", { class: "rank-picture" }, picture),
    make("p", { class: "big" }, make("b", {}, fixed(record.score)), make("span", { class: "soft" }, "of 5"),
      record.level && make("span", { class: `pill level-${record.level}` }, LEVEL_NAMES[record.level])),
    make("div", { role: "img", "aria-label": spoken(record) }, track(record)),
    make("p", { class: "soft" }, found.length ? found.map((one) => `${kindName(one.type)} (${one.severity})`).join(", ") : record.error ?? "No distortion found"),
    button("Open", () => open(number), { class: "secondary", "aria-label": `Open ${name}` }));
}

function pairLine(pair) {
  const sure = pair.probability === null ? "not known" : `${(pair.probability * 100).toFixed(0)} %`;
  return make("li", { class: "pair-line" },
    make("span", {}, make("b", {}, pair.first), ` ${VERDICTS[pair.verdict] ?? pair.verdict} `, make("b", {}, pair.second)),
    make("span", { class: "odds" }, make("i", { "aria-hidden": "true", place: { width: `${(pair.probability ?? 0) * 7}rem` } }), sure));
}
