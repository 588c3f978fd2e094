#include <fmt/format.h>

#include <algorithm>

#include "bench/suite/html_parts.h"
#include "tools/fusion_report.h"

namespace lumen::tools {

namespace {

using bench::escaped;

constexpr double kWidth = 1120, kLabel = 190, kFull = 820, kBar = 9, kGap = 8;
constexpr const char* kColours[] = {"hsl(215 12% 60%)", "hsl(28 80% 52%)", "hsl(152 60% 38%)"};

const char* colour(size_t strategy) { return kColours[strategy % std::size(kColours)]; }

double gain(const FusionCase& each, size_t strategy) {
  return each.strategies[0].total_median() / each.strategies[strategy].total_median();
}

// 0, 0.5, 1, …: at most six of them.
double round_step(double most) {
  for (double size = 0.1;; size *= 10) {
    for (const double step : {size, 2 * size, 5 * size}) {
      if (most / step <= 6) return step;
    }
  }
}

std::string bars(const FusionReport& report) {
  double most = 1;
  for (const FusionCase& each : report.cases) {
    for (size_t k = 0; k < each.strategies.size(); ++k) most = std::max(most, gain(each, k));
  }
  const double step = round_step(most);
  std::string rows;
  double top = 24;
  for (const FusionCase& each : report.cases) {
    const double height = kBar * static_cast<double>(each.strategies.size());
    rows += fmt::format(R"(<text x="{}" y="{:.0f}" text-anchor="end">{}</text>)", kLabel - 8, top + height / 2 + 4,
                        escaped(each.name));
    for (size_t k = 0; k < each.strategies.size(); ++k, top += kBar) {
      rows += fmt::format(
          R"(<rect x="{}" y="{:.0f}" width="{:.1f}" height="{}" style="fill:{}"><title>{}: {:.2f} ms</title></rect>)",
          kLabel, top, gain(each, k) / most * kFull, kBar - 1, colour(k), escaped(report.strategies[k]),
          1e3 * each.strategies[k].total_median());
    }
    rows += fmt::format(R"(<text x="{:.0f}" y="{:.0f}">{:.2f}x</text>)", kLabel + kFull + 10, top - height / 2 + 4,
                        gain(each, each.strategies.size() - 1));
    top += kGap;
  }
  std::string text = fmt::format(R"(<svg viewBox="0 0 {} {:.0f}" role="img">)", kWidth, top + 4);
  for (int tick = 0; tick * step <= most; ++tick) {
    const double x = kLabel + kFull * tick * step / most;
    text += fmt::format(R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="16" y2="{1:.0f}"/>)", x, top);
    text += fmt::format(R"(<text x="{:.1f}" y="12" text-anchor="middle">{:g}x</text>)", x, tick * step);
  }
  return text + rows + "</svg>";
}

std::string legend(const FusionReport& report) {
  std::string text = "<div class=\"legend\">";
  for (size_t k = 0; k < report.strategies.size(); ++k) {
    text += fmt::format("<span><i class=\"dot\" style=\"background:{}\"></i>{}</span>", colour(k),
                        escaped(report.strategies[k]));
  }
  return text + "</div>";
}

std::string table(const FusionReport& report) {
  std::string text = "<table id=\"cases\"><thead><tr><th>case</th>";
  for (const std::string& strategy : report.strategies) {
    text += fmt::format("<th>{0} reads</th><th>{0} writes</th>", escaped(strategy));
  }
  for (size_t k = 1; k < report.strategies.size(); ++k)
    text += fmt::format("<th>{}</th>", escaped(report.strategies[k]));
  text += "<th>texts</th></tr></thead><tbody>\n";
  for (const FusionCase& each : report.cases) {
    text += fmt::format("<tr><td>{}</td>", escaped(each.name));
    for (const FusionRuns& runs : each.strategies) {
      for (const double seconds : {runs.prefill_median(), runs.decode_median()}) {
        text += fmt::format("<td data-v=\"{}\">{:.2f} ms</td>", seconds, 1e3 * seconds);
      }
    }
    for (size_t k = 1; k < each.strategies.size(); ++k) {
      text += fmt::format("<td data-v=\"{0}\">{0:.2f}x</td>", gain(each, k));
    }
    text += fmt::format("<td>{}</td></tr>\n", each.difference.empty() ? "same" : escaped(each.difference));
  }
  return text + "</tbody></table>\n";
}

std::string wins_table(const FusionReport& report) {
  std::string text = "<table id=\"wins\"><thead><tr><th>category</th>";
  for (const std::string& strategy : report.strategies) text += fmt::format("<th>{}</th>", escaped(strategy));
  text += "<th>none</th></tr></thead><tbody>\n";
  for (const FusionWins& each : report.wins()) {
    text += fmt::format("<tr><td>{}</td>", escaped(each.category));
    for (const size_t count : each.wins) text += fmt::format("<td data-v=\"{0}\">{0}</td>", count);
    text += fmt::format("<td data-v=\"{0}\">{0}</td></tr>\n", each.none);
  }
  return text + "</tbody></table>\n";
}

}  // namespace

std::string fusion_html(const FusionReport& report) {
  std::string text = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>";
  text += fmt::format("<title>lumen fusion bench</title><style>{}</style></head><body>\n", bench::kPageStyle);
  text += fmt::format("<h1>lumen fusion bench</h1><p>{}, {}, {}, {}, {}</p>\n", escaped(report.model),
                      report.runs_text(), escaped(report.setting), escaped(report.date), escaped(report.commit));
  text += fmt::format("<h2>Times as fast as {}</h2><div class=\"plot\">{}{}</div>\n", escaped(report.strategies[0]),
                      bars(report), legend(report));
  if (const std::string verdict = verdict_text(report); !verdict.empty()) {
    text += fmt::format("<p id=\"verdict\">{}.</p>\n", escaped(verdict.substr(0, verdict.size() - 1)));
  }
  text += "<h2>Wins, by 2 % or more</h2>\n" + wins_table(report);
  text += "<h2>Cases</h2>\n" + table(report);
  return text + fmt::format("<script>{}</script></body></html>\n", bench::kPageScript);
}

}  // namespace lumen::tools
