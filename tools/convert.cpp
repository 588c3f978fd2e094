#include "lumen/import/convert.h"

#include <fmt/format.h>

#include <chrono>

#include "lumen/base/progress.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace lumen::tools {

namespace {

Expected<std::optional<StorageType>> parse_target(const std::string& text) {
  if (text.empty()) return std::optional<StorageType>();
  for (const char* const possible : {"f32", "f16", "bf16", "q8_0", "q4_0"}) {
    if (text == possible) return parse_storage_type(text);
  }
  return error(fmt::format("--type {}: f32, f16, bf16, q8_0 and q4_0 can be made", text));
}

}  // namespace

Expected<int> convert_files(const ConvertArguments& arguments) {
  Progress progress("convert", 0, stderr, std::chrono::seconds(2));
  ConvertOptions options;
  options.type = LUMEN_TRY(parse_target(arguments.type));
  options.keep = arguments.keep;
  options.raw = arguments.raw;
  size_t shown = 0;
  options.progress = [&](size_t done, size_t total) {
    progress.set_total(total >> 20);
    progress.advance((done >> 20) - shown);
    shown = done >> 20;
  };
  ConvertReport report;
  if (arguments.random_weights) {
    if (!arguments.out.ends_with(".gguf"))
      return error(fmt::format("{}: random weights go to a .gguf file", arguments.out));
    const std::string text = LUMEN_TRY(read_text(arguments.in));
    const ModelConfig config = LUMEN_TRY(parse_model_config(text, arguments.in));
    report = LUMEN_TRY(write_random_model(config, arguments.out, options, arguments.seed));
  } else {
    const Weights weights = LUMEN_TRY(Weights::open(arguments.in));
    report = LUMEN_TRY(convert_weights(weights, arguments.out, options));
  }
  progress.finish();
  fmt::print("{}: {} tensors, {} bytes\n", arguments.out, report.tensors, report.bytes);
  return 0;
}

}  // namespace lumen::tools
