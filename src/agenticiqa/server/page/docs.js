// The routes of the service, from its own description: fields, answers, examples to copy, and a way to try each.
import { at, button, make } from "./dom.js";

const SHOWN = 4000;
let description = null;

/** The schema a reference stands for. */
function resolved(schema = {}) {
  if (schema.$ref) return resolved(description.components.schemas[schema.$ref.split("/").at(-1)]);
  return schema;
}

/** What kind of value a schema asks for, in a word or two. */
function kindOf(schema = {}) {
  const found = resolved(schema);
  if (found.anyOf) return [...new Set(found.anyOf.map(kindOf))].join(" or ");
  if (found.enum) return found.enum.map((value) => `“${value}”`).join(" or ");
  if (found.const !== undefined) return `“${found.const}”`;
  if (found.type === "array") return `list of ${kindOf(found.items)}`;
  if (found.format === "binary") return "file";
  return schema.$ref ? schema.$ref.split("/").at(-1) : found.type ?? "any";
}

/** The fields of a route: of its address, its headers and its form. */
function fieldsOf(operation) {
  const parameters = (operation.parameters ?? []).map((one) => ({ name: one.name, place: one.in, required: one.required, schema: one.schema, description: one.description ?? one.schema?.description, example: one.examples ? Object.values(one.examples)[0]?.value : one.example ?? one.schema?.examples?.[0] }));
  const form = resolved(operation.requestBody?.content?.["multipart/form-data"]?.schema);
  const needed = form.required ?? [];
  const fields = Object.entries(form.properties ?? {}).map(([name, schema]) => ({ name, place: "form", required: needed.includes(name), schema, description: schema.description, example: schema.examples?.[0] }));
  return [...parameters, ...fields];
}

/** The address with the values filled in; what is not given keeps its name in braces. */
function addressOf(path, fields, values = {}) {
  const filled = path.replace(/\{(\w+)\}/g, (whole, name) => (values[name] ? encodeURIComponent(values[name]) : whole));
  const query = fields.filter((one) => one.place === "query" && values[one.name]).map((one) => `${one.name}=${encodeURIComponent(values[one.name])}`);
  return filled + (query.length ? `?${query.join("&")}` : "");
}

const isFile = (field) => kindOf(field.schema).includes("file");
const FILES = { images: ["first.png", "second.png"], image: ["photo.png"], reference: ["original.png"], manifest: ["batch.csv"] };

/** The fields an example has to have: files, and what is required. */
function exampleFields(verb, path, fields) {
  const form = fields.filter((one) => one.place === "form");
  const file = form.find((one) => one.name === "image" || one.name === "images");
  const asked = fields.filter((one) => one.place === "query" && one.required).map((one) => [one.name, one.example ?? "…"]);
  return { files: file ? FILES[file.name].map((name) => [file.name, name]) : [], asked: Object.fromEntries(asked) };
}

function curlOf(verb, path, fields) {
  const { files, asked } = exampleFields(verb, path, fields);
  const parts = ["curl -sS", verb === "delete" ? "-X DELETE" : "", ...files.map(([field, name]) => `-F ${field}=@${name}`), `"${location.origin}${addressOf(path, fields, asked)}"`];
  return parts.filter(Boolean).join(" ");
}

function pythonOf(verb, path, fields) {
  const { files, asked } = exampleFields(verb, path, fields);
  const handed = files.length ? `, files=[${files.map(([field, name]) => `("${field}", open("${name}", "rb"))`).join(", ")}]` : "";
  return `import httpx\n\nanswer = httpx.${verb}("${location.origin}${addressOf(path, fields, asked)}"${handed}, timeout=120)\nanswer.raise_for_status()\nprint(answer.text)`;
}

function copyable(words, text) {
  const copy = button("Copy", async () => { await navigator.clipboard.writeText(text); at("spoken").textContent = `${words} copied.`; }, { class: "quiet", "aria-label": `Copy: ${words}` });
  return [make("h2", {}, words, " ", copy), make("pre", { tabindex: "0", "aria-label": words }, text)];
}

function table(head, rows) {
  return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": head.join(", ") }, make("table", {}, make("thead", {}, make("tr", {}, head.map((words) => make("th", { scope: "col" }, words)))), make("tbody", {}, rows)));
}

function fieldRow(field) {
  const name = make("th", { scope: "row" }, make("code", {}, field.name), field.required ? " (needed)" : "");
  return make("tr", {}, name, make("td", {}, field.place), make("td", {}, kindOf(field.schema)), make("td", {}, field.description ?? ""));
}

