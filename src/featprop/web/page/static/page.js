// Keyboard shortcuts and background requests. One key labels a node, saves the answer and shows the next question, which
// is here already. Up to three key presses wait for their question. The tab keeps an answer until the server confirms
// that it is on disk, and sends it again with the same key after a reload or a failure.
"use strict";

const PENDING = "featprop-pending";
const KEYS = "featprop-keys";
const RETRY_DELAYS_S = [1, 2, 4, 8, 15];
const HEARTBEAT_MS = 60_000;
const MAX_QUEUED = 3;

let pending = []; // actions that the server has not confirmed, oldest first
let ahead = null; // the page of the next question, if it is here already
let waiting = false; // whether the question on the screen is answered and the next one is not here yet
let queued = []; // keys pressed meanwhile
let refused = ""; // why the server refused an action

const isTyping = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
const hasKeys = () => localStorage.getItem(KEYS) !== "off";

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Sending an action

// Nodes and labels are already JSON in the forms. Parsing them here would round long numbers.
function toBody(fields) {
  const isJson = (name) => name === "node" || name === "label";
  const parts = Object.entries(fields).map(([name, value]) => `"${name}":${isJson(name) ? value : JSON.stringify(value)}`);
  return `{${parts.join(",")}}`;
}

function send(steps) {
  if (waiting || pending.length >= MAX_QUEUED) {
    announce("Still saving the last answer.");
    return;
  }
  pending.push({ steps, annotator: document.body.dataset.annotator });
  keep();
  const isAnswer = ["/api/labels", "/api/skips"].includes(steps.at(-1).path);
  if (isAnswer && ahead && location.pathname === "/") {
    show(ahead);
    find("#undo")?.removeAttribute("disabled");
  } else {
    wait(true);
  }
  ahead = null;
  if (pending.length === 1) {
    attempt(0);
  }
}

function wait(isWaiting) {
  waiting = isWaiting;
  document.body.classList.toggle("busy", waiting || pending.length > 0);
}

function keep() {
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  wait(waiting);
}

// Text of a saved action, which also tells if it replaced an earlier answer
function describe(step, reply) {
  if (reply.new === false) {
    return `"${reply.class}" already exists.`;
  }
  const changed = reply.before !== null && reply.before !== undefined && step.name && String(reply.before) !== step.name;
  return changed ? `${step.text} (changed from ${reply.before})` : step.text;
}

async function attempt(count) {
  let sentence;
  const step = pending[0].steps[0];
  try {
    const answer = await fetch(step.path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: step.body,
      signal: AbortSignal.timeout(20_000),
    });
    const reply = await answer.json().catch(() => ({}));
    if (answer.ok) {
      showError("");
      finish(step, reply, answer.ok);
      return;
    }
    sentence = reply.error || `The server returned status ${answer.status}.`;
    if (answer.status === 401) {
      wait(true);
      showError("Not saved: the server was restarted. Open your new link in this tab to send the answer.");
      return;
    }
    if (answer.status < 500) {
      refused = `Not saved. ${sentence}`;
      pending[0].steps.length = 1;
      wait(true);
      finish(step, reply, answer.ok);
      return;
    }
  } catch {
    sentence = "The server is not responding.";
  }
  queued = [];
  wait(true);
  const delay = RETRY_DELAYS_S[Math.min(count, RETRY_DELAYS_S.length - 1)];
  let timer = 0;
  const retry = () => {
    clearTimeout(timer);
    attempt(count + 1);
  };
  timer = setTimeout(retry, 1000 * delay);
  showError(`Not saved yet, retrying in ${delay} s. ${sentence}`, retry);
}

