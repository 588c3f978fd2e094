#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/browser.h"
#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

using nlohmann::json;

constexpr const char* kSoftmax = R"(lumen 1
dim rows 1..4096
# what softmax is made of
%x = Input() :name "x" :shape [rows,64]
%w = Input() :name "w" :kind weight :shape [64,64]
%left = View(%x) :view {[rows,64,64] 64*i0 + i2}
%right = View(%w) :view {[rows,64,64] i1 + 64*i2}
%products = Mul(%left, %right)
%scores = SumReduce(%products) :axis 2
%most = MaxReduce(%scores) :axis 1
%spread = View(%most) :view {[rows,64] i0}
%minus = Constant() :value f32(-1)
%minuses = View(%minus) :view {[rows,64] 0}
%negative = Mul(%spread, %minuses)
%below = Add(%scores, %negative)
%powers = Exp2(%below)
%sum = SumReduce(%powers) :axis 1
%inverse = Recip(%sum)
%inverses = View(%inverse) :view {[rows,64] i0}
%y = Mul(%powers, %inverses)
output "y" = %y
)";

// 500 ops that do not repeat themselves: each of two that came before.
std::string long_graph() {
  std::string text = "lumen 1\n%n0 = Input() :name \"a\" :shape [256]\n%n1 = Input() :name \"b\" :shape [256]\n";
  std::mt19937 random(5);
  for (uint32_t k = 2; k < 500; ++k) {
    const uint32_t other = k - 1 - static_cast<uint32_t>(random() % std::min<uint32_t>(k - 1, 12));
    const char* const ops[] = {"Add", "Mul", "Maximum"};
    text += "%n" + std::to_string(k) + " = " + ops[random() % 3] + "(%n" + std::to_string(k - 1) + ", %n" +
            std::to_string(other) + ")\n";
  }
  return text + "output \"y\" = %n499\n";
}

// Layers that are the same: a product, its softmax, and what was there before.
std::string layered_graph(int layers) {
  std::string text = "lumen 1\n%x0 = Input() :name \"x\" :shape [64,64]\n";
  for (int k = 0; k < layers; ++k) {
    std::string layer = R"(%wK = Input() :name "layers.K.weight" :kind weight :shape [64,64]
%leftK = View(%xK) :view {[64,64,64] 64*i0 + i2}
%rightK = View(%wK) :view {[64,64,64] i1 + 64*i2}
%productsK = Mul(%leftK, %rightK)
%scoresK = SumReduce(%productsK) :axis 2
%sineK = Sin(%scoresK)
%powersK = Exp2(%sineK)
%sumK = SumReduce(%powersK) :axis 1
%inverseK = Recip(%sumK)
%inversesK = View(%inverseK) :view {[64,64] i0}
%sharesK = Mul(%powersK, %inversesK)
%rootK = Sqrt(%sharesK)
%moreK = Add(%rootK, %xK)
%largerK = Maximum(%moreK, %xK)
%lessK = Mul(%largerK, %sharesK)
%xN = Add(%lessK, %xK)
)";
    for (const auto& [from, to] : {std::pair('K', k), std::pair('N', k + 1)}) {
      for (size_t at = 0; (at = layer.find(from, at)) != layer.npos;) layer.replace(at, 1, std::to_string(to));
    }
    text += layer;
  }
  return text + "output \"y\" = %x" + std::to_string(layers) + "\n";
}

// Texts that lie on each other, that leave what they are in, or that are too small to read.
constexpr const char* kUnreadable = R"js(
function unreadable() {
  const found = [], boxes = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement, text = node.textContent.trim();
    if (text === "" || !parent.checkVisibility() || parent.closest("option")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const svg = parent.closest("#canvas") !== null;
    if (!svg && parseFloat(getComputedStyle(parent).fontSize) < 11) found.push("small: " + text);
    const frame = (parent.closest("pre, aside, .scroll, #drawing")).getBoundingClientRect();
    for (const r of range.getClientRects()) {
      if (r.bottom < frame.top || r.top > frame.bottom) continue;
      if (!svg && !parent.closest("pre, .line") && (r.right > frame.right + 1 ||
          r.left < frame.left - 1)) found.push("leaves: " + text);
      boxes.push({ node, text, r, over: parent.closest("#tools") !== null });
    }
  }
  for (let i = 0; i < boxes.length; ++i) for (let j = 0; j < i; ++j) {
    const a = boxes[i].r, b = boxes[j].r;
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left),
        high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (boxes[i].node !== boxes[j].node && boxes[i].over === boxes[j].over && wide > 2 &&
        high > 4) found.push(boxes[i].text + " on " + boxes[j].text);
  }
  const names = [...document.querySelectorAll("#roofline text")].filter(t => t.checkVisibility());
  for (const text of names) for (const dot of document.querySelectorAll("#roofline circle")) {
    const a = text.getBoundingClientRect(), b = dot.getBoundingClientRect();
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) -
        Math.max(a.top, b.top) > 3) found.push(text.textContent + " on a dot");
  }
  const box = document.getElementById("part"), pen = document.createElement("canvas").getContext("2d");
  pen.font = getComputedStyle(box).font;
  if (box.checkVisibility()) for (const option of box.options) if (pen.measureText(option.textContent).width >
      box.clientWidth - 24) found.push("cut: " + option.textContent);
  for (const s of document.querySelectorAll(".scroll, aside")) if (s.checkVisibility() &&
      s.scrollWidth > s.clientWidth + 1) found.push("wider than " + s.className + s.id);
  return found.slice(0, 5);
}
const press = target => target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
const tab = name => press(document.querySelector("[data-tab=" + name + "]"));
)js";

