// Whether one line computes what the unsharded program means: its operands'
// types in, its results' types and what is wrong with it out. The rules are
// those of spmd_types 0.2 (meta-pytorch/spmd_types) as gt-check(1) states them.
//
// The first failing stage reports: operands on other axes are moved to the
// current mesh's; the local join; in global mode where shards go; then claims
// and gradients.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/judgement.h"
#include "ops/ends.h"
#include "ops/index_rule.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt {

class Judge {
 public:
  explicit Judge(const JudgeIn& in);
  Judgement run();

 private:
  // judge.cc
  void add(const char* kind, const Axis* axis, std::string message,
           std::string why = {});
  bool has_failed() const { return !out_.problems.empty(); }
  bool is_name(size_t operand) const {
    return operand < operands_.size() && operands_[operand].has_value();
  }
  bool is_local(const Axis& axis) const;
  bool is_local_by_options(const Axis& axis) const;  // the note apart
  std::string described(size_t operand) const;
  bool is_over(const Axis& axis) const;
  bool check_local_axes();
  bool read_operands();
  ShardedValue read(const ShardedValue& value,
                    const std::vector<int64_t>& ranks, size_t operand);
  void infer_pieces();
  void bind_call();
  bool infer_types();
  void cut_locally();
  bool finish_pieces();
  void finish(bool known);
  bool is_source() const;
  // The line is a grad, which gt-emit replaces by the lines of the gradient.
  bool is_grad() const {
    return op_ != nullptr && op_->row->statement == Statement::kGrad;
  }
  void declare_source();
  bool check_output();
  bool check_split(const Placement& type, size_t dims);
  bool spec_of_split(size_t dims, Placement& type) const;
  bool shard_by(const std::vector<SplitEntry>& split, size_t dims,
                Placement& type) const;

  // judge_join.cc
  bool check_typed();
  std::vector<char> letters_on(const Axis& axis) const;
  void add_untyped(size_t operand, const Axis& axis);
  std::string new_line(size_t operand, const char* op,
                       const std::string& keys) const;
  void offer_line(size_t operand, const char* op, const std::string& keys,
                  const char* cost);
  void offer_instruction(const Line& line, const std::string& more = "");
  void offer_key(std::string_view key, const std::string& value);
  void offer_self(const std::string& more);
  std::string missing_axis(size_t operand, const Axis& axis) const;
  bool join_axes();
  void explain_join(const char* kind, const Axis& axis,
                    const std::vector<char>& letters);
  void find_fixes(const Axis& axis, const std::vector<char>& letters,
                  Problem& problem) const;
  std::string fix_line(size_t operand, const Axis& axis, const char* op,
                       const std::string& src, const std::string& dst) const;
  void offer(size_t operand, const Axis& axis, const char* op,
             const std::string& src, const std::string& dst);
  void offer_change(size_t operand, const Axis& axis, const std::string& from,
                    const std::string& to);

  // judge_global.cc
  bool find_labels();
  bool adds_to_sum(const Axis& axis) const;
  void lead_by_ones();
  bool propagate();
  bool bind_whole();
  bool propagate_axis(const Axis& axis);
  bool check_label(const Axis& axis, const Label& label);
  bool place_label(const Axis& axis, const Label& label);
  bool check_positions();
  void offer_split();
  bool is_of_result_alone(const Label& label) const;
  bool place_by_split(const Axis& axis, const Placement& stated);
  std::string wholes_text() const;
  void offer_whole(const Axis& axis, size_t argument, int dim);
  bool leave_whole(const Axis& axis, size_t argument, int dim);
  bool sharded_by(const Axis& axis) const;
  const Placement* type_of(size_t argument) const;

  // judge_cuts.cc
  void offer_order(const Axis& a, const Axis& b, const Placement& stated);
  bool order_entries();
  bool check_cuts();
  bool check_cut(const Label& label, const Axis& axis);

  // judge_crossing.cc
  bool cross();
  bool check_ends();
  bool find_group_axes();
  bool check_dims(const End& src, const End& dst, const std::string& ends);
  bool check_sources();
  bool check_shard(const Axis& axis);
  bool check_sizes();
  bool keep_pieces();
  bool move_shard();

  // judge_moves.cc
  std::optional<int64_t> member(int64_t position) const;
  bool check_order();
  void offer_specs();
  void offer_redistribution(size_t operand, const Placement& from,
                            const Placement& to);
  bool copy();
  bool do_remesh();
  bool redistribute_specs();
  bool read_specs(size_t dims, Placement& from, Placement& to);
  bool reduce_or_broadcast();

  // judge_claims.cc
  bool has_parts_for_results(const std::string& claim);
  void apply_claims();
  void claim_types();
  void claim_partial();
  void check_optimizer();
  const Axis* unlike_gradient(const Placement& g, const Placement& w) const;
  void check_gradient();
  void check_precision();
  bool take_gradients();
  bool check_loss(const ShardedValue& loss, const std::string& name);

  const JudgeIn& in_;
  const Line& line_;
  const Op* const op_;  // the line's; null of an unknown one
  const CheckOptions& options_;
  bool local_ = false;
  std::vector<Axis> within_;  // axes along which the line's ranks differ
  std::vector<std::optional<ShardedValue>> operands_;
  bool unknown_ = false;  // some operand is
  Call call_;
  bool is_bound_ = false;                  // with types
  bool is_formed_ = false;                 // in form alone
  std::string misfit_;                     // why shapes do not go together
  std::optional<Result<LocalPlan>> plan_;  // what call_ views
  std::vector<Placement> types_;           // of the results
  std::optional<Result<std::vector<std::vector<Type>>>> pieces_;
  Judgement out_;

  // Of global mode.
  Line bound_line_;  // what whole_ views
  Call whole_;
  std::vector<Label> labels_;
  std::vector<std::optional<Type>> wholes_;    // of the operands
  std::vector<std::vector<Axis>> label_axes_;  // that shard it, by label
  bool has_labels_ = false;
  bool is_by_pieces_ = false;  // labels are of the first rank's pieces

  // Of a line that crosses ranks.
  char src_ = 0, dst_ = 0;
  size_t src_dim_ = 0, dst_dim_ = 0;
  EndsUse use_ = EndsUse::kConnected;
  std::vector<Axis> group_;
};

}  // namespace gt
