// Before the first run: where to drop a picture, what one gets, and pictures to try at once.
import { at, button, icon, make, showPicture } from "./dom.js";

/** The opening view; `use(example)` starts one of the service's examples, `languages` are those a question may be in. */
export function welcome(service, use, languages) {
  const list = make("ul", { class: "examples" });
  const section = make("section", { hidden: true }, make("h2", {}, "Or try one of these"), list);
  fill(service, use, list).then((any) => { section.hidden = !any; }, () => {});
  const choose = () => at("choose").click();
  return make("div", { class: "welcome" },
    make("section", { class: "zone", onclick: (event) => { if (!event.target.closest("button")) choose(); } },
      icon("save"), make("h2", {}, "Drop a photograph here"),
      make("p", {}, "It is judged at once: how good it is, what is wrong, and what to do about it."),
      button("Choose a photograph", choose, { class: "primary" }),
      make("p", { class: "soft small" }, "Two to four are ranked; more are checked one by one, the worst first. Pasting works too."),
      make("p", { class: "soft small languages" }, languages ? `Ask about it in ${languages}.` : "")),
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
