// A folder of images: each is checked on its own; the gallery shows the worst first, sorts, filters, compares, keeps what was
// decided about each, and exports.
import { besideButton } from "./two_pictures.js";
import { announce, button, fixed, make } from "./dom.js";
import { csvOf, jsonOf, listOf, reportOf } from "./exports.js";
import { download } from "./result.js";
import { briefly } from "./shown.js";
import { thumbnailOf } from "./thumbnails.js";
import { DECISIONS, LEVEL_NAMES, kindName } from "./words.js";

const KEY = "agenticiqa.folders";
const KEPT_FOLDERS = 4;
const AT_ONCE = 3;
const THUMB = 200;
const TRIES = 3;
const KEEP_PAUSE = 1000;
const ORDERS = { worst: "Worst first", best: "Best first", name: "By name", given: "Order given" };
const COMPARERS = {
  worst: (a, b) => (a.score ?? Infinity) - (b.score ?? Infinity) || a.place - b.place, best: (a, b) => (b.score ?? -1) - (a.score ?? -1) || a.place - b.place,
  name: (a, b) => a.name.localeCompare(b.name) || a.place - b.place, given: (a, b) => a.place - b.place,
};

/** A folder under way or finished; `open(item)` shows one result, `beside(a, b)` two pictures. */
export class Gallery {
  constructor(service, { open, beside, changed }) {
    Object.assign(this, { service, open, beside, changed, chosen: [], order: "worst", wanted: "", stopped: true, timer: null });
    addEventListener("pagehide", () => { if (this.timer) this.#keepNow(); });
    document.addEventListener("keydown", (event) => this.#enter(event));
    this.bar = make("progress", { max: 1, value: 0, "aria-label": "Images checked" });
    this.count = make("p", { class: "doing", role: "status" });
    this.list = make("ul", { class: "tiles", "aria-label": "Images", onkeydown: (event) => this.#walk(event) });
    this.compare = besideButton(() => this.beside(...this.chosen));
    this.run = button("Stop", () => (this.stopped ? this.go() : this.stop()), { class: "secondary" });
    this.filter = make("select", { onchange: (event) => { this.wanted = event.target.value; this.#arrange(); this.#tell(); } });
    const sort = make("select", { onchange: (event) => { this.order = event.target.value; this.#arrange(); } },
      Object.entries(ORDERS).map(([value, words]) => make("option", { value }, words)));
    this.heading = make("h2", { tabindex: "-1" }, "Folder");
    this.saveList = button("Save list", () => this.#saveList(), { class: "secondary" });
    this.element = make("section", { class: "gallery" },
      make("div", { class: "result-head" }, this.heading, make("div", { class: "actions" }, this.run, this.compare, this.saveList,
        button("CSV", () => this.#save("csv", csvOf(this.folder.items)), { class: "secondary", "aria-label": "Save as CSV" }),
        button("JSON", () => this.#save("json", jsonOf(this.folder.items)), { class: "secondary", "aria-label": "Save as JSON" }),
        button("Report", () => this.#save("html", reportOf(this.folder)), { class: "secondary", "aria-label": "Save one report" }))),
      make("div", { class: "card gallery-bar" }, this.count, this.bar,
        make("label", {}, "Sort ", sort), make("label", {}, "Show ", this.filter),
        make("p", { class: "soft small keys" }, "On an image: ", make("kbd", {}, "K"), " keep, ", make("kbd", {}, "M"), " maybe, ", make("kbd", {}, "R"), " reject; arrows walk, Enter opens.")),
      this.list);
  }

  /** Begins with these files, or goes on with a kept folder whose files are chosen again. */
  take(images, query) {
    const files = images.map(({ file, size }) => ({ name: file.name, folder_path: file.webkitRelativePath || null, size, file }));
    const key = (one) => `${one.name}/${one.size}`;
    const known = this.folder && new Map(this.folder.items.map((item) => [key(item), item]));
    if (known && files.some((one) => known.has(key(one)))) {
      for (const one of files) if (known.has(key(one))) known.get(key(one)).file = one.file;
    } else {
      this.#begin(files, query);
    }
    this.go();
  }

  /** Begins with files on the service's machine. */
  takePaths(paths, query) {
    this.#begin(paths.map((path) => ({ name: path.split(/[\\/]/).at(-1), path })), query);
    this.go();
  }

  #begin(items, query) {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.show({ id, query, items: items.map((item, place) => ({ ...item, place, status: "waiting" })) });
  }

  /** A folder as it stands. */
  show(folder) {
    this.stop();
    Object.assign(this, { folder, chosen: [] });
    this.tiles = new Map(folder.items.map((item) => [item, tileOf(item, this)]));
    this.list.replaceChildren();
    this.#arrange();
    this.#tell();
    this.#thumbs();
  }

  /** Sends what has not been judged, a few at a time. */
  async go() {
    if (!this.stopped) return;
    this.stopped = false;
    this.control = new AbortController();
    const { signal } = this.control;
    for (const item of this.folder.items) if (item.status === "failed" && (item.file || item.path)) item.run_id = null;
    const queue = this.folder.items.filter((item) => item.status !== "finished" && (item.file || item.path || item.run_id));
    const worker = async () => { while (queue.length && !signal.aborted) await this.#judge(queue.shift(), signal); };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    if (signal.aborted) return;
    this.stopped = true;
    this.#tell();
    this.#keepNow();
    announce(this.count.textContent);
  }

  /** Sends nothing more; the few that are under way end in the service, and what has been found stays. */
  stop() {
    if (this.stopped) return;
    this.stopped = true;
    this.control.abort();
    this.#tell();
  }

  async #judge(item, signal) {
    item.status = "working";
    this.#refresh(item);
    try {
      const run = await this.#patiently(item, signal);
      Object.assign(item, { run_id: run.run_id, status: run.status }, briefly(run), { error: run.problem?.detail ?? run.assessment?.error ?? null });
    } catch (trouble) {
      Object.assign(item, signal.aborted ? { status: "waiting" } : { status: "failed", error: trouble.message });
    }
    this.#refresh(item);
    if (!item.thumb && !item.file && item.status === "finished") this.#thumb(item);
    this.#tell();
    this.#keep();
  }

  // One broken connection among hundreds must not leave a hole; what the service refuses it would refuse again.
  async #patiently(item, signal) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#runOf(item, signal);
      } catch (trouble) {
        if (signal.aborted || !trouble.gone || attempt === TRIES) throw trouble;
      }
    }
  }

  async #runOf(item, signal) {
    if (!item.run_id) {
      const form = new FormData();
      if (item.file) form.append("image", item.file, item.name);
      else form.append("path", item.path);
      if (this.folder.query) form.append("query", this.folder.query);
      item.run_id = (await this.service.submit("/v1/assess", form, signal, () => {})).run_id;
      this.#keep();
    }
    const path = `/v1/runs/${item.run_id}`;
    for await (const event of this.service.follow(`${path}/events`, signal)) void event;
    return this.service.json(path, { signal });
  }

  #refresh(item) {
    const old = this.tiles.get(item);
    const tile = tileOf(item, this);
    const had = old.contains(document.activeElement);
    this.tiles.set(item, tile);
    old.replaceWith(tile);
    this.#place(item, tile);
    if (item.thumb) tile.querySelector("img").src = item.thumb;
    if (had) tile.querySelector(".tile").focus();
    tile.hidden = !this.#fits(item);
  }

  #fits(item) {
    const { wanted } = this;
    if (wanted === "undecided") return item.status === "finished" && !item.decision;
    if (DECISIONS[wanted]) return item.decision === wanted;
    return !wanted || (wanted === "failed" ? item.status === "failed" : wanted.length === 1 ? item.level === wanted : item.flaws?.some((one) => one.type === wanted));
  }

  // One tile is moved to its place; arranging hundreds anew after every result would hold up the page.
  #place(item, tile) {
    const others = this.sorted.filter((other) => other !== item);
    let [low, high] = [0, others.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (COMPARERS[this.order](others[middle], item) < 0) low = middle + 1;
      else high = middle;
    }
    this.sorted = others.toSpliced(low, 0, item);
    const next = others[low] ? this.tiles.get(others[low]) : null;
    if (tile.nextElementSibling !== next) this.list.insertBefore(tile, next);
  }

  #arrange() {
    this.sorted = [...this.folder.items].sort(COMPARERS[this.order]);
    this.list.append(...this.sorted.map((item) => this.tiles.get(item)));
    for (const item of this.sorted) this.tiles.get(item).hidden = !this.#fits(item);
  }

  #tell() {
    const { items } = this.folder;
    const ended = items.filter((item) => ["finished", "failed"].includes(item.status)).length;
    const lost = items.filter((item) => item.status !== "finished" && !item.file && !item.path && !item.run_id).length;
    this.count.textContent = `${ended} of ${items.length} checked${lost ? `; choose the same files again to go on with ${lost}` : ""}`;
    Object.assign(this.bar, { max: items.length, value: ended });
    this.heading.textContent = `${items.length} images`;
    this.run.textContent = !this.stopped ? "Stop" : ended === items.length ? "Try the failed again" : "Go on";
    this.run.hidden = items.every((item) => item.status === "finished") || (this.stopped && lost > 0 && items.every((item) => item.file || item.path || item.run_id ? item.status === "finished" : true));
    this.compare.disabled = this.chosen.length !== 2;
    const kinds = [...new Set(items.flatMap((item) => item.flaws?.map((one) => one.type) ?? []))].sort();
    const levels = Object.entries(LEVEL_NAMES).filter(([letter]) => items.some((item) => item.level === letter));
    const decided = (decision) => items.filter((item) => (decision ? item.decision === decision : item.status === "finished" && !item.decision)).length;
    const decisions = items.some((item) => item.decision) ? [...Object.entries(DECISIONS).map(([value, words]) => [value, `${words} (${decided(value)})`]), ["undecided", `Undecided (${decided()})`]] : [];
    this.saveList.textContent = `Save list of the ${items.filter((item) => this.#fits(item)).length} shown`;
    const options = [["", "All"], ...decisions, ...levels, ...kinds.map((kind) => [kind, kindName(kind)]), ...(items.some((item) => item.status === "failed") ? [["failed", "Failed"]] : [])];
    const key = options.join();
    if (this.filter.dataset.key !== key) {
      this.filter.replaceChildren(...options.map(([value, words]) => make("option", { value, selected: value === this.wanted }, words)));
      this.filter.dataset.key = key;
    }
  }

  // One after the other, shrunk while decoding: two hundred photographs must not fill the memory.
  async #thumbs() {
    const { folder } = this;
    for (const item of folder.items) {
      if (this.folder !== folder) return;
      if (item.thumb) continue;
      if (item.file || item.status === "finished") await this.#thumb(item);
    }
  }

  async #thumb(item) {
    const blob = item.file && await thumbnailOf(item.file, THUMB);
    item.thumb = blob ? URL.createObjectURL(blob) : item.run_id && await this.service.picture(`/v1/runs/${item.run_id}/image.webp`).catch(() => null);
    if (item.thumb) this.tiles.get(item).querySelector("img").src = item.thumb;
  }

  choose(item, on) {
    this.chosen = on ? [...this.chosen, item].slice(-2) : this.chosen.filter((other) => other !== item);
    for (const [other, tile] of this.tiles) tile.querySelector("input").checked = this.chosen.includes(other);
    this.#tell();
  }

  /** Keep, maybe or reject; the same once more takes it back. */
  decide(item, decision) {
    item.decision = item.decision === decision ? null : decision;
    const tile = this.tiles.get(item);
    for (const one of Object.keys(DECISIONS)) tile.classList.toggle(one, one === item.decision);
    tile.querySelector(".tile").setAttribute("aria-label", spoken(item));
    markDecision(tile, item);
    tile.hidden = !this.#fits(item);
    this.#tell();
    this.#keep();
    announce(`${item.name}: ${item.decision ? DECISIONS[item.decision] : "undecided"}.`);
  }

  /** Three buttons that decide about an image. */
  decider(item) {
    const buttons = Object.entries(DECISIONS).map(([decision, words]) => button(words,
      () => { this.decide(item, decision); markDecision(group, item); }, { class: `decide ${decision}`, "data-decision": decision, "aria-label": `${words} ${item.name}`, disabled: item.status !== "finished" }));
    const group = make("div", { class: "decider", role: "group", "aria-label": `Decide about ${item.name}` }, buttons);
    markDecision(group, item);
    return group;
  }

  #decideByKey(event) {
    const decision = Object.keys(DECISIONS).find((one) => one.startsWith(event.key.toLowerCase()) && event.key.length === 1);
    const tile = event.target.closest(".tile-slot");
    const item = tile && this.sorted.find((one) => this.tiles.get(one) === tile);
    if (!decision || item?.status !== "finished" || event.ctrlKey || event.metaKey || event.altKey) return false;
    const next = this.#shown()[this.#shown().indexOf(tile) + 1];
    this.decide(item, decision);
    (item.decision && next ? next : this.tiles.get(item)).querySelector(".tile").focus();
    return true;
  }

  // Whoever presses one of the gallery's keys before stepping onto an image means its images.
  #enter(event) {
    const [first, { target, key }] = [this.#shown()[0]?.querySelector(".tile"), event];
    if (!this.element.isConnected || !first || (target !== document.body && target !== this.heading) || !/^(ArrowDown|ArrowRight|[kmr])$/i.test(key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    first.focus();
  }

  #shown() {
    return [...this.list.children].filter((tile) => !tile.hidden);
  }

  #walk(event) {
    if (this.#decideByKey(event)) return event.preventDefault();
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.#columns(), ArrowUp: -this.#columns() }[event.key];
    if (!step || !event.target.classList.contains("tile")) return;
    const shown = this.#shown().map((tile) => tile.querySelector(".tile"));
    const next = shown[shown.indexOf(event.target) + step];
    if (next) { event.preventDefault(); next.focus(); }
  }

  #columns() {
    return getComputedStyle(this.list).gridTemplateColumns.split(" ").length;
  }

  #save(kind, text, name = "folder-quality") {
    const type = { csv: "text/csv", json: "application/json", html: "text/html", txt: "text/plain" }[kind];
    download(URL.createObjectURL(new Blob([text], { type })), `${name}.${kind}`);
  }

  /** The images shown, one path per line, as `agenticiqa sort` takes them. */
  #saveList() {
    this.#save("txt", listOf(this.sorted.filter((item) => this.#fits(item))), DECISIONS[this.wanted] ? this.wanted : "images");
  }

  // Writing down hundreds of results after every one of them would hold up the page.
  #keep() {
    this.timer ??= setTimeout(() => this.#keepNow(), KEEP_PAUSE);
  }

  #keepNow() {
    clearTimeout(this.timer);
    this.timer = null;
    const items = this.folder.items.map(({ file, thumb, ...rest }) => rest);
    keepFolder({ ...this.folder, items });
    this.changed?.(this.folder);
  }
}

