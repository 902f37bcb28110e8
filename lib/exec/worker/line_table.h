// LineTable keeps the decoded lines of a worker, so that a line that comes
// again costs only a look-up.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "exec/decode/hosting.h"
#include "exec/decode/line_entry.h"
#include "exec/queue/compute_queue.h"
#include "exec/worker/line_trace.h"
#include "program/line_cache.h"
#include "spmd/mesh.h"
#include "stream/notes.h"

namespace gt::exec {

// A line is found by its text without notes. Its entry is kept when the line
// comes for the second time (program/line_cache.h). It is valid while the
// line's names stand for values of the same types and its ranks are played by
// the same workers. A line without a valid entry is decoded again, and gets one
// more. An entry is removed when another needs its place in the table, and all
// are when there are too many types or file names (Worker::reset_tables()). A
// removed entry is deleted once the tasks that use it have run.
class LineTable {
 public:
  // All arguments must outlive the table. With `keeps` false, nothing is kept
  // or found.
  LineTable(const Registers& registers, const Meshes& meshes,
            ComputeQueue& compute, LineTrace& trace, bool keeps)
      : registers_(registers),
        meshes_(meshes),
        compute_(compute),
        trace_(trace),
        lines_(kSets, keeps) {}
  // Must be called when the worker is one of several. Some notes then change
  // what a line means, so an entry is valid only for the same notes.
  void join(const Hosting& hosting) { hosting_ = &hosting; }

  bool may_keep(std::string_view text) const { return lines_.may_keep(text); }
  // Returns the valid entry of a line that may be kept; null if there is none.
  // If the line's notes state a place, `origin` is set to it.
  LineEntry* find(const NotedText& line, uint64_t hash, Where& origin);
  // Sets a new entry's notes. `at` is the place that they state, if any.
  void set_notes(LineEntry& entry, const Line& line, std::string_view notes,
                 const Where& at);
  // Takes over an entry that has been issued: keeps it, or deletes it once it
  // has run. `hash` is that of its text if may_keep(), else 0.
  void add(std::unique_ptr<LineEntry> entry, uint64_t hash);

  // Returns the place that the note #at=model.gt:7 states, where gt-emit read
  // the line; no file if there is no such note.
  Where place_of(const Line& line);
  // True if the table holds too many file names. clear() removes them and all
  // lines; the queue must be drained then.
  bool is_full() const { return files_.size() > kMaxFiles; }
  void clear();

 private:
  static constexpr size_t kSets = size_t{1} << 14;
  static constexpr size_t kMaxFiles = 4096;

  // Changes when the meshes change, or which worker plays which rank; entries
  // of placed lines depend on both.
  uint64_t version() const {
    return meshes_.version() + (hosting_ == nullptr ? 0 : hosting_->version());
  }
  bool is_valid(const LineEntry& entry) const;
  // True if the entry will never be valid again.
  bool is_dead(const LineEntry& entry) const;
  bool take_notes(LineEntry& entry, std::string_view notes);
  void keep_notes(LineEntry& entry, std::string_view notes, const Where& at);
  static bool has_moved(LineEntry& entry, std::string_view notes);

  const Registers& registers_;
  const Meshes& meshes_;
  const Hosting* hosting_ = nullptr;
  ComputeQueue& compute_;
  LineTrace& trace_;
  LineCache<LineEntry> lines_;
  std::unordered_set<std::string> files_;
};

}  // namespace gt::exec