class ExplainPage : public Browser {
 protected:
  std::string explain(const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"explain", "-o", "page.html"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Finished run = run_lumen(all, files_.path(), "", {"LUMEN_CACHE=" + files_.path() + "/cache"});
    EXPECT_EQ(run.status, 0) << run.err;
    return files_.read("page.html");
  }
  json ask(const std::string& page, const std::string& script, const std::string& fragment = "") {
    std::string text = outcome(page, kUnreadable + script, fragment);
    for (size_t at = 0; (at = text.find("&gt;", at)) != std::string::npos;) text.replace(at, 4, ">");
    return json::parse(text, nullptr, false);
  }

  TemporaryFolder files_;
};

}  // namespace

TEST_F(ExplainPage, holds_everything_itself) {
  files_.write("softmax.hlir", kSoftmax);
  const std::string page = explain({"softmax.hlir"});
  for (size_t at = 0; (at = page.find("http", at)) != std::string::npos; ++at) {
    EXPECT_EQ(page.compare(at, 26, "http://www.w3.org/2000/svg"), 0) << page.substr(at, 60);
  }
  EXPECT_EQ(page.find(" src="), std::string::npos);
}

TEST_F(ExplainPage, answers_to_the_user) {
  files_.write("softmax.hlir", kSoftmax);
  const json got = ask(explain({"softmax.hlir"}), R"js(
const results = {};
tab("graph");
press(byId("view-written"));
const find = op => graph().nodes.findIndex(n => n.op === op);
press(document.querySelector("[data-node='" + find("MaxReduce") + "']"));
results.node = [...byId("node-panel").querySelectorAll("dt, dd")].map(e => e.textContent).join("|");
press([...byId("node-panel").querySelectorAll("p a")][0]);
results.followed = byId("node-title").textContent;
byId("search").value = "exp2";
byId("search").dispatchEvent(new Event("input"));
results.found = byId("found").textContent;
results.hits = document.querySelectorAll(".node.hit").length;
byId("search").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
results.entered = byId("node-title").textContent;
byId("search").value = "";
byId("search").dispatchEvent(new Event("input"));
const before = world.getAttribute("transform");
press(byId("closer"));
results.zoomed = before !== world.getAttribute("transform");
press(byId("view-chosen"));
press(document.querySelector("[data-node='" + find("Contract") + "']"));
results.kernel = [...byId("node-panel").querySelectorAll("h3")].map(e => e.textContent);
const drawnAs = document.querySelector("[data-node='" + find("Contract") + "'] rect").style.fill;
results.colour = [...byId("node-panel").querySelectorAll(".swatch")][0].style.backgroundColor === drawnAs;
press([...byId("node-panel").querySelectorAll("a")].find(a => a.textContent.startsWith("Contract")));
results.tab = state.tab;
results.source = byId("source").textContent.startsWith("LUMEN_KERNEL") || byId("source").textContent.length > 100;
results.schedules = document.querySelectorAll("#schedules tbody tr").length;
results.taken = document.querySelector("#schedules tbody tr.chosen td:last-child").textContent;
results.lost = [...document.querySelectorAll("#schedules tbody tr:not(.chosen) td:last-child")].every(td =>
    /as long|refused/.test(td.textContent));
tab("search");
results.rules = document.querySelectorAll("#rules tbody tr").length > 3;
results.growth = document.querySelectorAll("#growth circle").length === 2 * part().growth.length &&
    part().growth.length > 1;
press(byId("rules-1"));
const counts = [...document.querySelectorAll("#rules tbody td:nth-child(2)")].map(td => Number(td.textContent));
results.sorted = counts.every((n, k) => k === 0 || n <= counts[k - 1]);
tab("classes");
results.terms = document.querySelectorAll("#terms tbody tr").length > 1;
results.inProgram = [...document.querySelectorAll("#terms td:last-child")].filter(td =>
    td.textContent === "in the program").length;
tab("overview");
results.dots = document.querySelectorAll("#roofline circle").length === allKernels(program()).filter(k =>
    k.kernel.flops > 0).length;
press(document.querySelector("#top tbody tr"));
results.picked = state.tab;
results.problems = problems;
report(results);
)js");
  EXPECT_EQ(got["node"], "op|MaxReduce|dtype|f32|shape|[rows]|axis|1|source|softmax.hlir:10 %most") << got;
  EXPECT_EQ(got["followed"], "SumReduce 2");
  EXPECT_EQ(got["found"], "1 found");
  EXPECT_EQ(got["hits"], 1);
  EXPECT_EQ(got["entered"], "Exp2");
  EXPECT_EQ(got["zoomed"], true);
  EXPECT_EQ(got["kernel"],
            json({"Reads", "Read by", "As written", "Kernel", "Alternatives", "Kernels, the slowest first"}));
  EXPECT_EQ(got["tab"], "kernels");
  EXPECT_EQ(got["source"], true);
  EXPECT_GE(got["schedules"], 2);
  EXPECT_EQ(got["taken"], "taken");
  for (const char* what : {"lost", "rules", "growth", "sorted", "terms", "dots", "colour"})
    EXPECT_EQ(got[what], true) << what;
  EXPECT_EQ(got["inProgram"], 1);
  EXPECT_EQ(got["picked"], "kernels");
  EXPECT_EQ(got["problems"], json::array()) << got;
}

