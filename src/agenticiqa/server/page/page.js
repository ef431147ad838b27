// The page: what is chosen goes to the service, what happens there is shown, what was found is kept.
import { Service, Trouble } from "./api.js";
import { beside } from "./two_pictures.js";
import { announce, at, button, make } from "./dom.js";
import { offerFolders } from "./folder_by_name.js";
import { Gallery, forgetFolders, keptFolders } from "./gallery.js";
import { drop, forget, keep, recall, smallCopy } from "./history.js";
import { Intake } from "./intake.js";
import { Progress } from "./progress.js";
import { ranking } from "./ranking.js";
import { listRecent as fillRecent, markShown } from "./recent.js";
import { actions, result } from "./result.js";
import { askToken, chooseTheme, recalled, store } from "./session.js";
import { watchHealth } from "./status.js";
import { QUESTIONS, listed } from "./words.js";
import { welcome } from "./welcome.js";

// So many are ranked unless something else is chosen; a visitor with more wants to sort them.
const RANKED = 4;
let languages = "";
let current = null;
let progress = null;
let working = null;
// The files of this visit's runs, for a close look; the page keeps no pictures of its own.
const originals = new Map();

const service = new Service({ askToken, onWait: (words) => progress?.say(words), onShare: (share) => progress?.sending(share) });
const intake = new Intake(showChosen, showFormTrouble, () => send());
const gallery = new Gallery(service, { open: openItem, beside: showBeside, changed: listRecent });

/** Sends what is chosen and follows the run to its end; `fresh` asks anew for what has been answered. */
async function send(fresh = false, align = null) {
  if (!intake.images.length) return showFormTrouble("Choose an image first: drop one here, paste it, or pick a file.", at("choose"));
  showFormTrouble(null);
  if (checksEach()) return checkFolder();
  const images = intake.images.map((image) => image.file);
  const pictures = Promise.all(images.map(smallCopy));
  const signal = begin(images.map((file) => file.name), intake.images[0]);
  intake.markUsed();
  try {
    const path = images.length > 1 ? "/v1/compare" : "/v1/assess";
    const run = await service.submit(path, formOf(images, fresh, align), signal);
    originals.set(run.run_id, { images, reference: intake.reference?.file ?? null });
    await follow({ ...run, events: [], thumbs: await pictures }, signal);
  } catch (trouble) {
    const scale = trouble.code === "image_size_mismatch" && intake.reference ? () => send(fresh, "resize") : null;
    showTrouble(trouble, signal, () => send(fresh, align), scale);
  }
}

// The selection is handed in: it tells of its first change before it is known by name.
function checksEach({ images, limits } = intake) {
  return images.length > 1 && (images.length > mostCompared(limits) || wayFor(images.length) === "check");
}

function wayFor(count) {
  return recalled("several") || (count > RANKED ? "check" : "compare");
}

function mostCompared(limits) {
  return limits.max_images ?? 16;
}

/** Each image on its own, in a gallery. */
function checkFolder() {
  current?.abort();
  intake.markUsed();
  showGallery();
  gallery.take(intake.images, at("question").value.trim());
  nameInAddress(`folder-${gallery.folder.id}`);
}

/** The pictures of a folder on the service's machine, in the same gallery. */
function checkPaths(paths) {
  current?.abort();
  gallery.takePaths(paths, at("question").value.trim());
  showGallery();
  nameInAddress(`folder-${gallery.folder.id}`);
}

function showGallery() {
  progress?.stop();
  show(gallery.element);
  gallery.heading.focus({ preventScroll: true });
  bringIntoView();
}

async function openItem(item) {
  try {
    if (item.file) originals.set(item.run_id, { images: [item.file], reference: null });
    const run = { ...await service.json(`/v1/runs/${item.run_id}`), events: [] };
    present(run, null, [button("← All images", () => { showGallery(); nameInAddress(`folder-${gallery.folder.id}`); }, { class: "secondary" }), gallery.decider(item)]);
  } catch (trouble) {
    showFormTrouble(trouble.message);
  }
}

/** Two pictures under one slider, with what was found in each. */
function showBeside(first, second, back = showGallery) {
  const { heading, parts } = beside(first, second, service, button("← All images", back, { class: "secondary" }));
  show(...parts);
  heading.focus({ preventScroll: true });
  bringIntoView();
}

/** Puts a question into the field, and asks it if there is a picture to ask about. */
function ask(words) {
  at("question").value = words;
  store("question", words);
  if (intake.images.length) send();
  else at("question").focus();
}

function formOf(images, fresh, align) {
  const form = new FormData();
  if (align) form.append("align", align);
  if (fresh) form.append("fresh", "true");
  for (const file of images) form.append(images.length > 1 ? "images" : "image", file, file.name);
  if (intake.reference) form.append("reference", intake.reference.file, intake.reference.file.name);
  const question = at("question").value.trim();
  if (question) form.append("query", question);
  return form;
}

