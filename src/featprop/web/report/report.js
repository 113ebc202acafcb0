"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const nodes = data.nodes.x.map((_, place) => Object.fromEntries(Object.entries(data.nodes).map(([name, values]) => [name, values[place]])));
  const text = (number) => data.texts[number];
  const get = (id) => document.getElementById(id);
  const picture = get("picture"), panel = get("panel"), hint = get("hint"), box = document.querySelector(".mapbox");
  const view = picture.viewBox.baseVal, whole = { x: 0, y: 0, width: view.width, height: view.height };
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let hovered = -1, chosen = -1;
  document.documentElement.classList.add("scripted");

  function make(tag, content, attributes = {}) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    for (const part of [content].flat()) if (part !== null && part !== undefined) element.append(part);
    return element;
  }
  const swatch = (code) => make("i", [], { class: `swatch ${data.styles[code]}`, "aria-hidden": "true" });
  const named = (code) => make("span", [swatch(code), data.classes[code]], { class: "class" });
  function shows(node) {
    const filter = document.querySelectorAll('.for-class [aria-pressed="true"]');
    return !filter.length || [...filter].some((button) => Number(button.dataset.class) === node.class);
  }

  // The map: the node nearest to the pointer.
  function scale() {
    const wide = picture.clientWidth || 700;
    box.style.setProperty("--k", (view.width / wide) * (wide < 500 ? 0.6 : 0.72) * (whole.width / view.width > 2 ? 1.3 : 1));
    document.querySelector(".stage").classList.toggle("zoomed", view.width < whole.width);
    for (const sign of document.querySelectorAll("#cursor circle, #chosen circle")) {
      sign.setAttribute("r", (sign.parentNode.id === "chosen" ? 11 : 8) * (view.width / wide));
    }
  }
  function at(event) {
    const frame = picture.getBoundingClientRect();
    return [view.x + ((event.clientX - frame.left) / frame.width) * view.width, view.y + ((event.clientY - frame.top) / frame.height) * view.height];
  }
  function nearest(x, y, reach) {
    let best = -1, least = reach * reach;
    nodes.forEach((node, place) => {
      const apart = (node.x - x) ** 2 + (node.y - y) ** 2 - (node.label >= 0 ? 9 : 0);
      if (apart < least && shows(node)) { best = place; least = apart; }
    });
    return best;
  }
  function put(sign, place) {
    sign.setAttribute("visibility", place < 0 ? "hidden" : "visible");
    if (place >= 0) sign.setAttribute("transform", `translate(${nodes[place].x} ${nodes[place].y})`);
  }
  function verdict(node) {
    if (node.label >= 0) return `labelled ${data.classes[node.label]}`;
    return `predicted ${data.classes[node.class]}, ${node.confidence} % confidence`;
  }
  function hover(place) {
    hovered = place;
    put(get("cursor"), place);
    hint.hidden = place < 0;
    if (place < 0) return;
    const node = nodes[place], frame = picture.getBoundingClientRect();
    hint.replaceChildren(text(node.title), make("span", verdict(node)));
    const left = ((node.x - view.x) / view.width) * frame.width, top = ((node.y - view.y) / view.height) * frame.height;
    hint.style.left = `${Math.max(4, Math.min(left + 14, frame.width - hint.offsetWidth - 8))}px`;
    hint.style.top = `${top + 16 + hint.offsetHeight > frame.height ? top - hint.offsetHeight - 12 : top + 14}px`;
  }

  // The panel: details of the chosen node.
  function pixels(node) {
    const side = Math.sqrt(node.picture.length), canvas = make("canvas", [], { width: side, height: side, role: "img", "aria-label": "Features as a picture" });
    const brush = canvas.getContext("2d");
    brush.fillStyle = getComputedStyle(document.body).color;
    [...node.picture].forEach((shade, place) => {
      brush.globalAlpha = Number(shade) / 8;
      brush.fillRect(place % side, Math.floor(place / side), 1, 1);
    });
    return canvas;
  }
  function bar(share, code) {
    const fill = make("i", [], { class: data.styles[code] });
    fill.style.width = `${share}%`;
    return make("span", fill, { class: "meter" });
  }
  function goTo(place) {
    const button = make("button", [swatch(nodes[place].class), text(nodes[place].title)], { type: "button", title: verdict(nodes[place]) });
    button.addEventListener("click", () => { choose(place); panel.focus({ preventScroll: true }); });
    return button;
  }
  function fields(node) {
    return make("dl", node.fields.flatMap(([name, value, note, href]) => [make("dt", text(name)), make("dd", [
      href && /^https?:/i.test(href) ? make("a", text(value), { href, rel: "noreferrer noopener", target: "_blank" }) : text(value),
      text(note) ? make("small", text(note)) : null,
    ])]));
  }
  function classes(node) {
    const parts = [], label = node.label, audit = node.audit;
    if (label >= 0) parts.push(make("p", ["Labelled: ", named(label)], { class: "verdict" }));
    if (audit >= 0) parts.push(make("p", ["Audited: ", named(audit)], { class: "verdict" }));
    parts.push(make("h4", "Prediction"));
    parts.push(make("div", node.likely.flatMap(([code, share]) => [named(code), bar(share, code), `${share} %`]), { class: "probabilities" }));
    const near = node.nearest;
    if (label < 0) parts.push(make("p", [`Distance to the nearest label: ${node.distance}`, ...(near === null ? [] : [", ", goTo(near)])], { class: "around note" }));
    return parts;
  }
  function around(node) {
    const elsewhere = ([name, code]) => make("span", [swatch(code), text(name)], { class: "elsewhere", title: "Not on the map" });
    const count = node.degree, rest = count - node.near.length;
    return [
      make("h4", count ? `Neighbours: ${count.toLocaleString("en")}` : "No neighbours"),
      make("p", node.counts.map(([code, number]) => [named(code), `: ${number.toLocaleString("en")} `]).flat(), { class: "note" }),
      make("div", node.near.map((each) => (typeof each === "number" ? goTo(each) : elsewhere(each))), { class: "around" }),
      rest ? make("p", `and ${rest.toLocaleString("en")} more`, { class: "note" }) : null,
    ];
  }
  function choose(place, from = null) {
    chosen = place;
    put(get("chosen"), place);
    get("threads").setAttribute("d", place < 0 ? "" : nodes[place].near.filter(Number.isInteger).map((other) => `M${nodes[place].x} ${nodes[place].y}L${nodes[other].x} ${nodes[other].y}`).join(""));
    if (place < 0) {
      panel.replaceChildren(make("p", "Click a node for details.", { class: "quiet" }));
      return;
    }
    const node = nodes[place], parts = [];
    if (from) {
      const back = make("button", "↩ Back to the list", { type: "button", class: "back" });
      back.addEventListener("click", () => { from.scrollIntoView({ block: "center" }); from.focus({ preventScroll: true }); });
      parts.push(back);
    }
    if (node.picture) parts.push(pixels(node));
    parts.push(make("h3", text(node.title)), ...classes(node));
    for (const list of node.lists) parts.push(make("p", `In the list: ${data.lists[list]}`, { class: "flag" }));
    parts.push(...around(node));
    if (node.fields.length) parts.push(make("h4", "Columns"), fields(node));
    panel.replaceChildren(...parts.filter((part) => part !== null));
    panel.scrollTop = 0;
    const inside = node.x >= view.x && node.x <= view.x + view.width && node.y >= view.y && node.y <= view.y + view.height;
    if (!inside) zoom(view.width, node.x, node.y);
  }

  // Zoom and pan.
  function zoom(width, x, y) {
    view.width = Math.max(whole.width / 12, Math.min(whole.width, width));
    view.height = (view.width / whole.width) * whole.height;
    view.x = Math.max(0, Math.min(whole.width - view.width, x - view.width / 2));
    view.y = Math.max(0, Math.min(whole.height - view.height, y - view.height / 2));
    hover(-1);
    scale();
  }
  const middle = () => (chosen >= 0 ? [nodes[chosen].x, nodes[chosen].y] : [view.x + view.width / 2, view.y + view.height / 2]);
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom({ in: view.width / 1.6, out: view.width * 1.6, all: whole.width }[button.dataset.zoom], ...middle()));
  }
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const [x, y] = at(event), width = Math.max(whole.width / 12, Math.min(whole.width, view.width * (event.deltaY > 0 ? 1.25 : 0.8)));
    zoom(width, x + (view.x + view.width / 2 - x) * (width / view.width), y + (view.y + view.height / 2 - y) * (width / view.width));
  }, { passive: false });
  let dragged = null;
  picture.addEventListener("pointerdown", (event) => {
    if (view.width < whole.width) dragged = { x: event.clientX, y: event.clientY, from: [view.x + view.width / 2, view.y + view.height / 2], far: false };
  });
  addEventListener("pointerup", () => setTimeout(() => { dragged = null; }));
  picture.addEventListener("pointermove", (event) => {
    if (dragged) {
      const frame = picture.getBoundingClientRect(), x = event.clientX - dragged.x, y = event.clientY - dragged.y;
      dragged.far ||= Math.hypot(x, y) > 5;
      if (dragged.far) zoom(view.width, dragged.from[0] - (x / frame.width) * view.width, dragged.from[1] - (y / frame.height) * view.height);
      return;
    }
    hover(nearest(...at(event), (18 * view.width) / picture.clientWidth));
  });
  picture.addEventListener("pointerleave", () => hover(-1));
  picture.addEventListener("click", (event) => {
    if (dragged && dragged.far) return;
    choose(nearest(...at(event), (24 * view.width) / picture.clientWidth));
  });

  // The keyboard: arrows move to the nearest node in that direction.
  picture.setAttribute("tabindex", "0");
  picture.setAttribute("role", "application");
  picture.setAttribute("aria-description", "Arrow keys move between nodes, Enter opens one, Escape closes it.");
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const here = hovered >= 0 ? hovered : chosen >= 0 ? chosen : nodes.findIndex((node) => node.label >= 0);
    if (step) {
      event.preventDefault();
      let best = -1, least = Infinity;
      if (hovered < 0 && chosen < 0) best = here;
      else nodes.forEach((node, place) => {
        const x = node.x - nodes[here].x, y = node.y - nodes[here].y, along = x * step[0] + y * step[1], aside = Math.abs(x * step[1]) + Math.abs(y * step[0]);
        if (along > 0 && aside <= 1.2 * along && shows(node) && along + 2 * aside < least) { best = place; least = along + 2 * aside; }
      });
      if (best >= 0) {
        const node = nodes[best];
        if (node.x < view.x || node.x > view.x + view.width || node.y < view.y || node.y > view.y + view.height) zoom(view.width, node.x, node.y);
        hover(best);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (hovered >= 0) choose(hovered);
    } else if (event.key === "Escape") { hover(-1); choose(-1); }
    else if (event.key === "+") zoom(view.width / 1.6, ...middle());
    else if (event.key === "-") zoom(view.width * 1.6, ...middle());
  });

  // Links from tables to the map and back.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-node]");
    if (!link) return;
    event.preventDefault();
    choose(Number(link.dataset.node), link);
    get("map").scrollIntoView({ behavior: still.matches ? "auto" : "smooth" });
    panel.focus({ preventScroll: true });
  });
  for (const button of document.querySelectorAll("[data-more]")) {
    const closed = button.textContent;
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      const shown = button.previousElementSibling.querySelector("table").classList.toggle("whole");
      button.setAttribute("aria-expanded", String(shown));
      button.textContent = shown ? "Show fewer" : closed;
    });
  }

  // Filter by class.
  for (const button of document.querySelectorAll(".for-class [data-class]")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      const pressed = new Set([...document.querySelectorAll('.for-class [aria-pressed="true"]')].map((each) => each.dataset.class));
      box.classList.toggle("filtered", pressed.size > 0);
      for (const each of box.querySelectorAll("[data-class]")) each.classList.toggle("on", pressed.has(each.dataset.class));
    });
  }

  // Find a node by its name or id.
  const find = get("find"), found = get("found");
  function close() { found.hidden = true; find.setAttribute("aria-expanded", "false"); find.removeAttribute("aria-activedescendant"); }
  function look() {
    const wanted = find.value.trim().toLowerCase();
    const hits = [];
    for (let place = 0; wanted && place < nodes.length && hits.length < 8; place++) {
      const node = nodes[place];
      if (text(node.title).toLowerCase().includes(wanted) || text(node.id).toLowerCase() === wanted) hits.push(place);
    }
    found.replaceChildren(...hits.map((place, number) => make("li", text(nodes[place].title), { role: "option", id: `hit-${number}`, "data-place": place, "aria-selected": String(number === 0) })));
    if (wanted && !hits.length) found.replaceChildren(make("li", "No such node on the map", { "aria-disabled": "true" }));
    found.hidden = !wanted;
    find.setAttribute("aria-expanded", String(!found.hidden));
  }
  function take(option) {
    if (!option || option.dataset.place === undefined) return;
    close();
    choose(Number(option.dataset.place));
    panel.focus({ preventScroll: true });
  }
  find.addEventListener("input", look);
  find.addEventListener("keydown", (event) => {
    const options = [...found.querySelectorAll("[role=option]")], current = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = Math.max(0, Math.min(options.length - 1, current + (event.key === "ArrowDown" ? 1 : -1)));
      options.forEach((option, number) => option.setAttribute("aria-selected", String(number === next)));
      if (options[next]) find.setAttribute("aria-activedescendant", options[next].id);
    } else if (event.key === "Enter") { event.preventDefault(); take(options[current]); }
    else if (event.key === "Escape") close();
  });
  found.addEventListener("pointerdown", (event) => { event.preventDefault(); take(event.target.closest("li")); });
  find.addEventListener("blur", close);

  // Copy commands.
  for (const block of document.querySelectorAll(".commands pre")) {
    const button = make("button", "Copy", { type: "button", class: "copy" }), command = block.textContent;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(block.firstChild);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.append(button);
  }

  addEventListener("resize", scale);
  addEventListener("beforeprint", () => { zoom(whole.width, 0, 0); box.style.removeProperty("--k"); });
  addEventListener("afterprint", scale);
  scale();
})();
