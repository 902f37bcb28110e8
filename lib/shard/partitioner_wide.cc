// Sums of f16 and bf16 over what is cut: taken in f32 on all ranks together,
// and rounded then, as a rank that has all of it would.
#include "ops/shape_rules.h"
#include "shard/partitioner.h"

namespace gt {
namespace {

constexpr std::string_view kWhy = "parts are summed in f32";

}  // namespace

void Partitioner::write_cast(const std::string& to, const std::string& from,
                             const Layout& layout, const Type& whole,
                             const std::string& notes) {
  const std::string ranks = "@" + cluster_.ranks_text(layout.set);
  *out_ += to + ranks + " = cast " + from + ranks + " " +
           std::string(to_string(whole.dtype)) + notes_ + notes +
           " #why=" + quote(kWhy) + "\n";
  holds(to, layout, whole);
  line_ends();
  costs_.seconds +=
      cluster_.piece_bytes(layout, whole) / config_.machine().memory_bandwidth;
}

// The operands in f32. What the results are then.
std::vector<Type> Partitioner::widen(const Work& work,
                                     std::vector<std::string>& operands) {
  const Call& call = work.call;
  std::vector<const Type*> types(operands.size(), nullptr);
  std::vector<Type> wide(operands.size());
  std::map<std::string, std::string> casts;  // of what is read twice, one
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    const auto o = static_cast<size_t>(call.arguments[i].operand);
    types[o] = &(wide[o] = call.type(i));
    if (!is_half(wide[o].dtype)) continue;
    wide[o].dtype = Dtype::kF32;
    std::string& name = casts[operands[o]];
    if (name.empty()) {
      name = new_name();
      const Layout& layout = work.plan().arguments[i];
      write_cast(name, operands[o], layout, wide[o], "");
      free_later(name, layout.set);
    }
    operands[o] = name;
  }
  Call made;
  GT_CHECK(gt::bind(work.line, types, made).ok());
  return {made.results.begin(), made.results.end()};
}

// The results, whose registers hold more digits than they are to.
void Partitioner::narrow(const Work& work) {
  const std::vector<std::string> targets = gradient_targets(work.line);
  for (size_t r = 0; r < work.line.results.size(); ++r) {
    const std::string name(work.line.results[r].text);
    const ShardValuePtr value = find(name);
    const Type& type = work.call.results[r];
    if (value->type == type) continue;
    Layout wanted = value->copies[0].layout;
    wanted.partial = 0;
    if (!(value->copies[0].layout == wanted)) {
      change(value, wanted, std::string(kWhy));
    }
    value->type = type;
    write_cast(name, name, wanted, type,
               targets[r].empty() ? "" : " #grad=" + targets[r]);
  }
}

}  // namespace gt
