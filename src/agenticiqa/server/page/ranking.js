// Several images side by side, the best first, with what can be said about every pair.
import { button, fixed, make } from "./dom.js";
import { spoken, track } from "./scale.js";
import { LEVEL_NAMES, kindName } from "./words.js";

/** The ranking of a run; `open(number)` shows one image's result. */
export function ranking(run, service, open) {
  const { entries, pairs } = run.ranking;
  return make("article", { class: "result" },
    make("ol", { class: "ranks" }, entries.map((entry, place) => card(run, entry, run.order?.[place] ?? place + 1, service, open))),
    make("section", { class: "card" }, make("h2", {}, "Pair by pair"),
      make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table of pairs" }, make("table", {},
        make("thead", {}, make("tr", {}, ["Image", "Compared with", "Verdict", "Probability that the first is better"].map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, pairs.map(pairRow))))));
}

function card(run, entry, number, service, open) {
  const { assessment: record } = entry;
  const name = run.names[number - 1] ?? entry.name;
  const picture = make("img", { alt: "", src: run.thumbs?.[number - 1] });
  service.picture(run.urls.images[number - 1]).then((url) => { picture.src = url; }, () => {});
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

function pairRow(pair) {
  const sure = pair.probability === null ? "not known" : `${(pair.probability * 100).toFixed(0)} %`;
  return make("tr", {}, make("th", { scope: "row" }, pair.first), make("td", {}, pair.second), make("td", {}, pair.verdict), make("td", {}, make("span", { class: "odds" }, make("i", { "aria-hidden": "true", place: { width: `${(pair.probability ?? 0) * 7}rem` } }), sure)));
}
