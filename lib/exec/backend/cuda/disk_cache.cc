#include "exec/backend/cuda/disk_cache.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/digest.h"

namespace gt::exec::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMagic = "gt-cache 1\n";
constexpr size_t kDigest = 17;  // characters, including the newline

// Returns the folder that files are kept in; "" if nothing is to be kept.
std::string folder() {
  if (const char* set = std::getenv("XDG_CACHE_HOME");
      set != nullptr && *set == '/') {
    return std::string(set) + "/gt";
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/gt"
                                         : "";
}

std::string name_of(std::string_view kind, const std::string& key) {
  return digest_text(Digest::of(key)) + "." + std::string(kind);
}

}  // namespace

// A file consists of the magic, the key, the digest of the payload and the
// payload.
std::string read_cached(std::string_view kind, const std::string& key) {
  const std::string in = folder();
  if (in.empty()) return "";
  std::ifstream file(in + "/" + name_of(kind, key), std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const std::string all = bytes.str();
  const std::string head = kMagic + key + "\n";
  if (!all.starts_with(head) || all.size() < head.size() + kDigest) return "";
  const std::string payload = all.substr(head.size() + kDigest);
  const std::string digest = digest_text(Digest::of(payload)) + "\n";
  return all.compare(head.size(), kDigest, digest) == 0 ? payload : "";
}

void write_cached(std::string_view kind, const std::string& key,
                  const std::string& payload) {
  static std::atomic<int> count = 0;
  const std::string in = folder();
  if (in.empty()) return;
  std::error_code failed;
  fs::create_directories(in, failed);
  if (failed) return;
  // The file is written under another name and renamed, so that a concurrent
  // reader finds the old file or the new one, but never a part.
  const std::string path = in + "/" + name_of(kind, key);
  const std::string made =
      path + "." + std::to_string(::getpid()) + "." + std::to_string(++count);
  {
    std::ofstream file(made, std::ios::binary);
    file << kMagic << key << "\n"
         << digest_text(Digest::of(payload)) << "\n"
         << payload;
    file.close();
    if (!file) {
      fs::remove(made, failed);
      return;
    }
  }
  fs::rename(made, path, failed);
  if (failed) fs::remove(made, failed);
}

}  // namespace gt::exec::cuda
