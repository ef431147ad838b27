// The picture, clean; on a switch, or while a flaw is pointed at, with maps and boxes; with a reference a before-and-after
// slider; it zooms.
import { button, fixed, icon, make, showPicture } from "./dom.js";
import { framed, painted } from "./maps.js";

const LAYERS = { quality: "quality", difference: "what changed", softness: "softness", highlights: "burnt-out lights", shadows: "black shadows", noise: "noise" };
// In the colours of this page; the service describes its own picture of the map.
const LEGENDS = { difference: "clear: no visible difference; red: structure, colour or brightness differ as in severe damage" };
const LARGEST = 8;
// A drag that begins this near to the divider moves it; elsewhere a zoomed picture is moved.
const GRIP = 28;

/** A viewer; pictures may arrive later through `setImage`, `setReference` and `setMap`. */
export class Viewer {
  constructor(name, regions = {}) {
    Object.assign(this, { regions, zoom: 1, x: 0, y: 0, share: 50, opacity: 45, layers: [], boxes: [], listeners: [], pointed: null, pinned: null });
    this.base = make("img", { alt: name, class: "base", draggable: "false" });
    this.sheet = make("div", { class: "sheet" }, this.base);
    this.stage = make("div", { class: "stage", tabindex: "0", role: "group", "aria-label": "Picture. Plus and minus zoom, arrows move the divider or the picture, with Shift always the picture, 1 shows every pixel, 0 shows all.",
      onkeydown: (event) => this.#key(event), onwheel: (event) => this.#wheel(event), onpointerdown: (event) => this.#drag(event), onpointermove: (event) => this.#read(event) }, this.sheet);
    this.zoomed = make("output", { class: "took", "aria-label": "Zoom, 100 % is one pixel of the picture for one of the screen" });
    this.base.addEventListener("load", () => this.#paint());
    this.controls = make("div", { class: "controls" });
    // Over the picture: beside it, it would move what is pointed at from under the finger.
    this.legend = make("p", { class: "legend small", hidden: true });
    this.readout = make("output", { class: "map-readout" });
    this.element = make("section", { class: "card viewer", id: "evidence-picture", tabindex: "-1", "aria-label": "Picture" }, this.stage, this.legend, this.controls);
    this.#layOut();
  }

  setImage(url) {
    showPicture(this.base, url);
  }

  setReference(url, [before, after] = ["reference", "image"]) {
    this.before = showPicture(make("img", { alt: "", class: "before", draggable: "false" }), url);
    this.divider = make("div", { class: "divider", "aria-hidden": "true" }, make("span", {}, before), make("span", {}, after));
    this.sheet.append(this.before, this.divider);
    this.comparing = true;
    this.#layOut();
  }

  /** The files themselves, shown once a preview of theirs would be enlarged; pictures the browser cannot show are left. */
  setOriginals(url, reference = null) {
    const probe = make("img", {});
    probe.addEventListener("load", () => {
      this.originals = [[this.base, url], [this.before, reference]].filter(([image, from]) => image && from);
      this.width ??= probe.naturalWidth;
      this.#paint();
    }, { once: true });
    probe.src = url;
  }

  /** Lays the two pictures under the slider. */
  compare() {
    this.comparing = Boolean(this.before);
    if (this.comparing) this.showsMap = false;
    this.#paint();
  }

  /** The quality map and, where the service sends them, a layer per flaw; a difference from the reference comes first. */
  setMap(map) {
    this.width = map.width ?? this.width;
    this.layers = [...(map.grid ? [{ ...map, name: "quality", legend: "red is bad, blue is good" }] : []), ...(map.layers ?? [])];
    this.layer = this.layers.find((one) => one.name === "difference") ?? this.layers[0];
    const places = Object.entries(this.regions).filter(([, region]) => region);
    this.boxes = [...(map.worst ? [[null, framed(map.worst, map, "worst region")]] : []),
      ...places.map(([name, region]) => [name, framed(region, map, labelled(name, region))])];
    this.sheet.append(...this.boxes.map(([, box]) => box));
    if (this.divider) this.sheet.append(this.before, this.divider);
    this.comparing = false;
    this.#layOut();
    for (const listener of this.listeners) listener();
  }

  /** Whether there is anything to see of where a flaw is. */
  canPoint(flaw) {
    return Boolean(this.#layerOf(flaw) || this.boxes.some(([name]) => name && name === flaw.place));
  }

  /** Shows where a flaw is while it is pointed at; null shows the picture again. */
  point(flaw) {
    this.pointed = flaw;
    this.#paint();
  }

  /** Shows where a flaw is until this is called again. */
  pin(flaw) {
    this.pinned = this.pinned === flaw ? null : flaw;
    this.point(null);
    for (const listener of this.listeners) listener();
  }

  // A flaw may have several maps, too bright and too dark; the one that shows most is meant.
  #layerOf(flaw) {
    const mean = ({ grid }) => grid.flat().reduce((sum, value) => sum + value, 0) / grid.flat().length;
    return this.layers.filter((one) => flaw.layers.includes(one.name)).sort((one, other) => mean(other) - mean(one))[0];
  }

  #layOut() {
    this.mapControls = make("div", { class: "map-controls" },
      this.layers.length > 1 && make("label", { class: "slider" }, make("span", {}, "Map of"), make("select", { class: "layer", onchange: (event) => { this.layer = this.layers[event.target.selectedIndex]; this.#paint(); } },
        this.layers.map((one) => make("option", { selected: one === this.layer }, LAYERS[one.name] ?? one.name)))),
      slider("Opacity of the map", this.opacity, (value) => { this.opacity = value; this.#paint(); }));
    const parts = [
      this.layer && this.#toggle("Map", "showsMap"),
      this.boxes.length > 0 && this.#toggle("Boxes", "showsBoxes"),
      this.before && this.#toggle("Before / after", "comparing"),
      this.before && slider("Share of the reference", this.share, (value) => { this.share = value; this.#paint(); }, "divide"),
    ];
    this.controls.replaceChildren(...parts.filter(Boolean), make("div", { class: "zoom" },
      button(icon("shrink"), () => this.#zoomTo(this.zoom / 1.5), { class: "quiet round", "aria-label": "Zoom out" }), this.zoomed,
      button(icon("grow"), () => this.#zoomTo(this.zoom * 1.5), { class: "quiet round", "aria-label": "Zoom in" }),
      button("1:1", () => this.#zoomTo(this.#pixels()), { class: "quiet", "aria-label": "Show every pixel" }),
      button("Fit", () => this.#zoomTo(1), { class: "quiet" })),
      this.mapControls);
    this.#paint();
  }

  #toggle(words, property) {
    const flip = () => {
      this[property] = !this[property];
      // Two pictures are compared by eye; the map would hide one of them.
      if (property === "comparing" && this.comparing) this.showsMap = false;
      this.#paint();
    };
    return button(words, flip, { class: "toggle", "data-shows": property });
  }

  #paint() {
    this.sheet.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.zoom})`;
    this.#paintMarks();
    this.stage.classList.toggle("comparing", Boolean(this.comparing));
    if (this.before) {
      this.before.hidden = this.divider.hidden = !this.comparing;
      this.before.style.clipPath = `inset(0 ${100 - this.share}% 0 0)`;
      this.divider.style.left = `${this.share}%`;
    }
    for (const one of this.controls.querySelectorAll("[data-shows]")) one.setAttribute("aria-pressed", String(Boolean(this[one.dataset.shows])));
    for (const one of this.controls.querySelectorAll("input.divide")) one.value = this.share;
    this.zoomed.textContent = `${Math.round((this.zoom / this.#pixels()) * 100)} %`;
    this.#sharpen();
  }

  // What is pointed at goes before what is switched on.
  #paintMarks() {
    const flaw = this.pointed ?? this.pinned;
    const layer = flaw ? this.#layerOf(flaw) : this.showsMap && this.layer;
    if (layer && this.shown !== layer) {
      const fresh = (layer.canvas ??= painted(layer));
      if (this.map) this.map.replaceWith(fresh);
      else this.base.after(fresh);
      Object.assign(this, { map: fresh, shown: layer });
      this.legend.replaceChildren(make("span", {}, make("i", { class: layer.name === "quality" ? "ramp" : "ramp heat", "aria-hidden": "true" }), LEGENDS[layer.name] ?? layer.legend, this.readout));
    }
    if (this.map) this.map.style.opacity = layer ? this.opacity / 100 : 0;
    for (const [name, box] of this.boxes) box.hidden = flaw ? name === null || name !== flaw.place : !this.showsBoxes;
    this.mapControls.hidden = !this.showsMap;
    this.legend.hidden = !layer;
  }

  #zoomTo(wanted) {
    const zoom = Math.min(Math.max(LARGEST, 2 * this.#pixels()), Math.max(1, wanted));
    this.x *= zoom / this.zoom;
    this.y *= zoom / this.zoom;
    this.zoom = zoom;
    this.#moveBy(0, 0);
  }

  // The preview of a large photograph has too few pixels for 100 %; the file itself is decoded only when it is needed.
  #sharpen() {
    if (!this.originals || this.zoom * this.base.clientWidth <= this.base.naturalWidth) return;
    for (const [image, url] of this.originals) showPicture(image, url);
    this.originals = null;
  }

  /** The zoom at which one pixel of the picture is one pixel of the screen. */
  #pixels() {
    const shown = this.base.clientWidth || 1;
    return (this.width || this.base.naturalWidth || shown) / shown;
  }

  #moveBy(x, y) {
    const room = { x: (this.stage.clientWidth * (this.zoom - 1)) / 2, y: (this.stage.clientHeight * (this.zoom - 1)) / 2 };
    this.x = Math.min(room.x, Math.max(-room.x, this.x + x));
    this.y = Math.min(room.y, Math.max(-room.y, this.y + y));
    this.#paint();
  }

  #key(event) {
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.key === "+" || event.key === "=") this.#zoomTo(this.zoom * 1.5);
    else if (event.key === "-") this.#zoomTo(this.zoom / 1.5);
    else if (event.key === "0") this.#zoomTo(1);
    else if (event.key === "1") this.#zoomTo(this.#pixels());
    else if (event.shiftKey && moves[event.key]) this.#moveBy(...moves[event.key]);
    else if (this.comparing && ["ArrowLeft", "ArrowRight"].includes(event.key)) this.#divideTo(this.share + (event.key === "ArrowLeft" ? -5 : 5));
    else if (moves[event.key] && this.zoom > 1) this.#moveBy(...moves[event.key]);
    else return;
    event.preventDefault();
  }

  // Only with Ctrl, as a pinch sends it: the page must stay scrollable over the picture.
  #wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.#zoomTo(this.zoom * (event.deltaY < 0 ? 1.15 : 1 / 1.15));
  }

  /** The number of the map under the pointer. */
  #read(event) {
    if (!this.shown || this.legend.hidden) return;
    const { left, top, width, height } = this.base.getBoundingClientRect();
    const [across, down] = [(event.clientX - left) / width, (event.clientY - top) / height];
    if (across < 0 || across >= 1 || down < 0 || down >= 1) return;
    const value = this.shown.grid[Math.floor(down * this.shown.rows)][Math.floor(across * this.shown.columns)];
    this.readout.textContent = this.shown.name === "quality" ? `here: ${value.toFixed(1)} of 5` : `here: ${Math.round(value * 100)} %`;
  }

  #drag(event) {
    if (event.button || (!this.comparing && this.zoom === 1)) return;
    this.stage.setPointerCapture(event.pointerId);
    const divides = this.comparing && (this.zoom === 1 || Math.abs(event.clientX - this.divider.getBoundingClientRect().left) <= GRIP);
    const move = (moved) => (divides ? this.#divideAt(moved.clientX) : this.#moveBy(moved.movementX, moved.movementY));
    const end = () => {
      this.stage.removeEventListener("pointermove", move);
      this.stage.removeEventListener("pointercancel", end);
    };
    this.stage.addEventListener("pointermove", move);
    this.stage.addEventListener("pointerup", end, { once: true });
    this.stage.addEventListener("pointercancel", end, { once: true });
    if (divides) move(event);
  }

  #divideAt(clientX) {
    const { left, width } = this.base.getBoundingClientRect();
    this.#divideTo(((clientX - left) / width) * 100);
  }

  #divideTo(share) {
    this.share = Math.round(Math.min(100, Math.max(0, share)));
    this.#paint();
  }
}

function slider(words, value, oninput, className = "") {
  return make("label", { class: "slider" }, make("span", {}, words),
    make("input", { type: "range", min: 0, max: 100, value, class: className, oninput: (event) => oninput(Number(event.target.value)) }));
}

function labelled(name, region) {
  return typeof region.score === "number" ? `${name} ${fixed(region.score, 1)}` : name;
}
