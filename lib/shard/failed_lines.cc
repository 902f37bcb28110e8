#include "shard/failed_lines.h"

#include <algorithm>

#include "ops/call.h"
#include "ops/table.h"
#include "spmd/labels.h"

namespace gt::shard {
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

bool is_failed(const ShardValuePtr& value) {
  return value != nullptr && value->is_failed;
}

// Returns what stands behind the name of the value in a print (" as=y") or in a
// save (the path in quotes). Returns "" if the line is neither, or names no
// path.
std::string sink_of(const Line& line) {
  const Statement statement = statement_of(line.op);
  if (statement == Statement::kPrint) return " as=" + print_label(line);
  if (statement != Statement::kSave || line.operands.size() < 2) return "";
  const Operand& path = line.operands[1];
  return path.kind == Operand::Kind::kString ? " " + std::string(path.text)
                                             : "";
}

}  // namespace

Status FailedLines::reject(const Line& line, const Error& error,
                           LineContext& at) {
  const std::string message = quote("gt-shard: " + error.message);
  if (!line.results.empty()) {
    write(line, message, at);
  } else if (const std::string sink = sink_of(line); !sink.empty()) {
    const std::string name = at.space + "_sfail";
    writer_.text_behind_sums() += name + " = fail " + message + "\n";
    writer_.text() +=
        std::string(line.op) + " " + name + sink + "\nfree " + name + "\n";
  }
  materializer_.write_frees();
  return error;
}

Status FailedLines::reject_mixed(const Line& line, const Error& error,
                                 LineContext& at) {
  for (const Name& name : line.results) {
    Line one = line;
    one.results.assign(1, name);
    if (name.ranks.empty()) {
      (void)reject(one, error, at);
    } else {
      append_failure(one, quote("gt-shard: " + error.message),
                     writer_.text_behind_sums());
    }
  }
  return error;
}

void FailedLines::write(const Line& line, const std::string& message,
                        LineContext& at) {
  for (const Name& name : line.results) {
    const std::string text(name.text);
    materializer_.keep_for_readers(text, at);
    materializer_.unbind(text, at);
    const auto value = std::make_shared<ShardValue>();
    value->is_failed = true;
    value->message = message;
    values_.bind(text, value);
  }
  append_failure(line, message, writer_.text_behind_sums());
}

bool FailedLines::reads_failure(const LineWork& work) {
  return std::any_of(work.values.begin(), work.values.end(), is_failed);
}

Status FailedLines::check(const Line& line) {
  Call call;
  return bind_fail(line, call);
}

void FailedLines::spread(LineWork& work) {
  if (work.line.results.empty()) {
    append_line(writer_.text_behind_sums(), work.line);
    writer_.text() += '\n';
  } else if (statement_of(work.line.op) == Statement::kFail &&
             !work.line.operands.empty()) {
    write(work.line, std::string(work.line.operands[0].text), work.at);
  } else {
    const auto failed =
        std::find_if(work.values.begin(), work.values.end(), is_failed);
    write(work.line, (*failed)->message, work.at);
  }
  materializer_.write_frees();
}

bool FailedLines::forget(std::string_view name) {
  const ShardValuePtr value = values_.find(name);
  if (value == nullptr) return true;
  if (value->is_failed) values_.unbind(std::string(name));
  return value->is_failed;
}

}  // namespace gt::shard
