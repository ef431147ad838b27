// Building elements. Whatever a user or a model wrote enters the page here, as text and never as markup.

/** An element with attributes, listeners (`onclick` …) and children; strings become text nodes. */
export function make(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function draw(tag, attributes = {}, ...children) {
  return dress(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** The element with this id. */
export const at = (id) => document.getElementById(id);

/** A button that submits nothing. */
export function button(words, onclick, attributes = {}) {
  return make("button", { type: "button", onclick, ...attributes }, words);
}

/** One of the few drawings of the page, hidden from screen readers. */
export function icon(name) {
  const path = draw("path", { d: ICONS[name] });
  return draw("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, path);
}

/** Shows a picture and frees its blob once it is decoded. */
export function showPicture(image, url) {
  if (url.startsWith("blob:")) image.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
  image.src = url;
  return image;
}

/** Lets the browser paint and answer the user between two parts of long work. */
export const pause = () => new Promise((resume) => setTimeout(resume));

/** Says a sentence to screen readers, and to nobody else. */
export function announce(words) {
  at("spoken").textContent = words;
}

/** A number with two digits, or a dash where there is none. */
export const fixed = (value, digits = 2) => (typeof value === "number" ? value.toFixed(digits) : "–");

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "place") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const ICONS = {
  done: "M5 12.5l4.5 4.5L19 7.5",
  failed: "M7 7l10 10M17 7L7 17",
  waiting: "M12 12h.01",
  image: "M4 5h16v14H4zM4 16l4.5-5 4 4.5 2.5-2.5L20 17M15.5 9h.01",
  copy: "M9 9h10v10H9zM5 15V5h10",
  save: "M12 4v10m0 0l-4-4m4 4l4-4M5 19h14",
  again: "M5 12a7 7 0 0 1 12-5l2 2m0-4v4h-4M19 12a7 7 0 0 1-12 5l-2-2m0 4v-4h4",
  close: "M7 7l10 10M17 7L7 17",
  grow: "M12 6v12M6 12h12",
  shrink: "M6 12h12",
};
