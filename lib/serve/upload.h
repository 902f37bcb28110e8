// A file that a borrower stores (net/file_talk.h): what came of it, until it
// takes its name. begin() and end() may take long, and are called on a thread
// that nobody else uses the upload beside; they give the answer to the request.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/digest.h"
#include "file/partial.h"
#include "serve/shelf.h"

namespace gt::serve {

// Answers: that a request cannot be done, with a field that says which kind of
// failure it is; and how much of a file there is.
std::string report_text(const std::string& why, const char* flag = nullptr);
std::string kept_text(const Digest& digest);

struct Upload {
  const Shelf* shelf = nullptr;
  std::string path, id;
  uint64_t size = 0;
  std::unique_ptr<Partial> part;  // null: it cannot be written
  Digest digest;                  // of what has come

  // Finds what was stored of it before, unless it begins anew. `promised`:
  // bytes that other uploads will add to the directory. "": somebody else
  // writes it just now.
  std::string begin(bool anew, uint64_t quota, uint64_t promised,
                    const std::atomic<bool>& stop);
  // All has come, and that is its digest; `over` as in file_talk.h.
  std::string end(const std::string& digest_said, const std::string& over,
                  const std::atomic<bool>& stop);
};

}  // namespace gt::serve
