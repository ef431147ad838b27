// Two pictures under one slider, with what differs between them and what was found in each.
import { button, fixed, make } from "./dom.js";
import { Viewer } from "./viewer.js";
import { LEVEL_NAMES, kindName } from "./words.js";

/** Two judged pictures, each with name, score, level, flaws, run_id and number; `back` is the button that leads back. */
export function beside(first, second, service, back) {
  const viewer = new Viewer(second.name);
  const heading = make("h2", { tabindex: "-1" }, "Two images");
  const found = make("p", { class: "soft", role: "status" }, "Looking for what differs …");
  fill(viewer, first, second, service, found);
  return { heading, parts: [make("div", { class: "result-head" }, heading, back), viewer.element, found,
    make("div", { class: "beside-scores" }, column(first), column(second))] };
}

/** The button that lays two chosen pictures under the slider. */
export function besideButton(onclick) {
  return button("Compare the two chosen", onclick, { class: "secondary", disabled: true });
}

async function fill(viewer, first, second, service, found) {
  const picture = (one) => one.file ? URL.createObjectURL(one.file) : service.picture(preview(one));
  try {
    const [before, after] = await Promise.all([service.picture(preview(first)), service.picture(preview(second))]);
    viewer.setImage(after);
    viewer.setReference(before, [first.name, second.name]);
    if (first.file || second.file) viewer.setOriginals(await picture(second), await picture(first));
    const layer = await service.json(`/v1/runs/${first.run_id}/difference.json?n=${first.number ?? 1}&other=${second.run_id}&m=${second.number ?? 1}`);
    viewer.setMap({ layers: [layer] });
    viewer.compare();
    found.textContent = `${inWords(layer.mean)}${layer.scaled ? " Their sizes differ; the second was scaled to the first." : ""} “Map” shows where.`;
  } catch (trouble) {
    found.textContent = trouble.message;
  }
}

const preview = (one) => `/v1/runs/${one.run_id}/image.webp?n=${one.number ?? 1}`;

function inWords(mean) {
  const share = `${(mean * 100).toFixed(mean < 0.1 ? 1 : 0)} %`;
  return mean < 0.0005 ? "The two show no difference." : `They differ by ${share} of what severe damage changes, on average over the picture.`;
}

function column(item) {
  return make("div", { class: "card" }, make("h3", { class: "whole-name" }, item.name),
    make("p", { class: "big" }, make("b", {}, fixed(item.score)), make("span", { class: "soft" }, "of 5"), item.level && make("span", { class: `pill level-${item.level}` }, LEVEL_NAMES[item.level])),
    make("p", { class: "soft" }, item.flaws?.map((one) => `${kindName(one.type)} (${one.severity})`).join(", ") || "nothing wrong found"));
}
