// What gt-emit -l says in its stream of how its clients are, for those who
// watch the run: a line "#client name=c7 user=ann ..." (client_record_of(),
// stream/marks.h; its fields are listed in gt-stream(5)). One is written when
// something of a client has changed, at most once in kApart, and a last one
// when the client is gone. Knows no clock: time is passed in, in milliseconds.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "serve/desk.h"

namespace gt::serve {

class ClientMarks {
 public:
  static constexpr int64_t kApart = 1000;  // milliseconds

  // Appends the lines that are due to `out`.
  void write(const Desk& desk, int64_t now, std::string& out);
  // When it is to be called again, though nothing happens; INT64_MAX: never.
  int64_t next() const { return waits_ ? next_ : INT64_MAX; }

 private:
  std::map<ClientId, std::string> told_;
  int64_t next_ = 0;    // not before then
  bool waits_ = false;  // something may have changed that was not told
};

}  // namespace gt::serve