// From a kernel to the lines that it computes, from a line to its kernel, and by the names of the file.
TEST_F(ExplainPage, leads_from_kernels_to_lines) {
  files_.write("softmax.hlir", kSoftmax);
  const json got = ask(explain({"softmax.hlir"}), R"js(
const results = {};
const computed = new Set(part().kernels.flatMap((k, at) => fromKernel(at)));
results.missed = written().filter((n, k) => !["Input", "Constant"].includes(n.op) && !computed.has(k)).map(n => n.op);
const product = part().kernels.findIndex(k => k.title.includes("Contract"));
go({ tab: "kernels", kernel: product });
const terms = [...byId("kernel-panel").querySelectorAll("dt")];
const place = terms.find(dt => dt.textContent === "written").nextSibling;
results.place = /^softmax.hlir:6–9/.test(place.textContent);
press(place.querySelector("a"));
results.followed = [state.tab, state.view, byId("node-panel").textContent.includes("softmax.hlir:6 %left")];
results.kernels = [...byId("node-panel").querySelectorAll("h3")].map(e => e.textContent).includes("Kernel");
const find = text => { byId("search").value = text; byId("search").dispatchEvent(new Event("input")); };
find("%scores");
results.found = byId("found").textContent;
press(byId("view-chosen"));
results.foundChosen = byId("found").textContent;
byId("search").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
results.same = byId("node-panel").textContent.includes("softmax.hlir:9 %scores");
tab("kernels");
results.rows = document.querySelectorAll("#kernel-table tbody tr").length;
results.problems = problems;
report(results);
)js");
  const json expected = {{"missed", json::array()},
                         {"place", true},
                         {"followed", {"graph", "written", true}},
                         {"kernels", true},
                         {"found", "1 found"},
                         {"foundChosen", "1 found"},
                         {"same", true},
                         {"rows", 1},
                         {"problems", json::array()}};
  EXPECT_EQ(got, expected) << got;
}

