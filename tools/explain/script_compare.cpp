#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainCompare = R"js(
// By key: what both programs have of it, side by side.
function paired(list, key, value) {
  const sums = new Map();
  list.forEach((items, at) => items.forEach(item => {
    const k = key(item);
    if (!sums.has(k)) sums.set(k, [null, null]);
    sums.get(k)[at] = (sums.get(k)[at] || 0) + value(item);
  }));
  return [...sums].map(([name, both]) => ({ name, a: both[0], b: both[1] }));
}
const difference = r => (r.b || 0) - (r.a || 0);
const change = (a, b, show) => {
  if (a === b) return make("span", { class: "soft" }, "same");
  const text = (b > a ? "+" : "−") + show(Math.abs(b - a)) + (a > 0 && b > 0 ? " (" + times(b / a) + ")" : "");
  return make("span", { class: b > a ? "bad" : "good" }, text);
};
const oneSide = r => r.a === null ? "only B" : r.b === null ? "only A" : "";

// What can be said of both in one number.
function comparedFacts(a, b) {
  const fact = (name, value, show = x => x.toFixed(0)) =>
    ({ name, a: value(a, allKernels(a)), b: value(b, allKernels(b)), show });
  const runs = a.runs.flatMap((run, k) =>
    b.runs[k] ? [{ name: run.name, a: run.seconds, b: b.runs[k].seconds, show: time }] : []);
  return [
    fact("nodes as written", p => p.nodes),
    fact("nodes as chosen", p => sumOf(p.parts, x => x.chosen.nodes.length * x.times)),
    fact("kernel calls", (p, kernels) => sumOf(kernels, k => k.calls)),
    fact("distinct kernels", (p, kernels) => kernels.length),
    fact("bytes moved at least", (p, kernels) => sumOf(kernels, k => k.kernel.bytes * k.calls), bytes),
    fact("flops", (p, kernels) => sumOf(kernels, k => k.kernel.flops * k.calls), amount),
    fact("kernels alone, together", (p, kernels) => sumOf(kernels, k => k.total), time),
    ...runs,
  ];
}
// How often each has something, where that differs.
function countTable(id, title, name, list) {
  const rows = list.filter(r => r.a !== r.b && keeps(r.name));
  const shown = x => x === null ? "–" : String(x);
  return titled(title, rows.length === 0 ? note("No difference.") : table(id, [
    words(name, r => r.name), number("A", r => r.a, shown), number("B", r => r.b, shown),
    short("B − A", r => Math.abs(difference(r)), r => (difference(r) > 0 ? "+" : "") + difference(r)),
  ], rows, { by: 3 }));
}

function drawCompare() {
  const [a, b] = data.programs;
  if (!b) return;
  const of = (parts, items) => paired([a, b].map(p => p.parts.flatMap(parts)), x => x.name, items);
  const opsOf = x => x.chosen.nodes.map(n => ({ name: n.op, times: x.times }));
  const kernelName = k => k.kernel.title + "  [" + (k.kernel.schedule || "interpreted") + "]";
  const kernels = paired([a, b].map(allKernels), kernelName, k => k.total).filter(r => keeps(r.name));
  fill(scroll("compare"),
    make("h2", {}, "A: " + a.name + "   and   B: " + b.name),
    make("div", { class: "columns" },
      make("div", {}, titled("In all", table("facts", [
        words("", f => f.name),
        { ...number("A", f => f.a), show: f => f.show(f.a) },
        { ...number("B", f => f.b), show: f => f.show(f.b) },
        { ...number("change", f => f.b - f.a), show: f => change(f.a, f.b, f.show) },
      ], comparedFacts(a, b)))),
      make("div", {}, countTable("op-changes", "Ops of the programs that run", "op", of(opsOf, x => x.times)))),
    titled("Kernels", table("kernel-changes", [
      words("kernel", r => r.name),
      number("A", r => r.a, time),
      number("B", r => r.b, time),
      { ...number("change", r => Math.abs(difference(r))), show: r => change(r.a || 0, r.b || 0, time) },
      short("", oneSide),
    ], kernels, { by: 3 })),
    countTable("rule-changes", "Matches of rules", "rule", of(x => x.rules, r => r.matches)));
}
)js";

}  // namespace lumen::tools
