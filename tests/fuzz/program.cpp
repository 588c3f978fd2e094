// Program files and the JSON in them: whatever is read, an error or a program, never a crash.
#include <nlohmann/json.hpp>

#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/runtime/program_file.h"
#include "lumen/runtime/program_json.h"

namespace {

const lumen::Graph& whole() {
  static const std::shared_ptr<lumen::Graph> graph = [] {
    auto made = std::make_shared<lumen::Graph>();
    const lumen::Expr rows = made->dim("rows", 0, 64);
    made->input("x", {rows, 5}).output("y");
    return made;
  }();
  return *graph;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] == 'l') {
    (void)lumen::parse_program(text, "fuzz").ok();
    return 0;
  }
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  (void)lumen::read_program_json(json, whole()).ok();
  return 0;
}
