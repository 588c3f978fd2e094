#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainRoofline = R"js(
const kChart = { width: 620, height: 330, left: 62, right: 22, top: 24, bottom: 36 };

// Powers of ten from `low` to `high` over from..to of the drawing.
function logAxis(values, least, most, from, to) {
  const low = Math.min(Math.floor(Math.log10(Math.min(...values))), least);
  const high = Math.max(Math.ceil(Math.log10(Math.max(...values))), most);
  const marks = [];
  for (let e = low; e <= high; ++e) marks.push(10 ** e);
  const at = v => from + (Math.log10(v) - low) / (high - low) * (to - from);
  return { low: 10 ** low, high: 10 ** high, marks, at };
}
const chartText = (x, y, anchor, text) => make("text", { x, y, "text-anchor": anchor }, text);
const plainNumber = x => String(Number(x.toPrecision(1)));

function chartGrid(x, y) {
  const c = kChart, right = c.width - c.right, low = c.height - c.bottom;
  return [
    x.marks.map(v => make("line", { class: "grid", x1: x.at(v), x2: x.at(v), y1: c.top, y2: low })),
    x.marks.map(v => chartText(x.at(v), low + 16, "middle", plainNumber(v))),
    y.marks.map(v => make("line", { class: "grid", x1: c.left, x2: right, y1: y.at(v), y2: y.at(v) })),
    y.marks.map(v => chartText(c.left - 8, y.at(v) + 4, "end", plainNumber(v / 1e9))),
    chartText(right, c.height - 4, "end", "flops per byte"),
    chartText(4, c.top - 13, "start", "GFLOP/s"),
  ];
}

// What copies of a rate allow: a slope up to what the fastest unit computes.
function slopeLine(x, y, name, rate, top) {
  const from = Math.max(x.low, y.low / rate), to = Math.min(x.high, top / rate);
  return to <= from ? null : { name, x1: x.at(from), y1: y.at(rate * from), x2: x.at(to), y2: y.at(rate * to) };
}
// What a unit computes, from where copies in the caches keep up with it.
function peakLine(x, y, [name, flops], caches) {
  const from = Math.min(x.high, Math.max(x.low, flops / caches));
  return { name, x1: x.at(from), y1: y.at(flops), x2: x.at(x.high), y2: y.at(flops) };
}

// ---- names of lines: where least is in the way
const textBox = (x, y, isEnd, name) => {
  const width = 8 * name.length + 4;  // "memory" is 49
  return { left: isEnd ? x - width : x, right: isEnd ? x : x + width, top: y - 12, bottom: y + 5 };
};
const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const around = (x, y, r) => ({ left: x - r, right: x + r, top: y - r, bottom: y + r });
function pointsOf(line) {
  const steps = 1 + Math.ceil(Math.hypot(line.x2 - line.x1, line.y2 - line.y1) / 4), points = [];
  for (let k = 0; k <= steps; ++k) {
    points.push(around(line.x1 + (line.x2 - line.x1) * k / steps, line.y1 + (line.y2 - line.y1) * k / steps, 1));
  }
  return points;
}
// Beside a line, above or below it, from its end to its start; then the same a text's height farther away, and so on.
function placesFor(line) {
  const isFlat = line.y1 === line.y2, places = [];
  const beside = isFlat ? [[-2, -6, true], [-2, 15, true]] : [[-8, -5, true], [9, 14, false]];
  for (let away = 0; away < 5; ++away) for (let k = 40; k >= 0; --k) {
    const x = line.x1 + (line.x2 - line.x1) * k / 40, y = line.y1 + (line.y2 - line.y1) * k / 40;
    for (const [dx, dy, isEnd] of beside) {
      places.push({ x: x + dx, y: y + dy + Math.sign(dy) * 17 * away, isEnd, away });
    }
  }
  return places;
}
// For a line so short that others' names fill what is beside it: the whole drawing, farther away costing more.
function placesAnywhere(line, frame) {
  const places = [], x0 = (line.x1 + line.x2) / 2, y0 = (line.y1 + line.y2) / 2;
  for (let y = frame.top + 14; y < frame.bottom - 5; y += 17) for (let x = frame.left; x < frame.right; x += 20) {
    places.push({ x, y, isEnd: false, away: 5 + Math.hypot(x - x0, y - y0) / 17 });
  }
  return places;
}
// Gives each line the text of its name, where it meets least; dots count most.
function nameLines(lines, dots) {
  const c = kChart, texts = [], frame = { left: c.left + 2, right: c.width - c.right, top: 2, bottom: c.height - c.bottom };
  const fits = b => b.left >= frame.left && b.right <= frame.right && b.top >= frame.top && b.bottom <= frame.bottom;
  const strokes = lines.flatMap(pointsOf);
  return lines.map(line => {
    let best = null;
    for (const place of [...placesFor(line), ...placesAnywhere(line, frame)]) {
      const box = textBox(place.x, place.y, place.isEnd, line.name), count = list => list.filter(o => meets(box, o)).length;
      const cost = (fits(box) ? 0 : 1e6) + 1e4 * count(texts) + 1000 * count(dots) + count(strokes) + 5 * place.away;
      if (best === null || cost < best.cost) best = { ...place, box, cost };
    }
    texts.push(best.box);
    return chartText(best.x, best.y, best.isEnd ? "end" : "start", line.name);
  });
}

