#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainKernels = R"js(
// Of a program: every kernel of every part, with what it takes in the whole.
function allKernels(p) {
  return p.parts.flatMap((each, at) => each.kernels.map((kernel, k) => ({
    part: at, k, kernel, where: each.where,
    total: kernel.seconds * kernel.calls * each.times, calls: kernel.calls * each.times,
  })));
}
function nameOfPart(p, at) {
  const { times, where } = p.parts[at];
  const which = p.parts.length > 1 ? "part " + (at + 1) + " of " + p.parts.length : "the whole";
  return which + (times > 1 ? ", " + times + " times" : "") + (where ? ", " + where : "");
}
// The same for the box above: the bucket must be seen.
function shortNameOfPart(p, at) {
  const { times, where } = p.parts[at];
  return (at + 1) + " of " + p.parts.length + (times > 1 ? " ×" + times : "") + (where ? ", " + where : "");
}
const sumOf = (list, value) => list.reduce((sum, x) => sum + value(x), 0);
const ofLimit = k => Math.max(k.mbu, k.mfu);
const roofText = k => percent(ofLimit(k)) + " of " + (k.bound === "memory" ? "copying" : "arithmetic");
const colouredTitle = x => [swatch(x.k), x.kernel.title];

function drawOverview() {
  // Buckets of sizes are programs of their own: one is shown.
  const p = program(), r = p.report, where = part().where, inside = where ? ", " + where : "";
  const buckets = [...new Set(p.parts.map(x => x.where))];
  const kernels = allKernels(p).filter(k => k.where === where), total = sumOf(kernels, k => k.total);
  const spent = sumOf(r.stages, g => g.seconds);
  const card = (value, what) => make("div", { class: "card" }, make("b", {}, value), make("span", {}, what));
  const bucket = b => make("button", {
    class: b === where ? "on" : "", onclick: () => go({ part: p.parts.findIndex(x => x.where === b) }),
  }, b);
  const bar = g => make("span", { class: "bar", style: "width:" + (180 * g.seconds / Math.max(spent, 1e-9)) + "px" });
  const slowest = [...kernels].sort((a, b) => b.total - a.total).slice(0, 9);
  fill(scroll("overview"),
    make("div", { class: "cards" },
      card(p.nodes, "nodes as written"),
      r.parts > 1 ? card(r.distinct + " of " + r.parts, "parts differ") : null,
      card(sumOf(kernels, k => k.calls), "kernel calls" + inside),
      card(kernels.length, "distinct kernels" + inside),
      card(time(total), "kernels alone, together" + inside),
      p.runs.map(run => card(time(run.seconds), run.name)),
      card(time(spent), "to compile, " + r.measured + " kernels timed")),
    buckets.length > 1 ? make("p", {}, "Shown: ", buckets.map(bucket)) : null,
    make("div", { class: "columns" },
      make("div", {}, titled("Roofline: kernels under the machine's limits", roofline(kernels),
        note("A dot is a kernel, larger when it takes more. Limits were measured on ",
          count(data.limits.threads, "thread"), "."))),
      make("div", {}, titled("Where the time goes" + inside, table("top", [
        words("kernel", k => k.kernel.title, colouredTitle),
        number("calls", k => k.calls),
        number("time", k => k.total, time),
        number("share", k => k.total / total, percent),
      ], slowest, { by: 2, pick: k => go({ tab: "kernels", part: k.part, kernel: k.k }) })))),
    make("div", { class: "columns" },
      make("div", {}, titled("Parts", table("parts", [
        words("part", at => at, at => nameOfPart(p, at)),
        number("nodes", at => p.parts[at].written.nodes.length),
        number("kernels", at => p.parts[at].kernels.length),
        number("time, once", at => sumOf(p.parts[at].kernels, k => k.seconds * k.calls), time),
      ], p.parts.map((each, at) => at), { pick: at => go({ tab: "graph", part: at, select: null }) }))),
      make("div", {}, titled("Compiling", table("stages", [
        words("stage", g => g.name), number("time", g => g.seconds, time), short("", g => g.seconds, bar),
      ], r.stages)))));
}

