#include "tests/tools/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace lumen::tests {

namespace {

std::string read_whole(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

std::vector<std::string> environment_without_ours(const std::vector<std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("LUMEN_")) result.emplace_back(*entry);
  }
  result.insert(result.end(), added.begin(), added.end());
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

void redirect(const std::string& file, int flags, int to) {
  const int descriptor = open(file.c_str(), flags, 0600);
  if (descriptor < 0 || dup2(descriptor, to) < 0) _exit(126);
}

}  // namespace

StartedProgram::StartedProgram(const std::vector<std::string>& command, const std::string& folder,
                               const std::string& input, const std::vector<std::string>& variables) {
  const std::string in = streams_.write("in", input), out = streams_ / "out", err = streams_ / "err";
  std::vector<std::string> words = command, environment = environment_without_ours(variables);
  const std::vector<char*> arguments = pointers(words), entries = pointers(environment);
  pid_ = fork();
  if (pid_ == 0) {
    redirect(in, O_RDONLY, 0);
    redirect(out, O_WRONLY | O_CREAT, 1);
    redirect(err, O_WRONLY | O_CREAT, 2);
    if (chdir(folder.c_str()) != 0) _exit(126);
    execve(arguments[0], arguments.data(), entries.data());
    _exit(127);
  }
}

void StartedProgram::kill() const { ::kill(pid_, SIGKILL); }

Finished StartedProgram::wait() const {
  Finished result;
  int status = 0;
  EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.out = streams_.read("out");
  result.err = streams_.read("err");
  return result;
}

Finished run_program(const std::vector<std::string>& command, const std::string& folder, const std::string& input,
                     const std::vector<std::string>& variables) {
  return StartedProgram(command, folder, input, variables).wait();
}

std::string lumen_program() { return LUMEN_PROGRAM; }

Finished run_lumen(std::vector<std::string> arguments, const std::string& folder, const std::string& input,
                   const std::vector<std::string>& variables) {
  arguments.insert(arguments.begin(), lumen_program());
  return run_program(arguments, folder, input, variables);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& text) const {
  const std::string file = *this / name;
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

std::string TemporaryFolder::read(const std::string& name) const { return read_whole(*this / name); }

size_t TemporaryFolder::count() const {
  size_t result = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path())) ++result;
  return result;
}

}  // namespace lumen::tests
