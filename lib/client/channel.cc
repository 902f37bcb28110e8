#include "client/channel.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "client/failure.h"

namespace gt::client {
namespace {

constexpr char kGone[] = "the program that runs the lines is gone";

std::string setting(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? fallback : value;
}

// Opens the file or FIFO into which another program writes results; sets
// `grows` if it is a regular file.
Fd open_results(const std::string& path, bool& grows) {
  Fd back(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (!back.ok() || ::fstat(back.get(), &about) != 0) {
    fail(GT_FILE, "GT_BACK: cannot open " + path + ": " + std::strerror(errno));
  }
  grows = S_ISREG(about.st_mode);
  if (!grows && !S_ISFIFO(about.st_mode)) {
    fail(GT_FILE, "GT_BACK: " + path + " is neither a FIFO nor a file");
  }
  return back;
}

}  // namespace

void Channel::start(std::string_view where) {
  std::error_code none;
  folder_ = std::filesystem::current_path(none).string();
  const Command emit = {program_path("gt-emit")};
  std::vector<Command> commands = {emit};
  const std::string config = setting("GT_CONFIG", "");
  if (!config.empty() && where != "-") {
    commands.push_back({program_path("gt-shard"), "-c", config});
  }
  std::string workers = setting("GT_WORKERS", "");
  // gt-route writes the log of a run.
  if (workers.empty() && !setting("GT_INSTRUCTION_LOG", "").empty()) {
    workers = "1";
  }
  if (where.empty() && workers.empty()) {
    // One worker needs no gt-route.
    commands.push_back({program_path("gt-work")});
    has_one_worker_ = config.empty();
  } else if (where.empty()) {
    commands.push_back({program_path("gt-route"), "-n", workers});
  } else if (where != "-") {
    if (config.empty()) commands.clear();
    joined_ = {program_path("gt-emit"), "--to"};
    for (const std::string_view word : words_of(where)) {
      joined_.emplace_back(word);
    }
    commands.push_back(joined_);
  }
  const bool is_open = where == "-";
  hold_standard();
  value_or_fail(told_.start(), GT_LOST);
  value_or_fail(pipeline_.start(commands, is_open, told_.end()), GT_LOST);
  link_ = std::make_unique<Link>(
      std::move(pipeline_.lines()), mutex_,
      [this](std::string_view line) {
        inbox_.take(line);
        if (!inbox_.shows()) link_->watch_results(false);
      },
      [this] { return pipeline_.ends_stopped(); });
  gives_results_ = !is_open;
  if (is_open) inbox_.show_on(stderr);  // standard output is the stream
  if (gives_results_) {
    const Lock lock(mutex_);
    link_->set_results(std::move(pipeline_.results()), false);
  }
}

bool Channel::has_way_back() const {
  return gives_results_ || !setting("GT_BACK", "").empty();
}

// Opens GT_BACK, from which results are read if others run the stream.
void Channel::open_back() {
  if (link_->has_results()) return;
  std::string path = setting("GT_BACK", "");
  if (path.empty()) {
    fail(GT_WRONG,
         "the stream goes to standard output, and no result comes back: let "
         "GT_BACK name the FIFO or file that the last program of the pipeline "
         "writes, or leave GT_CONNECT unset");
  }
  if (!path.starts_with('/')) path = folder_ + "/" + path;
  bool grows = false;
  Fd back = open_results(path, grows);
  link_->set_results(std::move(back), grows);
}

Exit Channel::close() {
  {
    Lock lock = enter();
    is_closed_ = true;
    // An empty program still gets a line: gt-emit takes a pipe without any
    // input for a failure of the program before it.
    if (link_->is_unused()) link_->write("#\n", lock);
    // Others that run the stream read it to its end, so that only the results
    // which are expected are waited for here.
    link_->finish([&] { return !gives_results_ && inbox_.empty(); }, lock);
  }
  link_->stop();
  end_log();
  ended_ = pipeline_.wait();
  told_.close();
  return inbox_.show_error() == 0 ? ended_ : worst(ended_, Exit::kUsage);
}

void Channel::forget() {
  is_forked_ = true;
  told_.forget();
  if (link_ != nullptr) link_->forget();
}

void Channel::check_open() const {
  if (is_forked_) {
    fail(GT_LOST,
         "this process was forked from the one that opened the session, which "
         "alone may use it: open another");
  }
  if (is_closed_) fail(GT_LOST, "the session is closed");
}

Channel::Lock Channel::enter() {
  Lock lock(mutex_);
  check_open();
  return lock;
}

bool Channel::is_lost() {
  const Lock lock(mutex_);
  return is_closed_ || !pipeline_.ended().empty();
}

void Channel::check_alive() {
  if (!pipeline_.ended().empty()) fail_lost(kGone);
}

void Channel::fail_lost(const char* what) {
  check_open();  // another thread may have closed it meanwhile
  std::string why = pipeline_.ended();
  for (int wait = 0; why.empty() && wait < 50; ++wait) {
    ::usleep(10'000);  // its descriptors close a moment before it ends
    why = pipeline_.ended();
  }
  if (why.empty()) why = "it ended early";
  was_lost_ = true;
  fail(GT_LOST, std::string(what) + ": " + why +
                    "; what it said stands on standard error");
}

void Channel::send(std::string_view text, Lock& lock) {
  if (log_ != nullptr) {
    note_log(std::fwrite(text.data(), 1, text.size(), log_) == text.size());
  }
  if (!link_->write(text, lock)) {
    fail_lost(kGone);
  }
}

std::string Channel::ask(std::string_view text, Lock& lock) {
  const auto answer = inbox_.expect();
  send(text, lock);
  if (!link_->wait([&] { return answer->is_there; }, lock)) {
    fail_lost("the program ended before a result came");
  }
  return std::move(answer->line);
}

void Channel::ask_lines(std::string_view text,
                        const std::function<void(std::string_view)>& each,
                        Lock& lock) {
  const auto is_there = std::make_shared<bool>(false);
  inbox_.expect_until(kSync, each, [is_there] { *is_there = true; });
  send(text, lock);
  if (!link_->wait([&] { return *is_there; }, lock)) {
    fail_lost("the program ended before an answer came");
  }
}

void Channel::when_done(std::function<void()> then, std::string& text) {
  inbox_.expect_sync(std::move(then));
  text += kSync;
}

void Channel::wait(const std::function<bool()>& holds, Lock& lock) {
  link_->wait(holds, lock);
}

void Channel::show_next() {
  inbox_.expect_shown();
  link_->watch_results(true);
}

void Channel::check_shown(bool again) {
  const int error = inbox_.show_error();
  if (error != 0 && (again || !std::exchange(has_thrown_shown_, true))) {
    has_thrown_shown_ = true;
    fail(GT_FILE, std::string("cannot print: ") + std::strerror(error));
  }
}

void Channel::check_failures() {
  constexpr size_t kMost = 3;
  told_.drain();
  const std::vector<std::string> failures = told_.take_failures();
  if (failures.empty()) return;
  std::string all;
  for (size_t i = 0; i < std::min(failures.size(), kMost); ++i) {
    all += (i == 0 ? "" : "; ") + failures[i];
  }
  if (failures.size() > kMost) {
    all +=
        "; and " + std::to_string(failures.size() - kMost) + " failures more";
  }
  fail(GT_FAILED, all);
}

void Channel::check_end() {
  check_shown(false);
  check_failures();
  const bool is_told = ended_ == Exit::kFailed || ended_ == Exit::kRejected;
  if (ended_ == Exit::kDone || was_lost_ || (is_told && told_.any())) return;
  const std::string why = pipeline_.ended();
  fail(GT_LOST, std::string(kGone) + ": " +
                    (why.empty() ? "it ended early" : why) +
                    "; what it said stands on standard error");
}

void Channel::note_log(bool is_written) {
  if (!is_written && log_error_ == 0) log_error_ = errno;
}

void Channel::end_log() {
  if (log_ != nullptr) note_log(std::fclose(log_) == 0);
  log_ = nullptr;
}

void Channel::check_log() {
  if (log_ != nullptr) note_log(std::fflush(log_) == 0);
  if (log_error_ != 0) {
    fail(GT_FILE,
         "cannot write " + log_path_ + ": " + std::strerror(log_error_));
  }
}

void Channel::log_to(std::string_view path) {
  const Lock lock = enter();
  end_log();
  const int error = std::exchange(log_error_, 0);
  const std::string before = std::exchange(log_path_, path);
  if (error != 0) {
    fail(GT_FILE, "cannot write " + before + ": " + std::strerror(error));
  }
  if (path.empty()) return;
  // At the end of the file, wherever that is, for one that is emptied
  // meanwhile.
  const int fd =
      ::open(log_path_.c_str(),
             O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  log_ = fd < 0 ? nullptr : ::fdopen(fd, "a");
  if (log_ == nullptr) {
    fail(GT_FILE, "cannot write " + log_path_ + ": " + std::strerror(errno));
  }
}

}  // namespace gt::client
