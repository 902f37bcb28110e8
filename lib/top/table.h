// The cells of the tables, by column: what the batch output prints in full, and
// the screen as people read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gt::top {

// In the order of the batch output.
enum class Column : uint8_t {
  kId,
  kName,
  kState,
  kBusy,  // shares of the time, 0 to 1
  kComm,
  kWait,
  kRate,  // lines, instructions, a second
  kCount,
  kSeconds,  // in all
  kMean,     // seconds an instruction
  kMemory,   // bytes
  kPeak,
  kQueue,         // instructions
  kQueueBytes,    // of their text
  kQueueSeconds,  // of work, roughly
  kInRate,        // bytes a second
  kOutRate,
  kIn,
  kOut,
  kTextBytes,    // of instructions
  kResultBytes,  // of results
  kUnread,       // bytes of results that wait to be read
  kShare,
  kQuota,
  kWaitSeconds,
  kWaitFor,
  kTop,  // the op that takes most of the time
  kHost,
  kAt,
  kLine,
};
inline constexpr size_t kColumns = static_cast<size_t>(Column::kLine) + 1;

struct Cell {
  enum class Kind : uint8_t { kNone, kText, kShare, kCount, kBytes, kSeconds };
  Kind kind = Kind::kNone;
  double number = 0;
  std::string text;

  // In full, for programs; "-" if there is none. No tab, no newline.
  std::string plain() const;
  // For people: "12.5%", "1.25 k", "3.4 MiB", "1.5 s"; "-" if there is none.
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

// As the header of the batch output has it, "queue_bytes".
std::string_view key_of(Column column);
// "worker", as the column `kind` of the batch output has it.
std::string_view word_of(Row::Kind kind);
// Whether `a` stands before `b`: texts in their order, with numbers in them by
// value; numbers with the greatest first.
bool is_before(const Cell& a, const Cell& b);

}  // namespace gt::top
