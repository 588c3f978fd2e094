// One iteration: all rules are matched on the same state, then everything is rebuilt. Matches are applied as they are
// found, rule by rule: terms go to the tails of the tables, which no search looks at, and everything else waits until
// the rebuild, so the result is as if all had been matched first.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "lumen/egraph/core/apply.h"
#include "lumen/egraph/core/growth.h"
#include "lumen/egraph/core/search.h"
#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

namespace {

using Clock = std::chrono::steady_clock;

std::span<const Value> all_of(const GrowArray<Value>& values) { return {values.data(), values.size()}; }

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Pieces of work of a search by several threads: candidates of the first join, and values that are found.
constexpr size_t kFirstChunk = 64;
constexpr size_t kMostChunk = 2048;
constexpr size_t kPieceValues = size_t{1} << 15;
// Pieces for each thread before what they found is applied.
constexpr size_t kWavePieces = 8;

// The rows each atom may match in one pass over a rule. Semi-naive evaluation makes one pass per atom with new rows:
// that atom takes the new rows, those before it the old ones, those after it all; every match with a new row is found
// exactly once.
struct Pass {
  std::vector<AtomRange> ranges;
  size_t candidates = 0;  // rows that its first join looks at
};

class Iteration {
 public:
  Iteration(EGraph::State& state, const RunOptions& options, uint32_t book)
      : s_(state), options_(options), book_(book), start_(Clock::now()), deadline_(deadline()) {
    for (const Table& table : s_.tables) limits_.push_back(table.rows());
    for (const auto& [sort, value] : s_.globals) globals_.push_back(s_.find(sort, value));
  }

  // Searches one rule and applies what it finds, or gives the matches to `keep`. False: stop (a limit or a failure).
  bool run_rule(RuleId id, KeptMatches* keep);
  bool apply(RuleId id, MatchLists matches, size_t count);
  // After the rebuild: an iteration that grew too much in small steps is blamed on the rule that made most rows.
  void check_limits() { within_limits(busiest_); }
  IterationReport report;

 private:
  Deadline deadline() const {
    if (options_.limits.seconds > 1e9) return Deadline::max();
    return start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.limits.seconds));
  }
  // Under back-off always: matches that are kept would be found again.
  bool seminaive() const { return options_.seminaive || book_ != 0; }
  Seen& seen(RuleId id);
  std::vector<AtomRange> all_rows(RuleId id);
  std::vector<Pass> passes(RuleId id, const SearchShared& shared);
  bool run_pass(RuleId id, const SearchShared& shared, const Pass& pass, KeptMatches* keep);
  bool run_serial(RuleId id, Search& search, size_t begin, size_t end, KeptMatches* keep);
  bool run_parallel(RuleId id, const SearchShared& shared, const Search& first, Growth& growth, KeptMatches* keep);
  bool try_one_pass(RuleId id, const SearchShared& shared, const std::vector<Pass>& passes, KeptMatches* keep,
                    bool& go_on);
  bool finish(RuleId id, Search& search, KeptMatches* keep);
  bool take_wave(RuleId id, size_t width, std::span<const GrowArray<Value>> found_by_piece, size_t found,
                 GrowArray<Value>& waiting, KeptMatches* keep);
  bool take(RuleId id, MatchLists matches, size_t found, KeptMatches* keep);
  bool within_limits(RuleId id);
  bool stop(RuleId id, std::string what);

  EGraph::State& s_;
  const RunOptions& options_;
  const uint32_t book_;
  const Clock::time_point start_;
  const Deadline deadline_;
  std::vector<Row> limits_;
  std::vector<Value> globals_;  // as rules match them, also after another rule has merged them with something
  std::unique_ptr<Applier> applier_;
  size_t since_check_ = 0;
  RuleId busiest_ = kNone;  // the rule that made most rows, and how many
  uint64_t busiest_rows_ = 0;
};

Seen& Iteration::seen(RuleId id) {
  std::vector<Seen>& book = s_.seen[book_];
  if (book.size() <= id) book.resize(id + 1);
  book[id].rows.resize(s_.rules[id]->plan.atoms(), 0);
  return book[id];
}

