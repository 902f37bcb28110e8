// Rewrites the lines of a stream so that each runs on the ranks of a mesh, each
// rank on its own pieces: gt-shard(1).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/call.h"
#include "shard/claims.h"
#include "shard/config.h"
#include "shard/plan_cache.h"
#include "shard/register_bytes.h"
#include "shard/values.h"
#include "spmd/redistribution.h"
#include "stream/line.h"
#include "stream/replay.h"

namespace gt {

// What the lines are expected to cost, for the summary.
struct ShardCosts {
  struct Traffic {
    uint64_t lines = 0;
    double bytes = 0;  // that each rank sends
  };
  std::map<std::string, Traffic, std::less<>> traffic;  // by op
  double seconds = 0;
  double peak_bytes = 0;  // that a rank holds at a time, the largest
};

class Partitioner : public Rewriter {
 public:
  // `explain` gets text for each choice, its place first; may be empty.
  // Partitioners of one mesh and machine, whose configs name no ranks, may
  // share plans.
  Partitioner(const Config& config,
              std::function<void(const std::string&)> explain,
              PlanCache* shared = nullptr);

  // Where the next line stands, "model.s:3", for explanations.
  void at(std::string place) { place_ = std::move(place); }

  // Appends what the line becomes, with LF. Error: it became a failure; the
  // rest goes on.
  Status take(std::string_view text, std::string& out);

  // At the end of the stream: what it still owes, with LF.
  void finish(std::string& out);

  // Lines without ranks came by.
  bool has_rewritten() const { return has_rewritten_; }
  const CutsInUse& cuts_in_use() const { return cuts_in_use_; }
  size_t state_size() const override { return names_.size(); }
  void state(std::string& text, const PlaceVisitor& visit) override;
  // What it explains is not replayed.
  size_t messages() const override { return messages_; }
  const ShardCosts& costs() const { return costs_; }
  void begin_round() override { round_ = costs_; }
  void end_round() override;
  // So many rounds were replayed, which cost as much as the recorded one.
  void repeat_costs(double rounds);

 private:
  // A line that is being rewritten.
  struct Work {
    const Line& line;
    std::string_view text;
    Call call;
    Scope scope;
    std::optional<CutSetting> wish;  // of its own notes, after the config's
    bool is_backward = false;
    bool is_named = false;  // its shard: is of the tensor's name
    uint32_t set = 0;
    std::vector<ShardValuePtr> values;  // by operand of the line
    std::optional<Layout> pin;          // of the result,
    size_t pin_line = 0;                // in this line of the config
    PlanCache::Entry* planned = nullptr;
    const Plan& plan() const { return planned->plan; }
  };
  // What a trial must leave as it was.
  struct Snapshot;

  // ---- partitioner.cc: lines, names
  Status pass(const Line& line, std::string_view text);
  Status instruction(const Line& line, std::string_view text);
  Status find_values(Work& work) const;
  Status find_scope(Work& work) const;
  void run(Work& work);
  bool reshape_instead(const Work& work);
  void share(const Work& work);

  // ---- partitioner_output.cc: lines without results, failures
  Status output(const Work& work);
  void release(const Line& line);
  Status reject(const Line& line, const Error& error);
  Status reject_mixed(const Line& line, const Error& error);
  void write_failure(const Line& line, const std::string& message);
  static bool fails(const Work& work);
  static Status check_failure(const Line& line);
  void fail(const Work& work);

  // ---- partitioner_hold.cc: lines whose layout the first use decides
  static bool can_hold(const Work& work);
  static bool is_state(const Work& work);
  void hold(const Work& work);
  void note_sum(const Work& work);
  void create(const ShardValuePtr& value, const Layout& layout);
  void create_default(const ShardValuePtr& value);
  void create_unread(const ShardValuePtr& value);
  void stop_reading(const ShardValuePtr& value);
  void keep_for_readers(const std::string& name);
  void create_loads(const std::string& file);  // before it is saved anew
  void create_all_loads();
  Layout made_as(const ShardValuePtr& value, const Layout& wanted) const;

  // ---- partitioner_plan.cc: what layouts a line takes
  void choose(Work& work);
  PlannedLine describe(const Work& work) const;
  std::string key_of(const Work& work, const PlannedLine& planned) const;
  uint32_t set_of(const Work& work);
  std::optional<Layout> pin_of(const std::optional<CutSetting>& setting,
                               const Type& type, uint32_t set) const;
  std::optional<Layout> weight_pin(const Work& work, size_t argument) const;
  bool is_better_expanded(const Work& work);
  double bytes_expanded(const Work& work);
  void expand(const Work& work);
  void drop_temporary(const std::string& name);
  void free_name(const std::string& name);
  void rename(const std::string& from, const std::string& to);

