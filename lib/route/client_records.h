// ClientRecords: what gt-emit -l reports of its clients in the stream
// (client_record_of(), stream/marks.h): the last record of each, for those who
// watch the run.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace gt::route {

class ClientRecords {
 public:
  // Takes a record; one that is malformed, or of a client beyond kMost, is
  // dropped. A client that is gone is forgotten.
  void take(std::string_view record);
  // Appends all records, one to a line, ordered by name.
  void append(std::string& to) const;

 private:
  static constexpr size_t kMost = 4096;

  std::map<std::string, std::string> records_;
};

}  // namespace gt::route
