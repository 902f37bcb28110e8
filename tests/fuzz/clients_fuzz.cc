// Takes any bytes as what three clients of one gt-emit send, and what comes
// back. Each line of the resulting stream is of one client: it names nothing
// outside of that client's name space, and no file outside of its user's
// directory. All clients together leave nothing behind.
//
// Each line of the input is a step: its first character says whose it is ('0'
// to '2') or that it is a result ('>'); then 'm' and a message's header, or
// anything else and a line of program; '!' ends the client, '<' takes its
// connection away, '^' has it come back with a new visit, '~' with the same
// one, and 'b' says goodbye. The third client is kept when it is away.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "emit/session.h"
#include "net/wire.h"
#include "ops/table.h"
#include "serve/multiplexer.h"
#include "stream/marks.h"
#include "target.h"

namespace {

constexpr size_t kMostRequestBytes = 4096;

using gt::fuzz::require;

bool is_within(std::string_view name, const std::string& space) {
  return name.starts_with(space + "/");
}

// Checks the line of a client: all its names begin as the first one does.
void check_line(std::string_view text) {
  gt::Line line;
  require(gt::parse_line(text, line).ok());
  if (line.kind == gt::Line::Kind::kComment) {
    require(!gt::sync_of(text).empty() && text.starts_with("#sync c"));
    return;
  }
  const gt::Statement statement = gt::statement_of(line.op);
  std::string space;
  const auto look = [&space](std::string_view name) {
    if (space.empty()) space = name.substr(0, name.find('/'));
    require(is_within(name, space));
    require(space.size() == 2 && space[0] == 'c');
  };
  for (const gt::Name& name : line.results) look(name.text);
  for (const gt::Operand& operand : line.operands) {
    const bool is_name = operand.kind == gt::Operand::Kind::kName ||
                         operand.kind == gt::Operand::Kind::kGlob;
    if (is_name) look(operand.text);
    const bool is_path = operand.kind == gt::Operand::Kind::kString &&
                         (statement == gt::Statement::kLoad ||
                          statement == gt::Statement::kSave);
    if (!is_path) continue;
    const std::string path = gt::unquote(operand.text);
    require(path.starts_with("files/ann/") &&
            ("/" + path + "/").find("/../") == std::string::npos);
  }
  for (const gt::Key& key : line.keys) {
    if (key.key == "as") look(gt::unquote(key.value));
    if (key.key == "space") look(gt::unquote(key.value) + "/");
  }
  require(!gt::is_declaration(statement) || line.key("space") != nullptr);
  require(line.note("client") == nullptr);
  if (const auto* at = line.note("at")) look(gt::unquote(*at));
}

class World {
 public:
  World()
      : multiplexer_(options(), disk_,
                     {.send = [](gt::serve::ClientId, const std::string&) {},
                      .bye = [](gt::serve::ClientId, gt::Exit) {},
                      .part = [](gt::serve::ClientId, gt::Exit) {},
                      .begin_long_work = {}}) {
    gt::serve::ClientHello hello;
    hello.user = "ann";
    for (uint32_t id = 1; id <= 3; ++id) {
      if (id == 3) hello.name = "job";
      hello.stays = id == 3;
      multiplexer_.come(id, hello);
      say(id, gt::net::MessageWriter(gt::net::Verb::kInput)
                  .field("name", "p.gt")
                  .field("at", uint64_t{1})
                  .finish());
    }
  }

  void step(std::string_view line) {
    if (line.empty()) return;
    if (line[0] == '>') return multiplexer_.take_back(line.substr(1), ++now_);
    const auto id = static_cast<uint32_t>(1 + (line[0] - '0') % 3);
    if (line[0] < '0' || line[0] > '2') return;
    line.remove_prefix(1);
    if (line == "!") {
      multiplexer_.leave(id);
    } else if (line == "<") {
      multiplexer_.go_away(id);
    } else if (line == "b") {
      multiplexer_.say_goodbye(id);
    } else if (line == "^" || line == "~") {
      come_back(id, line == "~");
    } else if (line.starts_with("m")) {
      say(id, std::string(line.substr(1)) + " size=0\n");
    } else {
      say(id, gt::net::MessageWriter(gt::net::Verb::kText)
                  .finish(std::string(line) + "\n"));
    }
    run();
  }