TEST_F(ExplainPage, knows_the_lines_of_what_repeats) {
  files_.write("layers.hlir", layered_graph(8));
  const json got = ask(explain({"layers.hlir", "--no-measure"}), R"js(
const results = {};
const at = program().parts.reduce((best, p, k) => p.times > program().parts[best].times ? k : best, 0);
results.often = program().parts[at].times >= 5;
results.unknown = program().parts.flatMap(p => p.written.nodes).filter(n => !n.lines).length;
results.all = program().parts.every(p => p.written.nodes.every(n => n.lines.length === p.times));
tab("graph");
byId("part").value = String(at);
byId("part").dispatchEvent(new Event("change"));
press(byId("view-written"));
byId("search").value = "%sine3";
byId("search").dispatchEvent(new Event("input"));
byId("search").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
results.found = [byId("found").textContent, byId("node-title").textContent];
const line = 2 + 16 * 3 + 6, n = graph().nodes[state.select];
results.line = n.lines[n.names.indexOf("%sine3")] === line;
const text = byId("node-panel").textContent;
results.shown = /layers.hlir:\d+ %sine\d/.test(text) && text.includes("and " + (part().times - 1) + " more");
tab("kernels");
results.kernel = /written layers.hlir:.*, and the like \d+ times more/.test(
    [...byId("kernel-panel").querySelectorAll("dt, dd")].map(e => e.textContent).join(" "));
results.problems = problems;
report(results);
)js");
  const json expected = {{"often", true}, {"unknown", 0},  {"all", true},    {"found", {"1 found", "Sin"}},
                         {"line", true},  {"shown", true}, {"kernel", true}, {"problems", json::array()}};
  EXPECT_EQ(got, expected) << got;
}

TEST_F(ExplainPage, is_readable_on_a_small_screen) {
  files_.write("softmax.hlir", kSoftmax);
  const json got = ask(explain({"softmax.hlir"}), R"js(
const results = {};
for (const name of ["overview", "graph", "kernels", "search", "classes"]) { tab(name); results[name] = unreadable(); }
tab("graph");
press(document.querySelector("[data-node='3']"));
results.node = unreadable();
const cut = { before: "SumReduce Exp2 Mul Add -> f32[128,2048]", after: "", one: 1e-3, two: 5e-4, possible: true };
const ends = [{ taken: true }, { undone: true }, { possible: false }, {}];
part().cuts = ends.map(end => ({ ...cut, whole: part().kernels[kernelShown()].title, taken: false, undone: false, ...end }));
tab("kernels");
results.cuts = unreadable();
if (document.querySelectorAll("#cuts tbody tr").length !== ends.length) results.cuts.push("there are no cuts");
results.problems = problems;
report(results);
)js");
  ASSERT_TRUE(got.is_object());
  for (const auto& [name, found] : got.items()) EXPECT_EQ(found, json::array()) << name;
}

// Machines that are up to sixteen times as fast or slow as this one, in each of their parts.
TEST_F(ExplainPage, names_the_limits_of_any_machine) {
  files_.write("softmax.hlir", kSoftmax);
  const json got = ask(explain({"softmax.hlir"}), R"js(
let seed = 1;
const random = () => (seed = (seed * 1664525 + 1013904223) % 4294967296) / 4294967296;
const vary = (object, key) => { object[key] *= 16 ** (2 * random() - 1); };
const asMeasured = JSON.stringify(data), results = [];
for (let round = 0; round < 200; ++round) {
  Object.assign(data, JSON.parse(asMeasured));
  data.limits.copies.forEach(copy => vary(copy, "rate"));
  ["f32", "bf16", "i8"].forEach(unit => vary(data.limits, unit));
  data.programs.forEach(p => p.parts.forEach(q => q.kernels.forEach(kernel => vary(kernel, "seconds"))));
  tab("overview");
  results.push(...unreadable().map(found => found + " in round " + round));
}
report(results);
)js");
  EXPECT_EQ(got, json::array());
}

TEST_F(ExplainPage, draws_five_hundred_nodes_at_once) {
  files_.write("long.hlir", long_graph());
  const json got = ask(explain({"long.hlir"}), R"js(
const results = {};
const began = performance.now();
tab("graph");
press(byId("view-written"));
results.quick = performance.now() - began < 2000;
results.nodes = document.querySelectorAll(".node").length;
let overlaps = 0;
const nodes = graph().nodes;
for (let i = 0; i < nodes.length; ++i) for (let j = 0; j < i; ++j) {
  const a = nodes[i], b = nodes[j];
  if (a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height) ++overlaps;
}
results.overlaps = overlaps;
results.down = nodes.every(n => n.in.every(i => nodes[i].y < n.y));
press(document.querySelector("[data-node='250']"));
results.selected = document.querySelectorAll(".node.selected").length;
press(byId("fit"));
const frame = canvas.getBoundingClientRect();
results.fits = [...document.querySelectorAll(".node")].every(g =>
    { const r = g.getBoundingClientRect(); return r.top >= frame.top && r.bottom <= frame.bottom; });
results.problems = problems;
report(results);
)js");
  const json expected = {{"quick", true},
                         {"nodes", 500},
                         {"overlaps", 0},
                         {"down", true},
                         {"fits", true},
                         {"selected", 1},
                         {"problems", json::array()}};
  EXPECT_EQ(got, expected);
}

