#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainBasics = R"js(
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const kSvg = "http://www.w3.org/2000/svg";
const state = { tab: "", program: 0, part: 0, view: "chosen", select: null, kernel: null, cls: null, search: "" };
const program = () => data.programs[state.program];
const part = () => program().parts[state.part];
const byId = id => document.getElementById(id);

// An element: attributes by name (on… are handlers), then children, texts among them.
function make(tag, attributes, ...children) {
  const svg = ["svg", "g", "rect", "text", "path", "line", "circle", "title", "polyline"].includes(tag);
  const element = svg ? document.createElementNS(kSvg, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) element.append(child);
  return element;
}
const fill = (element, ...children) => { element.replaceChildren(...children.flat(Infinity).filter(c => c !== null)); };

// ---- numbers for people
function time(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]) {
    if (seconds >= size * 0.9995) return digits(seconds / size) + " " + unit;
  }
  return digits(seconds * 1e9) + " ns";
}
const digits = x => x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);
function amount(x) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) if (x >= size) return digits(x / size) + " " + unit;
  return x.toFixed(0) + " ";
}
const bytes = x => amount(x) + "B";
const percent = x => (100 * x).toFixed(x < 0.0995 ? 1 : 0) + " %";
const rate = x => x > 0 ? digits(x) : "";
const times = x => x >= 100 ? x.toFixed(0) + "×" : x.toFixed(2) + "×";
const more = (x, least) => x < 1.1 * least ? percent(x / least - 1) + " more" :
    times(x / Math.max(least, 1e-15)) + " the cost";
const count = (n, word) => n + " " + word + (n === 1 ? "" : "s");
// Of kernels: colours that are told apart, the next ones paler or stronger. `hue` fills what text stands on, `dot` is the
// same for points and frames.
const kHues = [212, 28, 130, 345, 275, 56, 184, 310, 88, 240, 8, 160];
const shade = k => Math.floor(k / kHues.length) % 3;
const hue = k => "hsl(" + kHues[k % kHues.length] + " " + [85, 55, 40][shade(k)] + "% " + [80, 70, 88][shade(k)] + "%)";
const dot = k => "hsl(" + kHues[k % kHues.length] + " " + [75, 55, 35][shade(k)] + "% " + [45, 33, 55][shade(k)] + "%)";
const swatch = k => make("span", { class: "swatch kernel", style: "background:" + hue(k) + ";border-color:" + dot(k) });

// Columns of tables: `value` is what they sort by, `show` makes of it, or of the row, what is seen.
const number = (name, value, show = String) => ({ name, value, show: row => show(value(row)), kind: "" });
const words = (name, value, show) => ({ name, value, show: show || (row => String(value(row))), kind: "text" });
const short = (name, value, show) => ({ ...words(name, value, show), kind: "short" });

// A click on a heading sorts, numbers down first. Options: `by`, the column it is sorted by; `pick`, what a click on a
// row does; `mark`, its class.
function table(id, columns, rows, options = {}) {
  const head = make("tr"), body = make("tbody");
  let by = options.by === undefined ? -1 : options.by, down = true;
  const row = each => make("tr", {
    class: (options.pick ? "row " : "") + (options.mark ? options.mark(each) : ""),
    onclick: () => { if (options.pick) options.pick(each); },
  }, columns.map(c => make("td", { class: c.kind }, c.show(each))));
  const draw = () => {
    const key = by < 0 ? null : columns[by].value;
    const order = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (down ? -1 : 1);
    fill(body, (key === null ? rows : [...rows].sort(order)).map(row));
    [...head.children].forEach((th, k) => {
      th.classList.toggle("down", k === by && down);
      th.classList.toggle("up", k === by && !down);
    });
  };
  columns.forEach((c, k) => head.append(make("th", {
    class: c.kind + " sorts", id: id + "-" + k,
    onclick: () => { down = by === k ? !down : c.kind !== "text"; by = k; draw(); },
  }, c.name)));
  draw();
  return make("table", { id }, make("thead", {}, head), body);
}
const titled = (title, ...content) => [make("h3", {}, title), ...content];
const note = (...content) => make("p", { class: "soft" }, ...content);
const facts = pairs => make("dl", {}, pairs.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
const scroll = tab => document.querySelector("#tab-" + tab + " .scroll");

const matches = (...texts) => state.search !== "" &&
  texts.some(t => t !== undefined && String(t).toLowerCase().includes(state.search.toLowerCase()));
const keeps = (...texts) => state.search === "" || matches(...texts);
)js";

}  // namespace lumen::tools