// Go on after the server has confirmed or refused the oldest action
async function finish(step, reply, isSaved) {
  pending[0].steps.shift();
  if (pending[0].steps.length === 0) {
    pending.shift();
  }
  keep();
  if (pending.length > 0) {
    attempt(0);
    return;
  }
  const here = question()?.dataset.node;
  const isNext = here && reply.next && JSON.stringify(reply.next.node) === JSON.stringify(JSON.parse(here));
  if (waiting || !isNext) {
    await refresh(following(step, reply, isSaved));
    wait(false);
  }
  if (isSaved) {
    announce(describe(step, reply), { next: find("#title").textContent, canUndo: step.canUndo });
  }
  if (refused) {
    showError(refused);
    refused = "";
    queued = [];
  }
  pressQueued();
  if (pending.length === 0) {
    prefetch();
  }
}

function pressQueued() {
  while (queued.length > 0 && !waiting) {
    onKey(queued.shift());
  }
}

// The next node of a review list, without loading the whole page
async function showNext(address) {
  wait(true);
  await refresh(address);
  wait(false);
  pressQueued();
}

function parse(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

async function refresh(address) {
  const answer = await fetch(address, { signal: AbortSignal.timeout(20_000) }).catch(() => null);
  if (!answer || !answer.ok) {
    showError("Answer saved, but the next question could not be loaded.", () => location.assign(address));
    return;
  }
  show(parse(await answer.text()));
}

// Fetch the page of the question after this one, and what it knows about the last answer
async function prefetch() {
  const here = question()?.dataset.node;
  if (!here || location.pathname !== "/" || location.search) {
    return;
  }
  const answer = await fetch("/?ahead=true").catch(() => null);
  if (!answer?.ok) {
    return;
  }
  const page = parse(await answer.text());
  if (pending.length > 0 || waiting || question()?.dataset.node !== here) {
    return;
  }
  for (const part of ["#status", ".last"]) {
    const known = page.querySelector(part);
    if (known && find(part)) {
      find(part).replaceWith(known.cloneNode(true));
    }
  }
  ahead = page.getElementById("question").dataset.node ? page : null;
}

function show(page) {
  for (const id of ["status", "question"]) {
    find(`#${id}`).replaceWith(page.getElementById(id));
  }
  document.title = page.title;
  showKeys();
  dress();
  window.scrollTo(0, 0);
  find("#title").focus({ preventScroll: true });
}

// Forms become requests

const MESSAGES = {
  labels: (form, button) => `${find("#title").textContent} → ${button?.dataset.name}`,
  adjudications: (form, button) => `${find("#title").textContent} settled as ${button?.dataset.name}`,
  skips: () => `Skipped ${find("#title").textContent}`,
  undo: () => "Undone.",
  notes: () => "Note saved.",
  classes: (form) => `Added "${form.elements.name.value}".`,
};
const CAN_UNDO = ["labels", "adjudications", "skips"];

document.addEventListener("submit", (event) => {
  const form = event.target;
  const kind = form.dataset.act;
  if (!kind || !question()) {
    return;
  }
  event.preventDefault();
  const fields = Object.fromEntries(new FormData(form, event.submitter));
  if ("key" in fields) {
    fields.key = newKey();
  }
  delete fields.back;
  const isLabel = kind === "labels" || kind === "adjudications";
  if (isLabel && !("label" in fields)) {
    return;
  }
  if (!waiting) {
    event.submitter?.classList.add("chosen");
  }
  const step = { path: `/api/${kind}`, body: toBody(fields), text: MESSAGES[kind](form, event.submitter) };
  step.name = isLabel ? event.submitter?.dataset.name : undefined;
  step.canUndo = CAN_UNDO.includes(kind);
  send([...unsavedNote(kind), step]);
});

// Send an unsaved note together with the answer
function unsavedNote(kind) {
  const text = find("#text");
  if (!text?.value.trim() || !CAN_UNDO.includes(kind)) {
    return [];
  }
  const fields = { ...Object.fromEntries(new FormData(text.form)), key: newKey() };
  delete fields.back;
  return [{ path: "/api/notes", body: toBody(fields), text: "Note saved." }];
}

// Keys

function press(element) {
  element?.click();
  return Boolean(element);
}

function digitOf(event) {
  if (/^[0-9]$/.test(event.key)) {
    return event.key;
  }
  const place = /^Digit([0-9])$/.exec(event.code); // keyboards that have their digits under Shift
  return place && !event.shiftKey && event.key.length === 1 ? place[1] : null;
}

function onKey(event) {
  const digit = digitOf(event);
  if (digit !== null) {
    const reasons = find("#skip[open]");
    return press((reasons || find("#choices"))?.querySelector(`button[data-key="${digit}"]`));
  }
  const own = [...document.querySelectorAll("#choices button[data-key]")].find((button) => button.dataset.key === event.key);
  if (own) {
    return press(own);
  }
  switch (event.key) {
    case "s":
      return unfold("#skip");
    case "u":
      return press(find("#undo:enabled"));
    case "n":
      return unfold("#note");
    case "m":
      return press(find("#show-suggestion"));
    case "c":
      return unfold("#add");
    case "/":
      return unfold("#all");
    case "Enter":
      return event.target.closest("a, button, summary") ? false : press(find("#choices .accepted"));
    case "ArrowRight":
      return event.target.closest(".neighbourhood") ? false : press(find("#next"));
    case "g":
    case "?":
      help();
      return true;
    default:
      return false;
  }
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || !question()) {
    return;
  }
  if (event.key === "Escape") {
    closePanels();
    if (document.activeElement?.id === "find") {
      document.activeElement.value = "";
      narrow();
    }
    document.activeElement?.blur();
    return;
  }
  if (event.ctrlKey && event.key === "Enter" && event.target.id === "text") {
    event.target.form.requestSubmit();
    return;
  }
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !hasKeys() || find("dialog[open]")) {
    return;
  }
  if (waiting) {
    if (find("#trouble").hidden && queued.length < MAX_QUEUED) {
      queued.push({ key: event.key, code: event.code, shiftKey: event.shiftKey, target: document.body });
    }
    event.preventDefault();
    return;
  }
  if (onKey(event)) {
    event.preventDefault();
  }
});

