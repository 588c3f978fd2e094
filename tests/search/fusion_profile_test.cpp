#include "lumen/search/fusion_profile.h"

#include <gtest/gtest.h>

#include "lumen/search/fusion_guide.h"

namespace lumen::search {
namespace {

constexpr std::string_view kKnown[] = {"swiglu", "add+rms_norm", "gelu"};

std::string problem(const std::string& text) {
  const Expected<FusionProfile> profile = parse_fusion_profile(text, "p.json", kKnown);
  return profile.ok() ? "none" : profile.diag().str();
}

std::string with_time(const std::string& time) {
  return R"({"unfused": {"gelu": {"[1, 2, 3]": )" + time + R"(}}, "fused": {"gelu": {"[1, 2, 3]": 1}}})";
}

TEST(FusionProfile, refuses_what_is_no_profile) {
  EXPECT_EQ(problem("{"), "p.json: not JSON");
  EXPECT_EQ(problem("[]"), "p.json: not a fusion profile: it is no object");
  EXPECT_EQ(problem(R"({"unfused": {}})"), "p.json: no \"fused\": not a fusion profile");
  EXPECT_EQ(problem(R"({"unfused": {}, "fused": {}, "mate": {}})"),
            "p.json: unknown key \"mate\"; there are unfused, fused and meta");
  EXPECT_EQ(problem(R"({"unfused": [], "fused": {}})"), "p.json: \"unfused\" is no object of patterns");
  EXPECT_EQ(problem(R"({"unfused": {"gelu": 3}, "fused": {}})"), "p.json: unfused.gelu is no object of shapes");
}

TEST(FusionProfile, refuses_times_that_are_none) {
  EXPECT_EQ(problem(with_time("2.5")), "none");
  for (const char* time : {"-1", "0", "null", "\"1\"", "1e300"}) {
    EXPECT_EQ(problem(with_time(time)), "p.json: unfused.gelu[\"[1, 2, 3]\"] is " +
                                            std::string(time == std::string("1e300") ? "1e+300" : time) +
                                            ", which is no time in milliseconds");
  }
}

TEST(FusionProfile, refuses_shapes_that_are_none) {
  const auto with_shape = [](const std::string& shape) {
    return R"({"unfused": {"gelu": {")" + shape + R"(": 1}}, "fused": {"gelu": {")" + shape + R"(": 1}}})";
  };
  EXPECT_EQ(problem(with_shape("[7,  8]")), "none");
  for (const char* shape : {"", "[]", "[1, 2", "1, 2", "[0, 2]", "[1; 2]", "[1,]", "[1, 2]x", "[99999999999999999999]",
                            "[1,1,1,1,1,1,1,1,1]"}) {
    EXPECT_EQ(problem(with_shape(shape)), "p.json: \"" + std::string(shape) + "\" is no shape like [1, 512, 4096]");
  }
  EXPECT_EQ(problem(R"({"unfused": {"gelu": {"[1]": 1}}, "fused": {"gelu": {"[2]": 1}}})"),
            "p.json: gelu [1] is in \"unfused\" alone");
  EXPECT_EQ(problem(R"({"unfused": {"gelu": {"[1]": 1, "[2, 2]": 1}}, "fused": {"gelu": {"[1]": 1, "[2, 2]": 1}}})"),
            "p.json: the shapes of gelu have different ranks");
}

TEST(FusionProfile, refuses_what_is_there_twice) {
  EXPECT_EQ(problem(R"({"unfused": {"gelu": {"[1,2]": 1, "[1, 2]": 2}}, "fused": {"gelu": {"[1, 2]": 1}}})"),
            "p.json: unfused.gelu has the shape [1, 2] twice");
  EXPECT_EQ(problem(R"({"unfused": {}, "fused": {}, "fused": {}})"), "p.json: the key \"fused\" is there twice");
  EXPECT_EQ(problem(R"({"unfused": {"gelu": {}, "gelu": {}}, "fused": {}})"),
            "p.json: the key \"gelu\" is there twice");
}

TEST(FusionProfile, says_which_pattern_was_meant) {
  EXPECT_EQ(problem(R"({"unfused": {"swigul": {}}, "fused": {}})"),
            "p.json: unknown pattern \"swigul\"; did you mean \"swiglu\"?");
  EXPECT_EQ(problem(R"({"unfused": {"attention": {}}, "fused": {}})"),
            "p.json: unknown pattern \"attention\"; there are swiglu, add+rms_norm, gelu");
}

TEST(FusionProfile, refuses_half_a_meta_block) {
  const auto with_meta = [](const std::string& meta) {
    return R"({"unfused": {}, "fused": {}, "meta": )" + meta + "}";
  };
  EXPECT_EQ(problem(with_meta("3")), "p.json: \"meta\" is no object");
  EXPECT_EQ(problem(with_meta(R"({"hardware": "x"})")), "p.json: no \"setting\" in \"meta\"");
  EXPECT_EQ(problem(with_meta(R"({"hardware": "x", "setting": 2})")), "p.json: meta.setting is no string");
  EXPECT_EQ(problem(with_meta(R"({"hardware": "x", "setting": "", "commit": "", "date": "", "dtype": "f31"})")),
            "p.json: meta.dtype is \"f31\", which is no dtype");
}

TEST(FusionProfile, reads_what_it_prints) {
  FusionProfile profile;
  profile.hardware = "cpu x";
  profile.setting = "threads=2";
  profile.commit = "abc";
  profile.date = "2026-11-15T10:20:59Z";
  profile.dtype = DType::bf16;
  profile.patterns["add+rms_norm"][{1, 512, 4096}] = {0.25, 0.5, 0.01, 0.02};
  profile.patterns["swiglu"][{8, 1, 11008}] = {0.0012345, 3, 0, 0};
  const std::string text = print_fusion_profile(profile);
  EXPECT_NE(text.find("\"[1, 512, 4096]\": 0.5"), std::string::npos) << text;
  const FusionProfile back = parse_fusion_profile(text, "p.json", kKnown).value();
  EXPECT_EQ(print_fusion_profile(back), text);
  EXPECT_EQ(back.dtype, DType::bf16);
  EXPECT_EQ(back.patterns.at("add+rms_norm").at({1, 512, 4096}).unfused_spread, 0.02);
  EXPECT_EQ(back.patterns.at("swiglu").at({8, 1, 11008}).fused, 0.0012345);
}

TEST(FusionProfile, is_of_one_machine) {
  FusionProfile profile{.file = "p.json", .hardware = "a", .setting = "threads=2"};
  EXPECT_TRUE(check_hardware(profile, "a", "threads=2").ok());
  EXPECT_EQ(check_hardware(profile, "b", "threads=2").diag().str(),
            "p.json: of other hardware: a threads=2; this is b threads=2; --fusion-profile takes it all the same");
  EXPECT_FALSE(check_hardware(profile, "a", "threads=4").ok());
  profile.hardware = "";
  EXPECT_EQ(check_hardware(profile, "a", "threads=2").diag().str(),
            "p.json: no \"meta\" says for which hardware the times hold; --fusion-profile takes it all the same");
}

TEST(FusionGates, are_read_by_name) {
  const auto refused = [](const char* text) { return parse_gates(text).diag().str(); };
  EXPECT_EQ(refused("min_node=3"), "no gate is called \"min_node\"; did you mean min_nodes?");
  EXPECT_EQ(refused("x=3"),
            "no gate is called \"x\"; there are margin, min_tensor_elements, min_nodes and max_graph_size");
  EXPECT_EQ(refused("margin"), "\"margin\": not GATE=N");
  EXPECT_EQ(refused("min_nodes=-1"), "min_nodes=-1: not a number, 0 or more");
  EXPECT_EQ(refused("margin=0.1x"), "margin=0.1x: not a number, 0 or more");
  const FusionGates gates = parse_gates("margin=0.05,min_tensor_elements=1024,min_nodes=3,max_graph_size=10").value();
  EXPECT_EQ(gates, (FusionGates{0.05, 1024, 3, 10}));
  EXPECT_EQ(parse_gates("", gates).value(), gates);
}

}  // namespace
}  // namespace lumen::search