bool Iteration::stop(RuleId id, std::string what) {
  report.limit = std::move(what);
  if (id != kNone) report.limit += ", in rule " + s_.rules[id]->rule.name;
  return false;
}

bool Iteration::within_limits(RuleId id) {
  const Limits& limits = options_.limits;
  if (const uint64_t rows = s_.live_rows(); rows > limits.rows) {
    return stop(id, "rows: " + std::to_string(rows) + " of " + std::to_string(limits.rows));
  }
  if (const uint64_t bytes = s_.bytes(); bytes > limits.bytes) {
    return stop(id, "bytes: " + std::to_string(bytes) + " of " + std::to_string(limits.bytes));
  }
  if (Clock::now() > deadline_) return stop(id, "seconds: used up");
  return true;
}

bool Iteration::apply(RuleId id, MatchLists matches, size_t count) {
  const Clock::time_point start = Clock::now();
  RuleState& rule = *s_.rules[id];
  // That of full blocks is large: it serves for all batches of the rule.
  if (applier_ == nullptr || count < Applier::kBlock || !applier_->is_for(id, count)) {
    applier_ = std::make_unique<Applier>(s_, rule.head, id, count);
  }
  Applier& applier = *applier_;
  applier.counts = {};
  const bool ok = applier.apply(matches, count);
  rule.report.rows += applier.counts.rows;
  if (applier.counts.rows >= busiest_rows_) {
    busiest_ = id;
    busiest_rows_ = applier.counts.rows;
  }
  rule.report.unions += applier.counts.unions;
  const double seconds = seconds_since(start);
  rule.report.apply_seconds += seconds;
  report.apply_seconds += seconds;
  since_check_ += count;
  if (since_check_ > 10000) {
    since_check_ = 0;
    if (!within_limits(id)) return false;
  }
  return ok;
}

// `matches` were found: applies or keeps them.
bool Iteration::take(RuleId id, MatchLists matches, size_t found, KeptMatches* keep) {
  s_.rules[id]->report.matches += found;
  report.matches += found;
  if (keep == nullptr) return found == 0 || apply(id, matches, found);
  size_t values = 0;
  for (const std::span<const Value> list : matches) values += list.size();
  const size_t width = found == 0 ? 0 : values / found;
  if (width == 0) keep->add({}, 0, found);
  for (const std::span<const Value> list : matches) {
    if (!list.empty()) keep->add(list, width, list.size() / width);
  }
  return true;
}

bool Iteration::run_rule(RuleId id, KeptMatches* keep) {
  RuleState& rule = *s_.rules[id];
  ++rule.report.runs;
  const Clock::time_point start = Clock::now();
  const double applied = rule.report.apply_seconds;
  bool go_on = true;
  Seen& seen = this->seen(id);
  if (rule.rule.query.atoms.empty() && seen.fired && seminaive() && !rule.rule.naive) return true;
  std::vector<Value> constants = constant_values(rule.plan, [&](uint32_t global) { return globals_[global]; });
  SearchShared shared{s_, rule.plan, std::move(constants), rule.head.inputs, s_.trace != nullptr, &limits_};
  const std::vector<Pass> passes = this->passes(id, shared);
  if (!try_one_pass(id, shared, passes, keep, go_on)) {
    for (size_t i = 0; i < passes.size() && go_on; ++i) go_on = run_pass(id, shared, passes[i], keep);
  }
  if (go_on) {
    seen.fired = true;
    for (size_t a = 0; a < seen.rows.size(); ++a) seen.rows[a] = limits_[rule.plan.table_of(a)];
  }
  const double seconds = seconds_since(start) - (rule.report.apply_seconds - applied);
  rule.report.search_seconds += seconds;
  report.search_seconds += seconds;
  return go_on;
}

// By atom: the rows of its table, and from where on they are new to the rule.
std::vector<AtomRange> Iteration::all_rows(RuleId id) {
  const Plan& plan = s_.rules[id]->plan;
  const std::vector<Row>& seen_rows = seen(id).rows;
  std::vector<AtomRange> ranges;
  for (size_t a = 0; a < plan.atoms(); ++a) ranges.push_back({0, limits_[plan.table_of(a)], seen_rows[a]});
  return ranges;
}