// Flops per byte against flops per second, both logarithmic, under what the machine was measured to do.
function roofline(kernels) {
  const dots = kernels.filter(d => d.kernel.flops > 0 && d.kernel.seconds > 0 && d.kernel.bytes > 0);
  if (dots.length === 0) return make("p", { class: "soft" }, "No kernel computes anything that counts as flops.");
  if (data.limits.copies.length === 0) return note("The limits of this device are not measured.");
  const c = kChart, limits = data.limits, memory = limits.copies[limits.copies.length - 1].rate;
  const caches = limits.copies[0].rate;
  const peaks = [["f32 vectors", limits.f32], ["bf16 tiles", limits.bf16], ["int8 tiles", limits.i8]];
  const units = peaks.filter(p => p[1] > 0), top = Math.max(...units.map(p => p[1]));
  const rates = [...dots.map(d => d.kernel.flops / d.kernel.seconds), ...units.map(p => 1.6 * p[1])];
  const x = logAxis(dots.map(d => d.kernel.flops / d.kernel.bytes), -1, 2, c.left, c.width - c.right);
  const y = logAxis(rates, Infinity, -Infinity, c.height - c.bottom, c.top);
  const most = Math.max(...dots.map(d => d.total));
  const spot = d => ({ x: x.at(d.kernel.flops / d.kernel.bytes), y: y.at(d.kernel.flops / d.kernel.seconds),
    r: 4 + 8 * Math.sqrt(d.total / most) });
  const circle = d => make("circle", {
    cx: spot(d).x, cy: spot(d).y, r: spot(d).r, fill: dot(d.k),
    onclick: () => go({ tab: "kernels", part: d.part, kernel: d.k }),
  }, make("title", {}, d.kernel.title + "\n" + time(d.kernel.seconds) + ", " + roofText(d.kernel)));
  const lines = [slopeLine(x, y, "memory", memory, top), slopeLine(x, y, "caches", caches, top),
    ...units.map(unit => peakLine(x, y, unit, caches))].filter(line => line !== null);
  const stroke = ({ x1, y1, x2, y2 }) => make("line", { class: "limit", x1, y1, x2, y2 });
  return make("svg", { class: "chart", id: "roofline", viewBox: "0 0 " + c.width + " " + c.height },
    chartGrid(x, y), lines.map(stroke), [...dots].sort((a, b) => b.total - a.total).map(circle),
    nameLines(lines, dots.map(d => around(spot(d).x, spot(d).y, spot(d).r + 1))));
}
)js";

}  // namespace lumen::tools
