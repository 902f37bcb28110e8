// Upload: a file that a borrower stores (net/file_talk.h), until it is complete
// and takes its name. begin() and end() may take long, and are called on a
// thread; nothing else may use the upload meanwhile, but for what is marked.
// They return the answer to the request.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/digest.h"
#include "file/partial.h"
#include "serve/user_directory.h"

namespace gt::serve {

// Return answers: report_text() says that a request cannot be done, with a
// field for the kind of failure; kept_text() says how much of a file is there.
std::string report_text(const std::string& why, const char* flag = nullptr);
std::string kept_text(const Digest& digest);

struct Upload {
  std::string root;  // the user's directory
  std::string path, id;
  uint64_t size = 0;
  // The bytes of it that are in the directory. Any thread may read them.
  std::atomic<uint64_t> stored{0};
  const UserDirectory* directory = nullptr;
  std::unique_ptr<Partial> part;  // null: it cannot be written
  Digest digest;                  // digest of the bytes that have come

  // Finds the part that was stored before, unless it begins `anew`. `promised`:
  // the bytes that other uploads will add to the directory. Returns "" if
  // somebody else is writing the file.
  std::string begin(bool anew, uint64_t quota, uint64_t promised,
                    const std::atomic<bool>& stop);
  // Everything has come, and `digest_said` is its digest. For `over` see
  // file_talk.h.
  std::string end(const std::string& digest_said, const std::string& over,
                  const std::atomic<bool>& stop);
};

}  // namespace gt::serve
