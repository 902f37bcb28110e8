// Takes any bytes as what borrowers of files say to the lender, and as its
// answers. Stored files stay below the directories of their users, and the loss
// of a borrower harms no other.
//
// Each line of the input is a message: its first character says whose it is,
// '0' of ann, '1' of bob, 'w' of a worker, 'a' an answer to a borrower; then
// comes a header without size=, and behind a '|' the body. A piece is given the
// digest of its body, which is right for the first of a file.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/hash.h"
#include "net/file_message.h"
#include "net/file_talk.h"
#include "serve/file_server.h"
#include "target.h"

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFileBytes = 4096;

using gt::fuzz::require;

const std::string& folder() {
  // The path must outlive the function that removes the folder.
  static const auto* path = [] {
    char name[] = "/tmp/gt-files-fuzz-XXXXXX";
    require(::mkdtemp(name) != nullptr);
    std::atexit([] { fs::remove_all(folder()); });
    return new std::string(name);
  }();
  return *path;
}

std::string request_of(std::string_view line) {
  const size_t bar = line.find('|');
  const std::string_view body =
      bar == std::string_view::npos ? "" : line.substr(bar + 1);
  std::string head(line.substr(0, bar));
  if (head.starts_with("piece")) {
    head += " digest=" + gt::digest_text(gt::hash_bytes(body));
  }
  return head + " size=" + std::to_string(body.size()) + "\n" +
         std::string(body);
}

class Borrowing {
 public:
  Borrowing()
      : file_server_(
            {.lender = {.files = folder() + "/files", .quota = 10'000}},
            threads_, 0),
        talk_({}, 0) {
    fs::remove_all(folder());
    fs::create_directories(folder() + "/files/ann");
    fs::create_directories(folder() + "/files/bob");
    talk_.link_up(0);
    talk_.receive(gt::net::Frame("welcome size=0\n"), 0);
  }

  void step(std::string_view line) {
    if (line.empty()) return;
    const char who = line[0];
    const std::string message = request_of(line.substr(1));
    if (who == 'a') return answer(message);
    if (who != '0' && who != '1' && who != 'w') return;
    const std::string peer(1, who);
    if (!file_server_.knows(peer)) {
      const std::string user = who == 'w'   ? " worker=1"
                               : who == '0' ? " user=ann"
                                            : " user=bob";
      say(peer, "hello version=" + std::to_string(gt::net::kWireVersion) +
                    " files=1" + user + " size=0\n");
      require(file_server_.knows(peer));
    }
    say(peer, message);
    // An answer lets the next request begin.
    bool goes_on = true;
    while (goes_on) {
      goes_on = threads_.busy() > 0;
      file_server_.tick(++now_, true);
      goes_on = drain() || goes_on;
    }
    now_ = 0;
  }

  void end() {
    for (const char* peer : {"0", "1", "w"}) file_server_.link_ended(peer);
    // No file is beside the folders that were lent.
    require(std::distance(fs::directory_iterator(folder()), {}) == 1);
    require(std::distance(fs::directory_iterator(folder() + "/files"), {}) ==
            2);
  }

 private:
  void say(const std::string& peer, const std::string& message) {
    file_server_.receive(peer, gt::net::Frame(message), now_, "");
    drain();
  }
  // Returns true if something was there to be sent.
  bool drain() {
    gt::net::ListenerState::Outgoing out;
    bool is_any = false;
    while (file_server_.next(out)) {
      require(gt::net::parse_message(out.frame.bytes()).ok());
      is_any = true;
    }
    return is_any;
  }
  void answer(const std::string& message) {
    if (!talk_.is_full()) talk_.ask(gt::net::Frame("get"), 0);
    talk_.receive(gt::net::Frame(message), 0);
    gt::net::OwnedMessage owned;
    while (talk_.next(owned)) {
      const auto state = gt::net::read_state(owned.message);
      require(!state.ok() ||
              state.value().version.find('/') == std::string::npos);
      (void)gt::net::check_body(owned.message);
    }
  }

  gt::serve::DiskThreads threads_;
  gt::serve::FileServer file_server_;
  gt::net::FileTalk talk_;
  int64_t now_ = 0;
};

}  // namespace

GT_FUZZ_TARGET(files) {
  if (size > kMostFileBytes) return 0;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Borrowing world;
  while (!text.empty()) {
    const size_t lf = std::min(text.find('\n'), text.size());
    world.step(text.substr(0, lf));
    text.remove_prefix(std::min(lf + 1, text.size()));
  }
  world.end();
  return 0;
}
