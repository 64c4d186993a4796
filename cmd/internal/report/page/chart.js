// Draws the chart of a report from the model in the page. Texts of the model reach the page
// through textContent and attributes only, never as HTML. It runs in one function with page.js.
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
const utc = t => new Date(t).toUTCString().split(" "); // "Mon,", "02", "Jan", "2006", "15:04:05", "GMT"
const clock = (t, seconds) => utc(t)[4].slice(0, seconds ? 8 : 5);
const day = t => utc(t)[0].slice(0, 3) + " " + +utc(t)[1] + " " + utc(t)[2];
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
// The last of a list in the order of its starts that had begun by then.
function begun(list, at) {
  let a = 0, b = list.length;
  while (a < b) { const m = (a + b) >> 1; if (list[m].s <= at) a = m + 1; else b = m; }
  return list[a - 1];
}
// The turn in which something was said.
function during(at) {
  const t = begun(turns, at);
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
  const p = begun(parts, t) || parts[0];
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
