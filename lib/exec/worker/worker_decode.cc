// The slow path: a line that was not seen before, or whose types changed.
#include <cstring>

#include "base/hash.h"
#include "base/text.h"
#include "exec/queue/jobs.h"
#include "exec/worker/worker.h"
#include "ops/table.h"

namespace gt {
namespace {

constexpr size_t kLongLine = size_t{1} << 20;

// "1.5 GiB", exact for what is small.
std::string size_text(size_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit < 5; ++unit) value /= 1024;
  char digits[32];
  const int n = std::snprintf(
      digits, sizeof digits, "%.*f",
      value == static_cast<double>(static_cast<uint64_t>(value)) ? 0 : 1,
      value);
  return std::string(digits, static_cast<size_t>(n)) + " " + kUnits[unit];
}

}  // namespace

void Worker::decode(std::string_view whole, const Split& parts, uint64_t hash,
                    Where origin) {
  decode_line(whole, parts, hash, origin);
  // What a literal of millions of numbers took is not kept.
  if (whole.size() < kLongLine) return;
  line_ = Line{};
  decoder_.forget_line();
}

void Worker::decode_line(std::string_view whole, const Split& parts,
                         uint64_t hash, Where origin) {
  ++stats_.decoded;
  if (types_.size() > kMaxTypes || at_files_.size() > kMaxFiles) {
    reset_tables();
  }
  registers_.begin_line();
  const Status parsed = parse_line(whole, line_);
  if (!parsed.ok()) {
    return reject_line(line_, parsed.error(), whole, origin);
  }
  const Where at = origin_at(line_);
  if (at.file != nullptr) origin = at;
  if (is_declaration(statement_of(line_.op))) {
    return declare(line_, whole, origin);
  }
  Decoding decoding =
      is_placed(line_)
          ? placed_decoder_.decode(line_, parts.text, meshes_.of(line_))
      : is_transfer(line_) ? placed_decoder_.decode_transfer(line_, parts.text)
                           : decoder_.decode(line_, parts.text);
  if (decoding.entry != nullptr) {
    take_notes(*decoding.entry, parts.notes, at);
    decoding.entry->mesh_version = placement_version();
    if (attached_ != nullptr) {
      decoding.entry->exchange_notes = exchange_notes(line_);
    }
    for (const auto& part : decoding.entry->parts) part->notes = parts.notes;
    act(*decoding.entry, origin);
    return keep(std::move(decoding.entry), hash);
  }
  if (decoding.poison == nullptr) {
    return reject_line(line_, decoding.error, whole, origin);
  }
  for (const Name& name : line_.results) {
    registers_.fail(registers_.obtain(name.text), decoding.poison);
  }
  if (statement_of(line_.op) == Statement::kPrint) {
    enqueue_job(print_failure_job(print_label(line_), *decoding.poison),
                kJobCost);
  }
}

// A value that goes to another worker; on a worker of its own a copy.
bool Worker::is_transfer(const Line& line) const {
  return attached_ != nullptr && line.note("from") != nullptr &&
         collective_of(line.op) == Collective::kCopy;
}

void Worker::declare(const Line& line, std::string_view text,
                     const Where& origin) {
  const Status s = meshes_.take(line);
  if (!s.ok()) reject_line(line, s.error(), text, origin);
}

// A line is kept when it comes for the second time, so that lines that never
// come again neither fill the table nor push others out.
void Worker::keep(std::unique_ptr<LineEntry> entry, uint64_t hash) {
  const bool wanted = caches_ && entry->is_lasting &&
                      entry->text.size() <= kMaxCachedLine &&
                      seen_.before(hash);
  static_assert(kMaxCachedLine < LineEntry::kMaxText);
  if (!wanted) return dispose(std::move(entry));
  auto old = lines_.insert(hash, std::move(entry));
  if (old != nullptr) dispose(std::move(old));
}

// Tasks on the queue still refer to the entry's text and recipe.
void Worker::dispose(std::unique_ptr<LineEntry> entry) {
  enqueue_job(dispose_job(std::move(entry)), 0);
}

// Notes other than those the entry was last seen with: are they well-formed?
bool Worker::check_notes(LineEntry& entry, std::string_view notes) {
  if (has_moved(entry, notes)) return true;
  text_ = "x ";
  text_ += notes;
  if (!parse_line(text_, line_).ok() || at_files_.size() > kMaxFiles ||
      (attached_ != nullptr && exchange_notes(line_) != entry.exchange_notes)) {
    return false;
  }
  take_notes(entry, notes, origin_at(line_));
  return true;
}

