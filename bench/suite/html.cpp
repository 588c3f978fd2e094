#include "bench/suite/html.h"

#include <fmt/format.h>

#include <map>

#include "bench/suite/html_parts.h"
#include "bench/suite/table.h"

namespace lumen::bench {

namespace {

using Changes = std::map<std::string, const Comparison::Row*>;

std::string card(const std::string& value, const std::string& label) {
  return fmt::format("<div class=\"card\"><b>{}</b><span>{}</span></div>\n", value, label);
}

std::string limit_cards(const Limits& limits) {
  std::string text;
  for (const CopyRate& copy : limits.copies) {
    const bool small = copy.bytes < (1 << 20);
    text += card(fmt::format("{:.0f} GB/s", copy.rate / 1e9),
                 fmt::format("copy of {:.0f} {}", copy.bytes / (small ? 1 << 10 : 1 << 20), small ? "KiB" : "MiB"));
  }
  const auto flops = [&](double rate, const char* label) {
    if (rate > 0) text += card(fmt::format("{:.0f} GFLOP/s", rate / 1e9), label);
  };
  flops(limits.f32_flops, "f32 vectors");
  flops(limits.bf16_flops, "bf16 tiles");
  flops(limits.i8_flops, "int8 tiles");
  return text;
}

std::string cell(double value, const std::string& shown) {
  return fmt::format("<td data-v=\"{}\">{}</td>", value, shown);
}

std::string change_cell(const Comparison::Row& row) {
  const double change = row.after.median / row.before.median - 1;
  const char* kind = row.change == Change::slower ? "slower" : row.change == Change::faster ? "faster" : "soft";
  return fmt::format("<td data-v=\"{}\" class=\"{}\">{:+.1f} %</td>", change, kind, 100 * change);
}

std::string row(const Result& result, const Limits& limits, const Palette& palette, const Changes* changes) {
  std::string text = fmt::format("<tr><td><i class=\"dot\" style=\"background:{}\"></i>{}</td>",
                                 palette.colour(result.group), escaped(result.name));
  if (!result.problem.empty()) {
    return text + fmt::format("<td class=\"problem\" colspan=\"10\">{}</td></tr>\n", escaped(result.problem));
  }
  const bool computes = result.flops > 0;
  text += cell(result.time.median, time_text(result.time.median));
  text +=
      cell(result.time.mad / result.time.median, fmt::format("{:.1f} %", 100 * result.time.mad / result.time.median));
  text += cell(result.bytes_per_second(), fmt::format("{:.1f}", result.bytes_per_second() / 1e9));
  text += cell(result.memory_share(limits), fmt::format("{:.0f} %", 100 * result.memory_share(limits)));
  text += cell(result.flops_per_second(), computes ? fmt::format("{:.1f}", result.flops_per_second() / 1e9) : "");
  text +=
      cell(result.compute_share(limits), computes ? fmt::format("{:.0f} %", 100 * result.compute_share(limits)) : "");
  text += cell(static_cast<double>(result.compile.calls), fmt::to_string(result.compile.calls));
  text += cell(result.compile.seconds, fmt::format("{:.2f} s", result.compile.seconds));
  text += cell(static_cast<double>(result.compile.measured), fmt::to_string(result.compile.measured));
  text += cell(result.compile.again_seconds, fmt::format("{:.2f} s", result.compile.again_seconds));
  if (changes != nullptr) {
    const auto found = changes->find(result.name);
    text += found == changes->end() ? "<td class=\"soft\">new</td>" : change_cell(*found->second);
  }
  return text + "</tr>\n";
}

std::string results(const Report& report, const Palette& palette, const Comparison* comparison) {
  Changes changes;
  if (comparison != nullptr) {
    for (const Comparison::Row& changed : comparison->rows) changes[changed.name] = &changed;
  }
  std::string text = "<table><thead><tr>";
  for (const char* heading :
       {"case", "median", "mad", "GB/s", "MBU", "GFLOP/s", "MFU", "calls", "compile", "timed", "again"}) {
    text += fmt::format("<th>{}</th>", heading);
  }
  text += comparison != nullptr ? "<th>change</th></tr></thead><tbody>\n" : "</tr></thead><tbody>\n";
  for (const Result& result : report.results) {
    text += row(result, report.limits, palette, comparison != nullptr ? &changes : nullptr);
  }
  return text + "</tbody></table>\n";
}

std::string legend(const Palette& palette) {
  std::string text = "<div class=\"legend\">";
  for (const std::string& group : palette.groups()) {
    text += fmt::format("<span><i class=\"dot\" style=\"background:{}\"></i>{}</span>", palette.colour(group),
                        escaped(group));
  }
  return text + "</div>";
}

}  // namespace

std::string html_report(const Report& report, const Comparison* comparison) {
  const Palette palette(report);
  std::string text = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>";
  text +=
      fmt::format("<title>lumen bench {}</title><style>{}</style></head><body>\n", escaped(report.suite), kPageStyle);
  text += fmt::format("<h1>lumen bench {}</h1><p>{}, {} thread{}, {}, lumen {}{}</p>\n", escaped(report.suite),
                      escaped(report.machine), report.limits.threads, report.limits.threads == 1 ? "" : "s",
                      escaped(report.date), escaped(report.version), report.cold ? ", compiled cold" : "");
  text += "<div class=\"cards\">\n" + limit_cards(report.limits) + "</div>\n";
  if (const std::string roofline = roofline_svg(report, palette); !roofline.empty()) {
    text += "<h2>Roofline</h2><div class=\"plot\">" + roofline + legend(palette) + "</div>\n";
  }
  text += "<h2>Share of the machine's limit</h2><div class=\"plot\">" + shares_svg(report, palette) + "</div>\n";
  text += "<h2>Cases</h2>\n" + results(report, palette, comparison);
  text +=
      "<p>GB/s and MBU count every input and output once. MBU is the share of a copy of that size, MFU of the\n"
      "arithmetic rate of the unit. `calls` are those of kernels in one run, `timed` the kernels that were measured\n"
      "while compiling, `again` a second compile.</p>\n";
  return text + fmt::format("<script>{}</script></body></html>\n", kPageScript);
}

}  // namespace lumen::bench
