// Moves the chart of chart.js, and makes the tables sortable and searchable.

// --- The overview, with the part that is shown ---------------------------------------

let overview = null; // what does not change with the view
function drawOverview() {
  const w = Math.max(280, over.clientWidth), x = v => v / total * w;
  over.setAttribute("viewBox", "0 0 " + w + " 50");
  if (!overview || overview.w !== w || overview.total !== total) {
    const g = svg("g", {});
    svg("rect", { x: 0, y: 9, width: w, height: 22, rx: 4, class: "track" }, g);
    for (const p of parts) if (p.gap) svg("rect", { x: x(p.v), y: 9, width: x(p.len), height: 22, class: "idle" }, g);
    const paths = {};
    for (const t of turns) {
      const a = x(toV(Math.max(t.s, D.from))), b = Math.max(a + .8, x(toV(endOf(t))) - .5), c = D.agents[t.a].c;
      paths[c] = (paths[c] || "") + "M" + a.toFixed(1) + " 9h" + (b - a).toFixed(1) + "v22H" + a.toFixed(1) + "z";
    }
    for (const c in paths) svg("path", { d: paths[c], class: "fill " + c }, g);
    for (const t of turns) if (t.tk !== undefined) svg("path", { d: "M" + (x(toV(t.s)) - 4) + " 1h8l-4 7z", class: "flag" }, g);
    const bins = new Map();
    for (const s of said) if (s.t >= D.from) { const k = Math.round(x(toV(s.t)) / 3); bins.set(k, (bins.get(k) || 0) + 1); }
    let d = "";
    for (const [k, n] of bins) d += "M" + (k * 3 + .5) + " 48v-" + Math.min(14, 2 + n * 2);
    if (d) svg("path", { d, class: "dense" }, g);
    overview = { g, w, total };
  }
  over.replaceChildren(overview.g);
  const a = x(view.a), b = x(view.b), all = view.b - view.a > total * .999;
  if (!all) {
    svg("rect", { x: 0, y: 0, width: Math.max(0, a), height: 50, class: "shade" }, over);
    svg("rect", { x: b, y: 0, width: Math.max(0, w - b), height: 50, class: "shade" }, over);
    svg("rect", { x: a + .75, y: 4, width: Math.max(2, b - a - 1.5), height: 42, rx: 3, class: "frame" }, over);
    for (const at of [a, b]) svg("rect", { x: at - 2, y: 16, width: 4, height: 16, rx: 2, class: "grip" }, over);
  }
  over.setAttribute("aria-valuenow", Math.round(100 * (view.a + view.b) / 2 / total));
  over.setAttribute("aria-valuetext", all ? "all of it" : day(toTime(view.a)) + " " + clock(toTime(view.a)) + " to " + day(toTime(view.b)) + " " + clock(toTime(view.b)));
}

// --- Moving the view --------------------------------------------------------------

let pending = false, moved = false;
function show(a, b) {
  const least = Math.min(total, 4000), len = Math.max(least, Math.min(total, b - a));
  a = Math.max(0, Math.min(total - len, a));
  view = { a, b: a + len };
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; draw(); });
}
function zoom(factor, at = .5) {
  const len = view.b - view.a, centre = view.a + len * at;
  show(centre - len * factor * at, centre + len * factor * (1 - at));
}
const shift = part => show(view.a + (view.b - view.a) * part, view.b + (view.b - view.a) * part);

