"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const rows = data.rows;
  const ROW = 34, SPARE = 8;
  const at = (id) => document.getElementById(id);
  const fixed = (value, digits = 2) => (value === null || value === undefined ? "–" : value.toFixed(digits));

  // Everything a user or a model wrote goes through here, as text.
  function make(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    if (className) element.className = className;
    return element;
  }

  function fill(parent, ...children) {
    parent.append(...children.filter(Boolean));
    return parent;
  }

  function table(names, lines) {
    const element = make("table", null, "lines");
    fill(element, fill(make("thead"), fill(make("tr"), ...names.map((name) => make("th", name)))));
    const body = make("tbody");
    for (const line of lines) fill(body, fill(make("tr"), ...line.map((cell, place) => named(make("td", cell), names[place]))));
    return fill(make("div", null, "scroll"), fill(element, body));
  }

  // On a narrow page a cell stands alone and says its column itself.
  function named(cell, name) {
    cell.dataset.name = name;
    return cell;
  }

  function pictures(index) {
    const found = data.pictures[index];
    if (!found) return null;
    const pair = make("div", null, "pair");
    for (const [source, words] of [[found.thumbnail, "the image"], [found.quality_map, "quality map, red is the worst part of the picture and blue the best, the box is the worst region"]]) {
      if (!source) continue;
      const image = make("img");
      image.src = source;
      image.alt = `${rows[index].id}: ${words}`;
      image.title = words;
      pair.append(image);
    }
    return pair.childElementCount ? pair : null;
  }

  const kinds = (row) => row.distortions.filter((finding) => finding.severity !== "none");
  const found = (row) => [...new Set(kinds(row).map((finding) => finding.type))].join(", ");
  const level = (row) => (row.level ? `${row.level} ${row.level_name || ""}` : "–");

  function card(index) {
    const row = rows[index], button = make("button", null, "card");
    button.type = "button";
    fill(button, pictures(index), make("span", `${fixed(row.score)} · ${row.id}`, "name"), make("p", row.reasoning));
    button.addEventListener("click", () => open(index));
    return button;
  }

  function link(index, words) {
    const button = make("button", words, "link");
    button.type = "button";
    button.addEventListener("click", () => open(index));
    return button;
  }

  // The list: only the rows in sight exist.
  const texts = rows.map((row) => [row.id, row.query, row.answer, row.reasoning, row.error, found(row)].join("\n").toLowerCase());
  const columns = [
    ["Image", (row) => row.id], ["Score", (row) => row.score, fixed], ["Level", (row) => row.level],
    ["Distortions", found], ["Answer", (row) => row.error || row.answer],
    ["Disagree", (row) => row.disagreement, fixed],
  ];
  const order = { column: 1, rising: true };
  let listed = [], current = -1;

  function compare(one, other) {
    const read = columns[order.column][1], a = read(rows[one]), b = read(rows[other]);
    const empty = (value) => value === null || value === undefined || value === "";
    if (empty(a) || empty(b)) return empty(a) - empty(b) || one - other;
    const sign = a < b ? -1 : a > b ? 1 : 0;
    return (order.rising ? sign : -sign) || one - other;
  }

  function refresh() {
    const wanted = at("search").value.trim().toLowerCase(), letter = at("level").value;
    const kind = at("distortion").value, state = at("state").value;
    listed = rows.map((_, index) => index).filter((index) => {
      const row = rows[index];
      return (!wanted || texts[index].includes(wanted)) && (!letter || row.level === letter)
        && (!kind || kinds(row).some((finding) => finding.type === kind))
        && (!state || (state === "failed") === (row.error !== null));
    }).sort(compare);
    at("count").textContent = `${listed.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    at("space").style.height = `${listed.length * ROW}px`;
    at("scroller").style.height = `${Math.min(13, Math.max(1, listed.length)) * ROW}px`;
    at("scroller").scrollTop = 0;
    draw();
  }

  function draw() {
    const scroller = at("scroller"), first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - SPARE);
    const last = Math.min(listed.length, first + Math.ceil(scroller.clientHeight / ROW) + 2 * SPARE);
    const visible = at("visible"), kept = document.activeElement && document.activeElement.dataset.index;
    visible.style.top = `${first * ROW}px`;
    visible.replaceChildren(...listed.slice(first, last).map(line));
    if (kept !== undefined) visible.querySelector(`[data-index="${kept}"]`)?.focus({ preventScroll: true });
  }

  function line(index) {
    const row = rows[index], button = make("button", null, "row");
    button.type = "button";
    button.dataset.index = index;
    if (row.error) button.classList.add("failed");
    button.setAttribute("aria-current", String(index === current));
    for (const [, read, show] of columns) button.append(make("span", show ? show(read(row)) : read(row) ?? "–"));
    button.addEventListener("click", () => open(index));
    return button;
  }

  function head() {
    at("head").replaceChildren(...columns.map(([name], column) => {
      const sign = column === order.column ? (order.rising ? " ▲" : " ▼") : "";
      const button = make("button", name + sign);
      button.type = "button";
      button.addEventListener("click", () => {
        order.rising = column === order.column ? !order.rising : true;
        order.column = column;
        head();
        refresh();
      });
      return button;
    }));
  }

  // One result.
  function open(index) {
    current = index;
    const detail = at("detail");
    detail.hidden = false;
    detail.replaceChildren(...parts(rows[index], index));
    if (rows.length > 1) {
      draw();
      history.replaceState(null, "", `#${index}`);
      detail.scrollIntoView({ block: "start" });
    }
  }

  function parts(row, index) {
    const note = data.pictures[index] && data.pictures[index].note;
    const interval = row.interval, found = row.distortions.length > 0;
    // What the embedded model says of its findings stands in their table; of a rating without any there is little to say.
    const repeated = row.source === "builtin" && (found || isRating(row));
    return [
      make("h2", rows.length > 1 ? row.id : "Result"), pictures(index), mapWords(index), note ? make("p", note, "soft") : null,
      make("p", row.score === null ? "No score" : `${fixed(row.score)} of 5, ${row.level_name || row.level}`, "verdict"),
      interval ? make("p", `95 % interval ${fixed(interval[0], 1)} to ${fixed(interval[1], 1)}`, "soft") : null,
      ...asked(row), row.error ? make("p", `Failed: ${row.error}`, "failed") : null,
      repeated ? null : make("p", row.reasoning), ...(found ? findings(row) : []),
      repeated && !found ? make("p", "No flaw was found.") : null, details(row, repeated),
    ].filter(Boolean);
  }

  // A rating's answer is the level, which is said already.
  const isRating = (row) => Boolean(row.answer) && row.answer === row.level;

  function asked(row) {
    return [make("p", `Question: ${row.query}`), isRating(row) ? null : make("p", `Answer: ${row.answer || "–"}`, "answer")];
  }

  function details(row, withReasons) {
    const origin = row.provenance, box = make("details");
    return fill(box, make("summary", "Details: probabilities, tools, notes, origin"),
      withReasons ? make("p", row.reasoning) : null, ...levels(row), ...readings(row), ...remarks(row),
      make("p", [`model score ${fixed(row.model_score)}`, `tool score ${fixed(row.tool_score)}`, `${row.calls} model calls`,
        `${row.tokens} tokens`, row.cost === null ? "cost unknown" : `$${fixed(row.cost, 4)}`, `${fixed(row.seconds, 1)} s`,
        row.image, ...hashes(origin), origin.version ? `agenticiqa ${origin.version}` : null,
        origin.models ? [...new Set(Object.values(origin.models))].join(", ") : null].filter(Boolean).join(" · "), "soft"));
  }

  function hashes(origin) {
    return Object.entries(origin.images || {}).filter(([, one]) => one.sha256).map(([label, one]) => `SHA-256 of the ${label} ${one.sha256}`);
  }

  function mapWords(index) {
    const found = data.pictures[index];
    return found && found.quality_map ? make("p", "Quality map: red is the worst part of the picture and blue the best, the numbers are their qualities from 1 to 5; the box is the worst region.", "soft") : null;
  }

  function levels(row) {
    if (!row.probabilities) return [];
    const grid = make("div", null, "levels");
    const names = { A: "A Excellent", B: "B Good", C: "C Fair", D: "D Poor", E: "E Bad" };
    for (const letter of Object.keys(names)) {
      const share = row.probabilities[letter] || 0, bar = make("i");
      bar.style.width = `${share * 100}%`;
      fill(grid, make("span", names[letter]), bar, make("span", `${(share * 100).toFixed(0)} %`));
    }
    return [make("h3", "Probability of each level"), grid];
  }

  const place = (name) => (name === "Global" ? "whole picture" : name);

  function findings(row) {
    const entries = row.distortions, advice = entries.map((entry) => entry.advice || "");
    const placed = entries.some((entry) => entry.object_name !== "Global");
    const columns = [
      ["What", (entry) => entry.type], placed && ["Where", (entry) => place(entry.object_name)],
      ["How severe", (entry) => entry.severity || "not judged"], ["What it looks like", (entry) => entry.explanation || ""],
      ["What to do", (_, index) => remedy(entries, advice, index)],
    ].filter(Boolean);
    const lines = entries.map((entry, index) => columns.map(([, read]) => read(entry, index)));
    return [make("h3", "What was found"), table(columns.map(([name]) => name), lines)];
  }

  // Two findings may have one remedy; it is said with the first.
  function remedy(entries, advice, index) {
    const first = advice.indexOf(advice[index]);
    return advice[index] && first < index ? `as for ${entries[first].type}` : advice[index];
  }

  // A tool asked about two flaws gives one line.
  function readings(row) {
    if (!row.tools.length) return [];
    const lines = new Map();
    for (const entry of row.tools) {
      const line = [entry.tool, place(entry.object_name), entry.raw === null ? "–" : entry.raw.toPrecision(4),
        fixed(entry.calibrated), entry.voted ? "yes" : "no", entry.error || (entry.notes || []).join("; ")];
      lines.set(line.join("\n"), line);
    }
    return [make("h3", "Tools"), table(["Tool", "Where", "Raw", "1 to 5", "Counts", "Remarks"], [...lines.values()])];
  }

  function remarks(row) {
    const lines = [...row.notes, ...Object.entries(row.failed_steps).map(([step, why]) => `${step} failed: ${why}`)];
    return lines.length ? [make("h3", "Notes"), fill(make("ul"), ...lines.map((words) => make("li", words)))] : [];
  }

  function start() {
    fill(at("worst"), ...data.worst.map(card));
    fill(at("best"), ...data.best.map(card));
    at("tools").append(data.tools.length
      ? table(["Tool", "Runs", "Failed", "Bias", "Distance"],
        data.tools.map((tool) => [tool.tool, tool.readings, tool.failures, fixed(tool.bias), fixed(tool.distance)]))
      : make("p", "No tool ran."));
    for (const index of data.disputed) {
      at("disputed").append(fill(make("li"), link(index, `${rows[index].id}: ${fixed(rows[index].disagreement)} points apart`)));
    }
    if (!data.disputed.length) at("disputed").replaceWith(make("p", "No result has two calibrated tools that differ."));
    at("failures").hidden = !data.failures.length;
    for (const [why, count] of data.failures) at("failures").querySelector("ul").append(make("li", `${count} × ${why}`, "failed"));
    for (const kind of [...new Set(rows.flatMap((row) => kinds(row).map((finding) => finding.type)))].sort()) {
      at("distortion").append(make("option", kind));
    }
    at("filters").addEventListener("input", refresh);
    at("filters").addEventListener("submit", (event) => event.preventDefault());
    at("scroller").addEventListener("scroll", draw);
    head();
    refresh();
    const asked = Number(location.hash.slice(1));
    if (rows.length === 1) open(0);
    else if (location.hash && rows[asked]) open(asked);
  }

  start();
})();
