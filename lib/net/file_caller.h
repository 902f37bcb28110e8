// FileCaller borrows files: it has the blocking calls to read and store files
// at a gt-emit that lends them (file_talk.h). A call that finds the connection
// lost makes a new one and continues where it stood, until there was no
// progress for a minute. It is for one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/digest.h"
#include "base/result.h"
#include "net/caller.h"
#include "net/file_message.h"
#include "net/file_talk.h"

namespace gt::net {

// Whom to call, and how.
struct FileCallerOptions {
  BorrowerIdentity identity;  // has the endpoint to connect to
  int64_t patience = 60'000;  // ms in which a call must make progress
};

// Why a call failed.
enum class FileFault : uint8_t {
  kNone,
  kLost,       // the lender cannot be reached, or is gone
  kRefused,    // the lender refuses, and says why
  kMissing,    // the lender has no such file
  kChanged,    // the file was changed meanwhile; look() again
  kOvertaken,  // the file no longer has the version to be replaced
  kLocal,      // an error of a file on this side
};

class FileCaller {
 public:
  FileCaller(Context& context, FileCallerOptions options);
  ~FileCaller();

  // The kind of the last call's error. The errors of all calls say what went
  // wrong, without the path.
  FileFault fault() const { return fault_; }

  // Connects. Errors: the lender is not there, or has no files for this user.
  Status greet();
  // Returns the current state of a file.
  Result<FileState> look(const std::string& path);
  // Copies the file, in state `what`, into `fd`. If `have` is not 0, `fd` has
  // that many of its first bytes already: they are compared with the file
  // before the rest is read, and if they differ, all of it is read. Sets `have`
  // to the bytes that `fd` has in the end: the whole file, or fewer if the call
  // fails.
  Status fetch(const std::string& path, const FileState& what, int fd,
               uint64_t& have);
  // Stores the first `size` bytes of `fd`, which nobody may change meanwhile.
  // If the call is repeated with the same `id` (1 to 32 of 0-9 and a-z), by
  // this process or another, bytes that arrived before are not sent again. If
  // `over` is not empty, the file is stored only if the lender's file has that
  // version, or does not exist if it is "none".
  Result<FileState> store(const std::string& path, const std::string& id,
                          int fd, uint64_t size, const std::string& over = {});
  // Removes a file.
  Status remove(const std::string& path);

 private:
  struct Link;
  struct Upload;

  bool connect();
  bool ask(Frame request);
  bool answer(Verb verb, OwnedMessage& owned);
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
  bool was_here_ = false;  // the lender has answered us before
  int64_t went_on_ = 0;    // when a call last made progress, in now_ms()
  FileFault fault_ = FileFault::kNone;
  std::string why_;
};

}  // namespace gt::net