function showKeys() {
  const button = find("#keys");
  if (button) {
    button.hidden = false;
    button.setAttribute("aria-pressed", String(hasKeys()));
    button.textContent = hasKeys() ? "Shortcuts on" : "Shortcuts off";
  }
  document.body.classList.toggle("keys-off", !hasKeys());
}

document.addEventListener("click", (event) => {
  if (event.target.id === "keys") {
    localStorage.setItem(KEYS, hasKeys() ? "off" : "on");
    showKeys();
    announce(event.target.textContent);
  }
  if (event.target.closest("#next") && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    showNext(event.target.closest("#next").href);
  }
  closePanels(event.target);
});

// Keep the question reserved and the status up to date

async function heartbeat() {
  const node = question()?.dataset.node;
  if (!node || document.hidden || pending.length > 0) {
    return;
  }
  const body = toBody({ node });
  const headers = { "Content-Type": "application/json" };
  const held = await fetch("/api/heartbeat", { method: "POST", headers, body }).catch(() => null);
  if (held?.ok && !(await held.json()).held) {
    announce("You've had this node open for a while, so someone else may get it too. Your answer still counts.");
  }
  const answer = await fetch("/status").catch(() => null);
  if (answer?.ok && pending.length === 0 && find(".status")) {
    find("#status").replaceWith(parse(await answer.text()).getElementById("status"));
  }
}

window.addEventListener("beforeunload", (event) => {
  if (pending.length > 0) {
    event.preventDefault();
  }
});

if (question()) {
  setInterval(heartbeat, HEARTBEAT_MS);
  const kept = JSON.parse(sessionStorage.getItem(PENDING) || "[]");
  pending = kept.filter((each) => each.annotator === document.body.dataset.annotator);
  if (pending.length > 0) {
    wait(true);
    attempt(0);
  } else {
    prefetch();
  }
}
showKeys();
