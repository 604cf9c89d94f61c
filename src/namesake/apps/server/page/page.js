"use strict";
// Asks the server to mark the names of a text, and shows the candidates and the explanation of the chosen name.
// All HTML comes from the server, which escapes every text. Texts from this script are inserted as text.

const $ = (id) => document.getElementById(id);
let drawn = null; // the answer of the server for the text
let chosen = -1; // the number of the explained name

// ---- requests

let asked = null; // the request for the text that is shown
let sampleTitle = null; // the headline of an example, until its text is edited

async function ask() {
  const text = $("text").value;
  if (!text.trim()) return complain("There is no text yet: paste a text, drop a file, or choose an example.", "text");
  $("go").disabled = true;
  $("go").textContent = "Linking …";
  asked = { text, title: sampleTitle, date: $("date").value.trim() || null };
  const answer = await post(asked);
  $("go").disabled = false;
  $("go").textContent = "Link names";
  if (answer) show(answer);
}

// The answer of the server, or null after an error, which is then shown.
async function post(body) {
  say("");
  try {
    const answer = await fetch("draw", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.ok) return await answer.json();
    say(await fault(answer));
  } catch {
    say("The server does not answer. Is it still running? Your text is still here: try again.");
  }
  return null;
}

async function fault(answer) {
  let said = {};
  try { said = await answer.json(); } catch { /* not JSON: the status is shown */ }
  const why = typeof said.error === "string" ? said.error : "";
  const todo = typeof said.what_to_do === "string" ? said.what_to_do : "";
  if (answer.status === 413 && !why) return "This text is too long for this server: send a shorter one.";
  if (answer.status === 429 || answer.status === 503) return "The server is busy: try again in a moment.";
  if (!why) return `The server cannot answer this request (status ${answer.status}).`;
  const whole = [why, todo].filter(Boolean).join(": ");
  return `${whole[0].toUpperCase()}${whole.slice(1)}.`;
}

function say(text) { $("message").textContent = text; }

function complain(text, focus) {
  say(text);
  if (focus) $(focus).focus();
}

// ---- the marked text

function show(answer) {
  drawn = answer;
  chosen = -1;
  $("copied").textContent = $("filter").value = "";
  $("threshold").value = drawn.threshold === null ? 0 : Math.round(100 * drawn.threshold);
  $("sliding").hidden = drawn.threshold === null;
  editing(false);
  close();
  put(drawn.html);
  const first = names()[0];
  if (first) first.focus({ preventScroll: true });
}

function put(html) {
  $("marked").innerHTML = html;
  slide(drawn.threshold === null ? 0 : $("threshold").value / 100);
}

$("marked").addEventListener("click", (event) => {
  const mark = event.target.closest(".name");
  if (!mark) return;
  event.preventDefault();
  if (mark.classList.contains("off")) return;
  choose(Number(mark.dataset.mention), true);
});

const names = () => [...$("marked").querySelectorAll(".name:not(.off)")];

// The threshold: the confidence of a name decides whether it is linked, and its class.
const never = ["no candidates", "not a person", "another kind"];

function answered(mention, least) {
  if (mention.best === null || never.includes(mention.reason)) return false;
  return mention.confidence === null || mention.confidence >= least;
}

function slide(least) {
  $("least").textContent = `${Math.round(100 * least)} %`;
  const linked = drawn.mentions.map((mention) => answered(mention, least));
  const shown = drawn.mentions.map((mention, at) => linked[at] && !hidden.has(mention.kind));
  for (const mark of $("marked").querySelectorAll(".name")) {
    const at = mark.dataset.mention, mention = drawn.mentions[at];
    const sure = drawn.grades.find(([, from]) => mention.confidence === null || mention.confidence >= from)[0];
    for (const style of ["sure", "likely", "faint", "nil", "off"]) mark.classList.remove(style);
    mark.classList.add(linked[at] ? sure : "nil");
    if (linked[at] && mention.kind) mark.dataset.kind = mention.kind; else delete mark.dataset.kind;
    mark.classList.toggle("off", linked[at] && !shown[at]);
    mark.tabIndex = linked[at] && !shown[at] ? -1 : 0;
  }
  const kb = `The knowledge base has ${drawn.kb}.`;
  $("count").textContent = drawn.mentions.length
    ? `${shown.filter(Boolean).length} of ${drawn.mentions.length} names linked. ${kb}`
    : `No name in this text is in the knowledge base. ${kb}`;
  filters(drawn.mentions.filter((mention, at) => linked[at]));
  list(shown);
  slid(least);
}

// The filter: a checkbox for each kind of the linked names, with its number of names. It is shown for two kinds or more.
const hidden = new Set(); // the symbols of kinds whose names are not marked

