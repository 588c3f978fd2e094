#include "lumen/runtime/program_file.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "lumen/base/file.h"
#include "lumen/base/hash.h"
#include "lumen/runtime/program_json.h"

namespace lumen {

namespace {

constexpr std::string_view kMagic = "lumen-program";
constexpr int kVersion = 1;
constexpr size_t kLongestHead = 120;

struct Feature {
  std::string_view name;
  bool cpu::CpuFeatures::*has;
};
constexpr Feature kFeatures[] = {
    {"avx2", &cpu::CpuFeatures::avx2},
    {"avx512", &cpu::CpuFeatures::avx512},
    {"avx512_bf16", &cpu::CpuFeatures::avx512_bf16},
    {"avx512_fp16", &cpu::CpuFeatures::avx512_fp16},
    {"avx512_vnni", &cpu::CpuFeatures::avx512_vnni},
    {"amx_bf16", &cpu::CpuFeatures::amx_bf16},
    {"amx_int8", &cpu::CpuFeatures::amx_int8},
};

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

Expected<void> check_features(const Json& needed, const std::string& name, const cpu::CpuFeatures& have) {
  for (const Json& word : needed) {
    const bool known = word.is_string();
    const std::string feature = known ? word.get<std::string>() : word.dump();
    const auto* row = std::find_if(std::begin(kFeatures), std::end(kFeatures),
                                   [&](const Feature& each) { return each.name == feature; });
    if (row != std::end(kFeatures) && have.*(row->has)) continue;
    return error(fmt::format("{}: made for a processor with {}, which this one ({}) has not; compile it again here",
                             name, feature, have.model));
  }
  return {};
}

struct Head {
  size_t bytes, description, code;
  uint64_t checksum;
};

Expected<Head> read_head(std::string_view bytes, const std::string& name) {
  const std::string first(bytes.substr(0, std::min(bytes.find('\n'), kLongestHead)));
  std::istringstream words(first);
  std::string magic, checksum;
  int version = 0;
  Head head{first.size() + 1, 0, 0, 0};
  words >> magic >> version;
  if (magic != kMagic) return error(fmt::format("{}: not a Lumen program", name));
  if (version != kVersion) {
    return error(fmt::format("{}: a program of version {}; this Lumen reads version {}: compile it again", name,
                             version, kVersion));
  }
  words >> head.description >> head.code >> std::hex >> head.checksum;
  const size_t rest = bytes.size() - std::min(bytes.size(), head.bytes);
  if (!words || head.description > rest || head.code != rest - head.description) {
    return error(fmt::format("{}: cut off, or not as it was written", name));
  }
  return head;
}

}  // namespace

std::string program_text(const Graph& graph, const cpu::Binary& binary) {
  Json description = program_json(graph, binary.program);
  description["needs"] = Json::array();
  for (const Feature& feature : kFeatures) {
    if (binary.target.*(feature.has)) description["needs"].push_back(feature.name);
  }
  const std::string text = description.dump(1);
  const std::string& code = binary.library == nullptr ? std::string() : binary.library->object();
  const uint64_t checksum = Hasher().add(text).add(code).value();
  return fmt::format("{} {} {} {} {:016x}\n", kMagic, kVersion, text.size(), code.size(), checksum) + text + code;
}

Expected<LoadedProgram> parse_program(std::string_view bytes, const std::string& name, const cpu::CpuFeatures& have) {
  const Head head = LUMEN_TRY(read_head(bytes, name));
  const std::string_view text = bytes.substr(head.bytes, head.description);
  const std::string_view code = bytes.substr(head.bytes + head.description);
  if (Hasher().add(text).add(code).value() != head.checksum) {
    return error(fmt::format("{}: damaged: its checksum does not fit", name));
  }
  const Json description = Json::parse(text, nullptr, false);
  const auto needs = description.is_object() ? description.find("needs") : description.end();
  if (needs == description.end() || !needs->is_array()) return error(fmt::format("{}: no list of needs", name));
  LUMEN_TRY(check_features(*needs, name, have));
  LoadedProgram loaded;
  Expected<ReadProgram> read = read_program_json(description);
  if (!read.ok()) return error(fmt::format("{}: {}", name, read.diag().str()));
  loaded.graph = read->graph;
  loaded.binary.program = std::move(read->program);
  loaded.binary.target = have;
  if (!code.empty()) loaded.binary.library = LUMEN_TRY(cpu::Library::load(std::string(code)));
  return loaded;
}

void save_program(const std::string& path, const Graph& graph, const cpu::Binary& binary) {
  const std::string text = program_text(graph, binary);
  const std::span<const std::byte> parts[] = {bytes_of(text)};
  write_file(path, parts).value();
}

Session load_program(const std::string& path) {
  const MappedFile file = MappedFile::open(path).value();
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  LoadedProgram loaded = parse_program(bytes, path).value();
  return Session(loaded.graph, cpu::make_executable(std::move(loaded.binary)).value());
}

bool is_program_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file.good() && begin == kMagic;
}

}  // namespace lumen
