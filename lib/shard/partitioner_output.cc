// Lines without results: what is printed and saved, names that end, failures.
#include <algorithm>

#include "base/message.h"
#include "file/stored.h"
#include "ops/table.h"
#include "shard/partitioner.h"
#include "spmd/labels.h"
#include "stream/ranks.h"

namespace gt {
namespace {

void append_failure(Line line, const std::string& message, std::string& out) {
  if (statement_of(line.op) != Statement::kFail) {
    line.op = "fail";
    line.keys.clear();
    line.operands.assign(1, Operand{});
    line.operands[0].kind = Operand::Kind::kString;
    line.operands[0].text = message;
  }
  append_line(out, line);
  out += '\n';
}

}  // namespace

Status Partitioner::output(const Work& work) {
  const ShardValuePtr value = work.values[0];
  if (value->held != nullptr) create_default(value);
  Layout wanted = value->copies[0].layout;
  for (const ShardCopy& copy : value->copies) {
    if (copy.layout.is_whole()) wanted = copy.layout;
  }
  wanted.partial = 0;
  const Statement statement = statement_of(work.line.op);
  if (statement == Statement::kSave) {
    create_loads(stored_file(work.line.operands[1].text));
  }
  const std::string name =
      fetch(value, wanted, std::string(work.line.op) + " takes the sum");
  Line line = work.line;
  std::string rank = std::to_string(cluster_.ranks(wanted.set)[0]);
  std::string keys;
  line.operands[0].text = name;
  line.operands[0].ranks =
      wanted.is_whole() ? rank : cluster_.ranks_text(wanted.set);
  if (!wanted.is_whole()) keys += " split=" + cluster_.split_text(wanted);
  const bool renamed = wanted.is_whole() || name != work.line.operands[0].text;
  if (statement == Statement::kPrint && line.key("as") == nullptr && renamed) {
    keys += " as=" + std::string(work.line.operands[0].text);
  }
  declare_mesh();
  append_instruction(*out_, line);
  *out_ += keys;
  append_notes(*out_, line);
  *out_ += '\n';
  drop_copies(value);
  write_frees();
  return ok_status();
}

void Partitioner::release(const Line& line) {
  std::map<uint32_t, std::vector<std::string>> by_set;
  std::vector<std::string> unplaced;
  for (const Operand& o : line.operands) {
    const std::string name(o.text);
    const ShardValuePtr value = find(name);
    if (value == nullptr) continue;  // freed twice on this line
    keep_for_readers(name);
    if (value->is_failed) {
      unplaced.push_back(name);
    } else if (value->held == nullptr) {
      by_set[value->copies[0].layout.set].push_back(name);
      lets_go(name, cluster_.ranks(value->copies[0].layout.set));
    }
    unbind(name);
  }
  const auto write_free = [&](const std::vector<std::string>& names,
                              const std::string& ranks) {
    *out_ += "free";
    for (const std::string& name : names) *out_ += " " + name + ranks;
    append_notes(*out_, line);
    *out_ += '\n';
  };
  if (!unplaced.empty()) write_free(unplaced, "");
  for (const auto& [set, names] : by_set) {
    write_free(names, "@" + cluster_.ranks_text(set));
  }
  write_frees();
}

// ---- failures
// ----------------------------------------------------------------

Status Partitioner::reject(const Line& line, const Error& error) {
  const std::string message = quote("gt-shard: " + error.message);
  if (!line.results.empty()) {
    write_failure(line, message);
  } else if (statement_of(line.op) == Statement::kPrint) {
    const std::string name = space_ + "_sfail";
    *out_ += name + " = fail " + message + "\nprint " + name +
             " as=" + print_label(line) + "\nfree " + name + "\n";
  }
  write_frees();
  return error;
}

// Some of its names have ranks, and some not: so may its results.
Status Partitioner::reject_mixed(const Line& line, const Error& error) {
  for (const Name& name : line.results) {
    Line one = line;
    one.results.assign(1, name);
    if (name.ranks.empty()) {
      (void)reject(one, error);
    } else {
      append_failure(one, quote("gt-shard: " + error.message), *out_);
    }
  }
  return error;
}

// The line's results are a failure, which has no ranks.
void Partitioner::write_failure(const Line& line, const std::string& message) {
  for (const Name& name : line.results) {
    const std::string text(name.text);
    keep_for_readers(text);
    unbind(text);
    const auto value = std::make_shared<ShardValue>();
    value->is_failed = true;
    value->message = message;
    bind(text, value);
  }
  append_failure(line, message, *out_);
}

bool Partitioner::fails(const Work& work) {
  return std::any_of(work.values.begin(), work.values.end(),
                     [](const ShardValuePtr& value) {
                       return value != nullptr && value->is_failed;
                     });
}

Status Partitioner::check_failure(const Line& line) {
  if (line.operands.size() == 1 &&
      line.operands[0].kind == Operand::Kind::kString && line.keys.empty() &&
      !line.results.empty()) {
    return ok_status();
  }
  return Error{"fail: usage: y... = fail message", line.op_column};
}

// A failure spreads.
void Partitioner::fail(const Work& work) {
  if (work.line.results.empty()) {
    append_line(*out_, work.line);
    *out_ += '\n';
  } else if (statement_of(work.line.op) == Statement::kFail &&
             !work.line.operands.empty()) {
    write_failure(work.line, std::string(work.line.operands[0].text));
  } else {
    const auto failed = std::find_if(
        work.values.begin(), work.values.end(), [](const ShardValuePtr& value) {
          return value != nullptr && value->is_failed;
        });
    write_failure(work.line, (*failed)->message);
  }
  write_frees();
}

}  // namespace gt
