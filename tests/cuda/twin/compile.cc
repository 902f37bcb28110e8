#include "compile.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace gt::twin {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFlags =
    "-std=c++20 -Og -fPIC -shared -w -ffp-contract=off -fno-math-errno "
    "-fno-strict-aliasing -ftrivial-auto-var-init=pattern";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string hex(size_t value) {
  std::ostringstream out;
  out << std::hex << value;
  return out.str();
}

// The key is two hashes, since the library has none of more than 64 bits.
std::string key_of(const std::string& all) {
  const std::hash<std::string_view> hash;
  return hex(hash(all)) + hex(hash(all.substr(all.size() / 3) + "twin"));
}

}  // namespace

std::string compile(const std::vector<Header>& headers, std::string_view text,
                    std::string& log) {
  std::string all = std::string(kFlags) + GT_TWIN_CXX;
  all += read(fs::path(GT_TWIN_TARGET) / "target.cuh");
  for (const auto& [name, header] : headers) all += name + header;
  all += text;
  const char* set = std::getenv("GT_TWIN_CACHE");
  const fs::path home = set != nullptr ? set : GT_TWIN_HOME;
  const fs::path object = home / (key_of(all) + ".so");
  std::error_code failed;
  if (fs::exists(object, failed)) return object;

  const fs::path work =
      home / ("make." + std::to_string(getpid()) + "." + key_of(all));
  fs::create_directories(work, failed);
  if (failed) {
    log = work.string() + ": " + failed.message();
    return "";
  }
  for (const auto& [name, header] : headers) write(work / name, header);
  write(work / "kernel.cc", text);
  const std::string made = work / "kernel.so";
  const std::string command = std::string(GT_TWIN_CXX) + " " + kFlags + " -I'" +
                              work.string() + "' -I'" GT_TWIN_TARGET "' -o '" +
                              made + "' '" + (work / "kernel.cc").string() +
                              "' >'" + (work / "log").string() + "' 2>&1";
  const bool ok = std::system(command.c_str()) == 0;
  log = read(work / "log");
  if (ok) fs::rename(made, object);  // another process may have been first
  fs::remove_all(work);
  return ok ? object.string() : std::string();
}

}  // namespace gt::twin