function filters(linked) {
  const counts = drawn.kinds.map(([symbol]) => linked.filter((mention) => mention.kind === symbol).length);
  $("kinds").hidden = counts.filter(Boolean).length < 2 && !hidden.size;
  if (!$("kinds").childElementCount) {
    const legend = document.createElement("legend");
    legend.textContent = "Kinds";
    $("kinds").append(legend, ...drawn.kinds.map(([symbol, plural]) => checkbox(symbol, plural)));
  }
  for (const [at, label] of [...$("kinds").querySelectorAll("label")].entries()) {
    label.hidden = !counts[at];
    label.querySelector("b").textContent = counts[at];
  }
}

function checkbox(symbol, plural) {
  const [label, box, name, count] = ["label", "input", "span", "b"].map((tag) => document.createElement(tag));
  [label.dataset.kind, label.title, name.textContent, name.className] = [symbol, plural, `${symbol} ${plural}`, "kind"];
  [box.type, box.checked] = ["checkbox", true];
  box.addEventListener("change", () => {
    if (box.checked) hidden.delete(symbol); else hidden.add(symbol);
    slide($("threshold").value / 100);
  });
  label.append(box, name, " ", count);
  return label;
}

// If the slider changes the decision of the recipe, the explanation says so.
function slid(least) {
  const mention = drawn.mentions[chosen];
  const now = mention && answered(mention, least);
  $("slid").hidden = !mention || now === (mention.qid !== null);
  $("slid").textContent = `At ${Math.round(100 * least)} % ${now ? "this is the answer" : "the answer is NIL"}.`;
}

// ---- the list of entities: counts, sorted and filtered; a click jumps to the next place of the entity

let order = { by: "count", down: true };
let found = []; // the entities of the list
const plurals = () => new Map(drawn.kinds);

function list(shown) {
  const entities = new Map();
  for (const [at, mention] of drawn.mentions.entries()) {
    if (!shown[at]) continue;
    const one = entities.get(mention.best) ?? { qid: mention.best, label: mention.best_label ?? mention.best, at: [],
      plural: plurals().get(mention.kind) ?? "", count: 0, confidence: null, kind: mention.kind };
    one.at.push(at);
    one.count += places(mention).length;
    one.confidence = Math.max(one.confidence ?? 0, mention.confidence ?? 0);
    entities.set(mention.best, one);
  }
  found = [...entities.values()];
  rows();
}

function rows() {
  const wanted = $("filter").value.trim().toLowerCase();
  const compare = (a, b) => typeof a === "string" ? a.localeCompare(b) : a - b;
  const some = found.filter((one) => `${one.label} ${one.plural} ${one.qid}`.toLowerCase().includes(wanted))
    .sort((a, b) => (order.down ? -1 : 1) * compare(a[order.by], b[order.by]) || a.label.localeCompare(b.label));
  $("list").replaceChildren(...some.map(row));
  $("found").hidden = !drawn.mentions.length;
  $("empty").hidden = some.length > 0;
  $("empty").textContent = found.length ? "No entity fits the filter." : "No name is linked at this confidence.";
}

function row(one) {
  const line = document.createElement("tr");
  const [who, kind, count, sure] = ["th", "td", "td", "td"].map((tag) => document.createElement(tag));
  const [jump, page] = [document.createElement("button"), document.createElement("a")];
  who.scope = "row";
  [jump.type, jump.textContent, jump.title] = ["button", one.label, "Jump to the next place in the text"];
  jump.addEventListener("click", () => jumpTo(one));
  [page.href, page.textContent, page.rel, page.className] = [drawn.wikidata + one.qid, one.qid, "noreferrer", "qid code"];
  who.append(jump, " ", page);
  const name = document.createElement("span");
  [name.className, name.textContent, name.dataset.kind] = ["kind", one.plural, one.kind ?? ""];
  kind.append(name);
  count.textContent = one.count;
  sure.textContent = drawn.threshold === null ? "" : percent(one.confidence);
  line.append(who, kind, count, sure);
  return line;
}

const percent = (p) => p > 0.99 ? ">99 %" : p > 0 && p < 0.005 ? "<1 %" : `${Math.round(100 * p)} %`;
const places = (mention) => [...(mention.title_spans ?? []), ...(mention.spans ?? [])];

function jumpTo(one) {
  const marks = names().filter((mark) => one.at.includes(Number(mark.dataset.mention)));
  if (!marks.length) return;
  one.next = ((one.next ?? -1) + 1) % marks.length;
  marks[one.next].scrollIntoView({ block: "center" });
  marks[one.next].focus({ preventScroll: true });
}

