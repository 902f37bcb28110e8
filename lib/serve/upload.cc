#include "serve/upload.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "net/file_message.h"
#include "net/wire.h"

namespace gt::serve {
namespace {

using net::MessageWriter;
using net::Verb;

// How often, and how long after another, it is tried to get an upload whose
// writer gives it up.
constexpr int kTries = 100;
constexpr std::chrono::milliseconds kBetweenTries{10};

uint64_t size_of_target(const Files::Target& target) {
  struct stat info {};
  const bool is_there = ::fstatat(target.directory.get(), target.name.c_str(),
                                  &info, AT_SYMLINK_NOFOLLOW) == 0;
  return is_there ? static_cast<uint64_t>(info.st_size) : 0;
}

// Returns the version of the present file, or "none".
std::string version_there(const UserDirectory& directory,
                          const std::string& path) {
  bool is_missing = false;
  const auto fd = directory.open(path, is_missing);
  const auto state = fd.ok() ? net::state_of_file(fd.value().get())
                             : Result<net::FileState>(Error{});
  return state.ok() ? state.value().version : "none";
}

// Held while a version is checked and the file replaced, so that nothing is
// replaced in between.
std::mutex replacing;

}  // namespace

// `flag` is a field that says which kind of failure it is.
std::string report_text(const std::string& why, const char* flag) {
  MessageWriter message(Verb::kReport);
  if (flag != nullptr) message.field(flag, uint64_t{1});
  return message.finish(net::words(why));
}

std::string kept_text(const Digest& digest) {
  return MessageWriter(Verb::kKept)
      .field("bytes", digest.bytes())
      .field("digest", digest_text(digest.value()))
      .finish();
}

// Finds the part that was stored before.
std::string Upload::begin(bool anew, uint64_t quota, uint64_t promised,
                          const std::atomic<bool>& stop) {
  auto target = directory->target(path);
  if (!target.ok()) return report_text(target.error().message);
  const uint64_t old = size_of_target(target.value());
  // Who wrote it until now may be at a piece, and then gives it up.
  for (int tries = 0; part == nullptr; ++tries) {
    auto opened = Partial::open(std::move(target.value()), id);
    if (!opened.ok()) return report_text(opened.error().message);
    part = std::move(opened.value());
    if (part != nullptr) break;
    if (tries == kTries || stop.load()) return "";
    std::this_thread::sleep_for(kBetweenTries);
    target = directory->target(path);
    if (!target.ok()) return report_text(target.error().message);
  }
  const auto fail = [this](const std::string& why) {
    part.reset();
    return report_text(why);
  };
  const auto have = part->size();
  if (!have.ok()) return fail(have.error().message);
  if (quota != UINT64_MAX) {
    const auto held = directory->bytes(stop);
    if (!held) return fail("it was given up");
    const uint64_t others = *held - std::min(*held, old + have.value());
    if (size > quota || others + promised > quota - size) {
      if (have.value() == 0) part->remove();
      return fail("its " + std::to_string(size) + " bytes and the " +
                  std::to_string(others + promised) +
                  " of the user's other files there are more than the " +
                  std::to_string(quota) + " of --quota-files");
    }
  }
  uint64_t kept = have.value();
  if (anew || kept > size) {
    kept = 0;
    if (::ftruncate(part->fd(), 0) != 0) return fail(std::strerror(errno));
  }
  stored = kept;
  const Status s = digest_up_to(digest, part->fd(), kept, &stop);
  return s.ok() ? kept_text(digest) : fail(s.error().message);
}

std::string Upload::end(const std::string& digest_said, const std::string& over,
                        const std::atomic<bool>& stop) {
  // An upload that failed cannot be continued.
  const std::unique_ptr<Partial> whole = std::move(part);
  if (digest.bytes() != size) return report_text("parts of it are missing");
  if (digest_said != digest_text(digest.value())) {
    whole->remove();
    return report_text("its bytes were changed on their way");
  }
  if (stop.load()) return report_text("it was given up");
  if (Status s = whole->flush(); !s.ok()) {
    whole->remove();
    return report_text(s.error().message);
  }
  const std::lock_guard lock(replacing);
  if (!over.empty() && version_there(*directory, path) != over) {
    whole->remove();
    return report_text("it is no longer the file that was to be replaced",
                       "overtaken");
  }
  if (Status s = whole->take_place(); !s.ok()) {
    return report_text(s.error().message);
  }
  const auto state = net::state_of_file(whole->fd());
  if (!state.ok()) return report_text(state.error().message);
  MessageWriter done(Verb::kDone);
  net::add_state(done, state.value());
  return done.finish();
}

}  // namespace gt::serve