lanes.addEventListener("wheel", e => {
  if (e.ctrlKey || e.metaKey) {
    e.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 90), Math.max(0, Math.min(1, (e.clientX - lanes.getBoundingClientRect().left - LEFT) / (W - LEFT))));
  } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
    e.preventDefault();
    shift((e.deltaX || e.deltaY) / (W - LEFT));
  }
}, { passive: false });
lanes.addEventListener("pointerdown", e => {
  moved = false;
  if (e.button) return;
  const start = e.clientX, from = view, perPixel = (view.b - view.a) / (W - LEFT);
  const move = e => {
    const dx = e.clientX - start;
    if (Math.abs(dx) > 4) { moved = true; lanes.classList.add("drag"); tip.hidden = true; }
    if (moved) show(from.a - dx * perPixel, from.b - dx * perPixel);
  };
  const up = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", up); removeEventListener("pointercancel", up); lanes.classList.remove("drag"); };
  addEventListener("pointermove", move); addEventListener("pointerup", up); addEventListener("pointercancel", up);
});
lanes.addEventListener("dblclick", e => zoom(.4, (e.clientX - lanes.getBoundingClientRect().left - LEFT) / (W - LEFT)));
// In the overview, an end of the part shown can be pulled, the part can be moved, and
// elsewhere a new one is drawn.
over.addEventListener("pointerdown", e => {
  if (e.button) return;
  const box = over.getBoundingClientRect(), at = e => Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)) * total;
  const near = 7 / box.width * total, start = at(e), from = view, all = view.b - view.a > total * .999;
  let how = "new";
  if (!all && Math.abs(start - view.a) < near) how = "left";
  else if (!all && Math.abs(start - view.b) < near) how = "right";
  else if (!all && start > view.a && start < view.b) how = "move";
  let dragged = false;
  const move = e => {
    const now = at(e);
    if (Math.abs(now - start) > near / 2) dragged = true;
    if (!dragged) return;
    if (how === "move") show(from.a + now - start, from.b + now - start);
    else if (how === "left") show(Math.min(now, from.b), from.b);
    else if (how === "right") show(from.a, Math.max(now, from.a));
    else show(Math.min(start, now), Math.max(start, now));
  };
  const up = () => {
    removeEventListener("pointermove", move); removeEventListener("pointerup", up); removeEventListener("pointercancel", up);
    if (!dragged && how === "new") { const len = all ? total / 6 : view.b - view.a; show(start - len / 2, start + len / 2); }
  };
  addEventListener("pointermove", move); addEventListener("pointerup", up); addEventListener("pointercancel", up);
});
over.addEventListener("dblclick", () => show(0, total));
over.addEventListener("keydown", e => {
  const keys = { ArrowLeft: () => shift(-.2), ArrowRight: () => shift(.2), PageUp: () => shift(-1), PageDown: () => shift(1), Home: () => show(0, view.b - view.a), End: () => show(total - view.b + view.a, total), ArrowUp: () => zoom(.6), ArrowDown: () => zoom(1.7) };
  if (keys[e.key]) { keys[e.key](); e.preventDefault(); e.stopPropagation(); }
});

// --- Hints ----------------------------------------------------------------------

function hover(node, lines) {
  node.addEventListener("pointerenter", e => {
    if (e.pointerType === "touch" || e.buttons) return;
    const [head, text] = lines();
    tip.replaceChildren();
    html("b", "", head, tip);
    if (text) html("span", "", cut(String(text), 280), tip);
    tip.hidden = false;
    place(e);
  });
  node.addEventListener("pointermove", place);
  node.addEventListener("pointerleave", () => { tip.hidden = true; });
}
function place(e) {
  const box = plot.getBoundingClientRect();
  let x = e.clientX - box.left + 14, y = e.clientY - box.top + 16;
  if (e.clientY + tip.offsetHeight + 24 > innerHeight) y -= tip.offsetHeight + 30;
  tip.style.left = Math.max(0, Math.min(x, box.width - tip.offsetWidth - 4)) + "px";
  tip.style.top = y + "px";
}

// --- Details --------------------------------------------------------------------

