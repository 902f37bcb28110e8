#include "route/client_records.h"

#include "net/record.h"

namespace gt::route {

void ClientRecords::take(std::string_view text) {
  const auto record = net::parse_record(text);
  if (!record.ok()) return;
  const std::string name = record.value().text("name");
  if (name.empty()) return;
  if (record.value().text("state") == "gone") {
    records_.erase(name);
  } else if (records_.size() < kMost || records_.contains(name)) {
    records_[name] = text;
  }
}

void ClientRecords::append(std::string& to) const {
  for (const auto& [name, record] : records_) to.append(record).append("\n");
}

}  // namespace gt::route
