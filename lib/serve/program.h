// The program of one client: what it sends is checked and expanded as gt-emit
// does it (emit/program_run.h), put into the client's name space, and cut into
// blocks, which the scheduler interleaves with those of others.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "emit/program_run.h"
#include "serve/name_space.h"
#include "serve/pushed_source.h"

namespace gt::serve {

// Lines of one client that go out together.
struct Block {
  std::string text;
  uint64_t cost = 0;  // nanoseconds of one worker, as estimated
};

struct BlockLimits {
  uint64_t cost = 1'000'000;        // a block ends with the line that exceeds
  size_t bytes = size_t{64} << 10;  // either of them
};

class ClientProgram {
 public:
  using Say = std::function<void(std::string_view)>;

  // `say` gets messages for the client's user, as a local gt-emit would write
  // them to standard error.
  ClientProgram(const emit::ProgramOptions& options, NameSpace space,
                BlockLimits limits, Say say);

  // What the client sends: its inputs one after the other, as
  // ProgramRun::begin_input() takes them; the text of the last one; that this
  // one is over; and that there are no more.
  // `lines_of_round`: as of PushedSource.
  void begin_input(std::string name, bool at, size_t lines_of_round);
  void push(std::string_view text);
  void end_input();
  void end() { has_ended_ = true; }
  // Whether what is sent still runs: it has not ended, and was not stopped by
  // EmitOptions::fail_fast.
  bool takes_more() const { return !has_ended_ && !has_stopped_; }
  // The connection ended, and no more of the input will come: a line whose end
  // has not come is dropped, and that is said.
  void cut_input();
  // The client is gone: what it sent and what is not taken yet is dropped, and
  // finish() comes next.
  void drop();

  // Checks lines until a block is whole, or there is none.
  void work();
  bool has_block() const { return !blocks_.empty() || !open_.text.empty(); }
  // Takes the next block, also one that is not full.
  Block take_block();
  // Whether all that was sent is checked, and all blocks are taken.
  bool is_idle() const { return !has_block() && inputs_.empty(); }
  // Whether it has ended, too.
  bool is_over() const { return has_ended_ && is_idle(); }
  // The worst of what was said to the client since it was asked last.
  Exit take_status() { return run_.take_status(); }
  // Closes the program behind its last line: its status, and in `out` the lines
  // that free all that it holds and end its meshes.
  Exit finish(std::string& out);

  // Bytes of input that were read, in all, and those of a line whose end has
  // not come; what was sent beyond them is kept.
  uint64_t bytes_read();
  const NameSpace& space() const { return space_; }
  const emit::Usage& usage() const { return run_.usage(); }

 private:
  struct Input {
    Input(std::string n, bool a, size_t lines_of_round)
        : name(std::move(n)), at(a), source(lines_of_round) {}
    std::string name;
    bool at;
    PushedSource source;
    bool has_begun = false;
    bool has_ended = false;
  };
  void take(std::string_view lines, uint64_t cost);
  void add(std::string_view lines, uint64_t cost);

  NameSpace space_;
  BlockLimits limits_;
  Say say_;
  emit::ProgramRun run_;
  std::deque<Input> inputs_;
  uint64_t read_ = 0;
  bool has_ended_ = false;
  bool has_stopped_ = false;  // no more is fed
  // The lines that came last, and the same in the name space: rounds of a loop
  // come as equal lines.
  std::string lines_, entered_;
  Block open_;
  std::deque<Block> blocks_;
};

}  // namespace gt::serve