// The one that was asked for, else the one that takes longest.
function kernelShown() {
  const all = part().kernels, total = k => all[k].seconds * all[k].calls;
  if (state.kernel !== null && state.kernel < all.length) return state.kernel;
  return all.reduce((best, each, k) => total(k) > total(best) ? k : best, 0);
}
function drawKernels() {
  const list = part().kernels.map((kernel, k) => ({ kernel, k }));
  const total = sumOf(list, x => x.kernel.seconds * x.kernel.calls);
  const computes = x => fromKernel(x.k).flatMap(k => written()[k].names || []);
  const rows = list.filter(x => keeps(x.kernel.title, x.kernel.schedule) || isNamed(computes(x)));
  const sizes = part().dims ? ", timed at " + part().dims : "";
  fill(scroll("kernels"), make("h2", {}, "Kernels of " + nameOfPart(program(), state.part) + sizes),
    table("kernel-table", [
      words("kernel", x => x.kernel.title, colouredTitle),
      number("calls", x => x.kernel.calls),
      number("a call", x => x.kernel.seconds, time),
      number("in all", x => x.kernel.seconds * x.kernel.calls, time),
      number("share", x => x.kernel.seconds * x.kernel.calls / total, percent),
      number("GB/s", x => x.kernel.bytes / x.kernel.seconds / 1e9, rate),
      number("GFLOP/s", x => x.kernel.flops / x.kernel.seconds / 1e9, rate),
      number("of limit", x => ofLimit(x.kernel), percent),
    ], rows, { by: 4, pick: x => go({ kernel: x.k }), mark: x => x.k === kernelShown() ? "selected" : "" }),
    note("The limit is what copies of as many bytes, or multiply-adds, reach here, whichever a kernel is nearer to. " +
      "Copies write as much as they read: a kernel that writes less, or finds its data in a nearer cache, may pass it."));
  showKernel();
}

// Why a group was, or was not, cut in two.
function whyCut(c) {
  if (c.taken) return "cut";
  if (c.undone) return "undone: slower as a whole";
  if (!c.possible) return "no kernel for a part";
  return times(c.two / c.one) + " as long" + (c.two < c.one * 0.97 ? ", another cut is better" : "");
}
// Why a schedule was not taken.
function whyLost(s, best, index) {
  if (s.rejected) return "refused: " + s.rejected;
  if (index === 0) return "taken";
  const ratio = times(s.seconds / best) + " as long";
  if (s.seconds - best < s.spread) return ratio + ", within its spread";
  return s.trials < 9 ? ratio + ", given up after " + s.trials + " trials" : ratio;
}
function scheduleTable(k) {
  if (k.schedules.length === 0) return note("None was timed: times are estimates, or the kernel is interpreted.");
  const best = k.schedules[0];
  return table("schedules", [
    words("schedule", s => s.schedule, s => make("code", {}, s.schedule)),
    number("time", s => s.rejected ? null : s.seconds, time),
    number("±", s => s.rejected ? null : s.spread, time),
    words("why", s => s.seconds, s => whyLost(s, best.seconds, k.schedules.indexOf(s))),
  ], k.schedules, { mark: s => s === best ? "chosen" : "" });
}
function cutTable(id, name, value, cuts) {
  return table(id, [words(name, value), number("one", c => c.one, time),
    number("two", c => c.possible ? c.two : null, time), short("", c => c.two / c.one, whyCut)], cuts);
}

function showKernel() {
  const shown = kernelShown(), k = part().kernels[shown], panel = byId("kernel-panel");
  if (!k) return fill(panel);
  const cuts = part().cuts.filter(c => c.whole === k.title);
  const computes = n => (n.calls || []).some(c => part().calls[c] === shown);
  const nodes = part().chosen.nodes.flatMap((n, at) => computes(n) ? [at] : []);
  const link = make("a", { onclick: () => go({ tab: "graph", view: "chosen", select: nodes[nodes.length - 1] }) },
    count(nodes.length, "node") + " of the graph");
  const moved = k.bytes / k.seconds / 1e9, computed = k.flops / k.seconds / 1e9;
  fill(panel, make("h2", { id: "kernel-title" }, swatch(shown), k.title),
    facts([
      ["time", time(k.seconds) + (k.calls > 1 ? " a call, " + k.calls + " calls" : "") +
        (k.run === null ? "" : "; " + time(k.run) + " in the run of the whole")],
      ["schedule", make("code", {}, k.schedule || "none: it is interpreted")],
      ["moves", bytes(k.bytes) + " at least, " + digits(moved) + " GB/s: " + percent(k.mbu) + " of copying"],
      ["computes", amount(k.flops) + "flop, " + digits(computed) + " GFLOP/s: " + percent(k.mfu) + " of the peak"],
      ["roofline", digits(k.flops / Math.max(k.bytes, 1)) + " flops per byte, bound by " + k.bound],
      ["ops", nodes.length > 0 ? link : "–"],
      ["written", standAt(fromKernel(shown)) || "–"],
    ]),
    titled("Schedules that were tried", scheduleTable(k)),
    cuts.length > 0 ? titled("As two kernels", cutTable("cuts", "cut after", c => c.before, cuts)) : null,
    titled("Source", k.source ? make("pre", { id: "source" }, k.source) : note("None.")));
}
)js";

}  // namespace lumen::tools
