#include "top/table_form.h"

#include <algorithm>

#include "base/printable.h"

namespace gt::top {

const std::vector<TableForm>& table_forms() {
  static const std::vector<TableForm> all = {
      {Row::Kind::kWorker,
       {{Column::kId, "WORKER", 7, 0},
        {Column::kName, "NAME", 10, 7, true},
        {Column::kState, "STATE", 6, 1, true},
        {Column::kBusy, "BUSY", 11, 0, false, Field::Look::kBar},
        {Column::kComm, "COMM", 5, 3},
        {Column::kWait, "WAIT", 5, 3},
        {Column::kRate, "LINES/S", 8, 1},
        {Column::kQueue, "QUEUE", 6, 1},
        {Column::kCpu, "CPU", 5, 4},
        {Column::kQueueSeconds, "WORK", 8, 6},
        {Column::kMemory, "MEMORY", 8, 2},
        {Column::kPeak, "PEAK", 8, 7},
        {Column::kResident, "RES", 8, 4},
        {Column::kBusy, "HISTORY", 8, 6, true, Field::Look::kHistory},
        {Column::kInRate, "IN/S", 8, 5},
        {Column::kOutRate, "OUT/S", 8, 5},
        {Column::kResultBytes, "RESULTS", 8, 8},
        {Column::kTop, "MOSTLY", 12, 6, true},
        {Column::kHost, "HOST", 10, 9, true},
        {Column::kAt, "AT", 12, 8, true},
        {Column::kLine, "LINE", 8, 2, true}}},
      {Row::Kind::kOp,
       {{Column::kName, "OP", 16, 0, true},
        {Column::kBusy, "BUSY", 6, 0},
        {Column::kRate, "COUNT/S", 8, 1},
        {Column::kMean, "MEAN", 8, 1},
        {Column::kCount, "COUNT", 8, 2},
        {Column::kSeconds, "TIME", 8, 2}}},
      {Row::Kind::kClient,
       {{Column::kId, "CLIENT", 7, 0, true},
        {Column::kName, "USER", 10, 2, true},
        {Column::kState, "STATE", 8, 3, true},
        {Column::kBusy, "GETS", 6, 1},
        {Column::kShare, "SHARE", 6, 4},
        {Column::kRate, "LINES/S", 8, 1},
        {Column::kCount, "LINES", 8, 5},
        {Column::kQueue, "BLOCKS", 7, 2},
        {Column::kQueueSeconds, "WORK", 8, 4},
        {Column::kMemory, "MEMORY", 8, 1},
        {Column::kQuota, "QUOTA", 8, 4},
        {Column::kResultBytes, "OWED", 8, 2},
        {Column::kUnread, "UNREAD", 8, 5}}}};
  return all;
}

std::string cut(std::string_view text, size_t columns) {
  std::string out = printable(text);
  if (columns_of(out) <= columns) return out;
  const bool has_dots = columns > 6;
  size_t left = has_dots ? columns - 3 : columns;
  size_t end = 0;
  while (end < out.size()) {
    const bool begins = (static_cast<unsigned char>(out[end]) & 0xC0) != 0x80;
    if (begins && left-- == 0) break;
    ++end;
  }
  out.resize(end);
  return has_dots ? out + "..." : out;
}

std::vector<std::string> wrap(const std::vector<std::string>& parts,
                              std::string_view between, size_t columns,
                              size_t most) {
  std::vector<std::string> out;
  for (const std::string& part : parts) {
    const std::string text = printable(part);
    if (!out.empty()) {
      std::string& last = out.back();
      const size_t taken = columns_of(last) + between.size() + columns_of(text);
      if (taken <= columns || out.size() == most) {
        last.append(between).append(text);
        continue;
      }
    }
    out.push_back((out.empty() ? "" : "  ") + text);
  }
  for (std::string& line : out) line = cut(line, columns);
  return out;
}

std::string padded(std::string_view text, size_t width, bool is_left) {
  std::string out = cut(text, width);
  const size_t taken = columns_of(out);
  if (taken >= width) return out;
  const std::string blanks(width - taken, ' ');
  return is_left ? out + blanks : blanks + out;
}

std::vector<PlacedField> fit(const TableForm& form, size_t columns) {
  std::vector<const Field*> order;
  for (const Field& field : form.fields) order.push_back(&field);
  std::ranges::stable_sort(order, {}, &Field::rank);
  std::vector<const Field*> chosen;
  size_t taken = 0;
  for (const Field* field : order) {
    const size_t more = field->width + (chosen.empty() ? 0 : 1);
    if (taken + more > columns) continue;
    taken += more;
    chosen.push_back(field);
  }
  std::vector<PlacedField> out;
  for (const Field& field : form.fields) {
    if (std::ranges::find(chosen, &field) == chosen.end()) continue;
    out.push_back({&field, field.width});
  }
  if (!out.empty() && out.back().field->is_left) {
    out.back().width += columns - taken;
  }
  return out;
}

}  // namespace gt::top
