// Rewrites a stream line by line so that each line runs on ranks of a mesh, and
// each rank works on its own pieces (gt-shard(1)). Lines without ranks are
// rewritten (line_rewriter.h). Comments, declarations and lines that have ranks
// already pass unchanged. With an empty config all lines do.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "shard/line_rewriter.h"
#include "shard/lines_ahead.h"
#include "stream/replay.h"

namespace gt::shard {

class Partitioner : public Rewriter {
 public:
  // `explain` is called with the text about each line (Explanation); it may be
  // empty. Partitioners may share `plans` if they have the same mesh and
  // machine and their configs name no ranks.
  Partitioner(const Config& config,
              std::function<void(const std::string&)> explain,
              PlanCache& plans);

  // Appends the lines that the input line becomes, each with LF. `place` is the
  // line's, such as "model.s:3", for explanations. Error: the line is wrong.
  // Then it becomes a failure (failed_lines.h), or nothing if it does not
  // parse, and later lines can still be taken. A line with ranks passes even if
  // it is wrong.
  // `ahead` reads the lines behind it, and may be empty.
  Status take(std::string_view text, std::string& out, std::string place = "",
              LinesAhead::Read ahead = {});

  // To be called at the end of the stream. Appends the waiting lines that must
  // be written (LineRewriter::finish).
  void finish(std::string& out);

  // Returns true if a line without ranks was rewritten, so that the config was
  // used.
  bool has_rewritten() const { return lines_.has_rewritten(); }
  // Returns true if a line with ranks has passed.
  bool has_passed_ranks() const { return has_passed_ranks_; }
  // Returns the type of the whole tensor that a name holds, or null: it holds
  // none, or a failure.
  const Type* type_of(std::string_view name) const {
    const ShardValuePtr value = lines_.values().find(name);
    return value == nullptr || value->is_failed ? nullptr : &value->type;
  }
  const CutsInUse& cuts_in_use() const { return chooser_.cuts_in_use(); }
  size_t state_size() const override { return lines_.values().size(); }
  void state(std::string& text, const PlaceVisitor& visit) override;
  bool has_looked_ahead() const override { return seen_ahead_ > 0; }
  // Returns the number of errors and explanations so far. A round that has some
  // is not replayed.
  size_t messages() const override { return messages_; }
  // Returns the costs of all lines so far, including replayed ones.
  ShardCosts costs() const { return lines_.writer().costs(); }
  std::string traffic_text() const {
    return shard::traffic_text(costs(), cluster_);
  }
  // The seconds and the peak of costs(), without its traffic.
  double seconds() const { return lines_.writer().seconds(); }
  double peak_bytes() const { return lines_.writer().peak_bytes(); }
  void begin_round() override { round_ = costs(); }
  void end_round() override { round_ = costs().since(round_); }
  // Adds the costs of rounds that were replayed. Each costs as much as the
  // round that was recorded.
  void repeat_costs(double rounds) { lines_.writer().repeat(round_, rounds); }

 private:
  Status rewrite(Line& line, std::string_view text, LineContext at);
  Status pass(const Line& line, std::string_view text, LineContext at);

  const Config& config_;
  Cluster cluster_;
  PlanCache& plans_;
  LayoutChooser chooser_;
  Explanation explanation_;
  LineRewriter lines_;
  std::string space_;  // the name space of the last line, which finish() uses
  ShardCosts round_;   // of the recorded round; within it, costs before
  size_t messages_ = 0;
  // How many lines behind the last one were looked at for what was written.
  size_t seen_ahead_ = 0;
  bool has_passed_ranks_ = false;
};

}  // namespace gt::shard