const detail = $("detail"), findings = $("findings");
function openDetail(title, cls) {
  detail.replaceChildren();
  const nav = html("div", "nav", undefined, detail);
  const button = (text, fn, enabled) => { const b = html("button", "", text, nav); b.type = "button"; b.disabled = !enabled; b.addEventListener("click", fn); };
  if (selected) {
    button("‹ Previous", () => pick(turns[selected.i - 1], true), selected.i > 0);
    button("Next ›", () => pick(turns[selected.i + 1], true), selected.i < turns.length - 1);
  }
  button("Close", () => pick(null), true);
  const head = html("h3", "", undefined, detail);
  html("i", "dot " + cls, undefined, head);
  html("span", "", title, head);
  findings.hidden = true;
  detail.hidden = false;
  detail.scrollTop = 0;
  return detail;
}
function facts(list, d) {
  const dl = html("dl", "", undefined, d);
  for (const [name, value] of list) if (value) { html("dt", "", name, dl); html("dd", "", value, dl); }
}
function section(title, items, d, code) {
  if (!items.length) return;
  html("h4", "", title, d);
  const ul = html("ul", "", undefined, d);
  for (const i of items) html(code ? "code" : "span", "pre", i, html("li", "", undefined, ul));
}
function artifact(a) {
  if (!a || typeof a !== "object") return String(a);
  return String(a.path || "") + (Array.isArray(a.lines) ? ":" + a.lines.join("-") : "") + (a.role ? " (" + a.role + ")" : "") + (a.note ? ": " + a.note : "");
}
function showTurn(t) {
  const d = openDetail("Turn " + t.n + ", " + who(t.a), D.agents[t.a].c), h = handoff(t), before = turns[t.i - 1];
  if (t.tk !== undefined) html("p", "bad", "Taken over from " + who(t.tk) + (t.why ? ": " + t.why : ""), d);
  facts([
    ["from", day(t.s) + " " + clock(t.s, true)],
    ["to", t.e ? (day(t.e) === day(t.s) ? "" : day(t.e) + " ") + clock(t.e, true) : "still held"],
    ["held", duration(endOf(t) - t.s)],
    ["waited", t.w ? duration(t.w) : ""],
    ["began with", t.tk === undefined ? (BEGAN[t.k] || t.k || "") + (t.k !== "open_claim" && before && before.h ? " of " + who(before.a) + " (turn " + before.n + ")" : "") : ""],
    ["ended", t.e ? (ENDED[t.by] || t.by) + (t.to === undefined ? "" : " to " + who(t.to)) + (t.ew ? ": " + t.ew : "") : ""],
    ["changed", t.f ? t.f + (t.f === 1 ? " file" : " files") + " +" + (t.fa || 0) + " −" + (t.fr || 0) : ""],
  ], d);
  if (h.status) { html("h4", "", "Did", d); html("p", "pre", String(h.status), d); }
  if (h.next_action) { html("h4", "", "Next", d); html("p", "pre", String(h.next_action), d); }
  section("Look at", (Array.isArray(h.artifacts) ? h.artifacts : []).map(artifact), d, true);
  section("Open questions", texts(h.open_questions), d);
  section("Do not", texts(h.do_not), d);
  if (t.f) {
    section("Files", t.fp || [], d, true);
    html("h4", "", "To look at it, and to take it back", d);
    html("p", "pre", ["tt diff ", "tt undo "].map(c => c + t.n + (D.redacted ? "" : " --path '" + D.path.replaceAll("'", "'\\''") + "'")).join("\n"), d);
  }
  section("Meanwhile", said.filter(s => during(s.t) === t).map(s => clock(s.t, true) + " " + (s.what === "message" ? "" : s.what + ", ") + who(s.f) + " → " + s.to + ": " + s.text), d);
}
function pickSaid(s) {
  selected = null;
  mark();
  const d = openDetail(s.what[0].toUpperCase() + s.what.slice(1), D.agents[s.f].c), t = during(s.t);
  facts([["from", who(s.f)], ["to", s.to + (s.urgent ? " (urgent)" : "")], ["at", day(s.t) + " " + clock(s.t, true)], ["state", s.state || ""]], d);
  html("p", "pre", s.text, d);
  if (t) { const a = html("a", "", "during turn " + t.n + " of " + who(t.a), html("p", "", undefined, d)); a.href = "#turn=" + t.n; }
}
// pick selects a turn, or none, shows it, and makes it the one that Tab reaches.
function pick(t, reveal) {
  if (t === undefined) return;
  selected = t;
  mark();
  if (!t) {
    detail.hidden = true; findings.hidden = false;
    history.replaceState(null, "", location.pathname + location.search);
    return;
  }
  makeCurrent(t);
  showTurn(t);
  history.replaceState(null, "", "#turn=" + t.n);
  $("live").textContent = label(t);
  if (reveal) bringIntoView(t);
}
function mark() {
  for (const e of document.querySelectorAll(".on")) e.classList.remove("on");
  if (!selected) return;
  selected.g.classList.add("on");
  const row = document.querySelector("#turns-table tr[data-n=\"" + selected.n + "\"]");
  if (row) row.classList.add("on");
}
function makeCurrent(t) {
  if (current) current.g.setAttribute("tabindex", -1);
  current = t;
  t.g.setAttribute("tabindex", 0);
}
function bringIntoView(t) {
  const a = toV(t.s), b = toV(endOf(t));
  if (a >= view.a && b <= view.b) return;
  const len = Math.max(view.b - view.a, (b - a) * 1.6);
  show((a + b) / 2 - len / 2, (a + b) / 2 + len / 2);
}
lanes.addEventListener("keydown", e => {
  const g = e.target.closest("[data-n]"), t = g && byNumber.get(+g.dataset.n);
  if (!t) return;
  const lane = step => {
    const x = (t.s + endOf(t)) / 2;
    for (let i = t.a + step; i >= 0 && i < D.agents.length; i += step) {
      const own = turns.filter(u => u.a === i);
      if (own.length) return own.reduce((best, u) => Math.abs(u.s - x) < Math.abs(best.s - x) ? u : best);
    }
  };
  let to;
  if (e.key === "ArrowRight") to = turns[t.i + 1];
  else if (e.key === "ArrowLeft") to = turns[t.i - 1];
  else if (e.key === "ArrowDown") to = lane(1);
  else if (e.key === "ArrowUp") to = lane(-1);
  else if (e.key === "Home") to = turns[0];
  else if (e.key === "End") to = turns[turns.length - 1];
  else if (e.key === "Enter" || e.key === " ") { pick(t); e.preventDefault(); return; }
  else return;
  e.preventDefault();
  if (!to) return;
  makeCurrent(to);
  if (selected) pick(to, true); else bringIntoView(to);
  to.g.style.display = "";
  to.g.focus({ preventScroll: true });
});
addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input")) return;
  if (e.key === "Escape" && !detail.hidden) { const back = selected; pick(null); if (detail.contains(document.activeElement) && back) back.g.focus(); }
  else if (e.key === "+") zoom(.6);
  else if (e.key === "-") zoom(1.7);
  else if (e.key === "0") show(0, total);
  else if (e.key === "/") { const f = document.querySelector("#turns input"); if (f) { f.focus(); e.preventDefault(); } }
});

