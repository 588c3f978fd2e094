#include "lumen/egraph/report/html.h"

#include <gtest/gtest.h>
#include "lumen/egraph/report/json.h"
#include "tests/egraph/random_graph.h"
#include "tests/egraph/sample_graph.h"
#include "tests/support/browser.h"

namespace lumen::egraph {
namespace {

// 1000 classes with about 2000 nodes; class M-999 is the root.
GraphView large_view() {
  const FlatGraph graph = random_graph(3, {.classes = 1000, .arity = 2, .back_edges = 0.1});
  GraphView view;
  for (ClassId c = 0; c < graph.classes(); ++c) view.classes.push_back({"M-" + std::to_string(c), "M", false, {}, {}});
  const char* const ops[] = {"Add", "Mul", "Neg", "Div", "Pow", "Diff"};
  for (NodeId n = 0; n < graph.nodes(); ++n) {
    GraphView::Node node;
    node.op = graph.children_of(n).empty() ? "Leaf" : ops[n % 6];
    node.id = "function-" + std::to_string(n) + "-" + node.op;
    node.owner = graph.node_class[n];
    node.children.assign(graph.children_of(n).begin(), graph.children_of(n).end());
    node.cost = graph.cost[n];
    node.extractable = true;
    view.classes[node.owner].nodes.push_back(n);
    view.nodes.push_back(std::move(node));
  }
  view.roots = {999};
  return view;
}

constexpr const char* kReports = R"json({"iterations": [
  {"changed": true, "limit": "", "matches": 5, "rows": 10, "classes": 3, "bytes": 1000, "search_seconds": 0.01,
   "apply_seconds": 0.002, "rebuild_seconds": 1e-5}],
 "rules": [
  {"name": "few", "runs": 3, "matches": 100, "rows": 10, "unions": 5, "search_seconds": 0.5, "apply_seconds": 0.1},
  {"name": "many", "runs": 3, "matches": 12345, "rows": 1, "unions": 5, "search_seconds": 1.5, "apply_seconds": 0}]})json";

using tests::Browser;

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

