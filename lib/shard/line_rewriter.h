// Rewrites the lines without ranks, one after the other, and keeps track of all
// names that hold a value. For each line it looks up the values of the
// operands. Then either the line waits for the first use of its result
// (waiting.h), or its layouts are chosen (layout_chooser.h) and it is written
// in three parts: first come the lines that bring the operands into these
// layouts (materializer.h), then the line itself, which may be written as its
// op's expansion or in chunks, and then what its results still need
// (epilogue.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shard/chunks.h"
#include "shard/epilogue.h"
#include "shard/explanation.h"
#include "shard/failed_lines.h"
#include "shard/layout_chooser.h"
#include "shard/materializer.h"
#include "shard/outputs.h"
#include "shard/placed_writer.h"
#include "shard/precision.h"
#include "shard/ring.h"
#include "shard/sum_rests.h"
#include "shard/values.h"
#include "shard/waiting.h"

namespace gt::shard {

class LineTrial;

class LineRewriter {
 public:
  LineRewriter(const Config& config, Cluster& cluster, LayoutChooser& chooser,
               Explanation& explanation);
  LineRewriter(const LineRewriter&) = delete;  // its parts refer to each other

  // Rewrites a line. `text` is the line as it was read, for explanations; it is
  // "" for a line that was made here, such as a step of an expansion. `claims`
  // are those that were taken off its notes (claims.h). Error: the line is
  // wrong. Then its results are failures (failed_lines.h), and later lines can
  // still be taken.
  Status take(const Line& line, std::string_view text, const Claims& claims,
              const LineContext& at);
  // To be called before each line of the input. If the line binds a name that
  // looks like one that gt-shard invents ("_s0"), the name belongs to the input
  // from then on, and a register of ours with that number gets another name.
  void respect(const Line& line);
  // To be called for each name that a line with ranks binds. Returns false if
  // the name holds a value that was given ranks here. A failure has no ranks,
  // so the line replaces it, and it is forgotten.
  bool give_away(std::string_view name) { return failed_.forget(name); }
  // Writes all loads that still wait. To be called before a save with ranks:
  // each rank saves to a file of its own, so any load may read one of them.
  void create_loads(LineContext& at);
  // Writes the loads with the note #once in the name space at.space that still
  // wait. To be called before a #sync: when the client hears that the lines
  // before it are done, it may remove the files.
  void create_loads_once(LineContext& at);
  // To be called at the end of the stream. Writes the waiting lines that may
  // fail when they are run, so that this is seen, and drops the others.
  void finish(LineContext& at);

  PlacedWriter& writer() { return writer_; }
  const PlacedWriter& writer() const { return writer_; }
  const ValueTable& values() const { return values_; }
  // Returns true if a line was rewritten that was not wrong.
  bool has_rewritten() const { return has_rewritten_; }
  // Appends, as text, everything that the rewriting of later lines depends on
  // (Rewriter::state).
  void describe(std::string& out) const;

 private:
  friend class LineTrial;
  // Makes a rewriter on which lines can be tried without lasting effect. It has
  // copies of the values of these names.
  LineRewriter(const LineRewriter& tried, const std::vector<std::string>& names,
               Explanation& silence);

  Status find_values(LineWork& work) const;
  Status bind(LineWork& work) const;
  void wait(const LineWork& work);
  void run(LineWork& work);
  void cut_whole_weight(LineWork& work);
  void carry_out(LineWork& work);

  // ---- as planned
  void share(LineWork& work);
  void reshape_instead(LineWork& work);
  std::vector<std::string> fetch_operands(LineWork& work, size_t first);
  void write_planned(LineWork& work);
  std::optional<Ring> ring_of(LineWork& work);
  void write_in_ring(LineWork& work, Ring& ring);
  void bind_results(LineWork& work, const std::vector<Type>& types,
                    bool is_source);
  ShardValuePtr bind_result(const std::string& name, const Type& type,
                            const Layout& layout, LineContext& at);
  void leave(const std::string& name, uint32_t set);

  // ---- in chunks (chunks.h)
  void note_gathered(const LineWork& work);
  std::optional<Chunking> chunking_of(LineWork& work);
  void write_in_chunks(LineWork& work, const Chunking& chunking);
  std::vector<std::string> take_apart(const LineWork& work,
                                      const Chunking& chunking,
                                      LineContext& at);
  void gather(const LineWork& work, const Chunking& chunking,
              const std::vector<std::string>& chunks, const LineContext& at);
  std::string multiply(const LineWork& work, const Chunking& chunking,
                       const std::string& chunk, const LineContext& at);
  void join(const LineWork& work, const Chunking& chunking,
            const std::vector<std::string>& products, LineContext& at);
  void write_local(const std::string& text, const Layout& from,
                   const Layout& made, const LineContext& at);

  // ---- as the op's expansion
  bool is_better_expanded(const LineWork& work);
  double bytes_expanded(const LineWork& work) const;
  void expand(const LineWork& work);
  void drop_temporaries(const std::vector<std::string>& names, LineContext& at);
  // Gives the value of an invented name another name.
  void rename(const std::string& from, const std::string& to, bool detaches,
              LineContext& at);

  const Config& config_;
  Cluster& cluster_;
  LayoutChooser& chooser_;
  Explanation& explanation_;
  ValueTable values_;
  PlacedWriter writer_;
  Materializer materializer_;
  WaitingLines waiting_;
  Epilogue epilogue_;
  FailedLines failed_;
  Outputs outputs_;
  LayoutsByShape gathered_;  // operands of products, before that
  MixedPrecision precision_;
  SumRests rests_;
  bool has_rewritten_ = false;
  bool is_trial_ = false;
  double planned_seconds_ = 0;  // of all lines that were written as planned
  LineTrial* trial_ = nullptr;  // follows the lines; null: none does
};

}  // namespace gt::shard