/** Shows the run at work; a new one takes the stage from an older one, which goes on in the service. */
function begin(names, image) {
  current?.abort();
  progress?.stop();
  current = new AbortController();
  progress = new Progress(names, cancel);
  const picture = image && make("div", { class: "sweep" }, make("img", { src: image.url, alt: "", onerror: (event) => event.target.remove() }));
  show(make("div", { class: "work" }, picture, progress.element));
  bringIntoView();
  return current.signal;
}

/** Leaves the run; the service is told, so that nobody waits behind it. */
function cancel() {
  const run = working;
  current?.abort();
  progress?.stop();
  if (run) service.request(`${run.urls.self}?remove=true`, { method: "DELETE" }).catch(() => {});
  if (run) drop(run.run_id);
  listRecent();
  announce("Cancelled.");
  showWelcome();
  at("go").focus();
}

async function follow(run, signal) {
  working = run;
  remember(run);
  for await (const event of service.follow(run.urls.events, signal)) {
    run.events.push(event);
    progress.take(event);
  }
  const found = { ...await service.json(run.urls.self, { signal }), events: run.events, thumbs: run.thumbs };
  progress.stop();
  working = null;
  remember(found);
  if (found.status !== "finished") throw new Trouble(found.problem?.detail ?? "The run did not finish. Try again.", { status: found.problem?.status ?? 500, code: found.problem?.code });
  present(found);
}

function present(found, number = null, way = null) {
  const run = { ...found, originals: originals.get(found.run_id) };
  const only = run.kind === "assess" ? 1 : number;
  const record = only && (run.kind === "assess" ? run.assessment : run.ranking.entries[run.order ? run.order.indexOf(only) : only - 1].assessment);
  const back = way ?? (run.kind === "compare" && only ? button("← All images", () => present(run), { class: "secondary" }) : null);
  const again = againOf(run);
  const tools = actions(run, record || run.ranking, service, only, { onTrouble: (trouble) => showFormTrouble(trouble.message), again, another: again && (() => intake.askForMore()) });
  show(back && make("div", { class: "result-head" }, back),
    record ? result(run, record, only, service, tools) : ranking(run, service, tools, (chosen) => present(run, chosen), (first, second) => showBeside(first, second, () => present(run))),
    make("div", { class: "apart" }, button("Delete this run", () => remove(run), { class: "quiet delete" })));
  markRecent(run.run_id);
  const heading = at("stage").querySelector("h2");
  heading.focus({ preventScroll: true });
  bringIntoView();
  announce(`Finished: ${heading.textContent}`);
}

// Only while the files are still chosen: the page keeps no pictures of its own.
function againOf(run) {
  const names = intake.images.map((image) => image.file.name);
  return names.length === run.names.length && names.length > 0 && names.every((name, place) => name === run.names[place]) ? () => send(true) : null;
}

/** Deletes a run, its pictures and its result on the service and here. */
async function remove(run) {
  try {
    await service.request(`${run.urls.self}?remove=true`, { method: "DELETE" });
  } catch (trouble) {
    if (trouble.status !== 404 && trouble.status !== 410) return showFormTrouble(trouble.message);
  }
  drop(run.run_id);
  listRecent();
  nameInAddress("");
  announce("Deleted.");
  showWelcome();
}

/** Opens a kept run; one that was still working is followed again. */
async function reopen(run) {
  const signal = begin(run.names, run.thumbs?.[0] ? { url: run.thumbs[0] } : null);
  if (run.status === "finished") {
    progress.stop();
    return present(run);
  }
  try {
    await follow({ ...run, events: [] }, signal);
  } catch (trouble) {
    showTrouble(trouble, signal, () => reopen(run));
  }
}

/** A run by its id, as a reload or a link names it. */
async function openLinked(id) {
  const kept = recall().find((run) => run.run_id === id);
  if (kept) return reopen(kept);
  try {
    await reopen({ ...await service.json(`/v1/runs/${encodeURIComponent(id)}`), status: "unknown" });
  } catch (trouble) {
    showFormTrouble(trouble.message);
  }
}

async function useExample(example) {
  try {
    const [image, reference] = await Promise.all([example.image_url, example.reference_url].map((path) => (path ? service.request(path).then((found) => found.blob()) : null)));
    const named = (blob, name) => blob && new File([blob], name, { type: blob.type });
    intake.replace(named(image, example.file_name), named(reference, `original of ${example.file_name}`));
    at("question").value = example.question;
    await send();
  } catch (trouble) {
    showFormTrouble(trouble.message);
  }
}

