#include "serve/program.h"

#include <algorithm>
#include <utility>

#include "ops/table.h"

namespace gt::serve {
namespace {

// Bytes of input that are checked before it is looked whether a block is whole.
constexpr size_t kBytesAtOnce = size_t{16} << 10;

std::string size_text(uint64_t bytes) {
  return bytes >= uint64_t{10} << 20 ? std::to_string(bytes >> 20) + " MiB"
                                     : std::to_string(bytes) + " bytes";
}

}  // namespace

ClientProgram::ClientProgram(const emit::ProgramOptions& options,
                             NameSpace space, Quota quota, BlockLimits limits,
                             Say say)
    : space_(std::move(space)),
      quota_(quota),
      limits_(limits),
      say_(std::move(say)),
      writer_([this](std::string_view bytes) { return take(bytes); }),
      run_(options, writer_, say_) {}

void ClientProgram::begin_input(std::string name, bool at,
                                size_t lines_of_round) {
  end_input();
  inputs_.emplace_back(std::move(name), at, lines_of_round);
}

void ClientProgram::push(std::string_view text) {
  if (inputs_.empty() || has_stopped_) {
    read_ += text.size();
  } else {
    inputs_.back().source.push(text);
  }
}

void ClientProgram::end_input() {
  if (inputs_.empty()) return;
  inputs_.back().has_ended = true;
  inputs_.back().source.end();
}

// Names that lines bind which were checked and never leave must be bound all
// the same, since later lines free them.
void ClientProgram::drop() {
  inputs_.clear();
  has_ended_ = true;
  std::string text;
  for (const Block& block : blocks_) text += block.text;
  text += open_.text;
  blocks_.clear();
  open_ = {};
  for (std::string_view rest = text; !rest.empty();) {
    const size_t lf = rest.find('\n');
    const std::string_view line = rest.substr(0, lf);
    rest.remove_prefix(lf + 1);
    if (!parse_line(line, line_).ok() ||
        line_.kind != Line::Kind::kInstruction) {
      continue;
    }
    const Statement statement = statement_of(line_.op);
    if (statement == Statement::kFree || is_declaration(statement)) {
      open_.text.append(line).append("\n");
    } else if (!line_.results.empty()) {
      const size_t op = static_cast<size_t>(line_.op.data() - line.data());
      open_.text.append(line.substr(0, op))
          .append("fail \"its user has left\"\n");
    }
  }
}

void ClientProgram::work() {
  while (blocks_.empty() && !inputs_.empty()) {
    Input& input = inputs_.front();
    if (!std::exchange(input.has_begun, true)) {
      run_.begin_input(input.name, input.at);
    }
    const size_t before = input.source.taken();
    input.source.allow(kBytesAtOnce);
    const bool goes_on = has_stopped_ || run_.feed(input.source);
    writer_.flush();
    read_ += input.source.taken() - before;
    if (!goes_on) {
      has_stopped_ = true;
      inputs_.clear();
      return;
    }
    if (input.source.is_over() && input.has_ended) {
      run_.end_input(false, input.source.line());
      inputs_.pop_front();
    } else if (input.source.taken() == before) {
      return;
    }
  }
}

int ClientProgram::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t lf = bytes.find('\n');
    if (lf == std::string_view::npos) {
      partial_ += bytes;
      return 0;
    }
    if (partial_.empty()) {
      take_line(bytes.substr(0, lf));
    } else {
      partial_ += bytes.substr(0, lf);
      take_line(std::exchange(partial_, {}));
    }
    bytes.remove_prefix(lf + 1);
  }
  return 0;
}

void ClientProgram::take_line(std::string_view text) {
  if (!parse_line(text, line_).ok()) return;  // the session writes none such
  if (line_.kind == Line::Kind::kComment) {
    space_.enter_comment(text, open_.text);
    return add(0);
  }
  if (line_.kind == Line::Kind::kBlank) return;
  meter_.read(line_);
  const bool is_beyond = meter_.exceeds(quota_);
  if (is_beyond) {
    refuse(line_);
  } else {
    space_.enter(text, line_, open_.text);
  }
  meter_.bind(is_beyond);
  add(is_beyond ? 0 : meter_.cost());
}

// In place of the line there is a failure of its results.
void ClientProgram::refuse(const Line& line) {
  ++refused_;
  const bool is_of_bytes = meter_.bytes_after() > quota_.bytes;
  std::string why = std::string(line.op) + ": with this the client would hold ";
  why += is_of_bytes ? size_text(meter_.bytes_after()) + " of values, and " +
                           size_text(quota_.bytes)
                     : std::to_string(meter_.names_after()) + " names, and " +
                           std::to_string(quota_.names);
  why += " is its quota; free what is not needed any more";
  Line fail;
  fail.kind = Line::Kind::kInstruction;
  fail.results = line.results;
  fail.op = "fail";
  const std::string_view* at = line.note("at");
  const std::string place = at == nullptr ? "" : std::string(*at) + ": ";
  const std::string message = quote(place + why);
  fail.operands.push_back({Operand::Kind::kString, 0, message, {}});
  std::string text;
  append_line(text, fail);
  Line parsed;
  if (!parse_line(text, parsed).ok()) return;
  space_.enter(text, parsed, open_.text);
  say_("gt-emit: " + place + why + "\n");
}

void ClientProgram::add(uint64_t cost) {
  open_.cost += cost;
  if (open_.cost < limits_.cost && open_.text.size() < limits_.bytes) return;
  blocks_.push_back(std::exchange(open_, {}));
}

Block ClientProgram::take_block() {
  if (blocks_.empty()) return std::exchange(open_, {});
  Block block = std::move(blocks_.front());
  blocks_.pop_front();
  return block;
}

bool ClientProgram::is_over() {
  if (!has_ended_ || has_block()) return false;
  return inputs_.empty();
}

uint64_t ClientProgram::bytes_read() {
  return read_ + (inputs_.empty() ? 0 : inputs_.front().source.unfinished());
}

Exit ClientProgram::finish(std::string& out) {
  const Exit status = run_.finish();
  run_.let_go();
  writer_.flush();
  for (Block& block : blocks_) out += block.text;
  out += open_.text;
  blocks_.clear();
  open_ = {};
  return refused_ == 0 ? status : worst(status, Exit::kFailed);
}

}  // namespace gt::serve