$("filter").addEventListener("input", rows);
for (const button of document.querySelectorAll("#found thead button")) {
  button.addEventListener("click", () => {
    order = { by: button.dataset.by, down: order.by === button.dataset.by ? !order.down : ["count", "confidence"].includes(button.dataset.by) };
    for (const head of document.querySelectorAll("#found thead th")) head.setAttribute("aria-sort", "none");
    button.parentElement.setAttribute("aria-sort", order.down ? "descending" : "ascending");
    rows();
  });
}

// ---- taking the result away: CSV, JSON lines, the text with links, a link to the text

// One row per occurrence of a name, at the chosen confidence. The confidence of a row without QID is that of NIL, if known.
function occurrences() {
  const least = drawn.threshold === null ? 0 : $("threshold").value / 100;
  return drawn.mentions.flatMap((mention) => {
    const linked = answered(mention, least);
    if (linked && hidden.has(mention.kind)) return [];
    const about = { name: mention.name, qid: linked ? mention.best : null, label: linked ? mention.best_label : null,
      kind: linked ? plurals().get(mention.kind) ?? null : null, confidence: linked ? mention.confidence : null,
      reason: linked ? null : mention.reason ?? "below the chosen confidence", best: mention.best, best_label: mention.best_label,
      best_confidence: mention.confidence };
    const at = (spans, inTitle) => (spans ?? []).map(([start, end]) => ({ start, end, in_title: inTitle, ...about }));
    return [...at(mention.title_spans, true), ...at(mention.spans, false)];
  });
}

// A cell that no spreadsheet runs as a formula, as in the files of `namesake link`.
function cell(value) {
  let text = value === null || value === undefined ? "" : String(value);
  if (typeof value === "string" && /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

$("csv").addEventListener("click", () => {
  const all = occurrences();
  const columns = Object.keys(all[0] ?? { name: "" });
  const lines = [columns, ...all.map((one) => columns.map((column) => one[column]))].map((line) => line.map(cell).join(","));
  save("entities.csv", "text/csv", `\ufeff${lines.join("\n")}\n`); // the mark makes Excel read UTF-8
});
$("jsonl").addEventListener("click", () =>
  save("entities.jsonl", "application/x-ndjson", occurrences().map((one) => `${JSON.stringify(one)}\n`).join("")));

$("copy").addEventListener("click", () => {
  const rich = document.createElement("div");
  let plain = "", wasTitle = false;
  const walk = document.createTreeWalker($("marked"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const mark = walk.currentNode.parentElement.closest(".name:not(.nil):not(.off)");
    const text = walk.currentNode.data, isTitle = Boolean(walk.currentNode.parentElement.closest("h2"));
    if (wasTitle && !isTitle) { rich.append("\n\n"); plain += "\n\n"; }
    wasTitle = isTitle;
    if (!mark) { rich.append(text); plain += text; continue; }
    const link = document.createElement("a");
    link.href = drawn.wikidata + drawn.mentions[mark.dataset.mention].best;
    link.textContent = text;
    rich.append(link);
    plain += `[${text}](${link.href})`;
  }
  clip(plain, rich.innerHTML.replaceAll("\n", "<br>"), "Copied: the text, with a link to Wikidata behind each name.");
});

$("permalink").addEventListener("click", () => {
  const facts = { text: asked.text, title: asked.title, date: asked.date };
  const kept = new URLSearchParams(Object.entries(facts).filter(([, value]) => value));
  history.replaceState(null, "", `#${kept}`);
  clip(location.href, null, "Copied: a link that opens this text here. It contains the whole text.");
});

// The clipboard by a copy event, which also works on a server without https.
function clip(plain, html, said) {
  const fill = (event) => {
    event.preventDefault();
    event.clipboardData.setData("text/plain", plain);
    if (html !== null) event.clipboardData.setData("text/html", html);
  };
  document.addEventListener("copy", fill);
  const done = document.execCommand("copy");
  document.removeEventListener("copy", fill);
  $("copied").textContent = done ? said : "The browser refused to copy.";
}

// A link to a text has it in the fragment.
function fromLink() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (!given.get("text")) return;
  $("text").value = given.get("text");
  $("date").value = given.get("date") ?? "";
  sampleTitle = given.get("title");
  ask();
}

// ---- one name explained

async function choose(number, move) {
  if (!drawn || !drawn.mentions.length) return;
  const text = drawn;
  const wanted = (number + drawn.mentions.length) % drawn.mentions.length;
  const mention = drawn.mentions[wanted];
  chosen = wanted;
  outline();
  mention.why ??= await post({ ...asked, mention: wanted });
  if (!mention.why || drawn !== text || chosen !== wanted) return; // another name or text was chosen meanwhile
  const focused = document.activeElement.closest("#marked .name")?.dataset.mention;
  put(mention.why.html);
  outline();
  $("whose").textContent = mention.name;
  $("panel").innerHTML = mention.why.panel;
  $("why").hidden = false;
  document.querySelector("main").classList.add("explaining");
  const cards = [...$("panel").querySelectorAll(".candidate")];
  for (const card of cards) {
    card.tabIndex = 0;
    for (const kind of ["mouseenter", "focusin", "click"]) card.addEventListener(kind, () => highlight(card));
  }
  highlight(cards.find((card) => card.dataset.qid) ?? null);
  slid($("threshold").value / 100);
  $("why").scrollTop = 0;
  if (move) {
    $("why").focus({ preventScroll: true });
    if (!beside()) $("why").scrollIntoView();
  } else if (focused !== undefined) names().find((mark) => mark.dataset.mention === focused)?.focus();
}

function outline() {
  for (const mark of names()) {
    const own = Number(mark.dataset.mention) === chosen;
    mark.classList.toggle("chosen", own);
    if (own) mark.setAttribute("aria-current", "true"); else mark.removeAttribute("aria-current");
  }
}

const beside = () => $("why").getBoundingClientRect().left > $("left").getBoundingClientRect().right;

// The matched words of a candidate in the text.
function highlight(card) {
  const at = new Set((card?.dataset.words ?? "").split(" ").filter(Boolean));
  for (const other of $("panel").querySelectorAll(".candidate")) other.classList.toggle("marking", other === card);
  for (const word of $("marked").querySelectorAll(".word")) word.classList.toggle("match", at.has(word.dataset.at));
}

function close() {
  const mark = names().find((one) => Number(one.dataset.mention) === chosen);
  $("why").hidden = true;
  document.querySelector("main").classList.remove("explaining");
  highlight(null);
  chosen = -1;
  outline();
  if (mark) mark.focus();
}

function edit() {
  close();
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  editing(true);
  $("text").focus();
}

function editing(yes) {
  for (const id of ["editor", "hello"]) $(id).hidden = !yes;
  $("result").hidden = yes;
  if (yes) $("found").hidden = true;
  document.querySelector("main").classList.toggle("idle", yes);
}

// ---- keys: arrows move from name to name, Escape closes the explanation

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && !$("editor").hidden) return void ask();
  if ($("result").hidden || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const mark = event.target.closest("#marked .name");
  if (step && mark) {
    event.preventDefault();
    const all = names();
    all[(all.indexOf(mark) + step + all.length) % all.length].focus();
  } else if (event.key === "ArrowRight" && chosen >= 0) choose(chosen + 1, false);
  else if (event.key === "ArrowLeft" && chosen >= 0) choose(chosen - 1, false);
  else if (event.key === "Escape" && chosen >= 0) close();
});

