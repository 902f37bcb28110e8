#include "net/used.h"

#include <algorithm>
#include <utility>

namespace gt::net {
namespace {

struct UsedField {
  std::string_view key;
  uint64_t Used::*number;
};
constexpr UsedField kFields[] = {{"time", &Used::time},
                                 {"busy", &Used::busy},
                                 {"waited", &Used::waited},
                                 {"lines", &Used::lines},
                                 {"memory", &Used::memory},
                                 {"peak", &Used::peak},
                                 {"in", &Used::in},
                                 {"out", &Used::out},
                                 {"exchanges", &Used::exchanges},
                                 {"exchanging", &Used::exchanging}};
// Those that a worker of an older version does not tell; they are 0 then.
constexpr UsedField kLaterFields[] = {{"cpu", &Used::cpu},
                                      {"resident", &Used::resident}};

}  // namespace

Status take_used(const Record& record, Used& used) {
  if (record.kind == "use") {
    for (const UsedField& field : kFields) {
      const auto value = record.need(field.key);
      if (!value.ok()) return value.error();
      used.*field.number = value.value();
    }
    for (const UsedField& field : kLaterFields) {
      used.*field.number = record.number(field.key);
    }
  } else if (record.kind == "op") {
    const auto count = record.need("count");
    const auto ns = record.need("ns");
    if (!count.ok()) return count.error();
    if (!ns.ok()) return ns.error();
    used.ops.push_back({record.text("name"), count.value(), ns.value()});
  }
  return ok_status();
}

void append_use(std::string& body, const Used& used,
                std::optional<uint32_t> worker) {
  RecordWriter record(body, "use");
  if (worker) record.field("worker", uint64_t{*worker});
  for (const UsedField& field : kFields) {
    record.field(field.key, used.*field.number);
  }
  for (const UsedField& field : kLaterFields) {
    record.field(field.key, used.*field.number);
  }
}

void append_op(std::string& body, const OpUsed& op,
               std::optional<uint32_t> worker) {
  RecordWriter record(body, "op");
  if (worker) record.field("worker", uint64_t{*worker});
  record.field("name", op.op).field("count", op.count).field("ns", op.ns);
}

void append_used(std::string& body, const Used& used) {
  append_use(body, used);
  for (const OpUsed& op : used.ops) append_op(body, op);
}

Result<Used> parse_used(std::string_view body) {
  if (body.size() > kMaxUsed) {
    return Error{"state: " + std::to_string(body.size()) + " bytes; " +
                 std::to_string(kMaxUsed) + " are the most"};
  }
  Used used;
  while (!body.empty()) {
    const std::string_view line = body.substr(0, body.find('\n'));
    const auto record = parse_record(line);
    if (!record.ok()) return Error{"state: " + record.error().message};
    if (Status s = take_used(record.value(), used); !s.ok()) {
      return Error{"state: " + s.error().message};
    }
    body.remove_prefix(std::min(line.size() + 1, body.size()));
  }
  return used;
}

}  // namespace gt::net
