// The lines that a worker has decoded, so that a line which comes again costs a
// look-up.
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
// comes for the second time (program/line_cache.h), and holds while its names
// stand for values of the same types, and its ranks are played by the same
// workers. When it does not hold the line is decoded anew, and the new entry
// takes its place. It goes, too, when other lines need its place in the table,
// and with all others when types or names of files are too many
// (Worker::reset_tables()). What goes is deleted once the tasks that use it
// have run.
class LineTable {
 public:
  // All outlive the table. `keeps`: false to find nothing.
  LineTable(const Registers& registers, const Meshes& meshes,
            ComputeQueue& compute, LineTrace& trace, bool keeps)
      : registers_(registers),
        meshes_(meshes),
        compute_(compute),
        trace_(trace),
        lines_(kSets, keeps) {}
  // To be called when the worker is one of several: then some notes say what a
  // line means, and an entry holds for the same ones alone.
  void join(const Hosting& hosting) { hosting_ = &hosting; }

  bool may_keep(std::string_view text) const { return lines_.may_keep(text); }
  // The entry of a line that may be kept; null if there is none that holds.
  // `origin` becomes the place that the line's notes say, if they say one.
  LineEntry* find(const NotedText& line, uint64_t hash, Where& origin);
  // Gives a new entry the notes of its line, which stands at `at`.
  void set_notes(LineEntry& entry, const Line& line, std::string_view notes,
                 const Where& at);
  // Takes over an entry that has been issued: it is kept, or deleted once it
  // has run. `hash` is that of its text, if that may be kept.
  void add(std::unique_ptr<LineEntry> entry, uint64_t hash);

  // #at=model.gt:7, where gt-emit read the line; no file if there is no note.
  Where place_of(const Line& line);
  // The names of files grow; clear() forgets them and all lines, when the queue
  // is drained.
  bool is_full() const { return files_.size() > kMaxFiles; }
  void clear();

 private:
  static constexpr size_t kSets = size_t{1} << 14;
  static constexpr size_t kMaxFiles = 4096;

  // Changes with the meshes, and with who plays which rank: what placed lines
  // are decoded for.
  uint64_t version() const {
    return meshes_.version() + (hosting_ == nullptr ? 0 : hosting_->version());
  }
  bool is_valid(const LineEntry& entry) const;
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
