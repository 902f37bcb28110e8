#include "shard/outputs.h"

#include <map>

#include "file/stored.h"
#include "ops/table.h"

namespace gt::shard {

// Returns the layout in which a value is printed or saved: that of a copy that
// is whole on each rank, or else the value's own with its sums taken.
Layout Outputs::printed(const ShardValue& value) {
  Layout wanted = value.layout();
  for (const ShardCopy& copy : value.copies) {
    if (copy.layout.is_whole()) wanted = copy.layout;
  }
  wanted.partial = 0;
  return wanted;
}

void Outputs::write(LineWork& work) {
  const ShardValuePtr value = work.values[0];
  if (value->held != nullptr) materializer_.create_default(value, work.at);
  const Layout wanted = printed(*value);
  const Statement statement = statement_of(work.line.op);
  if (statement == Statement::kSave) {
    create_loads(waiting_.take_loads(stored_file(work.line.operands[1].text)),
                 work.at);
  }
  const std::string name = materializer_.fetch(
      value, wanted, false, std::string(work.line.op) + " takes the sum",
      work.at);
  Line line = work.line;
  const std::string rank = std::to_string(cluster_.ranks(wanted.set)[0]);
  std::string keys;
  line.operands[0].text = name;
  line.operands[0].ranks =
      wanted.is_whole() ? rank : cluster_.ranks_text(wanted.set);
  if (!wanted.is_whole()) keys += " split=" + cluster_.split_text(wanted);
  const bool renamed = wanted.is_whole() || name != work.line.operands[0].text;
  if (statement == Statement::kPrint && line.key("as") == nullptr && renamed) {
    keys += " as=" + std::string(work.line.operands[0].text);
  }
  writer_.declare_mesh();
  append_instruction(writer_.text_behind_sums(), line);
  writer_.text() += keys;
  append_notes(writer_.text(), line);
  writer_.text() += '\n';
  materializer_.drop_passing(value, work.at);
}

void Outputs::release(const Line& line, LineContext& at) {
  std::map<uint32_t, std::string> by_set;
  std::string unplaced;
  for (const Operand& o : line.operands) {
    const std::string name(o.text);
    const ShardValuePtr value = values_.find(name);
    if (value == nullptr) continue;  // freed twice on this line
    materializer_.keep_for_readers(name, at);
    if (value->is_failed) {
      unplaced += " " + name;
    } else if (value->held == nullptr) {
      const uint32_t set = value->layout().set;
      by_set[set] += " " + name + "@" + cluster_.ranks_text(set);
      writer_.let_go(name, cluster_.ranks(set));
    }
    materializer_.unbind(name, at);
  }
  const auto write_free = [&](const std::string& names) {
    writer_.text() += "free" + names;
    append_notes(writer_.text(), line);
    writer_.text() += '\n';
  };
  if (!unplaced.empty()) write_free(unplaced);
  for (const auto& [set, names] : by_set) write_free(names);
  materializer_.write_frees();
}

void Outputs::create_loads(const std::vector<ShardValuePtr>& loads,
                           LineContext& at) {
  for (const ShardValuePtr& value : loads) {
    if (value->held != nullptr) materializer_.create_default(value, at);
  }
}

}  // namespace gt::shard
