// ClientMarks: the lines by which gt-emit -l reports in its stream how its
// clients are, for those who watch the run: "#client name=c7 user=ann ..."
// (client_record_of(), stream/marks.h; gt-stream(5) lists the fields). A line
// is written when the state of a client has changed, at most once in kApart,
// and a last one when the client is gone. It uses no clock: time is passed in,
// in milliseconds.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "serve/multiplexer.h"

namespace gt::serve {

class ClientMarks {
 public:
  static constexpr int64_t kApart = 1000;  // milliseconds

  // Appends the lines that are due to `out`.
  void write(const Multiplexer& multiplexer, int64_t now, std::string& out);
  // Returns when write() must be called again although nothing happens;
  // INT64_MAX: never.
  int64_t next() const { return waits_ ? next_ : INT64_MAX; }

 private:
  // The last line of each client.
  std::map<ClientId, std::string> told_;
  int64_t next_ = 0;    // no line is written before this time
  bool waits_ = false;  // something may have changed that was not reported
};

}  // namespace gt::serve
