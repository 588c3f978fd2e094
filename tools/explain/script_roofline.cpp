#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainRoofline = R"js(
const kChart = { width: 620, height: 330, left: 62, right: 22, top: 12, bottom: 36 };

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
    chartText(c.left + 6, c.top + 10, "start", "GFLOP/s"),
  ];
}

// What copies of a rate allow: a slope up to what the fastest unit computes.
function slopeLine(x, y, name, rate, top) {
  const from = Math.max(x.low, y.low / rate), to = Math.min(x.high, top / rate);
  if (to <= from) return [];
  const [x1, y1, x2, y2] = [x.at(from), y.at(rate * from), x.at(to), y.at(rate * to)];
  return [make("line", { class: "limit", x1, y1, x2, y2 }),
    chartText((2 * x1 + x2) / 3 - 6, (2 * y1 + y2) / 3 - 6, "end", name)];
}
// What a unit computes, from where copies in the caches keep up with it. Names of lines that are close stand side by
// side.
function peakLine(x, y, [name, flops], caches, before) {
  const beside = 78 * before.filter(other => Math.abs(y.at(other[1]) - y.at(flops)) < 15).length;
  const x1 = x.at(Math.min(x.high, Math.max(x.low, flops / caches))), x2 = x.at(x.high), y1 = y.at(flops);
  return [make("line", { class: "limit", x1, x2, y1, y2: y1 }), chartText(x2 - 4 - beside, y1 - 5, "end", name)];
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
  const circle = d => make("circle", {
    cx: x.at(d.kernel.flops / d.kernel.bytes), cy: y.at(d.kernel.flops / d.kernel.seconds),
    r: 4 + 8 * Math.sqrt(d.total / most), fill: dot(d.k),
    onclick: () => go({ tab: "kernels", part: d.part, kernel: d.k }),
  }, make("title", {}, d.kernel.title + "\n" + time(d.kernel.seconds) + ", " + roofText(d.kernel)));
  return make("svg", { class: "chart", id: "roofline", viewBox: "0 0 " + c.width + " " + c.height },
    chartGrid(x, y), slopeLine(x, y, "memory", memory, top), slopeLine(x, y, "caches", caches, top),
    units.map((unit, k) => peakLine(x, y, unit, caches, units.slice(0, k))),
    [...dots].sort((a, b) => b.total - a.total).map(circle));
}
)js";

}  // namespace lumen::tools
