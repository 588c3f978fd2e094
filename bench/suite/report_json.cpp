#include "bench/suite/report_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/suite/report.h"

namespace lumen::bench {

namespace {

constexpr const char* kFormat = "lumen-bench";
constexpr int kVersion = 1;

Json json_of(const Result& result, const Limits& limits) {
  Json json{{"name", result.name},
            {"group", result.group},
            {"size", result.size},
            {"dtype", name(result.dtype)},
            {"unit", result.unit == Unit::matrix ? "matrix" : "vector"},
            {"fused", result.fused},
            {"flops", result.flops},
            {"bytes", result.bytes}};
  if (!result.problem.empty()) {
    json["problem"] = result.problem;
    return json;
  }
  json["compile_seconds"] = result.compile.seconds;
  json["compile_measured"] = result.compile.measured;
  json["compile_again_seconds"] = result.compile.again_seconds;
  json["kernels"] = result.compile.kernels;
  json["calls"] = result.compile.calls;
  json["seconds"] = result.time.median;
  json["mad"] = result.time.mad;
  json["trials"] = result.time.trials;
  // Of the numbers above, for people and other programs.
  json["gb_per_second"] = result.bytes_per_second() / 1e9;
  json["gflops"] = result.flops_per_second() / 1e9;
  json["mbu"] = result.memory_share(limits);
  json["mfu"] = result.compute_share(limits);
  return json;
}

Limits limits_of(const Json& json) {
  Limits limits;
  limits.threads = json.at("threads").get<int>();
  for (const Json& copy : json.at("copies")) {
    limits.copies.push_back({copy.at("bytes").get<double>(), copy.at("bytes_per_second").get<double>()});
  }
  limits.f32_flops = json.at("f32_flops").get<double>();
  limits.bf16_flops = json.at("bf16_flops").get<double>();
  limits.f16_flops = json.value("f16_flops", 0.0);  // files of earlier versions have none
  limits.i8_flops = json.at("i8_flops").get<double>();
  return limits;
}

Expected<Result> result_of(const Json& json) {
  Result result;
  result.name = json.at("name").get<std::string>();
  result.group = json.at("group").get<std::string>();
  result.size = json.at("size").get<std::string>();
  const std::string dtype = json.at("dtype").get<std::string>();
  const std::optional<DType> known = parse_dtype(dtype);
  if (!known) return error(fmt::format("{}: no dtype `{}`", result.name, dtype));
  result.dtype = *known;
  result.unit = json.at("unit").get<std::string>() == "matrix" ? Unit::matrix : Unit::vector;
  result.fused = json.at("fused").get<bool>();
  result.flops = json.at("flops").get<double>();
  result.bytes = json.at("bytes").get<double>();
  result.problem = json.value("problem", "");
  if (!result.problem.empty()) return result;
  result.compile = {json.at("compile_seconds").get<double>(), json.at("compile_measured").get<int64_t>(),
                    json.at("compile_again_seconds").get<double>(), json.at("kernels").get<int64_t>(),
                    json.at("calls").get<int64_t>()};
  result.time = {json.at("seconds").get<double>(), json.at("mad").get<double>(), json.at("trials").get<int64_t>()};
  if (result.time.median <= 0) return error(fmt::format("{}: seconds must be positive", result.name));
  return result;
}

Expected<Report> report_of(const Json& json) {
  if (json.value("format", "") != kFormat) return error("not a report of `lumen bench`");
  const int version = json.at("version").get<int>();
  if (version != kVersion) return error(fmt::format("of version {}; this program reads version {}", version, kVersion));
  Report report;
  report.suite = json.at("suite").get<std::string>();
  report.version = json.at("lumen").get<std::string>();
  report.date = json.at("date").get<std::string>();
  report.machine = json.at("machine").get<std::string>();
  report.hardware = json.at("hardware").get<std::string>();
  report.cold = json.at("cold").get<bool>();
  report.limits = limits_of(json.at("limits"));
  for (const Json& result : json.at("results")) report.results.push_back(LUMEN_TRY(result_of(result)));
  return report;
}

}  // namespace

Json limits_json(const Limits& limits) {
  Json copies = Json::array();
  for (const CopyRate& copy : limits.copies) copies.push_back({{"bytes", copy.bytes}, {"bytes_per_second", copy.rate}});
  return {{"threads", limits.threads},     {"copies", copies},
          {"f32_flops", limits.f32_flops}, {"bf16_flops", limits.bf16_flops},
          {"f16_flops", limits.f16_flops}, {"i8_flops", limits.i8_flops}};
}

std::string print_report(const Report& report) {
  Json json{{"format", kFormat},           {"version", kVersion}, {"suite", report.suite},
            {"lumen", report.version},     {"date", report.date}, {"machine", report.machine},
            {"hardware", report.hardware}, {"cold", report.cold}, {"limits", limits_json(report.limits)},
            {"results", Json::array()}};
  for (const Result& result : report.results) json["results"].push_back(json_of(result, report.limits));
  return json.dump(1) + "\n";
}

Expected<Report> parse_report(std::string_view text, const std::string& file) {
  try {
    Expected<Report> report = report_of(Json::parse(text));
    if (report.ok()) return report;
    return error(fmt::format("{}: {}", file, report.diag().message));
  } catch (const nlohmann::json::exception& problem) {
    return error(fmt::format("{}: {}", file, problem.what()));
  }
}

}  // namespace lumen::bench
