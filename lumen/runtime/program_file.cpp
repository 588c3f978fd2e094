#include "lumen/runtime/program_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lumen/backend/cpu/cpu_device.h"
#include "lumen/backend/cuda/cuda_device.h"
#include "lumen/base/file.h"
#include "lumen/base/hash.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/runtime/program_json.h"

namespace lumen {

namespace {

constexpr std::string_view kMagic = "lumen-program";
constexpr int kVersion = 7;
constexpr size_t kLongestHead = 120;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Opens the device that code is for, unless that is the processor.
Expected<std::shared_ptr<const Device>> check_machine(const std::string& device, const Json& needed,
                                                      const std::string& name, const cpu::CpuFeatures& have) {
  std::vector<std::string> words;
  for (const Json& word : needed) words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
  if (device != "cpu") {
    const std::shared_ptr<const Device> gpu = LUMEN_TRY(cuda::CudaDevice::open(0));
    if (gpu->needs() == words) return gpu;
    return error(fmt::format("{}: made for a GPU of {}, but this one is of {}; compile it again here", name,
                             fmt::join(words, " "), fmt::join(gpu->needs(), " ")));
  }
  const std::string missing = cpu::first_missing(words, have);
  if (missing.empty()) return std::shared_ptr<const Device>();
  return error(fmt::format("{}: made for a processor with {}, which this one ({}) has not; compile it again here", name,
                           missing, have.model));
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

Expected<LoadedProgram> read_variants(const JsonMembers& members, std::string_view code,
                                      std::shared_ptr<const Device> device) {
  LoadedProgram loaded;
  loaded.device = std::move(device);
  loaded.graph = LUMEN_TRY(parse(LUMEN_TRY(members.text("graph")), llir_ops(), "graph"));
  for (const Json& each : *LUMEN_TRY(members.array("variants"))) {
    const JsonMembers variant(each, "variant");
    Variant read;
    for (const Json& range : *LUMEN_TRY(variant.array("where"))) {
      const JsonMembers ends(range, "range");
      DimRange& ranged = read.where.emplace_back();
      ranged.dim = LUMEN_TRY(ends.text("dim"));
      ranged.lo = LUMEN_TRY(ends.number("lo"));
      ranged.hi = LUMEN_TRY(ends.number("hi"));
    }
    const int64_t size = LUMEN_TRY(variant.number("code"));
    if (size < 0 || static_cast<size_t>(size) > code.size()) return variant.wrong("code", "a part of the file");
    const auto bytes = static_cast<size_t>(size);
    read.binary.program = LUMEN_TRY(read_program_json(*LUMEN_TRY(variant.object("program")), *loaded.graph));
    if (bytes > 0) {
      std::string own(code.substr(0, bytes));
      read.binary.code = loaded.device == nullptr ? LUMEN_TRY(cpu::load_code(std::move(own)))
                                                  : LUMEN_TRY(loaded.device->load_code(std::move(own)));
    }
    code.remove_prefix(bytes);
    loaded.variants.push_back(std::move(read));
  }
  if (loaded.variants.empty()) return members.wrong("variants", "a list with something in it");
  return loaded;
}

}  // namespace

std::string program_text(const Graph& graph, std::span<const Variant> variants, const Device& device) {
  Json description{{"graph", print(graph)},
                   {"device", device.target().cuda ? "cuda" : "cpu"},
                   {"needs", device.needs()},
                   {"variants", Json::array()}};
  std::string code;
  for (const Variant& variant : variants) {
    const std::string& own = variant.binary.code == nullptr ? std::string() : variant.binary.code->object();
    Json where = Json::array();
    for (const DimRange& range : variant.where)
      where.push_back({{"dim", range.dim}, {"lo", range.lo}, {"hi", range.hi}});
    description["variants"].push_back(
        {{"where", where}, {"code", own.size()}, {"program", program_json(variant.binary.program)}});
    code += own;
  }
  const std::string text = description.dump(1);
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
  const auto in_file = [&](auto result) {
    return result.ok() ? std::move(result) : decltype(result)(error(name + ": " + result.diag().str()));
  };
  const Json description = Json::parse(text, nullptr, false);
  const JsonMembers members(description, "file");
  const std::string kind = LUMEN_TRY(in_file(members.text("device")));
  if (kind != "cpu" && kind != "cuda") return error(fmt::format("{}: made for \"{}\", which is unknown", name, kind));
  std::shared_ptr<const Device> device =
      LUMEN_TRY(check_machine(kind, *LUMEN_TRY(in_file(members.array("needs"))), name, have));
  return in_file(read_variants(members, code, std::move(device)));
}

void save_program(const std::string& path, const Graph& graph, std::span<const Variant> variants,
                  const Device& device) {
  const std::string text = program_text(graph, variants, device);
  const std::span<const std::byte> parts[] = {bytes_of(text)};
  write_file(path, parts).value();
}

Session load_program(const std::string& path) {
  const MappedFile file = MappedFile::open(path).value();
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  LoadedProgram loaded = parse_program(bytes, path).value();
  const Loader load = [&](Binary binary) {
    return loaded.device == nullptr ? cpu::make_executable(std::move(binary)) : loaded.device->load(std::move(binary));
  };
  std::unique_ptr<Executable> executable = make_executable(std::move(loaded.variants), *loaded.graph, load).value();
  return Session(loaded.graph, std::move(executable));
}

bool is_program_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file.good() && begin == kMagic;
}

}  // namespace lumen
