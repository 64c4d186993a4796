"use strict";
// Draws the chart of a report from the model in the page, and makes the tables sortable
// and searchable. Texts of the model reach the page through textContent and attributes
// only, never as HTML.
(() => {
const D = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const SVG = "http:" + "//www.w3.org/2000/svg";

// --- Elements -------------------------------------------------------------------

function svg(name, attrs, parent, text) {
  const e = document.createElementNS(SVG, name);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.append(e);
  return e;
}
function html(name, cls, text, parent) {
  const e = document.createElement(name);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  if (parent) parent.append(e);
  return e;
}

// --- Words ----------------------------------------------------------------------

const pad = n => String(n).padStart(2, "0");
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
function clock(t, seconds) {
  const d = new Date(t);
  return pad(d.getUTCHours()) + ":" + pad(d.getUTCMinutes()) + (seconds ? ":" + pad(d.getUTCSeconds()) : "");
}
function day(t) {
  const d = new Date(t);
  return DAYS[d.getUTCDay()] + " " + d.getUTCDate() + " " + MONTHS[d.getUTCMonth()];
}
function duration(ms) {
  const s = Math.round(ms / 1000);
  if (ms < 1000) return Math.round(ms) + " ms";
  if (s < 60) return s + " s";
  if (s < 600 && s % 60) return Math.floor(s / 60) + " min " + s % 60 + " s";
  if (s < 3600) return Math.floor(s / 60) + " min";
  if (s < 172800) return Math.floor(s / 3600) + " h " + pad(Math.floor(s % 3600 / 60));
  return Math.floor(s / 86400) + " d " + Math.floor(s % 86400 / 3600) + " h";
}
const cut = (text, most) => text.length > most ? text.slice(0, Math.max(1, most - 1)) + "…" : text;
const who = i => D.agents[i].id;
const BEGAN = { open_claim: "it was free", sequence: "a handoff", direct_pass: "an assignment", lost: "a damaged event" };
const ENDED = { release: "released", pass: "assigned", takeover: "taken away", kick: "removed", member_left: "left", close: "the room ended", lost: "a damaged event" };

// --- The model ------------------------------------------------------------------

const endOf = t => t.e || Math.max(t.s, D.to);
const texts = list => (Array.isArray(list) ? list : []).map(String);
const handoff = t => t.h && typeof t.h === "object" ? t.h : {};
const turns = D.turns;
const byNumber = new Map(turns.map(t => [t.n, t]));
turns.forEach((t, i) => { t.i = i; });
let others = 0;
D.agents.forEach(a => { a.c = a.kind === "human" ? "c7" : "c" + others++ % 7; });
// What was said, in the order of time: messages, notes, questions and answers.
const said = [
  ...D.msgs.map(m => ({ what: "message", t: m.t, f: m.f, o: m.o, text: m.b, urgent: m.i, to: m.o === undefined ? "everybody" : who(m.o) })),
  ...D.notes.map(n => ({ what: "note", t: n.t, f: n.f, text: n.b, urgent: n.p, to: n.o === undefined ? "everybody" : who(n.o), state: n.r ? "resolved" : "open" })),
  ...D.asks.flatMap(q => [
    { what: "question", t: q.t, f: q.f, o: q.o, text: q.b, to: q.p ? "a person" : q.o === undefined ? "anybody" : who(q.o), state: q.st },
    ...q.answers.map(a => ({ what: "answer", t: a.t, f: a.f, o: q.f, text: a.b, to: who(q.f) }))])
].sort((a, b) => a.t - b.t);
// The turn in which something was said, by bisection of the starts.
function during(at) {
  let a = 0, b = turns.length;
  while (a < b) { const m = (a + b) >> 1; if (turns[m].s <= at) a = m + 1; else b = m; }
  const t = turns[a - 1];
  return t && endOf(t) >= at ? t : null;
}

// --- Time and places --------------------------------------------------------------
// Parts are the times with activity, and in between, unless idle time is shown, the idle
// ones as narrow columns. v counts along the parts; the view is a range of it.

let parts = [], total = 1, view = { a: 0, b: 1 };
function layParts(skip) {
  const gaps = skip ? D.idle : [];
  const idle = gaps.reduce((sum, g) => sum + g.e - g.s, 0);
  const column = Math.max(1, Math.min((D.to - D.from - idle) * .016, 3e5));
  parts = []; total = 0;
  const add = (s, e, gap) => {
    const len = gap ? column : Math.max(1, e - s);
    parts.push({ s, e, gap, v: total, len });
    total += len;
  };
  let at = D.from;
  for (const g of gaps) { if (g.s > at || !parts.length) add(at, g.s, false); add(g.s, g.e, true); at = g.e; }
  add(at, Math.max(at, D.to), false);
}
function toV(t) {
  let a = 0, b = parts.length - 1;
  while (a < b) { const m = (a + b + 1) >> 1; if (parts[m].s <= t) a = m; else b = m - 1; }
  const p = parts[a];
  return p.v + Math.min(1, Math.max(0, (t - p.s) / Math.max(1, p.e - p.s))) * p.len;
}
function toTime(v) {
  const p = parts.find(p => v <= p.v + p.len) || parts[parts.length - 1];
  return p.s + (v - p.v) / p.len * (p.e - p.s);
}

const lanes = $("lanes"), over = $("over"), tip = $("tip"), plot = $("plot");
let W = 900, H = 400, LEFT = 170, LANE = 58, narrow = false;
const TOP = 36, BAR = 24, BOTTOM = 22;
const X = t => LEFT + (toV(t) - view.a) / (view.b - view.a) * (W - LEFT - 8);
const middle = i => TOP + i * LANE + (narrow ? 37 : Math.round(LANE / 2) - 5);
const seen = (x1, x2) => x2 >= LEFT - 1 && x1 <= W + 1;

// --- The lanes ------------------------------------------------------------------
// The turns are elements that stay, because they can have the focus. What is below them
// and above them is drawn anew each time.

const below = svg("g", {}), bars = svg("g", {}), above = svg("g", {});
let current = null; // the turn that Tab reaches
let selected = null;

function label(t) {
  let text = "Turn " + t.n + ", " + who(t.a) + ", " + day(t.s) + " " + clock(t.s) + ", " + duration(endOf(t) - t.s);
  if (t.tk !== undefined) text += ", taken over from " + who(t.tk);
  text += t.e ? ", " + (ENDED[t.by] || t.by) : ", still held";
  return text;
}
function makeBars() {
  for (const t of turns) {
    t.g = svg("g", { class: "turn " + D.agents[t.a].c, role: "button", tabindex: -1, "data-n": t.n, "aria-label": label(t) }, bars);
    t.r = svg("rect", { height: BAR }, t.g);
    if (!t.e) t.arrow = svg("path", {}, t.g);
    t.g.addEventListener("click", () => { if (!moved) pick(t); });
    hover(t.g, () => ["Turn " + t.n + " · " + who(t.a) + " · " + duration(endOf(t) - t.s),
      t.tk !== undefined ? "taken over: " + (t.why || "") : handoff(t).next_action ? "next: " + handoff(t).next_action : t.e ? ENDED[t.by] || t.by : "still held"]);
  }
}
function placeBars() {
  for (const t of turns) {
    const x1 = X(Math.max(t.s, D.from)), x2 = X(endOf(t)), shown = seen(x1, x2), w = Math.max(1.5, x2 - x1 - 1);
    t.g.style.display = shown ? "" : "none";
    if (!shown) continue;
    const y = middle(t.a) - BAR / 2, r = Math.min(4, w / 2);
    t.r.setAttribute("x", x1); t.r.setAttribute("y", y); t.r.setAttribute("width", w); t.r.setAttribute("rx", r);
    if (t.arrow) t.arrow.setAttribute("d", "M" + (x1 + w) + " " + y + "l6 12l-6 12z");
    const from = Math.max(x1, LEFT), room = Math.min(x1 + w, W) - from - 11;
    let text = "";
    if (room > 7 * String(t.n).length) {
      text = String(t.n);
      const status = room > 110 ? String(handoff(t).status || "") : "";
      if (status) text += "  " + cut(status, Math.floor((room - 8 * text.length) / 6.6));
    }
    if (text && !t.text) t.text = svg("text", {}, t.g);
    if (t.text) { t.text.textContent = text; t.text.setAttribute("x", from + 6); t.text.setAttribute("y", y + 16); }
  }
}

const STEPS = [1e3, 5e3, 15e3, 6e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5, 1728e5, 6048e5, 25920e5];
function drawAxis() {
  let span = 0;
  for (const p of parts) if (!p.gap) span += Math.max(0, Math.min(p.v + p.len, view.b) - Math.max(p.v, view.a));
  const step = STEPS.find(s => span / s <= Math.max(2, (W - LEFT) / 70)) || STEPS[STEPS.length - 1];
  let lastX = -99, lastDay = "", dayX = -99;
  const sayDay = (x, t) => {
    const d = day(t);
    if (d === lastDay || x - dayX < 74 || x > W - 12) return;
    svg("text", x > W - 70 ? { x: W - 2, y: 12, class: "axis day", "text-anchor": "end" } : { x: x + 2, y: 12, class: "axis day" }, below, d);
    lastDay = d; dayX = x;
  };
  for (const p of parts) {
    const x1 = Math.max(LEFT, X(p.s)), x2 = Math.min(W, X(p.e));
    if (x2 <= LEFT || x1 >= W) continue;
    if (p.gap) {
      svg("rect", { x: x1, y: TOP, width: Math.max(1, x2 - x1), height: H - TOP - BOTTOM, class: "idle" }, below);
      if (x2 - x1 > 3) svg("text", { x: Math.min(W - 24, (x1 + x2) / 2), y: H - 7, class: "axis", "text-anchor": "middle" }, below, duration(p.e - p.s));
      continue;
    }
    if (step >= 864e5) { // a part is at most a few days: it begins with its day
      if (x1 - lastX < 72 || x1 > W - 50) continue;
      svg("line", { x1, x2: x1, y1: TOP, y2: H - BOTTOM, class: "grid" }, below);
      svg("text", { x: x1 + 2, y: 29, class: "axis" }, below, day(Math.max(p.s, toTime(view.a))));
      lastX = x1;
      continue;
    }
    if (x2 - x1 > 24) sayDay(x1, Math.max(p.s, toTime(view.a)));
    const first = Math.max(p.s, toTime(Math.max(p.v, view.a)));
    for (let t = Math.ceil(first / step) * step; t <= p.e; t += step) {
      const x = X(t);
      if (x > W - 4) break;
      if (x < LEFT || x - lastX < 48) continue;
      if (t % 864e5 === 0) sayDay(x, t);
      svg("line", { x1: x, x2: x, y1: TOP, y2: H - BOTTOM, class: "grid" }, below);
      if (x < W - 18 && x > LEFT + 14) svg("text", { x, y: 29, class: "axis", "text-anchor": "middle" }, below, clock(t, step < 6e4));
      lastX = x;
    }
  }
}
function drawNames() {
  const held = D.agents.map(() => 0);
  for (const t of turns) held[t.a] += endOf(t) - t.s;
  const sum = held.reduce((a, b) => a + b, 0) || 1;
  D.agents.forEach((a, i) => {
    const y = TOP + i * LANE, x = narrow ? 4 : 10, line = narrow ? y + 14 : middle(i) - 1;
    svg("circle", { cx: x + 4, cy: line - 4, r: 4.5, class: "fill " + a.c }, above);
    const name = svg("text", { x: x + 15, y: line, class: "name" }, above, cut(a.id, narrow ? 36 : 20));
    svg("title", {}, name, a.id);
    const share = Math.round(100 * held[i] / sum) + " % · " + duration(held[i]);
    svg("text", narrow ? { x: W - 6, y: line, class: "small", "text-anchor": "end" } : { x: x + 15, y: line + 15, class: "small" }, above, share);
  });
}
function drawMembers(g) {
  for (const m of D.here) {
    const x1 = X(m.s), x2 = X(m.e || D.to), y = middle(m.a);
    if (!seen(x1, x2)) continue;
    svg("line", { x1, x2, y1: y, y2: y, class: "here " + (m.ob ? "observes " : "") + D.agents[m.a].c }, g);
    if (m.w === "kick") svg("path", { d: "M" + (x2 - 4) + " " + (y - 4) + "l8 8m0 -8l-8 8", class: "gone" }, g);
  }
}
function drawWaits(g) {
  for (const t of turns) {
    if (!t.w || t.w < 1000) continue;
    const x1 = X(Math.max(D.from, t.s - t.w)), x2 = X(t.s), y = middle(t.a) + BAR / 2 + 5;
    if (!seen(x1, x2) || x2 - x1 < 2) continue;
    hover(svg("line", { x1, x2: x2 - 1, y1: y, y2: y, class: "wait " + D.agents[t.a].c }, g), () => [who(t.a) + " waited " + duration(t.w), "until turn " + t.n]);
  }
}
function drawOffers(g) {
  for (const o of D.offered) {
    const x1 = X(o.s), x2 = X(o.e || D.to);
    if (!seen(x1, x2) || x2 - x1 < 3) continue;
    hover(svg("rect", { x: x1, y: middle(o.a) - 11, width: x2 - x1, height: 22, rx: 4, class: "offer " + D.agents[o.a].c }, g),
      () => ["Reserved for " + who(o.a), duration((o.e || D.to) - o.s) + " not claimed"]);
  }
}
function drawHandoffs(g, marks) {
  let shown = 0;
  for (const t of turns) if (seen(X(t.s), X(t.s))) shown++;
  const curves = shown < 700; // more would be one grey surface
  const taken = turns.filter(t => t.tk !== undefined && seen(X(t.s), X(t.s))).length;
  for (let i = 0; i < turns.length; i++) {
    const t = turns[i], x2 = X(t.s);
    if (t.tk !== undefined) {
      if (!seen(x2, x2)) continue;
      const from = middle(t.tk), to = middle(t.a);
      svg("path", { d: "M" + x2 + " " + from + "L" + x2 + " " + to, class: taken > 40 ? "taken many" : "taken" }, g);
      const q = svg("g", { class: "mark" }, marks), y = (from + to) / 2;
      svg("circle", { cx: x2, cy: y, r: taken > 40 ? 3.5 : 8 }, q);
      if (taken <= 40) svg("text", { x: x2, y: y + 4, "text-anchor": "middle" }, q, "!");
      hover(q, () => ["Turn " + t.n + ": " + who(t.a) + " took over from " + who(t.tk), t.why]);
      q.addEventListener("click", () => pick(t));
      continue;
    }
    const p = turns[i - 1];
    if (!p || !curves || p.a === t.a) continue;
    const x1 = X(endOf(p));
    if (!seen(Math.min(x1, x2), Math.max(x1, x2))) continue;
    const y1 = middle(p.a), y2 = middle(t.a), bend = Math.max(7, Math.min(42, Math.abs(x2 - x1) / 2));
    svg("path", { d: "M" + x1 + " " + y1 + "C" + (x1 + bend) + " " + y1 + " " + (x2 - bend) + " " + y2 + " " + x2 + " " + y2, class: "hand " + D.agents[p.a].c }, g);
  }
}
function drawSaid(g) {
  const list = said.filter(s => { const x = X(s.t); return s.t >= D.from && x >= LEFT && x <= W; });
  if (list.length > 500) { // as lines that show how dense it is
    const paths = D.agents.map(() => "");
    for (const s of list) paths[s.f] += "M" + X(s.t).toFixed(1) + " " + (middle(s.f) - 19) + "v5";
    paths.forEach(d => { if (d) svg("path", { d, class: "dense" }, g); });
    return;
  }
  for (const s of list) {
    const x = X(s.t), y = middle(s.f), q = svg("g", { class: "said" + (s.urgent ? " urgent" : "") }, g);
    const down = s.o !== undefined && s.o > s.f, side = down ? 1 : -1;
    if (s.o !== undefined && s.o !== s.f) {
      const y1 = y + side * 13, y2 = middle(s.o) - side * 13;
      svg("line", { x1: x, x2: x, y1, y2, class: "msg" }, q);
      svg("path", { d: "M" + x + " " + y2 + "l-3.5 " + -6 * side + "h7z", class: "head" }, q);
      svg("line", { x1: x, x2: x, y1, y2, class: "hit" }, q);
    }
    if (s.what === "note") svg("rect", { x: x - 4, y: y - 21, width: 8, height: 8, transform: "rotate(45 " + x + " " + (y - 17) + ")", class: "note" }, q);
    else if (s.what === "question") { svg("circle", { cx: x, cy: y - 18, r: 6.5, class: "ask" }, q); svg("text", { x, y: y - 14.3, class: "q", "text-anchor": "middle" }, q, "?"); }
    else if (s.o === undefined) { svg("circle", { cx: x, cy: y + 18, r: 3.5, class: "msg" }, q); svg("circle", { cx: x, cy: y + 18, r: 1.3, class: "head" }, q); }
    hover(q, () => [clock(s.t, true) + " " + s.what + ", " + who(s.f) + " → " + s.to + (s.urgent ? " (urgent)" : ""), s.text]);
    q.addEventListener("click", () => { if (!moved) pickSaid(s); });
  }
}
function drawLives(g) {
  for (const l of D.lives) {
    const x = l.e ? X(l.e) : NaN;
    if (!(x >= LEFT && x <= W)) continue;
    hover(svg("line", { x1: x, x2: x, y1: TOP, y2: H - BOTTOM, class: "life" }, g), () => ["The room ended", (l.f === undefined ? "" : "closed by " + who(l.f)) + (l.ew ? ": " + l.ew : "")]);
  }
}
function draw() {
  W = Math.max(280, plot.clientWidth);
  narrow = W < 620;
  LEFT = narrow ? 6 : 176;
  LANE = narrow ? 72 : Math.max(52, Math.min(88, Math.floor(528 / Math.max(1, D.agents.length))));
  H = TOP + D.agents.length * LANE + BOTTOM;
  lanes.setAttribute("viewBox", "0 0 " + W + " " + H);
  lanes.setAttribute("height", H);
  const clip = $("clip").firstChild;
  clip.setAttribute("x", LEFT); clip.setAttribute("width", W - LEFT); clip.setAttribute("height", H);
  below.replaceChildren(); above.replaceChildren();
  D.agents.forEach((a, i) => { if (i % 2 === 0) svg("rect", { x: 0, y: TOP + i * LANE, width: W, height: LANE, class: "stripe" }, below); });
  drawAxis();
  const under = svg("g", { "clip-path": "url(#clip)" }, below), upon = svg("g", { "clip-path": "url(#clip)" }, above);
  drawMembers(under);
  drawLives(under);
  drawOffers(under);
  if ($("show-waits").checked) drawWaits(under);
  drawHandoffs(under, upon);
  if ($("show-said").checked) drawSaid(upon);
  placeBars();
  drawNames();
  drawOverview();
}

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
})();
