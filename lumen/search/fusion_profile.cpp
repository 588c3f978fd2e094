#include "lumen/search/fusion_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "lumen/base/nearest.h"

namespace lumen::search {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kMostMilliseconds = 1e9;
constexpr size_t kMostRank = 8;

// Reads the two halves, and whatever stands in the meta block.
class ProfileReader {
 public:
  ProfileReader(const OrderedJson& json, const std::string& file, std::span<const std::string_view> known)
      : json_(json), known_(known) {
    profile_.file = file;
  }

  Expected<FusionProfile> read() {
    if (!json_.is_object()) return error("not a fusion profile: it is no object");
    LUMEN_TRY(check_keys());
    LUMEN_TRY(read_meta());
    LUMEN_TRY(read_half("unfused", json_["unfused"], &FusionTimes::unfused, false));
    LUMEN_TRY(read_half("fused", json_["fused"], &FusionTimes::fused, false));
    LUMEN_TRY(check_both());
    LUMEN_TRY(read_spread());
    return std::move(profile_);
  }

 private:
  Expected<void> check_keys() const {
    for (const char* key : {"unfused", "fused"}) {
      if (!json_.contains(key)) return error(fmt::format("no \"{}\": not a fusion profile", key));
    }
    for (const auto& [key, value] : json_.items()) {
      if (key == "unfused" || key == "fused" || key == "meta") continue;
      return error(fmt::format("unknown key \"{}\"; there are unfused, fused and meta", key));
    }
    return {};
  }

  Expected<void> read_half(const std::string& half, const OrderedJson& patterns, double FusionTimes::*time,
                           bool may_be_zero) {
    if (!patterns.is_object()) return error(fmt::format("\"{}\" is no object of patterns", half));
    for (const auto& [name, shapes] : patterns.items()) {
      LUMEN_TRY(check_pattern(name, known_));
      if (!shapes.is_object()) return error(fmt::format("{}.{} is no object of shapes", half, name));
      std::set<FusionShape> seen;
      for (const auto& [key, value] : shapes.items()) {
        const FusionShape shape = LUMEN_TRY(parse_fusion_shape(key));
        if (!seen.insert(shape).second) {
          return error(fmt::format("{}.{} has the shape {} twice", half, name, shape_text(shape)));
        }
        const double milliseconds = value.is_number() ? value.get<double>() : NAN;
        const bool ok = milliseconds < kMostMilliseconds && (may_be_zero ? milliseconds >= 0 : milliseconds > 0);
        if (!ok) {
          return error(
              fmt::format("{}.{}[\"{}\"] is {}, which is no time in milliseconds", half, name, key, value.dump()));
        }
        profile_.patterns[name][shape].*time = milliseconds;
      }
    }
    return {};
  }

  Expected<void> check_both() const {
    for (const auto& [name, shapes] : profile_.patterns) {
      for (const auto& [shape, times] : shapes) {
        if (times.fused > 0 && times.unfused > 0) continue;
        return error(
            fmt::format("{} {} is in \"{}\" alone", name, shape_text(shape), times.fused > 0 ? "fused" : "unfused"));
      }
      const auto rank = [](const auto& each) { return each.first.size(); };
      if (std::ranges::adjacent_find(shapes, std::not_equal_to(), rank) == shapes.end()) continue;
      return error(fmt::format("the shapes of {} have different ranks", name));
    }
    return {};
  }

  Expected<void> read_meta() {
    if (!json_.contains("meta")) return {};
    const OrderedJson& meta = json_["meta"];
    if (!meta.is_object()) return error("\"meta\" is no object");
    std::string dtype;
    const std::pair<const char*, std::string*> texts[] = {{"hardware", &profile_.hardware},
                                                          {"setting", &profile_.setting},
                                                          {"commit", &profile_.commit},
                                                          {"date", &profile_.date},
                                                          {"dtype", &dtype}};
    for (const auto& [key, text] : texts) {
      if (!meta.contains(key)) return error(fmt::format("no \"{}\" in \"meta\"", key));
      if (!meta[key].is_string()) return error(fmt::format("meta.{} is no string", key));
      *text = meta[key].get<std::string>();
    }
    const std::optional<DType> parsed = parse_dtype(dtype);
    if (!parsed) return error(fmt::format("meta.dtype is \"{}\", which is no dtype", dtype));
    profile_.dtype = *parsed;
    return {};
  }

  // Of times that are there.
  Expected<void> read_spread() {
    if (!json_.contains("meta") || !json_["meta"].contains("spread")) return {};
    const OrderedJson& spread = json_["meta"]["spread"];
    if (!spread.is_object()) return error("meta.spread is no object");
    for (const auto& [half, patterns] : spread.items()) {
      if (half == "unfused") {
        LUMEN_TRY(read_half("meta.spread.unfused", patterns, &FusionTimes::unfused_spread, true));
      } else if (half == "fused") {
        LUMEN_TRY(read_half("meta.spread.fused", patterns, &FusionTimes::fused_spread, true));
      }
    }
    return check_both();
  }