TEST(HtmlPage, HoldsEverythingItself) {
  const std::string page = html_page(large_view(), {.title = "a </script> & b"}, kReports);
  EXPECT_EQ(count(page, "http://"), count(page, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(count(page, "https://"), 0u);
  EXPECT_EQ(count(page, " src="), 0u);
  EXPECT_EQ(count(page, "</script>"), 3u);
  EXPECT_NE(page.find("<title>a &lt;/script> &amp; b</title>"), std::string::npos);
}

TEST(HtmlPage, LeavesOutWhatIsTooMuch) {
  const std::string page = html_page(large_view(), {.max_nodes = 100}, kReports);
  EXPECT_NE(page.find("\"id\":\"M-999\""), std::string::npos);
  EXPECT_LE(count(page, "\"op\":"), 100u);
  EXPECT_EQ(page.find("\"omitted\":0}"), std::string::npos);
}

TEST(HtmlPage, OfAnEmptyGraph) {
  EGraph graph;
  EXPECT_NE(html_page(graph).find("\"classes\":[]"), std::string::npos);
}

TEST(HtmlPage, OfAnEGraph) {
  SampleGraph s;
  const Value sum = s.make(s.add, {s.number(1), s.number(2)});
  s.make(s.seen, {s.i64(4), sum});
  ASSERT_TRUE(s.graph.set(s.size, std::vector<Value>{sum}, s.i64(7)));
  PageOptions options;
  options.view.roots = {{s.m, sum}};
  const std::string page = html_page(s.graph, options);
  EXPECT_NE(page.find(R"({"op":"Num","args":["2"],"cost":1,"mark":"chosen"})"), std::string::npos);
  EXPECT_NE(page.find(R"({"op":"seen","args":["4",)"), std::string::npos);
  EXPECT_NE(page.find(R"({"op":"size","args":[)"), std::string::npos);
  options.facts = false;
  const std::string terms = html_page(s.graph, options);
  EXPECT_EQ(terms.find(R"({"op":"seen")"), std::string::npos);
  EXPECT_NE(terms.find(R"({"op":"Num")"), std::string::npos);
}

// However large a graph is, what is seen first can be read; and boxes of facts have no names that nobody wrote.
TEST_F(Browser, BeginsReadable) {
  SampleGraph s;
  s.make(s.seen, {s.i64(4), s.number(1)});
  const char* const script = R"js(
const texts = [...document.querySelectorAll(".class .title, .class .op")];
report([scale * Math.min(...texts.map(t => parseFloat(getComputedStyle(t).fontSize))) >= 11,
  texts.some(t => t.textContent === "fact"), texts.some(t => t.textContent.includes("@"))]);
)js";
  EXPECT_EQ(outcome(html_page(s.graph, {}), script), "[true,true,false]");
  EXPECT_EQ(outcome(html_page(large_view(), {}, kReports), script), "[true,false,false]");
}

TEST_F(Browser, DrawsTwoThousandNodes) {
  const GraphView view = large_view();
  ASSERT_GT(view.nodes.size(), 1900u);
  const std::string dom = open(html_page(view, {}, kReports), "");
  EXPECT_NE(dom.find("data-ready=\"true\""), std::string::npos);
  EXPECT_EQ(count(dom, "<g class=\"class"), view.classes.size());
  EXPECT_EQ(count(dom, "<g class=\"node "), view.nodes.size());
  EXPECT_EQ(count(dom, "<g class=\"class root\""), 1u);
  size_t edges = 0;
  for (const GraphView::Node& n : view.nodes) edges += n.children.size();
  EXPECT_EQ(count(dom, "<path class=\"edge"), edges);
  EXPECT_GT(count(dom, "<g class=\"node chosen\""), 3u);
}

TEST_F(Browser, FragmentSetsTheState) {
  const std::string page = html_page(large_view(), {}, kReports);
  const std::string dom = open(page, "select=M-999&search=Pow");
  EXPECT_EQ(count(dom, " selected\" id=\"class-0\" data-id=\"M-999\""), 1u);
  EXPECT_NE(dom.find("<h2>M-999</h2>"), std::string::npos);
  EXPECT_GT(count(dom, " hit\""), 50u);
  const std::string rules = open(page, "tab=rules&sort=rule-table-matches");
  EXPECT_LT(rules.find(">many<"), rules.find(">few<"));
  EXPECT_NE(rules.find("<section id=\"rules\" class=\"on\">"), std::string::npos);
}

TEST_F(Browser, AnswersToTheUser) {
  const std::string script = R"js(
const fire = (target, event) => target.dispatchEvent(event);
const results = [];
// Boxes do not lie on each other.
let overlaps = 0;
for (let i = 0; i < classes.length; ++i) for (let j = 0; j < i; ++j) {
  const a = classes[i], b = classes[j];
  if (a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height) ++overlaps;
}
results.push(overlaps);
// A click on a class shows its nodes; a click on one of their arguments goes there.
fire(document.querySelector("[data-id=M-999]"), new MouseEvent("click", { bubbles: true }));
results.push(document.querySelector("#panel h2").textContent);
results.push(document.querySelectorAll("#members li").length === classes[byId.get("M-999")].nodes.length);
fire(document.querySelector("#members a"), new MouseEvent("click", { bubbles: true }));
results.push(document.querySelector("#panel h2").textContent !== "M-999");
results.push([...document.querySelectorAll("#users a")].some(a => a.textContent === "M-999"));
// Typing finds, Enter goes there.
const box = document.getElementById("search");
box.value = "M-12";
fire(box, new Event("input"));
results.push(document.getElementById("found").textContent);
fire(box, new KeyboardEvent("keydown", { key: "Enter" }));
results.push(document.querySelector("#panel h2").textContent);
// The wheel zooms, dragging moves and does not select.
const before = world.getAttribute("transform");
fire(canvas, new WheelEvent("wheel", { deltaY: -200, clientX: 300, clientY: 300, cancelable: true }));
const zoomed = world.getAttribute("transform");
results.push(before !== zoomed);
fire(canvas, new MouseEvent("mousedown", { clientX: 10, clientY: 10 }));
fire(window, new MouseEvent("mousemove", { clientX: 60, clientY: 40 }));
fire(window, new MouseEvent("mouseup", {}));
results.push(zoomed !== world.getAttribute("transform"));
// Headings sort, down first.
fire(document.getElementById("rule-table-rows"), new MouseEvent("click"));
results.push(document.querySelector("#rule-table tbody td").textContent);
fire(document.getElementById("rule-table-rows"), new MouseEvent("click"));
results.push(document.querySelector("#rule-table tbody td").textContent);
results.push(document.querySelectorAll("#iteration-table tbody tr").length);
report(results);
)js";
  EXPECT_EQ(outcome(html_page(large_view(), {}, kReports), script),
            R"([0,"M-999",true,true,true,"11 found","M-12",true,true,"few","many",1])");
}

TEST_F(Browser, ShowsAnEmptyGraph) {
  EGraph graph;
  EXPECT_NE(open(html_page(graph), "").find("data-ready=\"true\""), std::string::npos);
}

}  // namespace
}  // namespace lumen::egraph
