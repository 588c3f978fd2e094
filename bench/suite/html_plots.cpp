#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/suite/html_parts.h"
#include "bench/suite/table.h"

namespace lumen::bench {

namespace {

// A logarithmic axis: powers of ten from `low` to `high` over `from`..`to` of the drawing.
struct LogAxis {
  double low, high, from, to;

  double at(double value) const {
    const double part = (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
    return from + part * (to - from);
  }
};

LogAxis around(const std::vector<double>& values, double from, double to) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = std::pow(10, std::floor(std::log10(*least)));
  return {low, std::max(std::pow(10, std::ceil(std::log10(*most))), low * 10), from, to};
}

constexpr double kWidth = 1120, kHeight = 460, kLeft = 64, kRight = 1100, kTop = 16, kBottom = 416;

std::string grid(const LogAxis& x, const LogAxis& y) {
  std::string text;
  for (double v = x.low; v <= x.high * 1.01; v *= 10) {
    text += fmt::format(R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>)", x.at(v), kTop, kBottom);
    text += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>)", x.at(v), kBottom + 18, v);
  }
  for (double v = y.low; v <= y.high * 1.01; v *= 10) {
    text += fmt::format(R"(<line class="grid" y1="{0:.1f}" y2="{0:.1f}" x1="{1}" x2="{2}"/>)", y.at(v), kLeft, kRight);
    text += fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)", kLeft - 8, y.at(v) + 4, v);
  }
  return text;
}

// What copies at this rate allow: a slope up to where no unit is faster.
std::string slope(const LogAxis& x, const LogAxis& y, double gb_per_second, double most, std::string_view label) {
  const double from = std::clamp(y.low / gb_per_second, x.low, x.high);
  const double to = std::clamp(most / gb_per_second, x.low, x.high);
  return fmt::format(R"(<path class="limit" fill="none" d="M{:.1f},{:.1f} L{:.1f},{:.1f}"/>)", x.at(from),
                     y.at(gb_per_second * from), x.at(to), y.at(gb_per_second * to)) +
         fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", x.at(from) + 8,
                     std::max(y.at(gb_per_second * from) - 26, kTop + 28), label);
}

// What a unit can do, from where copies in the caches keep up with it.
std::string plateau(const LogAxis& x, const LogAxis& y, double gb_per_second, double gflops, std::string_view label) {
  if (gflops <= 0) return "";
  const double knee = std::clamp(gflops / gb_per_second, x.low, x.high);
  return fmt::format(R"(<line class="limit" x1="{:.1f}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)", x.at(knee), kRight,
                     y.at(gflops), y.at(gflops)) +
         fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", kRight - 4, y.at(gflops) - 6, label);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

Palette::Palette(const Report& report) {
  for (const Result& result : report.results) {
    if (std::find(groups_.begin(), groups_.end(), result.group) == groups_.end()) groups_.push_back(result.group);
  }
}

std::string Palette::colour(const std::string& group) const {
  const auto number = std::find(groups_.begin(), groups_.end(), group) - groups_.begin();
  return fmt::format("hsl({:.0f} 62% 50%)",
                     360.0 * static_cast<double>(number) / static_cast<double>(std::max<size_t>(groups_.size(), 1)));
}

std::string roofline_svg(const Report& report, const Palette& palette) {
  const Limits& limits = report.limits;
  std::vector<double> xs, ys{std::max({limits.f32_flops, limits.bf16_flops, limits.i8_flops, 1e9}) / 1e9};
  std::vector<const Result*> shown;
  for (const Result& result : report.results) {
    if (!result.problem.empty() || result.flops <= 0) continue;
    shown.push_back(&result);
    xs.push_back(result.flops / result.bytes);
    ys.push_back(result.flops_per_second() / 1e9);
  }
  if (shown.empty()) return "";
  const LogAxis x = around(xs, kLeft, kRight), y = around(ys, kBottom, kTop);
  std::string text = fmt::format(R"(<svg viewBox="0 0 {} {}" role="img">)", kWidth, kHeight) + grid(x, y);
  if (!limits.copies.empty()) {
    const double memory = limits.copies.back().rate / 1e9, caches = limits.copies.front().rate / 1e9;
    text += slope(x, y, memory, ys[0], "memory") + slope(x, y, caches, ys[0], "caches");
    text += plateau(x, y, caches, limits.f32_flops / 1e9, "f32 vectors");
    text += plateau(x, y, caches, limits.bf16_flops / 1e9, "bf16 tiles");
    text += plateau(x, y, caches, limits.i8_flops / 1e9, "int8 tiles");
  }
  for (const Result* result : shown) {
    text += fmt::format(
        R"(<circle r="5" cx="{:.1f}" cy="{:.1f}" style="fill:{}"><title>{}: {}, {:.1f} GFLOP/s</title>)",
        x.at(result->flops / result->bytes), y.at(result->flops_per_second() / 1e9), palette.colour(result->group),
        escaped(result->name), time_text(result->time.median), result->flops_per_second() / 1e9);
    text += "</circle>";
  }
  text += fmt::format(R"(<text x="{}" y="{}" text-anchor="middle">flops per byte</text>)", (kLeft + kRight) / 2,
                      kBottom + 38);
  return text + fmt::format(R"(<text x="{}" y="{}">GFLOP/s</text></svg>)", kLeft + 6, kTop + 12);
}

std::string shares_svg(const Report& report, const Palette& palette) {
  constexpr double kRowHeight = 17, kLabel = 290, kFull = 760;  // of 100 %
  std::string rows;
  double top = 22;
  for (const Result& result : report.results) {
    if (!result.problem.empty()) continue;
    const double memory = result.memory_share(report.limits), arithmetic = result.compute_share(report.limits);
    const double share = std::max(memory, arithmetic);
    rows += fmt::format(R"(<text x="{}" y="{:.0f}" text-anchor="end">{}</text>)", kLabel - 8, top + 11,
                        escaped(result.name));
    rows +=
        fmt::format(R"(<rect x="{}" y="{:.0f}" width="{:.1f}" height="11" rx="2" style="fill:{}"><title>{}</title>)",
                    kLabel, top + 2, std::min(share, 1.08) * kFull, palette.colour(result.group),
                    memory >= arithmetic ? "of the copy rate" : "of the arithmetic rate");
    rows += fmt::format(R"(</rect><text x="{:.0f}" y="{:.0f}">{:.0f} %</text>)",
                        kLabel + std::min(share, 1.08) * kFull + 6, top + 11, 100 * share);
    top += kRowHeight;
  }
  std::string text = fmt::format(R"(<svg viewBox="0 0 {} {:.0f}" role="img">)", kWidth, top + 8);
  for (const double share : {0.25, 0.5, 0.75, 1.0}) {
    text += fmt::format(R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="16" y2="{1:.0f}"/>)",
                        kLabel + share * kFull, top);
    text += fmt::format(R"(<text x="{:.1f}" y="12" text-anchor="middle">{:.0f} %</text>)", kLabel + share * kFull,
                        100 * share);
  }
  return text + rows + "</svg>";
}

}  // namespace lumen::bench