  void end() {
    for (uint32_t id = 1; id <= 3; ++id) multiplexer_.leave(id);
    run();
    require(multiplexer_.clients() == 0);
    check_rest();
  }

 private:
  static gt::serve::MultiplexerOptions options() {
    gt::serve::MultiplexerOptions options;
    options.blocks = {1'000'000, 200};
    options.quota = {size_t{1} << 24, 50};
    options.files = "files";
    return options;
  }

  // ClientConnections has forgotten a client without a name.
  void come_back(uint32_t id, bool goes_on) {
    if (id != 3) return;
    gt::serve::ClientHello hello;
    hello.user = "ann";
    hello.name = "job";
    hello.attaches = hello.stays = true;
    hello.visit = goes_on ? 1 : 0;
    if (!multiplexer_.come_back(id, hello).ok()) multiplexer_.leave(id);
  }

  void say(uint32_t id, const std::string& bytes) {
    const auto message = gt::net::parse_message(bytes);
    if (!message.ok()) return;
    // Only what ClientConnections lets through goes on.
    switch (message.value().verb) {
      case gt::net::Verb::kTaken:
        if (!gt::net::number(message.value(), "bytes").ok()) return;
        if (!gt::net::number(message.value(), "reports").ok()) return;
        [[fallthrough]];
      case gt::net::Verb::kInput:
      case gt::net::Verb::kText:
      case gt::net::Verb::kEnd:
        (void)multiplexer_.take(id, message.value());
        return;
      default:
        return;
    }
  }

  // Everything that goes out is done at once.
  void run() {
    for (int i = 0; i < 10'000; ++i) {
      // A line may wait for a look at a file.
      while (disk_.busy() > 0) std::this_thread::yield();
      const bool has_worked = multiplexer_.work();
      std::string out;
      if (!multiplexer_.next_block(out, ++now_)) {
        if (has_worked || disk_.busy() > 0) continue;
        return;
      }
      stream_ += out;
      while (!out.empty()) {
        const size_t lf = out.find('\n');
        require(lf != std::string::npos);
        const std::string line = out.substr(0, lf);
        out.erase(0, lf + 1);
        // The word of a client's own sync begins with a dot.
        if (line.starts_with("#sync c") && line[line.find('/') + 1] != '.') {
          multiplexer_.take_back(line, ++now_);
        } else {
          check_line(line);
        }
      }
    }
  }

  // The whole stream is one without errors, and leaves no name at its end.
  void check_rest() {
    gt::emit::EmitOptions options;
    std::string errors;
    gt::emit::Session session(options,
                              [&](std::string_view e) { errors += e; });
    const uint32_t file = session.add_file("s", false);
    session.set_emitted(true);
    std::string out;
    for (std::string_view rest = stream_; !rest.empty();) {
      const size_t lf = rest.find('\n');
      session.feed(rest.substr(0, lf), gt::Origin(file, 1), out);
      rest.remove_prefix(lf + 1);
    }
    std::string left;
    session.let_go(left);
    if (!errors.empty() && errors.find("warning") == std::string::npos) {
      fputs((stream_ + errors).c_str(), stderr);
      std::abort();
    }
    if (!left.empty()) {
      fputs((stream_ + left).c_str(), stderr);
      std::abort();
    }
  }

  gt::serve::DiskThreads disk_;
  gt::serve::Multiplexer multiplexer_;
  std::string stream_;
  int64_t now_ = 0;
};

}  // namespace

GT_FUZZ_TARGET(clients) {
  if (size > kMostRequestBytes) return 0;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  World world;
  while (!text.empty()) {
    const size_t lf = std::min(text.find('\n'), text.size());
    world.step(text.substr(0, lf));
    text.remove_prefix(std::min(lf + 1, text.size()));
  }
  world.end();
  return 0;
}