TEST_F(ExplainPage, shows_one_body_of_thirty_two_layers) {
  files_.write("config.json", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 64,
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 32, "num_attention_heads": 2,
    "num_key_value_heads": 1, "max_position_embeddings": 64, "rms_norm_eps": 1e-05, "rope_theta": 10000.0,
    "tie_word_embeddings": false, "torch_dtype": "float32"})");
  const json got = ask(explain({"--model", "config.json", "--random-weights", "--no-measure", "--pp", "8"}), R"js(
const results = { parts: program().parts.length, layers: Math.max(...program().parts.map(p => p.times)) };
results.nodes = [program().nodes > 3000, Math.max(...program().parts.map(p => p.written.nodes.length)) < 300];
results.runs = program().runs.map(r => r.name);
results.overview = unreadable();
results.buckets = [...document.querySelectorAll("#tab-overview p button")].map(b => b.textContent);
tab("graph");
byId("part").value = "1";
byId("part").dispatchEvent(new Event("change"));
results.weight = graph().nodes.some(n => /^model.layers.\d+.self_attn.q_proj.weight$/.test(n.name || ""));
results.shown = [state.part, document.querySelectorAll(".node").length === graph().nodes.length];
for (const name of ["kernels", "search", "classes"]) { tab(name); results[name] = unreadable(); }
const places = part().kernels.map((k, at) => String(standAt(fromKernel(at))));
results.places = [places.some(text => /^model.layers.\d+.mlp/.test(text)), places.includes("null")];
results.problems = problems;
report(results);
)js");
  EXPECT_LE(got["parts"], 8) << got;
  EXPECT_EQ(got["places"], json({true, false}));
  EXPECT_GE(got["layers"], 30);
  EXPECT_EQ(got["nodes"], json({true, true}));
  EXPECT_EQ(got["runs"], json({"reading 8 tokens", "writing a token after 8"}));
  EXPECT_EQ(got["buckets"], json({"seq=1", "seq=2-64"}));
  EXPECT_EQ(got["weight"], true);
  EXPECT_EQ(got["shown"], json({1, true}));
  for (const char* what : {"overview", "kernels", "search", "classes", "problems"}) {
    EXPECT_EQ(got[what], json::array()) << what;
  }
}

TEST_F(ExplainPage, compares_two_programs) {
  files_.write("a.hlir", kSoftmax);
  std::string slow = kSoftmax;
  slow.replace(slow.find("%y = Mul"), slow.npos, "%y = Mul(%powers, %inverses)\n%t = Sin(%y)\noutput \"y\" = %t\n");
  files_.write("b.hlir", slow);
  const json got = ask(explain({"--diff", "a.hlir", "b.hlir"}), R"js(
const results = { tab: state.tab, heading: byId("heading").textContent };
results.facts = document.querySelectorAll("#facts tbody tr").length;
results.ops = [...document.querySelectorAll("#op-changes tbody tr")].map(tr =>
    [...tr.children].map(td => td.textContent).join(" "));
results.onlyOne = [...new Set([...document.querySelectorAll("#kernel-changes td:last-child")].map(td =>
    td.textContent).filter(t => t !== ""))].sort();
results.unreadable = unreadable();
tab("graph");
byId("program").value = "1";
byId("program").dispatchEvent(new Event("change"));
results.other = graph().nodes.some(n => n.op === "Sin");
results.problems = problems;
report(results);
)js");
  EXPECT_EQ(got["tab"], "compare") << got;
  EXPECT_EQ(got["heading"], "a.hlir → b.hlir");
  EXPECT_EQ(got["facts"], 8);
  EXPECT_EQ(got["ops"], json({"Sin – 1 +1"})) << got;
  EXPECT_EQ(got["onlyOne"], json({"only A", "only B"}));
  EXPECT_EQ(got["other"], true);
  EXPECT_EQ(got["unreadable"], json::array());
  EXPECT_EQ(got["problems"], json::array());
}

TEST(Explain, needs_one_thing_to_explain) {
  const TemporaryFolder folder;
  const std::string message = "lumen: one of FILE, --diff A B and --model PATH is needed\n";
  EXPECT_EQ(run_lumen({"explain"}, folder.path()).err, message);
  EXPECT_EQ(run_lumen({"explain", "a.hlir", "--diff", "a.hlir", "b.hlir"}, folder.path()).err, message);
  EXPECT_EQ(run_lumen({"explain", "none.hlir"}, folder.path()).err,
            "lumen: none.hlir: cannot open: No such file or directory\n");
  EXPECT_EQ(folder.count(), 0U);
}

}  // namespace lumen::tests
