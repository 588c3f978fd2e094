// Every program of tests/egraph/programs gives what its snapshot says, under every treatment. One test per topic.
// UPDATE_SNAPSHOTS=1 in the environment writes the snapshots anew (update_snapshots.sh).
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <regex>

#include "tests/egraph/corpus.h"
#include "tests/support/source_dir.h"

namespace lumen::egraph {
namespace {

namespace fs = std::filesystem;

const fs::path kPrograms = tests::source_dir() / "tests/egraph/programs";
const fs::path kSnapshots = tests::source_dir() / "tests/egraph/snapshots";

std::vector<std::string> topics() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kPrograms)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path snapshot_of(const fs::path& program) {
  return (kSnapshots / fs::relative(program, kPrograms)).replace_extension(".out");
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The words of `; error: WORDS`, the first line of a program that must fail, in any case of letters.
void check_message(const fs::path& program, const Outcome& plain) {
  static const std::regex place("^[^:]*\\.egg:[0-9]+:[0-9]+: ");
  EXPECT_TRUE(std::regex_search(plain.error, place)) << "no place: " << plain.error;
  const std::string text = read_text(program);
  const std::string start = "; error: ";
  ASSERT_TRUE(text.starts_with(start)) << "the first line is not `; error: WORDS`";
  const std::string words = text.substr(start.size(), text.find('\n') - start.size());
  EXPECT_NE(lower_case(plain.error).find(lower_case(words)), std::string::npos) << words << "\n" << plain.error;
}

void check_snapshot(const fs::path& program, const Outcome& plain) {
  const bool fails = program.parent_path().filename() == "fail";
  EXPECT_EQ(plain.error.empty(), !fails) << "it must " << (fails ? "fail" : "succeed") << "\n" << plain.error;
  if (fails) check_message(program, plain);
  const fs::path snapshot = snapshot_of(program);
  if (std::getenv("UPDATE_SNAPSHOTS") != nullptr) {
    fs::create_directories(snapshot.parent_path());
    std::ofstream(snapshot) << plain.text();
    return;
  }
  ASSERT_TRUE(fs::exists(snapshot)) << "no snapshot: tests/egraph/update_snapshots.sh makes it";
  EXPECT_EQ(plain.text(), read_text(snapshot));
}

void check_treatments(const fs::path& program, const Outcome& plain) {
  // These change nothing at all.
  for (const Treatment& treatment : {Treatment{"printed and parsed again", true}, Treatment{"2 threads", false, 2}}) {
    SCOPED_TRACE(treatment.name);
    const std::optional<Outcome> other = run_program(program, treatment);
    if (!other.has_value()) continue;
    EXPECT_EQ(other->message, plain.message);
    EXPECT_TRUE(treatment.reparse || other->error == plain.error) << other->error << "\n" << plain.error;
    EXPECT_EQ((Outcome{other->outputs, other->files, {}, {}}.text()),
              (Outcome{plain.outputs, plain.files, {}, {}}.text()));
  }
  for (const Treatment& treatment :
       {Treatment{"rules shuffled, seed 1", false, 1, true, 1}, Treatment{"rules shuffled, seed 2", false, 1, true, 2},
        Treatment{"semi-naive off", false, 1, false}}) {
    SCOPED_TRACE(treatment.name);
    const std::optional<Outcome> other = run_program(program, treatment);
    EXPECT_EQ(other->error.empty(), plain.error.empty()) << other->error;
    EXPECT_EQ(without_order(other->outputs), without_order(plain.outputs));
    EXPECT_EQ(other->files, plain.files);
  }
}

class Corpus : public ::testing::TestWithParam<std::string> {};

TEST_P(Corpus, programs_give_their_snapshots) {
  for (const fs::path& program : programs_of(kPrograms / GetParam())) {
    SCOPED_TRACE(fs::relative(program, kPrograms).string());
    const std::optional<Outcome> plain = run_program(program, {"plain"});
    check_snapshot(program, *plain);
    check_treatments(program, *plain);
  }
}

TEST(Snapshots, have_a_program) {
  for (const auto& entry : fs::recursive_directory_iterator(kSnapshots)) {
    if (!entry.is_regular_file()) continue;
    fs::path program = kPrograms / fs::relative(entry.path(), kSnapshots);
    EXPECT_TRUE(fs::exists(program.replace_extension(".egg"))) << entry.path();
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& topic) {
  std::string name = topic.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Topics, Corpus, ::testing::ValuesIn(topics()), test_name);

}  // namespace
}  // namespace lumen::egraph
