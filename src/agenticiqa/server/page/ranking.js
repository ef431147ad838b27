// Several images side by side, the best first, with what can be said about every pair.
import { besideButton } from "./two_pictures.js";
import { button, fixed, make, showPicture } from "./dom.js";
import { track } from "./scale.js";
import { briefly, certaintyOf, flawsOf } from "./shown.js";
import { LEVEL_NAMES, listed } from "./words.js";

const VERDICTS = { better: "is better than", "no clear difference": "does not clearly differ from", unknown: "cannot be compared with" };

/** The ranking of a run; `open(number)` shows one image's result, `beside(a, b)` two of them under a slider. */
export function ranking(run, service, tools, open, beside) {
  const { entries, pairs } = run.ranking;
  const places = placesOf(run.ranking);
  const chooser = new Chooser(run, beside);
  return make("article", { class: "result" },
    make("section", { class: "card answer" }, make("p", { class: "question" }, run.query || "Which image is best?"), make("h2", { class: "said named", tabindex: "-1" }, answerOf(run)),
      make("div", { class: "actions" }, chooser.button), tools),
    make("ol", { class: "ranks" }, entries.map((entry, index) => card(run, entry, places[index], run.order?.[index] ?? index + 1, service, open, chooser))),
    // Ranked by one attribute, every card shows its share; the pairs would only repeat it.
    run.ranking.attribute === "overall" && make("section", { class: "card" }, make("h2", {}, "Pair by pair"),
      make("ul", { class: "pair-lines" }, pairs.map(pairLine)),
      make("p", { class: "soft small" }, "The share is the probability that people on average prefer the first.")));
}

/** The two images chosen to lie under the slider. */
class Chooser {
  constructor(run, beside) {
    this.chosen = [];
    this.boxes = new Map();
    this.takesAll = run.names.length === 2;
    this.button = besideButton(() => beside(...this.chosen.map((number) => pictured(run, number))));
  }

  box(number, name) {
    const box = make("input", { type: "checkbox", onchange: (event) => this.#choose(number, event.target.checked) });
    this.boxes.set(number, box);
    if (this.takesAll) this.#choose(number, true);
    return make("label", { class: "tile-choose small" }, box, make("span", {}, "compare"), make("span", { class: "unseen" }, ` ${name}`));
  }

  #choose(number, on) {
    this.chosen = on ? [...this.chosen, number].slice(-2) : this.chosen.filter((other) => other !== number);
    for (const [other, box] of this.boxes) box.checked = this.chosen.includes(other);
    this.button.disabled = this.chosen.length !== 2;
  }
}

function pictured(run, number) {
  const { assessment } = run.ranking.entries[run.order ? run.order.indexOf(number) : number - 1];
  return { ...briefly({ assessment }), name: run.names[number - 1], run_id: run.run_id, number, file: run.originals?.images[number - 1] };
}

/** The places as they are shown: an image that does not clearly differ from the first of its place shares that place. */
export function placesOf({ entries, pairs }) {
  const level = (one, other) => one.rank === other.rank || pairs.some(({ first, second, verdict }) => verdict === "no clear difference"
    && [first, second].includes(one.name) && [first, second].includes(other.name));
  const places = [];
  let leader = null;
  for (const [index, entry] of entries.entries()) {
    if (entry.rank === null) { places.push("–"); continue; }
    if (!leader || !level(leader.entry, entry)) leader = { entry, place: index + 1 };
    places.push(leader.place);
  }
  return places.map((place) => (place !== "–" && places.filter((other) => other === place).length > 1 ? `=${place}` : String(place)));
}

function answerOf(run) {
  const { answer, entries } = run.ranking;
  if (answer) return answer;
  const first = placesOf(run.ranking).filter((place) => place === "=1").length;
  return first ? `No clear difference between ${listed(entries.slice(0, first).map((entry) => entry.name))}` : `${entries[0].name} is the ${entries.length > 2 ? "best" : "better one"}`;
}

function card(run, entry, place, number, service, open, chooser) {
  const { assessment: record } = entry;
  const name = run.names[number - 1] ?? entry.name;
  const picture = make("img", { alt: "", src: run.thumbs?.[number - 1] });
  service.picture(run.urls.images[number - 1]).then((url) => showPicture(picture, url), () => {});
  const [found, certainty] = [flawsOf(record), certaintyOf(record)];
  return make("li", { class: "card rank" },
    make("div", { class: "rank-head" }, make("span", { class: "place", title: place.startsWith("=") ? "level with others" : null }, place), make("h3", { title: name }, name)),
    make("div", { class: "rank-picture" }, picture),
    entry.evidence && make("p", { class: "small" }, entry.evidence),
    make("p", { class: "big" }, make("b", {}, fixed(record.score, 1)), make("span", { class: "soft" }, "of 5"),
      record.level && make("span", { class: `pill level-${record.level}` }, LEVEL_NAMES[record.level])),
    make("div", { "aria-hidden": "true", class: "rank-track" }, track(record, certainty?.span)),
    make("p", { class: "certainty small" }, certainty?.words),
    make("p", { class: "soft" }, found.length ? found.map((flaw) => `${flaw.name} (${flaw.severity ?? "not judged"})`).join(", ") : record.error ?? "nothing wrong found"),
    make("div", { class: "rank-foot" }, button("Open", () => open(number), { class: "secondary", "aria-label": `Open ${name}` }), chooser.box(number, name)));
}

function pairLine(pair) {
  const sure = pair.probability === null ? "not known" : `${(pair.probability * 100).toFixed(0)} %`;
  return make("li", { class: "pair-line" },
    make("span", {}, make("b", {}, pair.first), ` ${VERDICTS[pair.verdict] ?? pair.verdict} `, make("b", {}, pair.second)),
    make("span", { class: "odds" }, make("i", { "aria-hidden": "true", place: { width: `${(pair.probability ?? 0) * 7}rem` } }), sure));
}
