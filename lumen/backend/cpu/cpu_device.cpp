#include "lumen/backend/cpu/cpu_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/backend/cpu/target.h"

namespace lumen::cpu {

namespace {

struct Feature {
  std::string_view name;
  bool CpuFeatures::*has;
};
constexpr Feature kFeatures[] = {
    {"avx2", &CpuFeatures::avx2},
    {"avx512", &CpuFeatures::avx512},
    {"avx512_bf16", &CpuFeatures::avx512_bf16},
    {"avx512_fp16", &CpuFeatures::avx512_fp16},
    {"avx512_vnni", &CpuFeatures::avx512_vnni},
    {"amx_bf16", &CpuFeatures::amx_bf16},
    {"amx_int8", &CpuFeatures::amx_int8},
    {"dotprod", &CpuFeatures::dotprod},
};

}  // namespace

CpuDevice::CpuDevice(Compiler compiler, std::vector<std::string> flags, std::shared_ptr<ThreadPool> pool,
                     std::shared_ptr<const MatrixLibrary> matrices)
    : compiler_(std::move(compiler)),
      flags_(std::move(flags)),
      pool_(std::move(pool)),
      matrices_(std::move(matrices)),
      target_(target_of(compiler_.target())) {
  target_.library = matrices_ != nullptr;
}

Expected<std::shared_ptr<CpuDevice>> CpuDevice::find(std::vector<std::string> flags) {
  return std::make_shared<CpuDevice>(LUMEN_TRY(Compiler::find()), std::move(flags));
}

std::string CpuDevice::setting() const { return fmt::format("threads={}", pool_->threads()); }

std::vector<std::string> CpuDevice::needs() const {
  std::vector<std::string> words;
  for (const Feature& feature : kFeatures) {
    if (compiler_.target().*(feature.has)) words.emplace_back(feature.name);
  }
  return words;
}

Expected<std::vector<Binary>> CpuDevice::build(std::vector<Program> programs) const {
  return cpu::build(std::move(programs), compiler_, flags_);
}

Expected<std::vector<Binary>> CpuDevice::build_to_try(std::vector<Program> programs) const {
  return cpu::build(std::move(programs), compiler_, flags_, true);
}

Expected<std::shared_ptr<const Code>> CpuDevice::load_code(std::string object) const {
  return cpu::load_code(std::move(object));
}

Expected<std::unique_ptr<Executable>> CpuDevice::load(Binary binary) const {
  return make_executable(std::move(binary), pool_, matrices_);
}

std::string first_missing(const std::vector<std::string>& needs, const CpuFeatures& have) {
  for (const std::string& word : needs) {
    const auto* const row = std::ranges::find(kFeatures, word, &Feature::name);
    if (row == std::end(kFeatures) || !(have.*(row->has))) return word;
  }
  return {};
}

Expected<std::shared_ptr<const Code>> load_code(std::string object) {
  std::shared_ptr<Library> library = LUMEN_TRY(Library::load(std::move(object)));
  return std::shared_ptr<const Code>(std::make_shared<CpuCode>(std::move(library)));
}

}  // namespace lumen::cpu
