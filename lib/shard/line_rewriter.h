// Rewrites one instruction after another: in what layouts a line is taken, and
// what is written for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

  // Writes what the line becomes. `text` is it as it came, for people ("": it
  // stands for another); its claims are taken off. Error: it became a failure;
  // the rest goes on.
  Status take(const Line& line, std::string_view text, const Claims& claims,
              const LineContext& at);
  // A name of the input that looks like one of ours is the input's.
  void respect(const Line& line);
  // A line with ranks is about to save files that only its ranks tell: loads
  // wait no more.
  void create_loads(LineContext& at);
  // At the end of the stream: lines that nobody read and that may fail.
  void finish(LineContext& at);

  PlacedWriter& writer() { return writer_; }
  const PlacedWriter& writer() const { return writer_; }
  const ValueTable& values() const { return values_; }
  bool has_rewritten() const { return has_rewritten_; }
  // All that later lines depend on.
  void describe(std::string& out) const;

 private:
  // For a trial: with copies of the values that the line has.
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
  void leave(const std::string& name, uint32_t set);

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
  bool has_rewritten_ = false;
};

}  // namespace gt::shard
