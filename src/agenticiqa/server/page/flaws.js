// What is wrong and what to do about it, the worst first; a flaw that is pointed at shows its place on the picture.
import { button, make } from "./dom.js";
import { SEVERITIES } from "./words.js";

/** The list of flaws beside the picture of a viewer. */
export function flawList(flaws, viewer) {
  const rows = flaws.map((flaw) => row(flaw, viewer));
  return make("section", { class: "card", id: "evidence-findings", tabindex: "-1" },
    make("h2", {}, rows.length ? "What is wrong, and what to do about it" : "Nothing wrong was found"),
    rows.length ? make("ol", { class: "findings" }, rows) : make("p", { class: "soft" }, "No flaw stood out. The picture can be used as it is."));
}

function row(flaw, viewer) {
  const strength = Math.max(0, flaw.strength);
  const where = button("Show where", () => viewer.pin(flaw), { class: "toggle where", hidden: true,
    onfocus: (event) => { if (event.target.matches(":focus-visible")) viewer.point(flaw); }, onblur: () => viewer.point(null) });
  const item = make("li", { class: `finding s${strength}`, id: `evidence-finding-${flaw.index}`, tabindex: "-1",
    onpointerenter: (event) => { if (event.pointerType === "mouse") viewer.point(flaw); }, onpointerleave: () => viewer.point(null) },
  make("div", { class: "finding-head" }, make("b", {}, flaw.name), flaw.place && make("span", { class: "chip" }, flaw.place),
    make("span", { class: "severity" }, flaw.severity ?? "not judged"),
    make("span", { class: "bar", "aria-hidden": "true" }, SEVERITIES.slice(1).map((_, step) => make("i", { class: step < strength ? "full" : null })))),
  flaw.advice && make("p", { class: "advice" }, flaw.advice),
  flaw.words && make("p", { class: "soft small" }, flaw.words), where);
  viewer.listeners.push(() => { where.hidden = !viewer.canPoint(flaw); where.setAttribute("aria-pressed", String(viewer.pinned === flaw)); });
  return item;
}