// ---- examples and dropped files

async function samples() {
  try {
    const all = await (await fetch("samples.json")).json();
    for (const sample of all) {
      const button = document.createElement("button");
      const date = document.createElement("span");
      button.type = "button";
      button.textContent = sample.title;
      date.textContent = sample.date;
      button.append(date);
      button.addEventListener("click", () => {
        $("text").value = sample.text;
        $("date").value = sample.date;
        sampleTitle = sample.title;
        ask();
      });
      const line = document.createElement("li");
      line.append(button);
      $("samples").append(line);
    }
  } catch { $("hello").hidden = true; }
}

const longest = 4 << 20; // bytes of a file: a million characters, of four bytes at most

async function drop(event) {
  event.preventDefault();
  $("text").classList.remove("dropping");
  const file = event.dataTransfer.files[0];
  if ($("editor").hidden) edit();
  if (file && file.size > longest) return complain("This file is too long: the limit is 4 MB of plain text.");
  const text = file ? await file.text() : event.dataTransfer.getData("text/plain");
  if (text.includes("\0") || text.includes("\uFFFD")) return complain("This file is not plain text in UTF-8: convert it, or paste the text.");
  $("text").value = text;
  sampleTitle = null;
  ask();
}

$("editor").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
$("text").addEventListener("input", () => { sampleTitle = null; });
// A file may be dropped anywhere; otherwise the browser would leave the page to open it.
document.addEventListener("dragover", (event) => { event.preventDefault(); $("text").classList.add("dropping"); });
document.addEventListener("dragleave", () => $("text").classList.remove("dropping"));
document.addEventListener("drop", drop);
$("edit").addEventListener("click", edit);
$("threshold").addEventListener("input", () => slide($("threshold").value / 100));
$("before").addEventListener("click", () => choose(chosen - 1, false));
$("after").addEventListener("click", () => choose(chosen + 1, false));
$("back").addEventListener("click", close);
window.addEventListener("hashchange", fromLink);
samples();
fromLink();