  // ---- partitioner_write.cc: lines as text
  void write_planned(Work& work);
  static void mark_read_twice(const Work& work);
  std::string fetch(const ShardValuePtr& value, const Layout& wanted,
                    const std::string& why);
  // `note` stands on the last of the lines.
  void change(const ShardValuePtr& value, const Layout& wanted,
              const std::string& why, const std::string& note = "");
  static std::vector<std::string> gradient_targets(const Line& line);
  Layout gradient_layout(const Work& work, const std::string& target,
                         const Type& type, const Layout& made) const;
  Line without_early_notes(const Work& work) const;
  void settle_gradients(const Work& work);
  void leave(const std::string& name, uint32_t set);
  void find_extremes(const Work& work);
  Layout pinned(Layout layout, const Layout& pin, const Shape& whole) const;
  void settle(const Work& work);
  ShardValuePtr alone(const std::string& name);
  void write_moves(const std::vector<Move>& moves, const Type& whole,
                   const std::string& to, uint32_t set, std::string from,
                   const std::string& why, const std::string& note = "");
  struct Writing {
    uint32_t set = 0;
    std::string keys;   // after the line's own
    std::string shape;  // in place of shape='s value; "" keeps it
    std::string notes;
  };
  void write(const Line& line, const std::vector<std::string>& operands,
             const Writing& how);
  Writing writing(const Call& call, const Plan& plan) const;
  void declare_mesh();

  // ---- partitioner_wide.cc: sums of f16 in f32
  void write_cast(const std::string& to, const std::string& from,
                  const Layout& layout, const Type& whole,
                  const std::string& notes);
  std::vector<Type> widen(const Work& work, std::vector<std::string>& operands);
  void narrow(const Work& work);

  // ---- names
  ShardValuePtr find(std::string_view name) const;
  void bind(const std::string& name, const ShardValuePtr& value);
  void unbind(const std::string& name);
  std::string new_name();
  void respect(const Line& line);
  void move_away(size_t number);
  static size_t number_of(const std::string& name);
  void free_later(const std::string& name, uint32_t set);
  void drop_copies(const ShardValuePtr& value);
  void write_frees();
  // ---- partitioner_tell.cc: for people
  void explain(const Work& work);
  void explain_result(const Work& work, std::string_view expanded);
  std::string as_said(size_t line) const;
  std::string not_as_said(const Claims& claims, const Layout& layout) const;
  void explain_created(const UnwrittenLine& held, const Layout& layout);
  // For the count of memory: a line that was written binds or frees these.
  void holds(const std::string& name, const Layout& layout, const Type& whole);
  void line_ends();
  void lets_go(const std::string& name, const Ranks& ranks);

  const Config& config_;
  Cluster cluster_;
  std::function<void(const std::string&)> explain_;
  std::unordered_map<std::string, ShardValuePtr> names_;
  std::map<std::string, std::vector<std::weak_ptr<ShardValue>>> loads_;
  std::map<std::string, Layout> summed_;  // by the forward, by shape
  NumberPool numbers_;
  std::set<size_t> foreign_;  // of names of the input that look like ours
  std::vector<std::pair<std::string, uint32_t>> frees_;
  std::vector<std::string> passing_names_;  // of copies for this line only
  ShardCosts costs_;
  ShardCosts round_;  // of one that is replayed; until then, before it
  PlanCache own_plans_;
  PlanCache& plans_;
  RegisterBytes memory_;
  size_t messages_ = 0;
  bool has_mesh_ = false;   // ours was declared last
  std::string input_mesh_;  // the declaration of the input's placed lines
  mutable CutsInUse cuts_in_use_;
  size_t depth_ = 0;  // of expansions within each other
  bool has_rewritten_ = false;
  bool is_trial_ = false;   // what is written will be taken back
  bool is_unread_ = false;  // what is created
  std::string place_;
  std::string explained_, created_;  // of the line; of those that it reads
  // Of the line: its name space, what to tell people, where to write.
  bool regathers_ = false;  // what it gathers is not kept
  std::string space_;
  std::string notes_;
  Claims claims_;
  std::string* out_ = nullptr;
};

}  // namespace gt
