#include "lumen/codegen/contract_skinny_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/hlir/cast.h"

namespace lumen {

namespace {

// Where the integers of a run lie as the bytes that are multiplied, in C.
std::optional<std::string> bytes_of_run(const Graph& graph, const ScaledRun& run, int64_t length) {
  const Node& node = graph[run.integer.node];
  const NodeId source = node.is<Input>() ? run.integer.node : node.operands.empty() ? NodeId{} : node.operands[0];
  const bool is_stored = node.is<Input>() || (node.is<hlir::Bitcast>() && graph[source].is<Input>());
  if (!is_stored || node.type.dtype != i8 || run.offset != 0) return std::nullopt;
  ElementWriter writer(graph, 0);
  writer.value(run.integer.node, run.integer.at);
  if (writer.accesses().size() != 1 || !writer.faults().empty()) return std::nullopt;
  const Expr place = writer.accesses()[0].place, variable = Expr::index(5, length);
  const std::pair<Expr, Expr> next[] = {{variable, variable + 1}}, first[] = {{variable, Expr(0)}};
  if (substitute(place, next) - place != Expr(1)) return std::nullopt;
  const auto input = std::ranges::find(graph.inputs(), source) - graph.inputs().begin();
  return fmt::format("(const int8_t*)a{} + {}", input, print_c(substitute(place, first)).text);
}

// What integers from `first` of a turn on, which lie at `q`, add to the sum of a row and a column.
std::string block_dots(const SkinnyFrame& frame, const ScaledRuns& runs, int64_t row, int64_t column, int64_t first,
                       const std::string& q, const std::string& scale) {
  const std::string k = fmt::format("i4 * {} + {}", runs.turn_length(), first);
  const std::string x = fmt::format("x + {} * step", row);
  const std::string by = frame.is_fixed() ? fmt::format("{} * ((const float*)({} + {}))[({}) / {}]", scale, x,
                                                        number(frame.depth), k, runs.block())
                                          : scale;
  return fmt::format("      s{0}_{1} = {2}_dots(s{0}_{1}, {3}, {4} + {5}, {6});\n", row, column, frame.name, q, x, k,
                     by);
}

// The integers of a turn's column as bytes, unless they lie there as such, and what they add to the sums of each row.
Expected<std::string> scaled_turn(const SkinnyFrame& frame, size_t side, const ScaledRuns& runs, int64_t column,
                                  std::vector<std::string>& messages) {
  const Graph& graph = *frame.columns[side].graph;
  ElementWriter writer(graph, 6, messages), reads(graph, 0);
  std::string dots;
  bool makes_bytes = false;
  for (size_t turn = 0; turn < runs.turns.size(); ++turn) {
    const ScaledRun& run = runs.turns[turn];
    const int64_t first = static_cast<int64_t>(turn) * runs.length;
    const bool alone = runs.turns.size() == 1 || !runs.one_scale;
    const std::optional<std::string> bytes = alone ? bytes_of_run(graph, run, runs.length) : std::nullopt;
    reads.value(run.integer.node, run.integer.at);
    std::string scale;
    if (bytes) {
      scale = writer.single_value(run.scale.node, run.scale.at);
    } else {
      makes_bytes = true;
      writer.open_loop(fmt::format("LUMEN_FOLD(i5, {}, {})", runs.length, runs.faults ? "reduction(| : fault)" : ""),
                       Expr::index(5, runs.length), false);
      scale = writer.value(run.scale.node, run.scale.at);  // before the loop
      const std::string integer = writer.value(run.integer.node, run.integer.at);
      writer.line(fmt::format("q[{} + i5] = (int8_t)({} + {});", first, integer, run.offset));
      writer.close();
    }
    if (runs.one_scale && turn + 1 < runs.turns.size()) continue;
    const int64_t from = runs.one_scale ? 0 : first;
    for (int64_t r = 0; r < frame.schedule.mr; ++r) {
      dots += block_dots(frame, runs, r, column, from, bytes.value_or(fmt::format("q + {}", from)), scale);
    }
  }
  if (!writer.problem().empty()) return error(writer.problem());
  messages = writer.faults();
  const std::string q =
      makes_bytes ? fmt::format("      int8_t q[{}] __attribute__((aligned(64)));\n", runs.turn_length()) : "";
  return fmt::format("    {{\n      const int64_t i2 = c + {};\n{}{}{}{}    }}\n", column,
                     frame.fetch_ahead(side, reads, runs.length, runs.turn_length()), q, writer.text(), dots);
}

}  // namespace

std::optional<std::vector<ScaledRuns>> scaled_columns(const ContractRoles& roles, std::span<const FactorIn> columns) {
  std::vector<ScaledRuns> scaled;
  for (const FactorIn& factor : columns) {
    const std::optional<ScaledRuns> runs = scaled_runs(roles, factor);
    if (!runs || (!scaled.empty() && runs->block() != scaled[0].block())) return std::nullopt;
    scaled.push_back(*runs);
  }
  return scaled;
}

Expected<std::string> blocks_loop(const SkinnyFrame& frame, size_t side, const ScaledRuns& runs, int64_t count,
                                  std::vector<std::string>& messages) {
  std::string terms, sums, stores;
  for (int64_t j = 0; j < count; ++j) {
    terms += LUMEN_TRY(scaled_turn(frame, side, runs, j, messages));
    for (int64_t r = 0; r < frame.schedule.mr; ++r) {
      sums += fmt::format("  {}_sums s{}_{} = {{0}};\n", frame.name, r, j);
      stores += fmt::format("  t[{}] = {}_total(s{}_{});\n", r * frame.schedule.nc + j, frame.name, r, j);
    }
  }
  return fmt::format("{}  for (int64_t i4 = 0; i4 < {} / {}; ++i4) {{\n{}  }}\n{}", sums, number(frame.depth),
                     runs.turn_length(), terms, stores);
}

}  // namespace lumen