// --- Tables ---------------------------------------------------------------------

function sortable(table) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const key = (row, i) => { const c = row.cells[i]; return c.dataset.v === undefined ? c.textContent : +c.dataset.v; };
  heads.forEach((th, i) => {
    const b = html("button", "", th.textContent);
    b.type = "button";
    th.replaceChildren(b);
    b.addEventListener("click", () => {
      const up = th.getAttribute("aria-sort") ? th.getAttribute("aria-sort") === "descending" : !th.classList.contains("n") || i === 0;
      heads.forEach(h => h.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map((row, n) => ({ row, n, k: key(row, i) }));
      rows.sort((x, y) => (x.k < y.k ? -1 : x.k > y.k ? 1 : 0) * (up ? 1 : -1) || x.n - y.n);
      body.append(...rows.map(r => r.row));
    });
  });
}
function searchable(table, what) {
  const bar = table.closest("section").querySelector(".bar"), box = html("div", "find", undefined, bar);
  const found = html("span", "", "", box), input = html("input", "", undefined, box);
  input.type = "search";
  input.placeholder = "Find in " + what;
  input.setAttribute("aria-label", "Find in " + what);
  found.setAttribute("role", "status");
  const rows = [...table.tBodies[0].rows];
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const row of rows) {
      row.text = row.text || row.textContent.toLowerCase();
      row.hidden = !words.every(w => row.text.includes(w));
      if (!row.hidden) n++;
    }
    found.textContent = words.length ? n + " of " + rows.length : "";
  });
}

// --- Beginning ------------------------------------------------------------------

