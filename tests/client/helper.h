// What the tests of the C++ interface share.
#pragma once

#include <dirent.h>
#include <gt/gt.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace gt_test {

// A directory that is removed when the test ends.
class Folder {
 public:
  Folder() {
    std::string path = ::testing::TempDir() + "gt-client-test.XXXXXX";
    path_ = ::mkdtemp(path.data());
  }
  ~Folder() {
    [[maybe_unused]] int n = std::system(("rm -rf " + path_).c_str());
  }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

inline std::string read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  return out;
}

// The text without its notes.
inline std::string bare(const std::string& text) {
  std::string out;
  for (const std::string& line : lines_of(text)) {
    out += line.substr(0, line.find(" #")) + "\n";
  }
  return out;
}

// What a session writes while `run` is called in it.
inline std::string written(const std::function<void()>& run) {
  const Folder folder;
  gt::Session session("");
  {
    const gt::Use use(session);
    gt::log((folder / "log").c_str());
    run();
  }
  session.close();
  return read(folder / "log");
}

// The text of the exception that `run` throws, or "".
template <typename Thrown = gt::Error>
std::string thrown(const std::function<void()>& run) {
  try {
    run();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "";
}

// Waits until it holds, for 30 s at most; returns whether it did.
inline bool await(const std::function<bool()>& holds) {
  for (int i = 0; i < 3000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// The processes below this one that run a program of that name.
inline std::vector<pid_t> below(const std::string& program) {
  std::vector<pid_t> parents = {::getpid()};
  std::vector<pid_t> found;
  for (size_t i = 0; i < parents.size(); ++i) {
    DIR* proc = ::opendir("/proc");
    while (const dirent* entry = ::readdir(proc)) {
      const pid_t pid = std::atoi(entry->d_name);
      if (pid <= 0) continue;
      const std::string stat = read("/proc/" + std::to_string(pid) + "/stat");
      const size_t end = stat.rfind(')');
      if (end == std::string::npos) continue;
      if (std::atoi(stat.c_str() + end + 4) != parents[i]) continue;
      parents.push_back(pid);
      const size_t begin = stat.find('(');
      if (stat.substr(begin + 1, end - begin - 1) == program &&
          stat[end + 2] != 'Z') {
        found.push_back(pid);
      }
    }
    ::closedir(proc);
  }
  return found;
}

}  // namespace gt_test
