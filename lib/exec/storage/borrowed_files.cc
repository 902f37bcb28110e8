#include "exec/storage/borrowed_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/random_token.h"
#include "net/endpoint.h"

namespace gt::exec {
namespace {

using net::FileFault;

Error about(const std::string& path, const std::string& why) {
  return Error{path + ": " + why};
}

}  // namespace

Result<net::FileCaller*> BorrowedFiles::caller_of(const RemotePath& at,
                                                  Callers& callers) {
  const auto known = callers.by_endpoint.find(at.endpoint);
  if (known != callers.by_endpoint.end()) return known->second.get();
  const bool may = !options_.endpoints ||
                   std::ranges::find(*options_.endpoints, at.endpoint) !=
                       options_.endpoints->end();
  if (!may) {
    return Error{"outside what --root allows; --root " + at.endpoint +
                 " would allow it"};
  }
  net::FileCallerOptions options;
  options.identity.endpoint = at.endpoint;
  options.identity.is_worker = true;
  options.identity.trust = options_.trust;
  options.identity.timing = net::Timing::with_silence(options_.silence);
  if (options_.trust.is_same_user_only()) {
    // Without keys it matters on which host the lender is, so the name is
    // resolved now.
    auto numbers = net::connecting_endpoint(at.endpoint);
    if (!numbers.ok()) return numbers.error();
    options.identity.endpoint = std::move(numbers.value());
  }
  {
    const std::lock_guard lock(context_mutex_);
    if (context_ == nullptr) context_ = std::make_unique<net::Context>();
  }
  auto caller = std::make_unique<net::FileCaller>(*context_, options);
  return callers.by_endpoint.emplace(at.endpoint, std::move(caller))
      .first->second.get();
}

const BorrowedFiles::Copy* BorrowedFiles::find(const std::string& path,
                                               const std::string& version) {
  const auto at = std::ranges::find(copies_, path, &Copy::path);
  if (at == copies_.end()) return nullptr;
  if (at->version == version) {
    copies_.splice(copies_.begin(), copies_, at);
    return &copies_.front();
  }
  bytes_ -= at->size;
  copies_.erase(at);
  return nullptr;
}

void BorrowedFiles::keep(Copy copy) {
  bytes_ += copy.size;
  copies_.push_front(std::move(copy));
  while (copies_.size() > kMostCopies ||
         (bytes_ > kMostBytes && copies_.size() > 1)) {
    bytes_ -= copies_.back().size;
    copies_.pop_back();
  }
}

Result<Fd> BorrowedFiles::open(const std::string& path, std::string& version,
                               bool* is_missing) {
  constexpr int kMostTimes = 10;
  const std::lock_guard lock(opening_.mutex);
  const RemotePath at = split_remote(path);
  const auto found = caller_of(at, opening_);
  if (!found.ok()) return about(path, found.error().message);
  net::FileCaller& caller = *found.value();
  for (int i = 0; i < kMostTimes; ++i) {
    const auto state = caller.look(at.path);
    if (!state.ok()) {
      if (is_missing != nullptr) {
        *is_missing = caller.fault() == FileFault::kMissing;
      }
      return about(path, state.error().message);
    }
    version = state.value().version;
    if (const Copy* copy = find(path, version)) {
      Fd fd(::fcntl(copy->fd.get(), F_DUPFD_CLOEXEC, 0));
      if (!fd.ok()) return about(path, std::strerror(errno));
      return fd;
    }
    Fd fd = scratch_file();
    if (!fd.ok()) return about(path, std::strerror(errno));
    uint64_t have = 0;
    const Status fetched = caller.fetch(at.path, state.value(), fd.get(), have);
    if (!fetched.ok() && caller.fault() == FileFault::kChanged) continue;
    if (!fetched.ok()) return about(path, fetched.error().message);
    Fd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    // A file that was changed just now is not kept, since a further change
    // might not be noticed.
    if (state.value().is_settled && copy.ok()) {
      keep({path, version, std::move(copy), state.value().size});
    }
    return fd;
  }
  return about(path, "was changed each time while it was fetched");
}

Status BorrowedFiles::store(const std::string& path, int fd,
                            const std::string& over, bool& is_overtaken) {
  is_overtaken = false;
  const std::lock_guard lock(storing_.mutex);
  const RemotePath at = split_remote(path);
  const auto caller = caller_of(at, storing_);
  if (!caller.ok()) return caller.error();
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Error{std::strerror(errno)};
  const auto stored = caller.value()->store(
      at.path, random_token(), fd, static_cast<uint64_t>(info.st_size), over);
  if (stored.ok()) return ok_status();
  is_overtaken = caller.value()->fault() == FileFault::kOvertaken;
  return stored.error();
}

}  // namespace gt::exec
