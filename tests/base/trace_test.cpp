#include "lumen/base/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lumen/base/file.h"
#include "tests/support/scratch_dir.h"

namespace lumen {
namespace {

using nlohmann::json;

json complete_events(const Trace& trace) {
  const json whole = json::parse(trace.json());
  json events = json::array();
  for (const json& event : whole["traceEvents"]) {
    if (event["ph"] == "X") events.push_back(event);
  }
  return events;
}

TEST(Trace, events_have_what_viewers_read) {
  Trace trace;
  trace.add({.name = "b",
             .category = "kernel",
             .start = 10.5,
             .seconds = 0.25,
             .texts = {{"how", "x\"y"}},
             .numbers = {{"bytes", 8}}});
  trace.add({.name = "a", .category = "run", .start = 10, .seconds = 2});
  const json events = complete_events(trace);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0]["name"], "a");  // it is around the other
  EXPECT_EQ(events[0]["ts"], 0);
  EXPECT_EQ(events[0]["dur"], 2e6);
  EXPECT_EQ(events[1]["ts"], 5e5);
  EXPECT_EQ(events[1]["cat"], "kernel");
  EXPECT_EQ(events[1]["pid"], events[0]["pid"]);
  EXPECT_EQ(events[1]["args"], json({{"how", "x\"y"}, {"bytes", 8}}));
}

TEST(Trace, each_thread_has_a_lane_with_a_name) {
  Trace trace;
  { const TraceScope scope(&trace, "here", "test"); }
  std::thread([&] { const TraceScope scope(&trace, "there", "test"); }).join();
  const json all = json::parse(trace.json())["traceEvents"];
  std::map<int, std::string> lanes;
  for (const json& event : all) {
    if (event["name"] == "thread_name") lanes[event["tid"]] = event["args"]["name"];
  }
  EXPECT_EQ(lanes, (std::map<int, std::string>{{0, "main"}, {1, "worker 1"}}));
  const json events = complete_events(trace);
  EXPECT_EQ(events[0]["tid"], 0);
  EXPECT_EQ(events[1]["tid"], 1);
}

TEST(Trace, scopes_nest_and_null_takes_none) {
  Trace trace;
  {
    const TraceScope outer(&trace, "outer", "test");
    const TraceScope inner(&trace, "inner", "test");
    const TraceScope none(nullptr, "none", "test");
  }
  const json events = complete_events(trace);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0]["name"], "outer");
  EXPECT_GE(events[1]["ts"], events[0]["ts"]);
  EXPECT_LE(events[1]["ts"].get<double>() + events[1]["dur"].get<double>(),
            events[0]["ts"].get<double>() + events[0]["dur"].get<double>() + 1e-3);
}

TEST(Trace, what_cannot_be_written_is_an_error) {
  const Trace trace;
  EXPECT_FALSE(trace.write("/nowhere/trace.json").ok());
  const Expected<void> full = trace.write("/dev/full");
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.diag().str().find("/dev/full: cannot write: No space left"), std::string::npos) << full.diag().str();
  EXPECT_FALSE(trace.write("/dev/full").ok());  // it was not replaced by a file
}

TEST(FileWriter, a_device_is_written_to_and_a_file_replaced) {
  const std::span<const std::byte> none[] = {{}};
  EXPECT_TRUE(write_file("/dev/null", none).ok());
  EXPECT_FALSE(MappedFile::open("/dev/null").ok());  // still no file
  const tests::ScratchDir folder;
  EXPECT_TRUE(write_file(folder / "a", none).ok());
  EXPECT_TRUE(MappedFile::open(folder / "a").ok());
}

}  // namespace
}  // namespace lumen
