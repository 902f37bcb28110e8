#include "file/safetensors_update.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace gt {
namespace {

constexpr size_t kCopyChunk = size_t{1} << 20;  // bytes copied at a time

Result<SafetensorsHeader> read_old(const Fd& fd, const std::string& path) {
  if (!fd.ok()) {
    // Programs that read these files, as transformers, may refuse one that does
    // not say this.
    SafetensorsHeader anew;
    anew.metadata = R"({"format":"pt"})";
    return anew;
  }
  auto header = read_safetensors(fd.get());
  if (header.ok()) return header;
  return Error{path + " " + header.error().message +
               "; save to another path, or remove it"};
}

// Lets one program at a time add to files of a directory: otherwise what one
// adds is lost when another has read the file before that. The file itself
// cannot be locked, since another one takes its place. The lock ends with the
// descriptor.
Result<Fd> lock_directory(const Fd& directory, const std::string& path) {
  constexpr auto kPause = std::chrono::milliseconds(10);
  constexpr auto kPatience = std::chrono::seconds(60);
  Fd lock(::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.ok()) {
    return Error{path +
                 ": its directory cannot be locked against other programs that "
                 "add to the file: " +
                 std::strerror(errno)};
  }
  const auto start = std::chrono::steady_clock::now();
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    // Some file systems have no locks.
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    if (std::chrono::steady_clock::now() - start > kPatience) {
      return Error{path +
                   ": another program has locked its directory for over a "
                   "minute; lsof +D says which"};
    }
    std::this_thread::sleep_for(kPause);
  }
  return lock;
}

Status copy_bytes(int from, size_t offset, size_t bytes, int to) {
  std::string chunk;
  auto at = static_cast<off_t>(offset);
  while (bytes > 0) {
    ssize_t n = chunk.empty()
                    ? ::copy_file_range(from, &at, to, nullptr, bytes, 0)
                    : -1;
    if (n < 0 && chunk.empty() && errno == EINTR) continue;
    if (n < 0) {  // not possible between these file systems
      chunk.resize(kCopyChunk);
      n = ::pread(from, chunk.data(), std::min(bytes, kCopyChunk), at);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error{std::strerror(errno)};
      const Status s = write_all(to, chunk.data(), static_cast<size_t>(n));
      if (!s.ok()) return s;
      at += n;
    }
    if (n == 0) return Error{"is cut short"};
    bytes -= static_cast<size_t>(n);
  }
  return ok_status();
}

}  // namespace

Result<std::unique_ptr<SafetensorsUpdate>> SafetensorsUpdate::make(
    const Files& files, const std::string& file) {
  std::string version;
  const auto old = files.open_old(file, version);
  if (!old.ok()) return old.error();
  const auto header = read_old(old.value(), file);
  if (!header.ok()) return header.error();
  auto target = files.target(file);
  if (!target.ok()) return target.error();
  std::unique_ptr<SafetensorsUpdate> update(
      new SafetensorsUpdate(file, std::move(target.value())));
  if (update->spool_.fd() < 0) {
    return update->error(std::strerror(update->spool_.errno_value()));
  }
  update->spool_.hide();
  return update;
}

bool SafetensorsUpdate::has(std::string_view tensor) const {
  return names_.contains(tensor);
}

Status SafetensorsUpdate::add(const std::string& tensor, const Type& type,
                              const TensorBytes& bytes) {
  if (Status s = check_tensor_name(tensor); !s.ok()) {
    return error(s.error().message);
  }
  if (::lseek(spool_.fd(), static_cast<off_t>(spooled_), SEEK_SET) < 0) {
    return error(std::strerror(errno));
  }
  const Status written =
      bytes.each([fd = spool_.fd()](const void* data, size_t n) {
        return write_all(fd, data, n);
      });
  if (!written.ok()) return error(written.error().message);
  entries_.push_back(safetensors_entry(tensor, type));
  entries_.back().begin = spooled_;
  spooled_ += type.bytes();
  entries_.back().end = spooled_;
  names_.insert(tensor);
  return ok_status();
}

Status SafetensorsUpdate::commit(const Files& files) {
  constexpr int kMostTimes = 100;
  bool is_overtaken = false;
  for (int i = 1;; ++i) {
    Status s = replace(files, is_overtaken);
    if (s.ok() || !is_overtaken || i == kMostTimes) return s;
  }
}

Status SafetensorsUpdate::replace(const Files& files, bool& is_overtaken) {
  auto target = files.target(file_);
  if (!target.ok()) return target.error();
  Result<Fd> lock = Fd();
  if (target.value().remote == nullptr) {
    lock = lock_directory(target.value().directory, file_);
    if (!lock.ok()) return lock.error();
  }
  const auto old = files.open_old(file_, target.value().over);
  if (!old.ok()) return old.error();
  Replacement to(std::move(target.value()));
  if (to.fd() < 0) return error(std::strerror(to.errno_value()));
  to.copy_mode();
  if (Status s = write(to, old.value()); !s.ok()) return s;
  const Status s = to.commit();
  is_overtaken = to.is_overtaken();
  return s.ok() ? s : error(s.error().message);
}

Status SafetensorsUpdate::write(Replacement& to, const Fd& old) {
  auto header = read_old(old, file_);
  if (!header.ok()) return header.error();
  std::vector<Piece> pieces;
  for (const SafetensorsEntry& entry : entries_) {
    pieces.push_back({entry, spool_.fd(), entry.begin});
  }
  for (const SafetensorsEntry& entry : header.value().tensors) {
    if (has(entry.name)) continue;
    pieces.push_back(
        {entry, old.get(), header.value().data_offset + entry.begin});
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return comes_before(a.entry, b.entry);
  });
  header.value().tensors.clear();
  size_t at = 0;
  for (const Piece& piece : pieces) {
    header.value().tensors.push_back(piece.entry);
    SafetensorsEntry& entry = header.value().tensors.back();
    entry.end = at + (entry.end - entry.begin);
    entry.begin = std::exchange(at, entry.end);
  }
  const std::string text = safetensors_header(header.value());
  if (text.size() > kMaxSafetensorsHeader) {
    return error("its header would be over the limit of " +
                 std::to_string(kMaxSafetensorsHeader) + " bytes");
  }
  Status s = write_all(to.fd(), text.data(), text.size());
  for (const Piece& piece : pieces) {
    if (!s.ok()) break;
    s = copy_bytes(piece.fd, piece.offset, piece.entry.end - piece.entry.begin,
                   to.fd());
  }
  return s.ok() ? s : error(s.error().message);
}

}  // namespace gt
