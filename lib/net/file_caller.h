// Borrows files: the blocking calls of who reads and stores files at a gt-emit
// that lends them (file_talk.h). A call that finds the connection lost makes
// another, and goes on where it stood, until nothing has gone on for a minute.
// For one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/digest.h"
#include "base/result.h"
#include "net/caller.h"
#include "net/file_message.h"
#include "net/file_talk.h"

namespace gt::net {

struct FileCallerOptions {
  BorrowerIdentity identity;  // with the endpoint to connect to
  std::string server_key;     // with keys: the public one of who lends
  bool anyone = false;        // without keys: whoever listens there may lend
  int64_t patience = 60'000;  // ms in which a call must come a step further
};

// Why a call failed.
enum class FileFault : uint8_t {
  kNone,
  kLost,       // who lends cannot be reached, or is gone
  kRefused,    // it does not do what was asked, and says why
  kMissing,    // it has no such file
  kChanged,    // the file was changed meanwhile: look() again
  kOvertaken,  // the file is no longer of the version that was to be replaced
  kLocal,      // a file of our own
};

class FileCaller {
 public:
  FileCaller(Context& context, FileCallerOptions options);
  ~FileCaller();

  // Of all calls: errors say what went wrong, without the path; fault() is its
  // kind.
  FileFault fault() const { return fault_; }

  // Makes the connection. Error: who lends has no files of this user's, or is
  // not there.
  Status greet();
  // What the file of that name is now.
  Result<FileState> look(const std::string& path);
  // Copies a file that is `what` into `fd`, which has its first `have` bytes
  // already: they are compared with it before the rest is read, and if they
  // differ it is read from the beginning. `have` is then all of it; if the call
  // fails, what it has come to.
  Status fetch(const std::string& path, const FileState& what, int fd,
               uint64_t& have);
  // Stores the first `size` bytes of `fd`, which nobody changes meanwhile. Of a
  // call that is made again with the same `id` (1 to 32 of 0-9 and a-z), by
  // this process or another, what has come before is not sent again. With
  // `over`, only where the file there has that version, "none" for no file.
  Result<FileState> store(const std::string& path, const std::string& id,
                          int fd, uint64_t size, const std::string& over = {});
  // Has the file of that name removed.
  Status remove(const std::string& path);

 private:
  struct Link;
  struct Upload;

  bool connect();
  bool ask(Frame request);
  bool answer(Verb verb, Letter& letter);
  template <typename Condition>
  bool wait_until(const Condition& holds);
  bool fail(FileFault fault, std::string why);
  bool give_up_link();
  template <typename Call>
  bool keep_trying(const Call& call);
  bool check_path(const std::string& path);

  bool look_once(const std::string& path, FileState& state);
  bool check_start(const std::string& path, int fd, uint64_t& have);
  bool fetch_rest(const std::string& path, const FileState& what, int fd,
                  uint64_t& have);
  bool take_data(const FileState& what, int fd, uint64_t& have,
                 std::string& ticket);
  bool begin_upload(Upload& upload, bool anew);
  bool store_once(Upload& upload);
  bool send_pieces(Upload& upload);

  Context& context_;
  FileCallerOptions options_;
  std::unique_ptr<Link> link_;
  bool was_here_ = false;  // it has lent us something before
  int64_t went_on_ = 0;    // when a call last came a step further
  FileFault fault_ = FileFault::kNone;
  std::string why_;
};

}  // namespace gt::net