std::vector<Pass> Iteration::passes(RuleId id, const SearchShared& shared) {
  const RuleState& rule = *s_.rules[id];
  const std::vector<Row>& seen_rows = seen(id).rows;
  const size_t atoms = rule.plan.atoms();
  const Pass all{all_rows(id)};
  if (std::any_of(all.ranges.begin(), all.ranges.end(), [](const AtomRange& range) { return range.end == 0; }))
    return {};
  if (!seminaive() || rule.rule.naive || atoms == 0) return {all};
  std::vector<Pass> fresh;
  for (size_t a = 0; a < atoms; ++a) {
    if (seen_rows[a] == all.ranges[a].end) continue;
    Pass pass = all;
    pass.ranges[a].begin = seen_rows[a];
    bool possible = true;
    for (size_t b = 0; b < a; ++b) {
      pass.ranges[b].end = seen_rows[b];
      possible = possible && pass.ranges[b].end > 0;
    }
    if (!possible) break;
    Search probe(shared);
    probe.set_ranges(pass.ranges, false);
    if (!probe.start()) continue;
    pass.candidates = probe.candidates();
    fresh.push_back(std::move(pass));
  }
  return fresh;
}

// One pass over everything that keeps the matches with a new row, instead of `passes`: most rules of a compiler have a
// rare atom, start there and find nothing. Gives up when it looks at more rows than the passes would at least.
bool Iteration::try_one_pass(RuleId id, const SearchShared& shared, const std::vector<Pass>& passes, KeptMatches* keep,
                             bool& go_on) {
  if (passes.size() < 2) return false;
  uint64_t candidates = 0;
  for (const Pass& pass : passes) candidates += pass.candidates;
  Search search(shared);
  search.set_ranges(all_rows(id), true);
  search.set_deadline(deadline_);
  search.set_budget(candidates);
  if (!search.start()) return true;
  if (search.candidates() * 2 > candidates) return false;
  search.run(0, search.candidates());
  if (search.exhausted) {
    s_.rules[id]->report.joins += search.joins();
    return false;
  }
  go_on = finish(id, search, keep);
  return true;
}

bool Iteration::run_pass(RuleId id, const SearchShared& shared, const Pass& pass, KeptMatches* keep) {
  Growth growth(s_, s_.rules[id]->head);
  Search search(shared, [&](GrowArray<Value>& matches) {
    growth.expect(search.visited(), search.candidates());
    const std::span<const Value> list = all_of(matches);
    const bool go_on = take(id, {&list, 1}, list.size() / shared.width(), keep);
    matches.resize(0);
    return go_on;
  });
  search.set_ranges(pass.ranges, false);
  search.set_deadline(deadline_);
  if (!search.start()) return true;
  if (options_.threads > 1 && search.candidates() > options_.parallel_from) {
    return run_parallel(id, shared, search, growth, keep);
  }
  return run_serial(id, search, 0, search.candidates(), keep);
}

bool Iteration::run_serial(RuleId id, Search& search, size_t begin, size_t end, KeptMatches* keep) {
  const bool go_on = search.run(begin, end);
  return finish(id, search, keep) && go_on;
}

// Takes what a search has left; false when it ran out of time.
bool Iteration::finish(RuleId id, Search& search, KeptMatches* keep) {
  s_.rules[id]->report.joins += search.joins();
  if (search.timed_out) return stop(id, "seconds: used up");
  const std::span<const Value> list = all_of(search.matches);
  return take(id, {&list, 1}, search.width() == 0 ? search.found : list.size() / search.width(), keep);
}