  const OrderedJson& json_;
  std::span<const std::string_view> known_;
  FusionProfile profile_;
};

// A parser of JSON keeps one of two values with the same key, and does not say so.
class Keys {
 public:
  bool operator()(int, OrderedJson::parse_event_t event, OrderedJson& parsed) {
    if (event == OrderedJson::parse_event_t::object_start) open_.emplace_back();
    if (event == OrderedJson::parse_event_t::object_end) open_.pop_back();
    if (event == OrderedJson::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second &&
        twice_.empty()) {
      twice_ = parsed.get<std::string>();
    }
    return true;
  }
  const std::string& twice() const { return twice_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string twice_;
};

// More digits than a clock has are noise.
double rounded(double milliseconds) {
  const std::string text = fmt::format("{:.5g}", milliseconds);
  std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  return milliseconds;
}

OrderedJson half(const FusionProfile& profile, double FusionTimes::*time) {
  OrderedJson patterns = OrderedJson::object();
  for (const auto& [name, shapes] : profile.patterns) {
    OrderedJson& of_pattern = patterns[name] = OrderedJson::object();
    for (const auto& [shape, times] : shapes) of_pattern[shape_text(shape)] = rounded(times.*time);
  }
  return patterns;
}

}  // namespace

std::string shape_text(const FusionShape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Expected<FusionShape> parse_fusion_shape(std::string_view text) {
  const auto wrong = [&] { return error(fmt::format("\"{}\" is no shape like [1, 512, 4096]", text)); };
  if (!text.starts_with('[') || !text.ends_with(']')) return wrong();
  FusionShape shape;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (true) {
    int64_t dim = 0;
    const auto [next, status] = std::from_chars(at, end, dim);
    if (status != std::errc() || dim < 1 || shape.size() == kMostRank) return wrong();
    shape.push_back(dim);
    if (next == end) return shape;
    if (*next != ',') return wrong();
    at = next + 1;
    while (at != end && *at == ' ') ++at;
  }
}

std::string print_fusion_profile(const FusionProfile& profile) {
  OrderedJson json;
  json["unfused"] = half(profile, &FusionTimes::unfused);
  json["fused"] = half(profile, &FusionTimes::fused);
  OrderedJson& meta = json["meta"];
  meta["hardware"] = profile.hardware;
  meta["setting"] = profile.setting;
  meta["commit"] = profile.commit;
  meta["date"] = profile.date;
  meta["dtype"] = std::string(name(profile.dtype));
  meta["spread"]["unfused"] = half(profile, &FusionTimes::unfused_spread);
  meta["spread"]["fused"] = half(profile, &FusionTimes::fused_spread);
  return json.dump(1) + "\n";
}

Expected<FusionProfile> parse_fusion_profile(std::string_view text, const std::string& file,
                                             std::span<const std::string_view> known) {
  Keys keys;
  const OrderedJson json = OrderedJson::parse(text, std::ref(keys), /*allow_exceptions=*/false);
  if (json.is_discarded()) return error(fmt::format("{}: not JSON", file));
  if (!keys.twice().empty()) return error(fmt::format("{}: the key \"{}\" is there twice", file, keys.twice()));
  Expected<FusionProfile> profile = ProfileReader(json, file, known).read();
  if (profile.ok()) return profile;
  return error(fmt::format("{}: {}", file, profile.diag().message));
}

Expected<void> check_pattern(std::string_view name, std::span<const std::string_view> known) {
  if (std::ranges::find(known, name) != known.end()) return {};
  const std::optional<std::string> guess = nearest(name, known);
  return error(fmt::format(
      "unknown pattern \"{}\"; {}", name,
      guess ? fmt::format("did you mean \"{}\"?", *guess) : fmt::format("there are {}", fmt::join(known, ", "))));
}

Expected<void> check_hardware(const FusionProfile& profile, std::string_view hardware, std::string_view setting) {
  if (profile.hardware.empty()) {
    return error(
        fmt::format("{}: no \"meta\" says for which hardware the times hold; --fusion-profile takes it all "
                    "the same",
                    profile.file));
  }
  if (profile.hardware != hardware || profile.setting != setting) {
    return error(fmt::format("{}: of other hardware: {} {}; this is {} {}; --fusion-profile takes it all the same",
                             profile.file, profile.hardware, profile.setting, hardware, setting));
  }
  return {};
}

}  // namespace lumen::search
