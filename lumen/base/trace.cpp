#include "lumen/base/trace.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "lumen/base/file.h"

namespace lumen {

namespace {

constexpr int kProcess = 1;

// By thread, the earliest first; of those that begin together the longest, so that what is around comes before what is
// inside.
std::vector<const TraceEvent*> sorted(const std::vector<TraceEvent>& events) {
  std::vector<const TraceEvent*> order;
  for (const TraceEvent& event : events) order.push_back(&event);
  std::stable_sort(order.begin(), order.end(), [](const TraceEvent* a, const TraceEvent* b) {
    return a->start != b->start ? a->start < b->start : a->seconds > b->seconds;
  });
  return order;
}

nlohmann::json event_json(const TraceEvent& event, int lane, double zero) {
  nlohmann::json json = {{"name", event.name},        {"cat", event.category}, {"ph", "X"},
                         {"pid", kProcess},           {"tid", lane},           {"ts", (event.start - zero) * 1e6},
                         {"dur", event.seconds * 1e6}};
  for (const auto& [key, text] : event.texts) json["args"][key] = text;
  for (const auto& [key, number] : event.numbers) json["args"][key] = number;
  return json;
}

nlohmann::json name_json(const char* what, int lane, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", lane}, {"args", {{"name", name}}}};
}

}  // namespace

void Trace::add(TraceEvent event) {
  const std::scoped_lock lock(mutex_);
  events_.push_back(std::move(event));
}

std::string Trace::json() const {
  const std::scoped_lock lock(mutex_);
  const std::vector<const TraceEvent*> order = sorted(events_);
  std::map<std::thread::id, int> lanes = {{main_, 0}};
  nlohmann::json events = {name_json("process_name", 0, "lumen"), name_json("thread_name", 0, "main")};
  for (const TraceEvent* event : order) {
    const auto [lane, is_new] = lanes.emplace(event->thread, static_cast<int>(lanes.size()));
    if (is_new) events.push_back(name_json("thread_name", lane->second, "worker " + std::to_string(lane->second)));
  }
  const double zero = order.empty() ? 0 : order[0]->start;
  std::vector<nlohmann::json> by_lane(lanes.size(), nlohmann::json::array());
  for (const TraceEvent* event : order) {
    const int lane = lanes.at(event->thread);
    by_lane[static_cast<size_t>(lane)].push_back(event_json(*event, lane, zero));
  }
  for (nlohmann::json& lane : by_lane) events.insert(events.end(), lane.begin(), lane.end());
  const nlohmann::json whole = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}};
  return whole.dump(0, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Expected<void> Trace::write(const std::string& path) const {
  const std::string text = json();
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
  return write_file(path, parts);
}

}  // namespace lumen
