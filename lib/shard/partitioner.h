// Rewrites a stream line by line so that each line runs on ranks of a mesh,
// each rank on its own pieces (gt-shard(1)). It sorts the lines: those without
// ranks are rewritten (line_rewriter.h); comments, declarations, lines that
// have ranks already, and everything under an empty config, pass as they came.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "shard/line_rewriter.h"
#include "stream/replay.h"

namespace gt::shard {

class Partitioner : public Rewriter {
 public:
  // `explain` gets text for each choice, its place first; may be empty.
  // Partitioners of one mesh and machine, whose configs name no ranks, may
  // share plans.
  Partitioner(const Config& config,
              std::function<void(const std::string&)> explain,
              PlanCache& plans);

  // Where the next line stands, "model.s:3", for explanations.
  void at(std::string place) { at_.place = std::move(place); }

  // Appends what the line becomes, each line with LF. Error: what is wrong with
  // it. Then it became a failure (failed_lines.h), or, if it does not parse,
  // nothing; the rest goes on. A line with ranks that is wrong passes all the
  // same.
  Status take(std::string_view text, std::string& out);

  // At the end of the stream: appends lines that still wait and have to be
  // written (LineRewriter::finish).
  void finish(std::string& out);

  // Whether lines without ranks came by, so that the config was put to use.
  bool has_rewritten() const { return lines_.has_rewritten(); }
  // Whether lines with ranks came by.
  bool has_passed_ranks() const { return has_passed_ranks_; }
  const CutsInUse& cuts_in_use() const { return chooser_.cuts_in_use(); }
  size_t state_size() const override { return lines_.values().size(); }
  void state(std::string& text, const PlaceVisitor& visit) override;
  // Errors and explanations so far: a round that has some is not replayed.
  size_t messages() const override { return messages_; }
  // Of all lines so far, replayed ones included.
  ShardCosts costs() const { return lines_.writer().costs(); }
  void begin_round() override { round_ = costs(); }
  void end_round() override { round_ = costs().since(round_); }
  // So many rounds were replayed, each of which costs as much as the recorded
  // one.
  void repeat_costs(double rounds) { lines_.writer().repeat(round_, rounds); }

 private:
  Status rewrite(Line& line, std::string_view text);
  Status pass(const Line& line, std::string_view text);

  const Config& config_;
  Cluster cluster_;
  PlanCache& plans_;
  LayoutChooser chooser_;
  Explanation explanation_;
  LineRewriter lines_;
  LineContext at_;    // of the line
  ShardCosts round_;  // of one that is replayed; until then, before it
  size_t messages_ = 0;
  bool has_passed_ranks_ = false;
};

}  // namespace gt::shard
