// Takes any bytes as a config and, behind a line "---", a program. gt-shard
// comes to an end, says where a config is wrong, and prints its own output
// unchanged. If gt-emit takes the program, gt-check takes what gt-shard makes
// of it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/writer.h"
#include "check/filter.h"
#include "emit/emitter.h"
#include "memory_file.h"
#include "shard/shard.h"
#include "target.h"

namespace {

// The most ranks that a mesh may have here; more would only be slower.
constexpr int64_t kMostRanks = 64;

struct Done {
  std::string text;
  std::string said;
  gt::Exit status = gt::Exit::kDone;
};

// What `run` writes and says.
template <class Run>
Done done_by(Run run) {
  Done done;
  gt::Writer writer([&done](std::string_view bytes) {
    done.text += bytes;
    return 0;
  });
  done.status =
      run(writer, [&done](std::string_view message) { done.said += message; });
  writer.flush();
  return done;
}

// Whether all messages are about entries of the config that are for other
// programs.
bool is_for_others(std::string_view said) {
  if (said.empty()) return false;
  while (!said.empty()) {
    const std::string_view line = said.substr(0, said.find('\n'));
    said.remove_prefix(std::min(line.size() + 1, said.size()));
    if (line.find("is used by no line") == std::string_view::npos &&
        line.find("matches no tensor's name") == std::string_view::npos &&
        line.find("cuts no tensor over") == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

Done shard(const gt::shard::Config& config, std::string_view stream,
           bool explains) {
  const MemoryFile file(stream);
  gt::shard::ShardJob job;
  job.files = {file.path()};
  job.explain = explains;
  Done done = done_by([&](gt::Writer& writer, const gt::shard::ShardSay& say) {
    return gt::shard::shard(job, config, writer, say);
  });
  constexpr std::string_view kRejected = "#end 3\n";
  if (done.status == gt::Exit::kRejected && is_for_others(done.said) &&
      stream.find(kRejected) == std::string_view::npos) {
    done.status = gt::Exit::kDone;
    done.text.replace(done.text.size() - kRejected.size(), kRejected.size(),
                      "#end 0\n");
  }
  return done;
}

Done check(std::string_view stream) {
  const MemoryFile file(stream);
  gt::check::CheckJob job;
  job.files = {file.path()};
  job.quiet = true;
  return done_by([&](gt::Writer& writer, const gt::shard::ShardSay& say) {
    return gt::check::check(job, writer, say);
  });
}

Done emit(std::string_view program) {
  gt::emit::EmitJob job;
  job.inputs.push_back(
      {gt::emit::EmitInput::Kind::kText, std::string(program), 1});
  return done_by([&](gt::Writer& writer, const gt::shard::ShardSay& say) {
    return gt::emit::emit(job, writer, say);
  });
}

void fail(const char* what, const std::string& a, const std::string& b) {
  std::fprintf(stderr, "%s\n-- \n%s\n-- \n%s\n", what, a.c_str(), b.c_str());
  std::abort();
}

// The config is read anew for each run, as it notes which lines used it. A mesh
// says how many ranks there are; without one there are four.
gt::Result<gt::shard::Config> config_of(std::string_view yaml) {
  auto config = gt::shard::Config::parse(yaml, "f.yaml", 0);
  return config.ok() ? std::move(config)
                     : gt::shard::Config::parse(yaml, "f.yaml", 4);
}

Done check_shard(std::string_view yaml, std::string_view stream) {
  Done once = shard(config_of(yaml).value(), stream, false);
  if (once.status != gt::Exit::kDone) return once;
  const Done again = shard(config_of(yaml).value(), once.text, false);
  if (again.status != gt::Exit::kDone || again.text != once.text) {
    fail("its own output is changed", once.text, again.said + again.text);
  }
  return once;
}

// Lines with ranks of their own may be wrong by the user's fault.
bool is_placed(std::string_view program) {
  return program.find('@') != std::string_view::npos ||
         program.find("mesh") != std::string_view::npos;
}

}  // namespace

GT_FUZZ_TARGET(shard) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kLine = "\n---\n";
  const size_t end = text.find(kLine);
  if (end == std::string_view::npos) return 0;
  const std::string_view yaml = text.substr(0, end + 1);
  const std::string_view program = text.substr(end + kLine.size());
  const auto config = config_of(yaml);
  if (!config.ok() || config.value().mesh().size() > kMostRanks) return 0;
  if (size % 4 == 0) shard(config.value(), program, true);

  const Done stream = emit(program);
  if (stream.status != gt::Exit::kDone) {
    check_shard(yaml, program);
    return 0;
  }
  const Done placed = check_shard(yaml, stream.text);
  if (placed.status != gt::Exit::kDone || is_placed(program)) return 0;
  const Done checked = check(placed.text);
  if (checked.status != gt::Exit::kDone) {
    fail("gt-check finds something", placed.text, checked.said);
  }
  return 0;
}