function showTrouble(trouble, signal, again, scale = null) {
  if (signal.aborted) return;
  progress.stop();
  const words = trouble instanceof Trouble ? trouble.message : "The page itself failed. Reload it and try again.";
  const heading = make("h2", { tabindex: "-1" }, "That did not work");
  show(make("section", { class: "card trouble-card", role: "alert" }, heading, make("p", {}, words),
    make("div", { class: "actions" }, scale && button("Scale the reference", scale, { class: "primary" }), button("Try again", () => again(), { class: scale ? "secondary" : "primary" }), button("Start over", showWelcome, { class: "secondary" }))));
  heading.focus();
  if (!(trouble instanceof Trouble)) throw trouble;
}

function showFormTrouble(words, focus) {
  at("form-trouble").hidden = !words;
  at("form-trouble").textContent = words ?? "";
  focus?.focus();
}

function showChosen(chosen) {
  const { images, reference, limits } = chosen;
  const verb = images.length > 1 ? `Compare ${images.length} images` : "Assess";
  at("go").textContent = reference ? `${verb} against the original` : checksEach(chosen) ? `Check ${images.length} images` : verb;
  at("several").hidden = images.length < 2;
  for (const choice of document.querySelectorAll("[name=several]")) choice.checked = choice.value === wayFor(images.length);
  at("too-many").hidden = images.length <= mostCompared(limits);
  at("too-many").textContent = `Up to ${mostCompared(limits)} can be ranked; these are checked one by one.`;
}

function show(...parts) {
  delete document.body.dataset.view;
  at("stage").replaceChildren(...parts.filter(Boolean));
}

// On a phone the stage lies below the form; after a long result its top lies above the window.
function bringIntoView() {
  const { top } = at("stage").getBoundingClientRect();
  if (top < at("ask").getBoundingClientRect().bottom - 1 || top > innerHeight / 2) at("stage").scrollIntoView({ block: "start" });
}

function showWelcome() {
  current?.abort();
  working = null;
  show(welcome(service, useExample, languages));
  document.body.dataset.view = "welcome";
}

function listRecent() {
  fillRecent(reopen, (folder) => { nameInAddress(`folder-${folder.id}`); openAddress(); });
}

function remember(run) {
  keep(run);
  listRecent();
  markRecent(run.run_id);
}

// A run of its own is a step that the back button undoes.
function nameInAddress(words) {
  if (location.hash === `#${words}` || (!words && !location.hash)) return;
  history.pushState(null, "", words ? `#${words}` : location.pathname);
}

function openAddress() {
  const words = location.hash.slice(1);
  // Other words behind the # are no run of ours: the skip link's target, or a link that was cut.
  if (/^[0-9a-f]{24}$/.test(words)) return openLinked(words);
  const folder = words.startsWith("folder-") && keptFolders().find((one) => `folder-${one.id}` === words);
  if (!folder) return words ? null : showWelcome();
  if (gallery.folder?.id !== folder.id) { gallery.show(folder); gallery.go(); }
  showGallery();
}

function markRecent(id) {
  nameInAddress(id);
  markShown(id);
}

at("ask").addEventListener("submit", (event) => { event.preventDefault(); send(); });
at("question").addEventListener("keydown", (event) => {
  // Whoever writes Chinese or Japanese presses Enter to take a word.
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(); }
});
at("questions").replaceChildren(...QUESTIONS.map((words) => make("li", {},
  button(words, () => ask(words), { class: "suggestion", lang: /\p{Script=Han}/u.test(words) ? "zh" : null }))));
at("theme").value = document.documentElement.dataset.theme ?? "";
at("theme").addEventListener("change", (event) => chooseTheme(event.target.value));
at("forget").addEventListener("click", () => { forget(); forgetFolders(); listRecent(); at("choose").focus(); });
for (const choice of document.querySelectorAll("[name=several]")) {
  choice.addEventListener("change", () => { store("several", choice.value); showChosen(intake); });
}
addEventListener("popstate", openAddress);
at("question").value = recalled("question");
at("question").addEventListener("input", () => store("question", at("question").value));

listRecent();
showWelcome();
if (location.hash) openAddress();
watchHealth(service, () => { if (document.querySelector(".welcome > [hidden]")) showWelcome(); });
offerFolders(service, checkPaths, showFormTrouble);
service.json("/v1/limits").then((limits) => {
  intake.limits = limits;
  const named = new Intl.DisplayNames("en", { type: "language" });
  languages = listed((limits.languages ?? []).map((code) => named.of(code)), "or");
  at("question").title = `In ${languages}. Options go as “A. Yes B. No”.`;
  for (const line of document.querySelectorAll(".languages")) line.textContent = `Ask about it in ${languages}.`;
}, () => {});
