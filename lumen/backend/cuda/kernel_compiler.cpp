#include "lumen/backend/cuda/kernel_compiler.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "lumen/backend/cpu/cpu_features.h"
#include "lumen/backend/cpu/work_dir.h"
#include "lumen/codegen/kernel_text.h"

namespace lumen::cuda {

namespace {

constexpr int kFirstSpecial = 90;
constexpr size_t kTogether = 4;         // texts of an object
constexpr unsigned kMostSeconds = 120;  // for one

// The first error of a log, and the line of the text that it names: "kernels.cu(12): error: …".
std::string first_error_of(const std::string& log, const std::string& text) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") == std::string::npos) continue;
    const size_t open = line.find('('), close = line.find(')');
    if (open == std::string::npos || close == std::string::npos) return line;
    const int number = std::atoi(line.substr(open + 1, close - open - 1).c_str());
    std::istringstream source(text);
    std::string said;
    for (int k = 0; k < number && std::getline(source, said); ++k) {
    }
    return line + ": " + said;
  }
  return log.substr(0, 1000);
}

}  // namespace

std::string architecture_name(int sm) { return fmt::format("sm_{}{}", sm, sm >= kFirstSpecial ? "a" : ""); }

Expected<KernelCompiler::Target> KernelCompiler::target_for(int sm) const {
  const std::vector<int>& known = nvrtc_->known_sm;
  if (nvrtc_->knows(sm)) return Target{architecture_name(sm), ""};
  const auto newer = std::ranges::upper_bound(known, sm);
  if (newer != known.begin()) return Target{fmt::format("sm_{}", sm), fmt::format("compute_{}", *(newer - 1))};
  return error(fmt::format("[cuda] {} makes no code for sm_{}: sm_{} is the oldest it knows", version(), sm, known[0]));
}

Expected<std::vector<std::string>> KernelCompiler::compile(std::span<const std::string> texts, int sm) const {
  const Target target = LUMEN_TRY(target_for(sm));
  const std::string architecture = target.virtual_one + target.architecture, prelude = kernel_prelude(Syntax::cuda);
  std::vector<std::string> objects;
  std::vector<std::string> missing;  // texts
  std::vector<std::pair<size_t, cpu::CacheKey>> places;
  for (size_t k = 0; k < texts.size(); k += kTogether) {
    std::string all = prelude;
    for (const std::string& text : texts.subspan(k, std::min(kTogether, texts.size() - k))) all += text;
    const cpu::CacheKey key = cpu::CacheKey::of(fmt::format("{}\n{}\n{}", version(), architecture, all));
    objects.emplace_back();
    if (cache_ != nullptr) {
      if (const auto file = cache_->find(key)) {
        if (Expected<std::string> object = cpu::ObjectCache::read(*file); object.ok())
          objects.back() = std::move(*object);
      }
    }
    if (!objects.back().empty()) continue;
    missing.push_back(std::move(all));
    places.emplace_back(objects.size() - 1, key);
  }
  std::vector<std::string> made = LUMEN_TRY(run_all(missing, target));
  for (size_t k = 0; k < made.size(); ++k) {
    if (cache_ != nullptr) cache_->store(places[k].second, made[k]);
    objects[places[k].first] = std::move(made[k]);
  }
  return objects;
}

Expected<std::vector<std::string>> KernelCompiler::run_all(std::span<const std::string> texts,
                                                           const Target& target) const {
  const cpu::WorkDir work = LUMEN_TRY(cpu::WorkDir::make());
  const auto file = [&](size_t k) { return work.file(fmt::format("{}", k)); };
  std::map<pid_t, size_t> running;
  std::vector<std::string> objects(texts.size());
  std::optional<Diag> problem;
  const auto most = static_cast<size_t>(std::max(1, cpu::cpu().cores));
  for (size_t next = 0; next < texts.size() || !running.empty();) {
    if (next < texts.size() && running.size() < most && !problem) {
      const pid_t child = fork();
      if (child < 0) return error("[cuda] no process could be started for the compiler");
      if (child == 0) {
        alarm(kMostSeconds);
        const Expected<std::string> object = run(texts[next], target);
        const bool written = cpu::write_file(file(next), object.ok() ? *object : object.diag().str()).ok();
        _exit(written ? (object.ok() ? 0 : 1) : 2);
      }
      running.emplace(child, next++);
      continue;
    }
    if (running.empty()) break;
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    const auto found = running.find(ended);
    if (found == running.end()) continue;
    const size_t k = found->second;
    running.erase(found);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      objects[k] = LUMEN_TRY(cpu::read_file(file(k)));
    } else if (!problem) {
      Expected<std::string> said = cpu::read_file(file(k));
      if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && said.ok()) {
        problem = Diag{std::move(*said), {"kernels.cu"}, {}};
      } else {
        problem = error("[cuda] the compiler of kernels ended without a result, or took too long");
      }
    }
  }
  if (problem) return *problem;
  return objects;
}

Expected<std::string> KernelCompiler::run(const std::string& text, const Target& target) const {
  void* program = nullptr;
  if (nvrtc_->create(&program, text.c_str(), "kernels.cu", 0, nullptr, nullptr) != 0) {
    return error("[cuda] NVRTC does not take the text of the kernels");
  }
  const std::shared_ptr<void> owned(program, [this](void* each) { nvrtc_->destroy(&each); });
  const bool is_ptx = !target.virtual_one.empty();
  const std::string architecture = "-arch=" + (is_ptx ? target.virtual_one : target.architecture);
  const char* const options[] = {architecture.c_str(), "-std=c++17", "--fmad=true", "-w"};
  if (nvrtc_->compile(program, static_cast<int>(std::size(options)), options) != 0) {
    size_t size = 0;
    nvrtc_->log_size(program, &size);
    std::string log(size, '\0');
    nvrtc_->log(program, log.data());
    return error("[cuda] a kernel does not compile: " + first_error_of(log, text));
  }
  size_t size = 0;
  (is_ptx ? nvrtc_->ptx_size : nvrtc_->cubin_size)(program, &size);
  std::string object(size, '\0');
  if (size == 0 || (is_ptx ? nvrtc_->ptx : nvrtc_->cubin)(program, object.data()) != 0) {
    return error("[cuda] NVRTC makes no code for " + target.architecture);
  }
  if (!is_ptx || linker_ == nullptr) return object;
  Expected<std::string> assembled = linker_->assemble(object, target.architecture);
  return assembled.ok() ? std::move(*assembled) : std::move(object);
}

}  // namespace lumen::cuda
