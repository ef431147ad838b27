// The page: what is chosen goes to the service, what happens there is shown, what was found is kept.
import { Service, Trouble } from "./api.js";
import { announce, at, button, fixed, make } from "./dom.js";
import { forget, keep, recall, smallCopy } from "./history.js";
import { Intake } from "./intake.js";
import { Progress } from "./progress.js";
import { ranking } from "./ranking.js";
import { actions, result } from "./result.js";
import { watchHealth } from "./status.js";
import { LEVEL_NAMES, QUESTIONS } from "./words.js";
import { welcome } from "./welcome.js";

let current = null;
let progress = null;

const service = new Service({ askToken, onWait: (words) => progress?.say(words) });
const intake = new Intake(showChosen, showFormTrouble);

/** Sends what is chosen and follows the run to its end. */
async function send() {
  if (!intake.images.length) return showFormTrouble("Choose an image first: drop one here, paste it, or pick a file.", at("choose"));
  showFormTrouble(null);
  const images = intake.images.map((image) => image.file);
  const pictures = Promise.all(images.map(smallCopy));
  const signal = begin(images.map((file) => file.name), intake.images[0]);
  intake.used = true;
  try {
    const path = images.length > 1 ? "/v1/compare" : "/v1/assess";
    const run = await service.submit(path, formOf(images), signal);
    await follow({ ...run, events: [], thumbs: await pictures }, signal);
  } catch (trouble) {
    showTrouble(trouble, signal, send);
  }
}

function formOf(images) {
  const form = new FormData();
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
  progress = new Progress(names);
  const picture = image && make("div", { class: "sweep" }, make("img", { src: image.url, alt: "", onerror: (event) => event.target.remove() }));
  show(make("div", { class: "work" }, picture, progress.element));
  bringIntoView();
  return current.signal;
}

async function follow(run, signal) {
  remember(run);
  for await (const event of service.follow(run.urls.events, signal)) {
    run.events.push(event);
    progress.take(event);
  }
  const found = { ...await service.json(run.urls.self, { signal }), events: run.events, thumbs: run.thumbs };
  progress.stop();
  remember(found);
  if (found.status !== "finished") throw new Trouble(found.problem?.detail ?? "The run did not finish. Try again.", { status: found.problem?.status ?? 500 });
  present(found);
}

function present(run, number = null) {
  const only = run.kind === "assess" ? 1 : number;
  const record = only && (run.kind === "assess" ? run.assessment : run.ranking.entries[run.order ? run.order.indexOf(only) : only - 1].assessment);
  const back = run.kind === "compare" && only ? button("← All images", () => present(run), { class: "secondary" }) : null;
  const heading = make("h2", { tabindex: "-1" }, record ? "Result" : `${run.names.length} images, ranked`);
  const head = make("div", { class: "result-head" }, heading, back,
    actions(run, record || run.ranking, service, (trouble) => showFormTrouble(trouble.message)));
  show(head, record ? result(run, record, only, service) : ranking(run, service, (chosen) => present(run, chosen)));
  markRecent(run.run_id);
  heading.focus({ preventScroll: true });
  bringIntoView();
  announce(record ? `Finished: ${record.answer}, ${fixed(record.score)} of 5.` : "Finished: the images are ranked.");
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

function showTrouble(trouble, signal, again) {
  if (signal.aborted) return;
  progress.stop();
  const words = trouble instanceof Trouble ? trouble.message : "The page itself failed. Reload it and try again.";
  const heading = make("h2", { tabindex: "-1" }, "That did not work");
  show(make("section", { class: "card trouble-card", role: "alert" }, heading, make("p", {}, words),
    make("div", { class: "actions" }, button("Try again", again, { class: "primary" }), button("Start over", showWelcome, { class: "secondary" }))));
  heading.focus();
  if (!(trouble instanceof Trouble)) throw trouble;
}

function showFormTrouble(words, focus) {
  at("form-trouble").hidden = !words;
  at("form-trouble").textContent = words ?? "";
  focus?.focus();
}

function showChosen({ images, reference }) {
  showFormTrouble(null);
  const verb = images.length > 1 ? `Compare ${images.length} images` : "Assess";
  at("go").textContent = reference ? `${verb} against the reference` : verb;
}

function show(...parts) {
  at("stage").replaceChildren(...parts);
}

// On a phone the stage lies below the form; after a long result its top lies above the window.
function bringIntoView() {
  const { top } = at("stage").getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) at("stage").scrollIntoView({ block: "start" });
}

function showWelcome() {
  current?.abort();
  show(welcome(service, useExample));
}

function remember(run) {
  keep(run);
  listRecent();
  markRecent(run.run_id);
}

function listRecent() {
  const runs = recall();
  at("no-recent").hidden = runs.length > 0;
  at("forget").hidden = !runs.length;
  at("recent").replaceChildren(...runs.map((run) => make("li", {}, button([
    run.thumbs?.[0] ? make("img", { src: run.thumbs[0], alt: "" }) : make("span", { class: "blank" }),
    make("span", {}, make("b", {}, run.names.join(", ")), make("small", {}, run.query || QUESTIONS[0])),
    summary(run),
  ], () => reopen(run), { class: "past", "data-run": run.run_id }))));
}

function summary(run) {
  if (run.status === "failed") return make("span", { class: "bad" }, "failed");
  if (run.kind === "compare") return make("span", { class: "soft" }, run.status === "finished" ? "ranked" : "…");
  const level = run.assessment?.level;
  if (!run.assessment) return make("span", { class: "soft" }, "…");
  return make("span", { class: level ? `pill level-${level}` : "soft", title: level && LEVEL_NAMES[level] }, fixed(run.assessment.score, 1));
}

function markRecent(id) {
  history.replaceState(null, "", `#${id}`);
  for (const one of at("recent").querySelectorAll("button")) one.setAttribute("aria-current", String(one.dataset.run === id));
}

function askToken(wrong) {
  const dialog = at("token");
  at("token-wrong").hidden = !wrong;
  const value = at("token-value");
  value.value = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "use" ? value.value.trim() || null : null), { once: true });
  });
}

function chooseTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try { localStorage.setItem("agenticiqa.theme", theme); } catch { /* it lasts for this visit then */ }
}

at("ask").addEventListener("submit", (event) => { event.preventDefault(); send(); });
at("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send(); }
});
at("questions").replaceChildren(...QUESTIONS.map((words) => make("li", {},
  button(words, () => { at("question").value = words; at("question").focus(); }, { class: "suggestion", lang: /\p{Script=Han}/u.test(words) ? "zh" : null }))));
at("theme").value = document.documentElement.dataset.theme ?? "";
at("theme").addEventListener("change", (event) => chooseTheme(event.target.value));
at("forget").addEventListener("click", () => { forget(); listRecent(); at("choose").focus(); });

listRecent();
showWelcome();
// Other words behind the # are no run of ours: the skip link's target, or a link that was cut.
if (/^#[0-9a-f]{24}$/.test(location.hash)) openLinked(location.hash.slice(1));
watchHealth(service, () => { if (document.querySelector(".welcome > [hidden]")) showWelcome(); });
service.json("/v1/limits").then((limits) => { intake.limits = limits; }, () => {});
