#include "serve/program.h"

#include <algorithm>
#include <utility>

#include "file/stored.h"
#include "ops/table.h"
#include "stream/marks.h"

namespace gt::serve {
namespace {

// The bytes of input that are checked before it is tested whether a block is
// complete.
constexpr size_t kBytesAtOnce = size_t{16} << 10;
// The most bytes of a block that goes on for the saves of a round.
constexpr size_t kMostOfSaves = size_t{1} << 20;

// The session asks for what was seen of files instead of looking itself.
emit::ProgramOptions with_looks(emit::ProgramOptions options,
                                const std::shared_ptr<FileLooks>& looks) {
  if (looks != nullptr) {
    options.session.look = [looks](const std::string& path) {
      return looks->seen(path);
    };
  }
  return options;
}

}  // namespace

ClientProgram::ClientProgram(emit::ProgramOptions options, NameSpace space,
                             BlockLimits limits, Say say, DiskThreads* disk)
    : space_(std::move(space)),
      limits_(limits),
      say_(std::move(say)),
      looks_(disk == nullptr
                 ? nullptr
                 : std::make_shared<FileLooks>(*disk, options.session.files)),
      run_(
          with_looks(std::move(options), looks_),
          [this](std::string_view lines, uint64_t cost) {
            take(lines, cost);
            return true;
          },
          say_) {}

void ClientProgram::begin_input(std::string name, bool at,
                                size_t lines_of_round) {
  end_input();
  if (has_ended_) return;
  PushedSource::MayTake may_take;
  if (looks_ != nullptr) {
    may_take = [looks = looks_.get()](std::string_view line) {
      return looks->is_ready(line);
    };
  }
  inputs_.emplace_back(std::move(name), at, lines_of_round,
                       std::move(may_take));
}

void ClientProgram::push(std::string_view text) {
  if (inputs_.empty() || has_stopped_ || has_ended_) {
    read_ += text.size();
  } else {
    // The rest of a line that is too long is dropped as it comes.
    PushedSource& source = inputs_.back().source;
    const size_t before = source.taken();
    source.push(text);
    read_ += source.taken() - before;
  }
}

void ClientProgram::end_input() {
  if (inputs_.empty()) return;
  inputs_.back().has_ended = true;
  inputs_.back().source.end();
}

void ClientProgram::cut_input() {
  if (inputs_.empty() || inputs_.back().has_ended) return;
  const size_t cut = inputs_.back().source.cut();
  read_ += cut;
  if (cut > 0) {
    say_("gt-emit: " + inputs_.back().name +
         ": the connection ended in the middle of a line, which is dropped\n");
  }
  end_input();
}

// Lines that were checked and will not be sent may bind names, which later
// lines free. These names must be bound all the same, so the lines are replaced
// by failures.
void ClientProgram::drop() {
  inputs_.clear();
  has_ended_ = true;
  std::string text;
  for (const Block& block : blocks_) text += block.text;
  text += open_.text;
  blocks_.clear();
  open_ = {};
  Line parsed;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t lf = rest.find('\n');
    const std::string_view line = rest.substr(0, lf);
    rest.remove_prefix(lf + 1);
    if (!parse_line(line, parsed).ok() ||
        parsed.kind != Line::Kind::kInstruction) {
      continue;
    }
    const Statement statement = statement_of(parsed.op);
    if (statement == Statement::kFree || is_declaration(statement)) {
      open_.text.append(line).append("\n");
    } else if (!parsed.results.empty()) {
      const size_t op = static_cast<size_t>(parsed.op.data() - line.data());
      open_.text.append(line.substr(0, op))
          .append("fail \"its user has left\"\n");
    }
  }
}

// Lines that are mistakes may make no block, and cost much more than others.
void ClientProgram::work(const IsLate& is_late) {
  while (blocks_.empty() && !inputs_.empty() && !is_late()) {
    Input& input = inputs_.front();
    if (!std::exchange(input.has_begun, true)) {
      run_.begin_input(input.name, input.at);
    }
    const size_t before = input.source.taken();
    input.source.allow(kBytesAtOnce);
    const bool goes_on = has_stopped_ || run_.feed(input.source);
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

void ClientProgram::take(std::string_view lines, uint64_t cost) {
  if (lines != lines_) {
    lines_ = lines;
    entered_.clear();
    while (!lines.empty()) {
      const size_t lf = lines.find('\n');
      space_.enter(lines.substr(0, lf), entered_);
      lines.remove_prefix(lf + 1);
    }
  }
  add(entered_, cost);
}

void Block::follow(std::string_view lines) {
  if (!is_saving() && lines.find(kInSafetensors) == std::string_view::npos) {
    return;
  }
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (!sync_of(line).empty()) {
      saves.end();
      continue;
    }
    if (line.starts_with('#')) continue;
    const Statement statement = statement_of(line.substr(0, line.find(' ')));
    const bool is_to_many = line.find(kInSafetensors) != std::string_view::npos;
    if (statement != Statement::kSave || is_to_many) saves.follow(statement);
  }
}

// Lines that come together, as the round of a loop does, stay together if a
// block can hold them, since later programs recognise rounds between two of
// them. If they are divided, the cost of each part is taken to be in proportion
// to its length. The saves of a round stay together, too, since the files are
// written at the end of the block: all of them or none (gt-stream(5), "Files").
void ClientProgram::add(std::string_view lines, uint64_t cost) {
  const bool fits = open_.text.size() + lines.size() < limits_.bytes &&
                    open_.cost + cost < limits_.cost;
  const bool is_small = lines.size() < limits_.bytes && cost < limits_.cost;
  const bool may_stay = open_.text.size() < kMostOfSaves;
  const bool stays = open_.is_saving() && may_stay;
  if (!stays && !fits && (is_small || !may_stay)) {
    blocks_.push_back(std::exchange(open_, {}));
  }
  open_.follow(lines);
  if (open_.is_saving() || stays) {
    open_.text += lines;
    open_.cost += cost;
    return;
  }
  while (!lines.empty()) {
    const size_t room = limits_.bytes - open_.text.size();
    const uint64_t spare = limits_.cost - open_.cost;
    if (lines.size() < room && cost < spare) {
      open_.text += lines;
      open_.cost += cost;
      return;
    }
    const double part = std::min(
        {1.0, static_cast<double>(room) / static_cast<double>(lines.size()),
         static_cast<double>(spare) /
             static_cast<double>(std::max<uint64_t>(1, cost))});
    size_t end =
        static_cast<size_t>(static_cast<double>(lines.size() - 1) * part);
    end = lines.find('\n', end) + 1;
    const auto of_these = static_cast<uint64_t>(
        static_cast<double>(cost) *
        (static_cast<double>(end) / static_cast<double>(lines.size())));
    open_.text += lines.substr(0, end);
    open_.cost += std::min(cost, of_these);
    cost -= std::min(cost, of_these);
    lines.remove_prefix(end);
    blocks_.push_back(std::exchange(open_, {}));
  }
}

Block ClientProgram::take_block() {
  if (blocks_.empty()) return std::exchange(open_, {});
  Block block = std::move(blocks_.front());
  blocks_.pop_front();
  return block;
}

uint64_t ClientProgram::bytes_read() {
  return read_ + (inputs_.empty() ? 0 : inputs_.front().source.unfinished());
}

Exit ClientProgram::finish(std::string& out) {
  const Exit status = run_.finish();
  run_.let_go();
  for (Block& block : blocks_) out += block.text;
  out += open_.text;
  blocks_.clear();
  open_ = {};
  return status;
}

}  // namespace gt::serve
