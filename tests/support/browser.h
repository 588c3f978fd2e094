// Pages in a real browser: a test drives one by a script and looks at what became of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/scratch_dir.h"

namespace lumen::tests {

inline std::string find_browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (std::system((std::string("command -v ") + name + " > /dev/null 2>&1").c_str()) == 0) return name;
  }
  return "";
}

class Browser : public ::testing::Test {
 protected:
  void SetUp() override {
    program_ = find_browser();
    if (program_.empty()) GTEST_SKIP() << "no chromium: the page is not looked at";
  }

  // The document after its scripts ran. `script` runs last; what it hands to report() becomes the text of #outcome.
  // What went wrong in the page is in `problems`: exceptions and lines of console.error.
  std::string open(const std::string& page, const std::string& fragment, const std::string& script = "") {
    std::string text = page;
    const std::string watch =
        "<head><script>const problems = []; window.addEventListener('error', e => problems.push(e.message));"
        "console.error = (...a) => problems.push(a.join(' '));</script>";
    text.replace(text.find("<head>"), 6, watch);
    const std::string driver =
        "<p id=\"outcome\" hidden></p><script>const report = x => { document.getElementById('outcome')"
        ".textContent = JSON.stringify(x); };\n" +
        script + "</script></body>";
    text.replace(text.rfind("</body>"), 7, driver);
    std::ofstream(folder_ / "page.html") << text;
    const std::string command = program_ + " --headless --no-sandbox --disable-gpu --window-size=1280,800 " +
                                "--user-data-dir=" + (folder_ / "profile") + " --dump-dom 'file://" +
                                (folder_ / "page.html") + "#" + fragment + "' 2> /dev/null";
    // One that did not start is started again: it is the page that is tested.
    std::string dom;
    int status = 0;
    for (int turn = 0; turn < 3 && dom.empty(); ++turn) status = read_all(command, dom);
    EXPECT_EQ(status, 0) << command;
    return dom;
  }
  std::string outcome(const std::string& page, const std::string& script, const std::string& fragment = "") {
    const std::string dom = open(page, fragment, script);
    const size_t start = dom.find("<p id=\"outcome\"");
    const size_t from = start == std::string::npos ? start : dom.find('>', start) + 1;
    if (from == std::string::npos || dom[from] == '<') return "no outcome";
    return dom.substr(from, dom.find("</p>", from) - from);
  }

 private:
  static int read_all(const std::string& command, std::string& text) {
    FILE* pipe = popen(command.c_str(), "r");
    char buffer[65536];
    while (const size_t n = fread(buffer, 1, sizeof(buffer), pipe)) text.append(buffer, n);
    return pclose(pipe);
  }

  std::string program_;
  ScratchDir folder_;
};

}  // namespace lumen::tests
