// Any bytes are a program or an error with a place; a program prints to a text that prints the same.
#include <cstdint>
#include <string>

#include "lumen/base/check.h"
#include "lumen/egraph/lang/parse.h"

namespace {

using lumen::egraph::make_source;
using lumen::egraph::Source;

std::string print_all(const std::vector<lumen::egraph::Command>& commands) {
  std::string text;
  for (const auto& command : commands) text += print_command(command) + "\n";
  return text;
}

std::shared_ptr<Source> source_of(std::string text) { return make_source("fuzz.egg", std::move(text)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto source = source_of(std::string(reinterpret_cast<const char*>(data), size));
  const auto commands = parse_program(source);
  if (!commands.ok()) {
    CHECK(commands.diag().where.line > 0, "an error without a place: " + commands.diag().message);
    return 0;
  }
  const std::string text = print_all(*commands);
  const auto printed = source_of(text);
  const auto again = parse_program(printed);
  CHECK(again.ok(), again.ok() ? "" : again.diag().str() + "\nin\n" + text);
  CHECK(print_all(*again) == text, "another text:\n" + text + print_all(*again));
  return 0;
}
