// The cells of the tables, by column: the batch output writes them in full, and
// the screen in a form for people.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gt::top {

// The columns, in the order of the batch output.
enum class Column : uint8_t {
  kId,
  kName,
  kState,
  kBusy,  // kBusy, kComm, kWait: shares of the time, 0 to 1
  kComm,
  kWait,
  kRate,  // lines (instructions) per second
  kCount,
  kSeconds,  // total
  kMean,     // seconds per instruction
  kMemory,   // bytes
  kPeak,
  kQueue,         // instructions
  kQueueBytes,    // bytes of their text
  kQueueSeconds,  // estimated seconds of work
  kInRate,        // bytes per second
  kOutRate,
  kIn,
  kOut,
  kTextBytes,    // bytes of instructions
  kResultBytes,  // bytes of results
  kUnread,       // bytes of results that wait to be read
  kShare,
  kQuota,
  kWaitSeconds,
  kWaitFor,
  kTop,  // the op that takes most of the time
  kHost,
  kAt,
  kLine,
  kCpu,       // of the process: 1 for each core
  kResident,  // bytes of the process
};
inline constexpr size_t kColumns = static_cast<size_t>(Column::kResident) + 1;

struct Cell {
  enum class Kind : uint8_t { kNone, kText, kShare, kCount, kBytes, kSeconds };
  Kind kind = Kind::kNone;
  double number = 0;
  std::string text;

  // Returns the value in full, for programs; "-" if there is none. It has no
  // tab and no newline.
  std::string plain() const;
  // Returns the value for people: "12.5%", "1.25 k", "3.4 MiB", "1.5 s"; "-" if
  // there is none.
  std::string shown() const;
};

struct Row {
  enum class Kind : uint8_t { kRoute, kWorker, kOp, kWorkerOp, kClient };
  Kind kind = Kind::kRoute;
  std::array<Cell, kColumns> cells;

  const Cell& operator[](Column column) const {
    return cells[static_cast<size_t>(column)];
  }
  Row& text(Column column, std::string_view value);
  Row& set(Column column, Cell::Kind as, double value);
};

// Returns the column's name in the header of the batch output, "queue_bytes".
std::string_view key_of(Column column);
// Returns the kind's name in the column `kind` of the batch output, "worker".
std::string_view word_of(Row::Kind kind);
// True if `a` comes before `b`. Texts are in ascending order, with numbers in
// them compared by value; numbers are in descending order.
bool is_before(const Cell& a, const Cell& b);

}  // namespace gt::top