// The pieces are parts of the candidates that `first` has chosen, of a size that keeps what a wave finds in the caches.
bool Iteration::run_parallel(RuleId id, const SearchShared& shared, const Search& first, Growth& growth,
                             KeptMatches* keep) {
  struct Piece {
    size_t begin = 0;
    size_t end = 0;
    size_t found = 0;
    bool finished = false;
    bool timed_out = false;
  };
  const size_t count = first.candidates();
  std::vector<GrowArray<Value>>& memory = s_.scratch_matches;
  memory.resize(kWavePieces * s_.workers->threads());
  GrowArray<Value> waiting;
  size_t chunk = kFirstChunk;
  for (size_t done = 0; done < count;) {
    std::vector<Piece> pieces;
    for (size_t at = done; at < count && pieces.size() < memory.size(); at += chunk) {
      pieces.push_back({at, std::min(at + chunk, count)});
    }
    s_.workers->run(pieces.size(), [&](size_t i) {
      Piece& piece = pieces[i];
      Search search(shared);
      search.start_as(first);
      search.set_frozen(true);
      search.matches = std::move(memory[i]);
      search.matches.resize(0);
      piece.finished = search.run(piece.begin, piece.end) && !search.needs_serial;
      piece.timed_out = search.timed_out;
      piece.found = search.found;
      memory[i] = std::move(search.matches);
    });
    size_t values = 0;
    size_t found = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      Piece& piece = pieces[i];
      if (piece.timed_out) return stop(id, "seconds: used up");
      if (!piece.finished) {
        Search search(shared);  // an index or a value was missing
        search.start_as(first);
        search.run(piece.begin, piece.end);
        if (search.timed_out) return stop(id, "seconds: used up");
        piece.found = search.found;
        memory[i] = std::move(search.matches);
      }
      values += memory[i].size();
      found += piece.found;
    }
    if (!take_wave(id, shared.width(), std::span(memory).first(pieces.size()), found, waiting, keep)) return false;
    const size_t each = values / (pieces.back().end - done) + 1;  // values by candidate
    done = pieces.back().end;
    growth.expect(done, count);
    chunk = std::clamp<size_t>(kPieceValues / each, 1, kMostChunk);
  }
  const std::span<const Value> rest = all_of(waiting);
  return take(id, {&rest, 1}, shared.width() == 0 ? 0 : rest.size() / shared.width(), keep);
}

// Takes matches in the batches that a serial search gives to its sink: results do not depend on pieces then. What does
// not fill a batch is left `waiting`, the last time's goes first.
bool Iteration::take_wave(RuleId id, size_t width, std::span<const GrowArray<Value>> found_by_piece, size_t found,
                          GrowArray<Value>& waiting, KeptMatches* keep) {
  std::vector<std::span<const Value>> lists{all_of(waiting)};
  for (const GrowArray<Value>& matches : found_by_piece) lists.push_back(all_of(matches));
  if (keep != nullptr || width == 0) return take(id, lists, found, keep);
  constexpr size_t kBatch = Search::kSinkMatches;
  std::vector<std::span<const Value>> batch;
  size_t room = kBatch * width;
  for (std::span<const Value> list : lists) {
    while (list.size() >= room) {
      batch.push_back(list.first(room));
      list = list.subspan(room);
      room = kBatch * width;
      if (!take(id, std::exchange(batch, {}), kBatch, keep)) return false;
    }
    batch.push_back(list);
    room -= list.size();
  }
  GrowArray<Value> rest;
  for (const std::span<const Value> list : batch) std::copy(list.begin(), list.end(), rest.append(list.size()));
  waiting = std::move(rest);
  return true;
}

void compact_sparse_tables(EGraph::State& s) {
  if (s.trace != nullptr) return;  // it knows rows by their position
  for (TableId t = 0; t < s.tables.size(); ++t) {
    Table& table = s.tables[t];
    if (table.rows() < 1024 || table.live() * 2 > table.rows()) continue;
    std::vector<Row*> marks;  // positions in this table that rules remember
    for (std::vector<Seen>& book : s.seen) {
      for (RuleId r = 0; r < book.size(); ++r) {
        for (size_t a = 0; a < book[r].rows.size(); ++a) {
          if (s.rules[r]->plan.table_of(a) == t) marks.push_back(&book[r].rows[a]);
        }
      }
    }
    std::sort(marks.begin(), marks.end(), [](const Row* a, const Row* b) { return *a < *b; });
    std::vector<Row> moved;
    for (const Row* mark : marks) moved.push_back(*mark);
    table.compact(moved);
    for (size_t i = 0; i < marks.size(); ++i) *marks[i] = moved[i];
    s.clean[t] = table.rows();
  }
}

}  // namespace

