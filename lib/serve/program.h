// ClientProgram: the program of one client. What the client sends is checked
// and expanded as gt-emit does it (emit/program_run.h), put into the client's
// name space, and divided into blocks, which the scheduler interleaves with
// those of other clients.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "emit/program_run.h"
#include "ops/save_group.h"
#include "serve/file_looks.h"
#include "serve/name_space.h"
#include "serve/pushed_source.h"

namespace gt::serve {

// Lines of one client that go out together.
struct Block {
  std::string text;
  uint64_t cost = 0;  // nanoseconds of one worker, as estimated
  SaveGroup saves;    // of the last save to a safetensors file

  bool is_saving() const { return saves.is_open(); }
  // Follows these lines, which are to be appended, with `saves`.
  void follow(std::string_view lines);
};

struct BlockLimits {
  uint64_t cost = 1'000'000;        // a block ends with the line that exceeds
  size_t bytes = size_t{64} << 10;  // either of them
};

class ClientProgram {
 public:
  using Say = std::function<void(std::string_view)>;

  // `say` gets messages for the client's user, such as a local gt-emit would
  // write to standard error. If the client has files, `disk` is where they are
  // looked at, and a line that names one waits for that.
  ClientProgram(emit::ProgramOptions options, NameSpace space,
                BlockLimits limits, Say say, DiskThreads* disk = nullptr);

  // What the client sends, in this order: the beginning of an input (see
  // ProgramRun::begin_input(), and PushedSource for `lines_of_round`), its
  // text, its end; and after the last input the end of the program.
  void begin_input(std::string name, bool at, size_t lines_of_round);
  void push(std::string_view text);
  void end_input();
  void end() { has_ended_ = true; }
  // True if the program still runs what is sent: it has not ended, and was not
  // stopped by EmitOptions::fail_fast.
  bool takes_more() const { return !has_ended_ && !has_stopped_; }
  // The connection ended, and the rest of the input will not come: a line whose
  // end has not come is dropped, which the user is told.
  void cut_input();
  // The client is gone: drops everything that was sent and not taken yet.
  // finish() must be called next.
  void drop();

  // Checks lines until a block is complete, there are no more lines, or others
  // have waited long enough: then is_late() is true.
  using IsLate = std::function<bool()>;
  void work(const IsLate& is_late = [] { return false; });
  bool has_block() const {
    return !blocks_.empty() || (!open_.text.empty() && !awaits_save());
  }
  // Takes the next block, even if it is not full.
  Block take_block();
  // True if everything that was sent is checked, and all blocks are taken.
  bool is_idle() const {
    return blocks_.empty() && open_.text.empty() && inputs_.empty();
  }
  // True if the program has ended as well.
  bool is_over() const { return has_ended_ && is_idle(); }
  // Returns the worst status that was reported to the client since the last
  // call.
  Exit take_status() { return run_.take_status(); }
  // Closes the program after its last line. Returns its status, and appends to
  // `out` the lines that free everything it holds and end its meshes.
  Exit finish(std::string& out);

  // Returns the bytes of input that were read so far, including those of a line
  // whose end has not come. Bytes beyond them are still kept.
  uint64_t bytes_read();
  const NameSpace& space() const { return space_; }
  const emit::Usage& usage() const { return run_.usage(); }

 private:
  // True while the next save to a file may come to those in the open block.
  bool awaits_save() const {
    return open_.is_saving() && looks_ != nullptr && looks_->is_looking();
  }
  struct Input {
    Input(std::string n, bool a, size_t lines_of_round,
          PushedSource::MayTake may_take)
        : name(std::move(n)),
          at(a),
          source(lines_of_round, std::move(may_take)) {}
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
  std::shared_ptr<FileLooks> looks_;  // null if the client has no files
  emit::ProgramRun run_;
  std::deque<Input> inputs_;
  uint64_t read_ = 0;
  bool has_ended_ = false;
  bool has_stopped_ = false;  // the rest is not read
  // The last lines, and the same lines in the name space: the rounds of a loop
  // come as equal lines.
  std::string lines_, entered_;
  Block open_;
  std::deque<Block> blocks_;
};

}  // namespace gt::serve