function legend() {
  const list = $("legend"), sample = (text, paint) => {
    const li = html("li", "", undefined, list);
    paint(svg("svg", { width: 26, height: 14, "aria-hidden": "true" }, li));
    html("span", "", text, li);
  };
  sample("turn", v => svg("rect", { x: 1, y: 1, width: 24, height: 12, rx: 3, class: "fill c0" }, v));
  sample("waits for it", v => svg("line", { x1: 1, x2: 25, y1: 7, y2: 7, class: "wait c0" }, v));
  sample("reserved, not claimed", v => svg("rect", { x: 1, y: 1, width: 24, height: 12, rx: 3, class: "offer c0" }, v));
  sample("handoff", v => svg("path", { d: "M1 2C12 2 12 12 25 12", class: "hand c0" }, v));
  sample("takeover", v => { const g = svg("g", { class: "mark" }, v); svg("circle", { cx: 13, cy: 7, r: 6.5 }, g); svg("text", { x: 13, y: 11, "text-anchor": "middle" }, g, "!"); });
  sample("message", v => { svg("line", { x1: 13, x2: 13, y1: 0, y2: 9, class: "msg" }, v); svg("path", { d: "M13 14l-3.5 -6h7z", class: "head" }, v); });
  sample("to everybody", v => { svg("circle", { cx: 13, cy: 7, r: 4, class: "msg" }, v); svg("circle", { cx: 13, cy: 7, r: 1.5, class: "head" }, v); });
  if (D.notes.length) sample("note", v => svg("rect", { x: 9, y: 3, width: 8, height: 8, transform: "rotate(45 13 7)", class: "note" }, v));
  if (D.asks.length) sample("question", v => { svg("circle", { cx: 13, cy: 7, r: 6.5, class: "ask" }, v); svg("text", { x: 13, y: 11, class: "q", "text-anchor": "middle" }, svg("g", { class: "said" }, v), "?"); });
}
function themes() {
  const button = $("theme"), root = document.documentElement, system = matchMedia("(prefers-color-scheme:dark)");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const say = () => { button.textContent = dark() ? "Light" : "Dark"; button.setAttribute("aria-label", (dark() ? "Light" : "Dark") + " colours"); };
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; say(); });
  system.addEventListener("change", say);
  button.hidden = false;
  say();
}
function followHash(reveal) {
  const m = /^#turn=(\d+)$/.exec(location.hash), t = m && byNumber.get(+m[1]);
  if (t) pick(t, reveal);
  return Boolean(t);
}

themes();
for (const id of ["agents", "turns-table", "said"]) if ($(id)) sortable($(id));
if (turns.length) searchable($("turns-table"), "turns and handoffs");
if ($("said")) searchable($("said"), "what was said");
$("turns-table").tBodies[0].addEventListener("click", e => {
  const row = e.target.closest("tr"), t = row && byNumber.get(+row.dataset.n);
  if (!t || getSelection().toString()) return;
  e.preventDefault();
  pick(t, true);
  $("chart").scrollIntoView({ block: "start" });
  if (e.detail === 0) t.g.focus({ preventScroll: true }); // by the keyboard
});
if (!D.agents.length) return;

const defs = svg("defs", {}, lanes), hatch = svg("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, defs);
svg("line", { x1: 0, x2: 0, y1: 0, y2: 6, class: "hatch" }, hatch);
svg("rect", { x: 0, y: 0 }, svg("clipPath", { id: "clip" }, defs));
bars.setAttribute("clip-path", "url(#clip)");
lanes.append(below, bars, above);
plot.hidden = false; $("tools").hidden = false;
layParts(true);
show(0, total);
legend();
makeBars();
if (turns.length) makeCurrent(turns[0]);
draw();
$("skip-idle").closest("label").hidden = !D.idle.length;
$("skip-idle").addEventListener("change", () => { const a = toTime(view.a), b = toTime(view.b), all = view.b - view.a > total * .999; layParts($("skip-idle").checked); overview = null; if (all) show(0, total); else show(toV(a), toV(b)); });
$("show-said").addEventListener("change", draw);
$("show-waits").addEventListener("change", draw);
$("zoom-in").addEventListener("click", () => zoom(.6));
$("zoom-out").addEventListener("click", () => zoom(1.7));
$("zoom-all").addEventListener("click", () => show(0, total));
addEventListener("hashchange", () => { if (followHash(true)) $("chart").scrollIntoView({ block: "start" }); });
followHash(true);
new ResizeObserver(() => { if (plot.clientWidth !== W) draw(); }).observe(plot);
