// How fast a tokenizer is on one core: bench_tokenizer TOKENIZER TEXT. Both are files; the tokenizer is a
// tokenizer.json or a SentencePiece model. Target: 10 MB/s for byte-level BPE on English and code.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "lumen/base/file.h"
#include "lumen/text/tokenizer.h"

namespace {

using namespace lumen;
constexpr int kTrials = 5;

// Of this thread's own time, which neighbours do not lengthen much.
double seconds_of(auto&& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double start = now();
  work();
  return now() - start;
}

Expected<std::string> read(const std::string& path) {
  const MappedFile file = LUMEN_TRY(MappedFile::open(path));
  return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
}

Expected<Tokenizer> load(const std::string& path) {
  const std::string text = LUMEN_TRY(read(path));
  return path.ends_with(".model") ? Tokenizer::from_sentencepiece(std::as_bytes(std::span(text)))
                                  : Tokenizer::from_json(text);
}

void show(std::string_view what, double bytes, double seconds) {
  fmt::print("{:<28} {:8.1f} MB/s\n", what, bytes / seconds / 1e6);
}

Expected<int> run(const std::string& tokenizer_file, const std::string& text_file) {
  const std::string text = LUMEN_TRY(read(text_file));
  const auto bytes = static_cast<double>(text.size());
  Expected<Tokenizer> tokenizer = error("");
  const double loading = seconds_of([&] { tokenizer = load(tokenizer_file); });
  if (!tokenizer.ok()) return std::move(tokenizer).take_diag();
  fmt::print("{:<28} {:8.1f} ms\n", "load", loading * 1e3);
  std::vector<int32_t> ids;
  show("encode, first time", bytes, seconds_of([&] { ids = tokenizer->encode(text).value(); }));
  double encoding = 1e9, decoding = 1e9;
  for (int trial = 0; trial < kTrials; ++trial) {
    encoding = std::min(encoding, seconds_of([&] { ids = tokenizer->encode(text).value(); }));
    decoding = std::min(decoding, seconds_of([&] { (void)tokenizer->decode(ids); }));
  }
  show("encode, best of 5", bytes, encoding);
  show("decode, best of 5", bytes, decoding);
  const std::string word(1'000'000, 'a');
  show("encode a word of 1 MB", 1e6, seconds_of([&] { (void)tokenizer->encode(word).value(); }));
  fmt::print("{} bytes, {} tokens\n", text.size(), ids.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: bench_tokenizer TOKENIZER TEXT\n");
    return 2;
  }
  const Expected<int> status = run(argv[1], argv[2]);
  if (status.ok()) return *status;
  fmt::print(stderr, "bench_tokenizer: {}\n", status.diag().str());
  return 1;
}
