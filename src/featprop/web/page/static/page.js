// Keyboard shortcuts and background requests. One key labels a node, saves the answer and shows the next question. The tab
// keeps an answer until the server confirms that it is on disk, and sends it again with the same key after a reload or
// a failure.
"use strict";

const PENDING = "featprop-pending";
const KEYS = "featprop-keys";
const RETRY_DELAYS_S = [1, 2, 4, 8, 15];
const HEARTBEAT_MS = 60_000;

let pending = null;

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
  if (pending) {
    announce("Still saving the last answer.");
    return;
  }
  pending = { steps, annotator: document.body.dataset.annotator };
  keep();
  document.body.classList.add("busy");
  attempt(0);
}

function keep() {
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
}

function forget() {
  pending = null;
  sessionStorage.removeItem(PENDING);
  document.body.classList.remove("busy");
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
  const step = pending.steps[0];
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
      if (pending.steps.length > 1) {
        pending.steps.shift();
        keep();
        attempt(0);
        return;
      }
      await refresh(following(step, reply));
      forget();
      announce(describe(step, reply), { next: find("#title").textContent, canUndo: step.canUndo });
      return;
    }
    sentence = reply.error || `The server returned status ${answer.status}.`;
    if (answer.status === 401) {
      showError("Not saved: the server was restarted. Open your new link in this tab to send the answer.");
      return;
    }
    if (answer.status < 500) {
      forget();
      showError(`Not saved. ${sentence}`);
      find("#question")?.querySelector(".chosen")?.classList.remove("chosen");
      return;
    }
  } catch {
    sentence = "The server is not responding.";
  }
  const wait = RETRY_DELAYS_S[Math.min(count, RETRY_DELAYS_S.length - 1)];
  let timer = 0;
  const retry = () => {
    clearTimeout(timer);
    attempt(count + 1);
  };
  timer = setTimeout(retry, 1000 * wait);
  showError(`Not saved yet, retrying in ${wait} s. ${sentence}`, retry);
}

async function refresh(address) {
  const answer = await fetch(address, { signal: AbortSignal.timeout(20_000) }).catch(() => null);
  if (!answer || !answer.ok) {
    showError("Answer saved, but the next question could not be loaded.", () => location.assign(address));
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
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
  if (!pending) {
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
  closePanels(event.target);
});

// Keep the question reserved and the status up to date

async function heartbeat() {
  const node = question()?.dataset.node;
  if (!node || document.hidden || pending) {
    return;
  }
  const body = toBody({ node });
  const headers = { "Content-Type": "application/json" };
  const held = await fetch("/api/heartbeat", { method: "POST", headers, body }).catch(() => null);
  if (held?.ok && !(await held.json()).held) {
    announce("You've had this node open for a while, so someone else may get it too. Your answer still counts.");
  }
  const answer = await fetch("/status").catch(() => null);
  if (answer?.ok && !pending && find(".status")) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    find("#status").replaceWith(page.getElementById("status"));
  }
}

window.addEventListener("beforeunload", (event) => {
  if (pending) {
    event.preventDefault();
  }
});

if (question()) {
  setInterval(heartbeat, HEARTBEAT_MS);
  const kept = JSON.parse(sessionStorage.getItem(PENDING) || "null");
  if (kept && kept.annotator === document.body.dataset.annotator) {
    pending = kept;
    attempt(0);
  }
}
showKeys();
