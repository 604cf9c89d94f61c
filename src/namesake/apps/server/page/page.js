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
  editing(true);
  $("text").focus();
}

function editing(yes) {
  for (const id of ["editor", "hello"]) $(id).hidden = !yes;
  $("result").hidden = yes;
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
samples();
