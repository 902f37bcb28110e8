#include "serve/transfer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/hash.h"
#include "file/files.h"
#include "file/partial.h"
#include "file/stored.h"

namespace gt::serve {
namespace {

using net::FileCaller;
using net::FileFault;
using net::FileState;

// The two words of a text A[=B]; the last '=' is between them.
std::pair<std::string, std::string> split_at_equal(const std::string& text) {
  const size_t equal = text.rfind('=');
  if (equal == std::string::npos) return {text, ""};
  return {text.substr(0, equal), text.substr(equal + 1)};
}

Status check_transfer(const Transfer& transfer) {
  if (transfer.file.empty() || transfer.name.empty()) {
    return Error{"a name is missing"};
  }
  if (transfer.file == "-") {
    return Error{
        "standard input and output have the program and its results; the file "
        "of that name is ./-"};
  }
  if (stays_below(transfer.name)) return ok_status();
  return Error{"'" + transfer.name +
               "' is no path below the user's directory: it is to be relative "
               "and to have no '..'"};
}

// Sends or fetches one file, and says what goes wrong.
class Carrier {
 public:
  Carrier(const net::FileCallerOptions& options,
          const std::function<void(std::string_view)>& say)
      : at_(options.identity.endpoint), caller_(context_, options), say_(say) {}

  Exit send(const Transfer& transfer);
  Exit fetch(const Transfer& transfer);

 private:
  Exit fail(const std::string& what, const std::string& why) {
    const bool is_local = caller_.fault() == FileFault::kLocal;
    return fail(what, why, is_local ? Exit::kUsage : Exit::kLost);
  }
  Exit fail(const std::string& what, const std::string& why, Exit status) {
    say_("gt-emit: cannot " + what + ": " + why + "\n");
    return status;
  }
  Exit fetch_version(const Transfer& transfer, const FileState& state,
                     bool& is_changed);

  const std::string at_;
  net::Context context_;
  FileCaller caller_;
  const std::function<void(std::string_view)>& say_;
};

// What is the same of a file that nobody has changed.
std::string mark_of(const struct stat& info) {
  return digest_text(hash_bytes(
      std::to_string(info.st_dev) + ' ' + std::to_string(info.st_ino) + ' ' +
      std::to_string(info.st_size) + ' ' + std::to_string(info.st_mtim.tv_sec) +
      ' ' + std::to_string(info.st_mtim.tv_nsec)));
}

Exit Carrier::send(const Transfer& transfer) {
  const std::string what = "send " + transfer.file;
  const Fd fd(::open(transfer.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd.ok() || ::fstat(fd.get(), &info) != 0) {
    return fail(what, std::strerror(errno), Exit::kUsage);
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(what, "it is not a regular file", Exit::kUsage);
  }
  char more = 0;
  if (::pread(fd.get(), &more, 1, info.st_size) > 0) {
    return fail(what,
                "it has more bytes than its size says, as a file of /proc has, "
                "or one that grows; send a copy of it",
                Exit::kUsage);
  }
  const std::string mark = mark_of(info);
  const auto stored = caller_.store(transfer.name, mark, fd.get(),
                                    static_cast<uint64_t>(info.st_size));
  if (!stored.ok()) {
    return fail(what + " as " + transfer.name + " to " + at_,
                stored.error().message);
  }
  if (::fstat(fd.get(), &info) == 0 && mark_of(info) == mark) {
    return Exit::kDone;
  }
  return fail(what, "it was changed while it was sent; send it again",
              Exit::kUsage);
}

Exit Carrier::fetch_version(const Transfer& transfer, const FileState& state,
                            bool& is_changed) {
  const std::string what =
      "fetch " + transfer.name + " from " + at_ + " as " + transfer.file;
  const Files everywhere = Files::make({}).value();
  if (Status s = everywhere.make_parents(transfer.file); !s.ok()) {
    return fail(what, s.error().message, Exit::kUsage);
  }
  auto target = everywhere.target(transfer.file);
  if (!target.ok()) return fail(what, target.error().message, Exit::kUsage);
  auto opened = Partial::open(std::move(target.value()), state.version);
  if (!opened.ok()) return fail(what, opened.error().message, Exit::kUsage);
  const std::unique_ptr<Partial> part = std::move(opened.value());
  if (part == nullptr) {
    return fail(what, "another process fetches it there just now",
                Exit::kUsage);
  }
  const auto size = part->size();
  if (!size.ok()) return fail(what, size.error().message, Exit::kUsage);
  uint64_t have = size.value();
  const Status fetched = caller_.fetch(transfer.name, state, part->fd(), have);
  is_changed = !fetched.ok() && caller_.fault() == FileFault::kChanged;
  if (is_changed) {
    part->remove();
    return Exit::kDone;
  }
  if (!fetched.ok()) {
    if (have == 0) part->remove();
    return fail(what, fetched.error().message);
  }
  Status placed = part->flush();
  if (placed.ok()) placed = part->take_place();
  if (placed.ok()) return Exit::kDone;
  return fail(what, placed.error().message, Exit::kUsage);
}

Exit Carrier::fetch(const Transfer& transfer) {
  constexpr int kMostTimes = 10;
  const std::string what = "fetch " + transfer.name + " from " + at_;
  for (int i = 0; i < kMostTimes; ++i) {
    const auto state = caller_.look(transfer.name);
    if (!state.ok()) return fail(what, state.error().message);
    bool is_changed = false;
    const Exit status = fetch_version(transfer, state.value(), is_changed);
    if (!is_changed) return status;
  }
  return fail(what, "it was changed each time while it was fetched",
              Exit::kLost);
}

}  // namespace

Result<Transfer> read_sending(const std::string& text) {
  const auto [file, name] = split_at_equal(text);
  Transfer transfer{file, name};
  if (text.find('=') == std::string::npos) {
    const size_t slash = file.rfind('/');
    const bool is_below = stays_below(file);
    transfer.name =
        is_below || slash == std::string::npos ? file : file.substr(slash + 1);
    if (transfer.name.starts_with("./")) transfer.name.erase(0, 2);
  }
  if (Status s = check_transfer(transfer); !s.ok()) return s.error();
  return transfer;
}

Result<Transfer> read_fetching(const std::string& text) {
  const auto [name, file] = split_at_equal(text);
  const bool has_file = text.find('=') != std::string::npos;
  Transfer transfer{has_file ? file : name, name};
  if (Status s = check_transfer(transfer); !s.ok()) return s.error();
  return transfer;
}

Exit send_files(const std::vector<Transfer>& files,
                const net::FileCallerOptions& options,
                const std::function<void(std::string_view)>& say) {
  Carrier carrier(options, say);
  for (const Transfer& file : files) {
    const Exit status = carrier.send(file);
    if (status != Exit::kDone) return status;
  }
  return Exit::kDone;
}

Exit fetch_files(const std::vector<Transfer>& files,
                 const net::FileCallerOptions& options,
                 const std::function<void(std::string_view)>& say) {
  Carrier carrier(options, say);
  for (const Transfer& file : files) {
    const Exit status = carrier.fetch(file);
    if (status != Exit::kDone) return status;
  }
  return Exit::kDone;
}

}  // namespace gt::serve
