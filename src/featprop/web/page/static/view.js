// What the page shows: messages, help, the search for classes, the drawing, and what follows an answer.
"use strict";

const find = (selector) => document.querySelector(selector);
const question = () => find("#question");
const DRAWING = "featprop-drawing";
const TOAST_MS = 3000;

// Messages: spoken by screen readers, and shown at the bottom left with a button to undo

let toastTimer = 0;

function announce(text, { next = "", canUndo = false } = {}) {
  find("#live").textContent = next ? `${text}. Next: ${next}` : text;
  const toast = find("#toast");
  toast.replaceChildren(text);
  const undo = find("#undo:enabled");
  if (canUndo && undo) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Undo (u)";
    button.addEventListener("click", () => find("#undo:enabled")?.click());
    toast.append(button);
  }
  toast.style.bottom = `${(find(".answer")?.offsetHeight ?? 0) + 14}px`;
  toast.hidden = false;
  hideToast();
}

function hideToast() {
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (find("#toast:hover, #toast:focus-within") ? hideToast() : (find("#toast").hidden = true)), TOAST_MS);
}

function showError(text, retry) {
  const bar = find("#trouble");
  bar.hidden = !text;
  bar.textContent = text || "";
  if (text && retry) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Retry now";
    button.addEventListener("click", retry);
    bar.append(button);
  }
}

// The page that follows an action: the next question, the next node of a list, or this node again
function following(step, reply, isSaved) {
  const parts = new URL(location.href);
  if (!parts.pathname.startsWith("/review/")) {
    return parts.pathname;
  }
  const isAnswer = isSaved && ["/api/labels", "/api/adjudications", "/api/skips"].includes(step.path);
  const node = step.path === "/api/undo" && isSaved && reply.node !== null ? JSON.stringify(reply.node) : question().dataset.node;
  return `${parts.pathname}?${isAnswer ? "after" : "node"}=${encodeURIComponent(node)}`;
}

// Panels

function unfold(id) {
  const details = find(id);
  if (!details) {
    return false;
  }
  closePanels();
  const around = details.closest("[popover]");
  if (around && around.offsetParent === null && getComputedStyle(around).display === "none") {
    around.showPopover();
  }
  details.open = true;
  details.querySelector("textarea, button, input:not([type=hidden])").focus({ preventScroll: true });
  return true;
}

function closePanels(except = null) {
  for (const details of document.querySelectorAll(".pop[open]")) {
    if (!except || !details.contains(except)) {
      details.open = false;
    }
  }
}

async function help() {
  let dialog = find("dialog");
  if (!dialog) {
    const answer = await fetch("/help");
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    dialog = document.createElement("dialog");
    dialog.setAttribute("aria-label", "Help");
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    close.autofocus = true;
    const heading = document.createElement("h1");
    heading.textContent = "Help";
    dialog.append(close, heading, page.getElementById("help"));
    document.body.append(dialog);
  }
  if (!dialog.open) {
    dialog.showModal();
  }
}

// More than ten classes: search for one by letters in order

function matches(name, wanted) {
  let from = 0;
  for (const letter of wanted) {
    from = name.indexOf(letter, from) + 1;
    if (from === 0) {
      return false;
    }
  }
  return true;
}

function narrow() {
  const wanted = find("#find").value.trim().toLowerCase();
  const left = [];
  for (const button of document.querySelectorAll("#found-classes button")) {
    const name = button.dataset.name.toLowerCase();
    button.hidden = !matches(name, wanted);
    button.classList.remove("first");
    if (!button.hidden) {
      left.push([name.startsWith(wanted) ? 0 : name.includes(wanted) ? 1 : 2, left.length, button]);
    }
  }
  left.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const first = wanted && left.length ? left[0][2] : null;
  first?.classList.add("first");
  const count = `${left.length} ${left.length === 1 ? "match" : "matches"}`;
  find("#found").textContent = wanted ? (first ? `${count}, Enter picks ${first.dataset.name}` : "No matches.") : "";
  return first;
}

document.addEventListener("input", (event) => {
  if (event.target.id === "find") {
    narrow();
  }
  if (event.target.id === "text") {
    find("#note").classList.toggle("draft", event.target.value.trim() !== "");
  }
});

document.addEventListener("keydown", (event) => {
  if (event.target.id === "find" && event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    (event.repeat ? null : narrow())?.click();
  }
});

// The drawing: one tab stop, arrow keys inside; a chip lights up its mark

document.addEventListener("keydown", (event) => {
  const drawing = event.target.closest?.(".neighbourhood");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!drawing || !step) {
    return;
  }
  const links = [...drawing.querySelectorAll("a")];
  const here = links.indexOf(event.target.closest("a"));
  links[here < 0 ? 0 : (here + step + links.length) % links.length]?.focus({ preventScroll: true });
  event.preventDefault();
});

for (const [kind, isLit] of [["pointerover", true], ["focusin", true], ["pointerout", false], ["focusout", false]]) {
  document.addEventListener(kind, (event) => {
    const chip = event.target.closest?.(".chip[data-node]");
    if (chip) {
      find(`.neighbourhood a[data-node="${chip.dataset.node}"]`)?.classList.toggle("lit", isLit);
    }
  });
}

document.addEventListener("toggle", (event) => {
  if (event.target.id === "drawing") {
    localStorage.setItem(DRAWING, event.target.open ? "open" : "closed");
  }
}, true);

// After a new node is on the page
function dress() {
  const drawing = find("#drawing");
  if (drawing && localStorage.getItem(DRAWING) === "open") {
    drawing.open = true;
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
  }
}

document.addEventListener("click", async (event) => {
  const text = event.target.dataset?.copy;
  if (text) {
    await navigator.clipboard.writeText(text).then(() => announce("Copied."), () => announce("Copying is not possible here."));
  }
});

dress();
