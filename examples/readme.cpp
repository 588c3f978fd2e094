// The example of README.md.
#include <fmt/ranges.h>

#include "lumen/lumen.h"

int main() {
  lumen::Graph g;
  auto a = g.input("a", {3, 1});
  auto b = g.input("b", {1, 4});
  matmul(a, b).output("c");

  auto session = lumen::compile(g);
  session.set("a", {1, 2, 3});
  session.set("b", {1, 2, 3, 3});
  session.execute();
  fmt::print("{}\n", session.get<float>("c"));
}