/** The folders kept in this browser, newest first. */
export function keptFolders() {
  try { return JSON.parse(localStorage.getItem(KEY) ?? "[]"); } catch { return []; }
}

/** Forgets them. */
export function forgetFolders() {
  try { localStorage.removeItem(KEY); } catch { /* nothing was kept then */ }
}

function keepFolder(folder) {
  const all = [folder, ...keptFolders().filter((other) => other.id !== folder.id)].slice(0, KEPT_FOLDERS);
  try { localStorage.setItem(KEY, JSON.stringify(all)); } catch { /* a full store keeps the older ones */ }
}

function markDecision(part, item) {
  for (const one of part.querySelectorAll(".decide")) one.setAttribute("aria-pressed", String(one.dataset.decision === item.decision));
}

function stateOf(item) {
  if (item.status === "finished") return `${fixed(item.score, 1)} ${LEVEL_NAMES[item.level] ?? ""}`;
  return { waiting: "waiting", working: "at work", failed: "failed" }[item.status] ?? item.status;
}

function spoken(item) {
  const flaw = item.flaws?.[0];
  return [`${item.name}: ${stateOf(item)}`, flaw && `${kindName(flaw.type)} ${flaw.severity}`, DECISIONS[item.decision]].filter(Boolean).join(", ");
}

function tileOf(item, gallery) {
  const finished = item.status === "finished";
  const flaw = item.flaws?.[0];
  return make("li", { class: ["tile-slot", item.level && `level-${item.level}`, item.decision].filter(Boolean).join(" ") },
    button([make("img", { alt: "", loading: "lazy" }), make("span", { class: "tile-name" }, item.name),
      make("span", { class: "tile-score" }, stateOf(item)), make("span", { class: "tile-flaw soft small" }, flaw ? `${kindName(flaw.type)}, ${flaw.severity}` : finished ? "nothing wrong found" : item.error ?? "")],
    () => gallery.open(item), { class: "tile", title: item.path ?? item.name, disabled: !finished, "aria-label": spoken(item) }),
    gallery.decider(item),
    make("label", { class: "tile-choose small" }, make("input", { type: "checkbox", checked: gallery.chosen.includes(item), disabled: !finished,
      onchange: (event) => gallery.choose(item, event.target.checked) }), make("span", {}, "compare"), make("span", { class: "unseen" }, ` ${item.name}`)));
}
