#include "serve/transfer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <thread>

#include "base/hash.h"
#include "base/io.h"
#include "base/reader.h"
#include "file/files.h"
#include "file/partial.h"
#include "file/stored.h"
#include "stream/line.h"

namespace gt::serve {
namespace {

using net::FileCaller;
using net::FileFault;
using net::FileState;

// Returns A and B of a text A[=B]; the last '=' separates them.
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

// Sends or fetches one file, and reports errors.
class Carrier {
 public:
  Carrier(const net::FileCallerOptions& options,
          const std::function<void(std::string_view)>& say)
      : at_(options.identity.endpoint), caller_(context_, options), say_(say) {}

  Exit greet() {
    const Status status = caller_.greet();
    if (status.ok()) return Exit::kDone;
    return fail("keep files at " + at_, status.error().message);
  }
  Exit send(const Transfer& transfer);
  Exit fetch(const Transfer& transfer);
  Exit remove(const std::string& name);
  // True if a call failed since there is no such file.
  bool is_missing() const { return caller_.fault() == FileFault::kMissing; }

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

// Returns a text that stays the same while nobody changes the file.
std::string mark_of(const struct stat& info) {
  return digest_text(hash_bytes(
      std::to_string(info.st_dev) + ' ' + std::to_string(info.st_ino) + ' ' +
      std::to_string(info.st_size) + ' ' + std::to_string(info.st_mtim.tv_sec) +
      ' ' + std::to_string(info.st_mtim.tv_nsec)));
}

Exit Carrier::send(const Transfer& transfer) {
  const std::string what = "send " + transfer.file;
  if (Status s = check_transfer(transfer); !s.ok()) {
    return fail(what, s.error().message, Exit::kUsage);
  }
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
  const auto made = Files::make({});
  if (!made.ok()) return fail(what, made.error().message, Exit::kUsage);
  const Files& everywhere = made.value();
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
  if (Status s = check_transfer(transfer); !s.ok()) {
    return fail(what, s.error().message, Exit::kUsage);
  }
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

Exit Carrier::remove(const std::string& name) {
  const Status removed = caller_.remove(name);
  if (removed.ok()) return Exit::kDone;
  return fail("remove " + name + " at " + at_, removed.error().message);
}

// Executes the lines that carry_files() reads.
class Errands {
 public:
  explicit Errands(const net::FileCallerOptions& options)
      : carrier_(options, keep_) {}

  // greet() and run() return the line of an answer, without its LF.
  std::string greet() { return answer(carrier_.greet()); }
  std::string run(std::string_view text) { return answer(do_line(text)); }
  // A file that a worker is about to save under a claimed name may take a
  // moment to appear, so the removal is tried several times.
  void remove_claimed() {
    constexpr int kTimes = 50;
    constexpr auto kPause = std::chrono::milliseconds(100);
    for (int i = 0; i < kTimes && !claimed_.empty(); ++i) {
      if (i > 0) std::this_thread::sleep_for(kPause);
      for (auto at = claimed_.begin(); at != claimed_.end();) {
        const bool is_gone = carrier_.remove(*at) == Exit::kDone;
        if (!is_gone && !carrier_.is_missing()) return;
        at = is_gone ? claimed_.erase(at) : std::next(at);
      }
    }
  }

 private:
  std::string answer(Exit status) {
    if (status == Exit::kDone) return "done";
    // The message has the form "gt-emit: cannot send x.npy: ...
    // ".
    std::string why = said_.substr(said_.find(' ') + 1);
    if (why.ends_with('\n')) why.pop_back();
    return "failed " + why;
  }
  Exit do_line(std::string_view text) {
    Line line;
    const bool is_line = parse_line(text, line).ok();
    std::vector<std::string> words;
    for (const Operand& operand : line.operands) {
      words.push_back(unquote(operand.text));
    }
    const bool has_one = is_line && words.size() == 1;
    const bool has_two = is_line && words.size() == 2;
    if (has_one && line.op == "claim") {
      claimed_.insert(words[0]);
      return Exit::kDone;
    }
    if (has_one && line.op == "remove") {
      claimed_.erase(words[0]);
      return carrier_.remove(words[0]);
    }
    if (has_two && line.op == "send")
      return carrier_.send({words[0], words[1]});
    if (has_two && line.op == "fetch") {
      return carrier_.fetch({words[1], words[0]});
    }
    keep_(
        "gt-emit: no line of --carry, which has send and fetch of two "
        "strings, and claim and remove of one\n");
    return Exit::kUsage;
  }

  std::string said_;
  const std::function<void(std::string_view)> keep_ =
      [this](std::string_view text) { said_ = text; };
  Carrier carrier_;
  std::set<std::string> claimed_;  // names of files that are to be removed
};

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

Exit carry_files(int in, int out, const net::FileCallerOptions& options,
                 const std::function<void(std::string_view)>& say) {
  Errands errands(options);
  Reader reader(in, {});
  std::string_view line;
  Reader::Item item{};
  int error = write_all(out, errands.greet() + "\n");
  while (error == 0 && (item = reader.next(line)) == Reader::Item::kLine) {
    error = write_all(out, errands.run(line) + "\n");
  }
  errands.remove_claimed();
  if (error != 0 && error != EPIPE) {
    say(std::string("gt-emit: cannot write: ") + std::strerror(error) + "\n");
  } else if (item == Reader::Item::kError) {
    say(std::string("gt-emit: cannot read: ") +
        std::strerror(reader.errno_value()) + "\n");
  }
  const bool is_gone = error == EPIPE;
  const bool is_read = error == 0 && item != Reader::Item::kError;
  return is_read || is_gone ? Exit::kDone : Exit::kUsage;
}

}  // namespace gt::serve
