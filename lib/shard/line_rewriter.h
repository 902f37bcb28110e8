// Rewrites one instruction without ranks after another, and knows all names
// that hold something. Of each line it finds out what its operands hold, and
// then either lets it wait for its first use (waiting.h), or has its layouts
// chosen (layout_chooser.h) and writes it: its operands are fetched in these
// layouts (materializer.h), the line follows, as planned or as its op's
// expansion, and then what its results still need (epilogue.h).
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
#include "shard/values.h"
#include "shard/waiting.h"

namespace gt::shard {

class LineRewriter {
 public:
  LineRewriter(const Config& config, Cluster& cluster, LayoutChooser& chooser,
               Explanation& explanation);
  LineRewriter(const LineRewriter&) = delete;  // its parts refer to each other

  // Writes what the line becomes. `text` is the line as it came, for people, ""
  // of a step of an expansion. `claims`: what was taken off its notes
  // (claims.h). Error: what is wrong with it; it became a failure
  // (failed_lines.h), and the rest goes on.
  Status take(const Line& line, std::string_view text, const Claims& claims,
              const LineContext& at);
  // To be called before each line of the input. Where it binds a name that
  // looks like one that gt-shard invents ("_s0"), the name is the input's from
  // here on, and a register of ours that has it is moved to another name.
  void respect(const Line& line);
  // A line with ranks is about to save, each rank to a file of its own, so that
  // all loads that wait are written first.
  void create_loads(LineContext& at);
  // The client is to hear that all lines so far of the name space at.space are
  // done, and may remove the files of loads with the note #once, which are
  // written first.
  void create_loads_once(LineContext& at);
  // At the end of the stream: writes the lines that still wait and may fail
  // when they are run, so that the failure is seen. The others have no use.
  void finish(LineContext& at);

  PlacedWriter& writer() { return writer_; }
  const PlacedWriter& writer() const { return writer_; }
  const ValueTable& values() const { return values_; }
  // Whether there was a line to rewrite.
  bool has_rewritten() const { return has_rewritten_; }
  // Appends all that later lines depend on, as text (Rewriter::state).
  void describe(std::string& out) const;

 private:
  // For a trial of the line, of which nothing is kept: with copies of the
  // values that it reads and binds.
  LineRewriter(const LineRewriter& tried, const Line& line,
               Explanation& silence);

  Status find_values(LineWork& work) const;
  Status bind(LineWork& work) const;
  void wait(const LineWork& work);
  void run(LineWork& work);

  // ---- as planned
  void share(LineWork& work);
  void reshape_instead(LineWork& work);
  std::vector<std::string> fetch_operands(LineWork& work);
  void write_planned(LineWork& work);
  void bind_results(LineWork& work, const std::vector<Type>& types,
                    bool is_source);
  ShardValuePtr bind_result(const std::string& name, const Type& type,
                            const Layout& layout, LineContext& at);
  void leave(const std::string& name, uint32_t set);

  // ---- in chunks (chunks.h)
  std::optional<Chunking> chunking_of(const LineWork& work) const;
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
  void take_text(const std::string& text, const LineContext& at);

  // ---- as the op's expansion
  bool is_better_expanded(const LineWork& work);
  double bytes_expanded(const LineWork& work) const;
  void expand(const LineWork& work);
  void drop_temporary(const std::string& name, LineContext& at);
  void free_invented(const std::string& name);
  void rename(const std::string& from, const std::string& to, LineContext& at);

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
  GatheredCuts gathered_;
  bool has_rewritten_ = false;
};

}  // namespace gt::shard
