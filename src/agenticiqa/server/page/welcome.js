// Before the first run: what this is, and pictures to try at once.
import { button, make, showPicture } from "./dom.js";

/** The opening view; `use(example)` starts one of the service's examples. */
export function welcome(service, use) {
  const list = make("ul", { class: "examples" });
  const section = make("section", { class: "card", hidden: true }, make("h2", {}, "Try one of these"), list);
  fill(service, use, list).then((any) => { section.hidden = !any; }, () => {});
  return make("div", { class: "welcome" },
    make("section", { class: "hero" },
      make("h2", {}, "A second opinion on any photograph"),
      make("p", {}, "A planner reads your question, an executor gathers evidence with measuring tools, and a summarizer weighs it. You see the score, how sure it is, and what every sentence rests on."),
      make("div", { class: "ramp-labels", "aria-hidden": "true" }, ["Bad", "Poor", "Fair", "Good", "Excellent"].map((name) => make("span", {}, name)))),
    section);
}

async function fill(service, use, list) {
  const { examples } = await service.json("/v1/examples");
  const cards = await Promise.all(examples.map(async (example) => {
    const picture = showPicture(make("img", { alt: "", width: 300, height: 200 }), await service.picture(example.image_url));
    const words = make("span", {}, make("b", {}, example.title), make("small", {}, example.question));
    return make("li", {}, button([picture, words], () => use(example), { class: "example", title: [example.credit, example.licence].filter(Boolean).join(" · ") || null }));
  }));
  list.replaceChildren(...cards);
  return cards.length > 0;
}