void Worker::take_notes(LineEntry& entry, std::string_view notes, Where at) {
  entry.notes = notes;
  entry.at = at;
  entry.at_digits = 0;
  if (entry.traced != nullptr) {  // it names the signal
    dispose_text(std::move(entry.traced));
  }
  const size_t colon = notes.rfind(':');
  if (at.file == nullptr || at.line == 0 || colon == std::string_view::npos) {
    return;
  }
  const size_t word = notes.find_last_of(" \t", colon) + 1;
  if (notes.substr(word).starts_with("#at=") &&
      notes.find_first_not_of("0123456789", colon + 1) ==
          std::string_view::npos) {
    entry.at_digits = colon + 1;
  }
}

// The same notes but for the line's number at their end: a program that
// repeats an instruction, as gt-emit writes it.
bool Worker::has_moved(LineEntry& entry, std::string_view notes) {
  const size_t begin = entry.at_digits;
  if (begin == 0 || notes.size() <= begin ||
      notes.substr(0, begin) !=
          std::string_view(entry.notes).substr(0, begin)) {
    return false;
  }
  uint64_t number = 0;
  if (!read_number(notes.substr(begin), number)) return false;
  entry.at.line = number;
  entry.notes = notes;
  return true;
}

// #at=model.gt:7, where gt-emit read the line.
Where Worker::origin_at(const Line& line) {
  const std::string_view* note = line.note("at");
  if (note == nullptr) return {};
  NotedPlace place = parse_place(*note);
  return {&*at_files_.insert(std::move(place.file)).first, place.line};
}

// Tables that only grow start afresh; the program does not notice.
void Worker::reset_tables() {
  reap_all();
  queue_.drain();
  lines_.clear();
  recipes_.clear();
  if (attached_ != nullptr) attached_->programs.clear();
  at_files_.clear();
  registers_.renumber_types(types_);
}

void Worker::reject_line(const Line& line, const Error& error,
                         std::string_view text, const Where& origin) {
  enqueue_job(report_job(origin, error, std::string(text), Exit::kRejected),
              kJobCost);
  const auto fault = std::make_shared<const std::string>(
      to_string(origin.place()) + ": " + error.message);
  for (const std::string& name : bound_names(line, own_ranks(line))) {
    registers_.fail(registers_.obtain(name), fault);
  }
  if (statement_of(line.op) != Statement::kPrint) return;
  for (const std::string& label : print_labels(line, own_ranks(line))) {
    enqueue_job(print_failure_job(label, *fault), kJobCost);
  }
}

void Worker::take_comment(std::string_view text, const std::string* file,
                          uint64_t number) {
  if (attached_ != nullptr) take_control(text, {file, number});
  if (marks_.take(text) != Marks::Mark::kBadVersion) return;
  reject(text, "a stream of this version cannot be read; gt 1 is known", file,
         number);
}

void Worker::reject(std::string_view beginning, std::string message,
                    const std::string* file, uint64_t number) {
  line_ = Line{};
  reject_line(line_, {std::move(message), 0}, beginning, {file, number});
}

void Worker::out_of_memory(const LineEntry& entry, const Where& origin,
                           const Block& block) {
  for (Buffer* buffer : blocks_) pool_.drop(buffer);
  blocks_.clear();
  fail_results(entry,
               no_memory(entry.recipe->op->name, types_[block.type].type,
                         class_bytes(block.size_class), entry.text, origin));
}

// Says so; what depends on it gets the fault.
Fault Worker::no_memory(const std::string& op, const Type& type, size_t bytes,
                        const std::string& text, const Where& origin) {
  std::string message = op + ": out of memory: " + to_string(type) + " needs " +
                        size_text(bytes) + ", " + size_text(pool_.used());
  message += pool_.limit() == 0 ? " in use"
                                : " of " + size_text(pool_.limit()) + " in use";
  const Error error{std::move(message), 0};
  enqueue_job(report_job(origin, error, text, Exit::kFailed), kJobCost);
  return std::make_shared<const std::string>(to_string(origin.place()) + ": " +
                                             error.message);
}

void Worker::fail_results(const LineEntry& entry, const Fault& fault) {
  for (const LineResult& result : entry.results) {
    registers_.fail(result.id, fault);
  }
}

}  // namespace gt