function answerRow([status, answer]) {
  const [type, content] = Object.entries(answer.content ?? {})[0] ?? ["", {}];
  const said = content.example?.detail ? `${content.example.code}: ${content.example.detail}` : kindOf(content.schema);
  return make("tr", {}, make("th", { scope: "row" }, status), make("td", {}, answer.description ?? ""), make("td", {}, [type, said].filter(Boolean).join(" · ")));
}

/** A small form that sends the request from this page and shows the answer. */
function trial(verb, path, fields) {
  const inputs = fields.filter((one) => one.place !== "header").map((one) => {
    const input = isFile(one) ? make("input", { type: "file", multiple: kindOf(one.schema).startsWith("list") }) : make("input", { type: "text", autocomplete: "off", placeholder: one.example === undefined ? "" : String(one.example) });
    return [one, input, make("label", {}, one.name, input)];
  });
  const shown = make("div", { role: "status" });
  const send = async () => {
    shown.replaceChildren("Waiting …");
    const values = Object.fromEntries(inputs.filter(([one]) => !isFile(one)).map(([one, input]) => [one.name, input.value.trim()]));
    const form = new FormData();
    for (const [one, input] of inputs.filter(([field]) => field.place === "form")) {
      if (isFile(one)) for (const file of input.files) form.append(one.name, file, file.name);
      else if (values[one.name]) form.append(one.name, values[one.name]);
    }
    const token = at("docs-token").value.trim();
    shown.replaceChildren(...await answered(addressOf(path, fields, values), { method: verb.toUpperCase(), body: verb === "post" ? form : undefined, headers: token ? { Authorization: `Bearer ${token}` } : {} }));
  };
  return make("div", { class: "try" }, inputs.map(([, , label]) => label), button("Send", send, { class: "secondary" }), shown);
}

async function answered(address, options) {
  try {
    const response = await fetch(address, options);
    const type = response.headers.get("Content-Type") ?? "";
    const head = make("p", {}, `${response.status} ${response.statusText} · ${type}`);
    if (type.startsWith("image/")) return [head, make("img", { alt: "The answer", src: URL.createObjectURL(await response.blob()) })];
    const text = await response.text();
    const plain = type.includes("json") && !type.includes("ndjson") ? JSON.stringify(JSON.parse(text), null, 2) : text;
    return [head, make("pre", { tabindex: "0", "aria-label": "Answer" }, plain.length > SHOWN ? `${plain.slice(0, SHOWN)} …` : plain)];
  } catch {
    return [make("p", { class: "trouble" }, "The service cannot be reached.")];
  }
}

function route(path, verb, operation) {
  const fields = fieldsOf(operation);
  const body = make("div", {}, make("p", {}, operation.description ?? ""),
    fields.length > 0 && [make("h2", {}, "Fields"), table(["Name", "Where", "What", "Meaning"], fields.map(fieldRow))],
    copyable("With curl", curlOf(verb, path, fields)), copyable("With Python", pythonOf(verb, path, fields)),
    make("h2", {}, "Answers"), table(["Status", "Means", "Content"], Object.entries(operation.responses).map(answerRow)),
    make("h2", {}, "Try it"));
  const card = make("details", { class: "card route", id: operation.operationId, "data-words": `${verb} ${path} ${operation.operationId} ${operation.description ?? ""}`.toLowerCase() },
    make("summary", {}, make("span", { class: "verb" }, verb.toUpperCase()), make("code", {}, path), make("span", { class: "soft" }, operation.summary ?? "")));
  // Tables of sixty routes at once would make the page slow to open.
  card.addEventListener("toggle", () => { if (card.open && card.childElementCount === 1) card.append(body, trial(verb, path, fields)); });
  return card;
}

function find(words) {
  for (const card of document.querySelectorAll(".route")) card.hidden = !card.dataset.words.includes(words.trim().toLowerCase());
}

async function start() {
  const token = at("docs-token").value.trim();
  const response = await fetch("/v1/openapi.json", { headers: token ? { Authorization: `Bearer ${token}` } : {} });
  if (!response.ok) {
    at("docs-lead").textContent = "The service asks for its token. Enter it below.";
    return;
  }
  description = await response.json();
  at("docs-lead").textContent = `${description.info.title} ${description.info.version}. ${description.info.description}`;
  at("docs-routes").replaceChildren(...Object.entries(description.paths).flatMap(([path, operations]) => Object.entries(operations).map(([verb, operation]) => route(path, verb, operation))));
  const asked = location.hash && at(decodeURIComponent(location.hash.slice(1)));
  if (asked) { asked.open = true; asked.scrollIntoView(); }
}

at("docs-find").addEventListener("input", (event) => find(event.target.value));
at("docs-token").addEventListener("change", start);
start();