BackOff::RuleState& BackOff::state_of(RuleId rule) {
  if (rules_.size() <= rule) rules_.resize(rule + 1);
  return rules_[rule];
}

bool BackOff::release(RuleId rule) {
  RuleState& state = state_of(rule);
  ++state.iteration;
  state.seek = state.iteration >= state.banned_until;
  if (!state.seek) return false;
  const auto scaled = [&](uint64_t n) { return state.bans < 40 ? n << state.bans : ~uint64_t{0} >> 1; };
  if (state.matches.size() <= scaled(match_limit_)) return true;
  state.banned_until = state.iteration + scaled(ban_length_);
  ++state.bans;
  state.seek = false;
  return false;
}

bool BackOff::can_stop(std::span<const RuleId> rules) {
  uint64_t shortest = ~uint64_t{0};
  for (const RuleId rule : rules) {
    RuleState& state = state_of(rule);
    if (state.banned_until > state.iteration) {
      shortest = std::min(shortest, state.banned_until - state.iteration);
    } else {
      state.iteration = state.banned_until = state.bans = 0;
    }
  }
  if (shortest == ~uint64_t{0}) return true;
  for (const RuleId rule : rules) {
    RuleState& state = state_of(rule);
    if (state.banned_until > state.iteration) state.banned_until -= shortest;
  }
  return false;
}

Expected<IterationReport> EGraph::run(std::span<const RuleId> rules, const RunOptions& options, BackOff* back_off) {
  State& s = *state_;
  if (options.threads <= 1) {
    s.workers.reset();
  } else if (s.workers == nullptr || s.workers->threads() != static_cast<size_t>(options.threads)) {
    s.workers = std::make_unique<Workers>(options.threads);
  }
  LUMEN_TRY(s.rebuild());
  s.catch_up_indexes();
  const size_t before = s.changes;
  if (back_off != nullptr && back_off->book_ == kNone) {
    back_off->book_ = static_cast<uint32_t>(s.seen.size());
    s.seen.emplace_back();
  }
  Iteration iteration(s, options, back_off == nullptr ? 0 : back_off->book_);
  if (back_off == nullptr) {
    for (const RuleId id : rules) {
      if (!iteration.run_rule(id, nullptr)) break;
    }
  } else {
    for (const RuleId id : rules) {
      BackOff::RuleState& kept = back_off->state_of(id);
      if (!kept.seek) continue;
      if (!iteration.run_rule(id, &kept.matches)) break;
    }
    for (const RuleId id : rules) {
      if (!iteration.report.limit.empty() || !back_off->release(id)) continue;
      BackOff::RuleState& kept = back_off->state_of(id);
      const auto apply = [&](std::span<const Value> matches, size_t count) {
        return iteration.apply(id, {&matches, 1}, count);
      };
      if (!kept.matches.for_each(Applier::kBlock, apply)) break;
      kept.matches.clear();
    }
  }
  const auto start = Clock::now();
  if (!s.failure.empty()) {
    const Diag diag = error(std::exchange(s.failure, {}));
    LUMEN_TRY(s.rebuild());
    return diag;
  }
  LUMEN_TRY(s.rebuild());
  compact_sparse_tables(s);
  iteration.report.rebuild_seconds = seconds_since(start);
  iteration.report.changed = s.changes != before || (back_off != nullptr && !back_off->can_stop(rules));
  if (iteration.report.changed && iteration.report.limit.empty()) iteration.check_limits();
  iteration.report.rows = s.live_rows();
  for (SortId sort = 0; sort < s.sorts.size(); ++sort) {
    if (s.sorts[sort].kind == SortKind::eq) iteration.report.classes += s.ids[sort].size() - s.ids[sort].merges();
  }
  iteration.report.bytes = s.bytes();
  return iteration.report;
}

}  // namespace lumen::egraph
