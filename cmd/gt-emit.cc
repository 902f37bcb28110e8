// gt-emit: reads gt source, and writes a checked stream.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "arguments.h"
#include "base/io.h"
#include "base/message.h"
#include "clients.h"
#include "emit/emitter.h"
#include "ops/catalog.h"
#include "program.h"
#include "shard/recompute.h"

namespace {

constexpr const char* kFooter =
    R"(Reads FILE... in order ('-' or none: standard input) and writes the stream.
Exit status: 0 done; 2 usage or local I/O; 3 a line was rejected; 4 the input
was cut short. See gt-emit(1), gt-stream(5), gt-ops(7).

Examples:
  gt-emit model.gt | gt-work
  gt-emit init.gt --repeat 1000 step.gt | gt-work
  gt-emit -e 'x = randn f32[2,3]' -e 'print x' | gt-work)";

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> repeats;  // N FILE N FILE ...
  std::vector<std::string> lines;
  std::string ops;
  std::string config;
  bool no_at = false;
  bool no_replay = false;
  gt::ClientOptions clients;
};

// Collects the inputs in the order of the command line.
bool collect_inputs(gt::Arguments& args, const Options& options,
                    gt::emit::EmitJob& job) {
  std::map<std::string, size_t> next;
  for (const std::string& name : args.order()) {
    size_t& i = next[name];
    gt::emit::EmitInput input;
    if (name == "FILE") {
      if (i >= options.files.size()) continue;
      input = gt::emit::EmitInput::file(options.files[i++]);
    } else if (name == "-e") {
      input.kind = gt::emit::EmitInput::Kind::kText;
      input.text = options.lines[i++] + "\n";
    } else if (name == "--repeat") {
      // The order names the option once for each of its two values.
      if (++i % 2 != 0 || i > options.repeats.size()) continue;
      const std::string& rounds = options.repeats[i - 2];
      input = gt::emit::EmitInput::file(options.repeats[i - 1]);
      if (!gt::parse_size(rounds, input.rounds)) {
        gt::say("gt-emit: --repeat: '" + rounds +
                "' is not a number of rounds; usage: --repeat N FILE\n");
        return false;
      }
    } else {
      continue;
    }
    job.inputs.push_back(input);
  }
  if (job.inputs.empty()) job.inputs.push_back({});
  // All -e lines are one program, so that a message can name the line.
  for (size_t j = 1; j < job.inputs.size();) {
    gt::emit::EmitInput& before = job.inputs[j - 1];
    if (before.kind != gt::emit::EmitInput::Kind::kText ||
        job.inputs[j].kind != gt::emit::EmitInput::Kind::kText) {
      ++j;
      continue;
    }
    before.text += job.inputs[j].text;
    job.inputs.erase(job.inputs.begin() + static_cast<std::ptrdiff_t>(j));
  }
  return true;
}

int describe(const std::string& what) {
  const gt::Result<std::string> text = gt::describe_ops(what);
  if (!text.ok()) {
    gt::say("gt-emit: --ops: " + text.error().message + "\n");
    return static_cast<int>(gt::Exit::kUsage);
  }
  gt::Writer writer(STDOUT_FILENO);
  writer.write(text.value());
  return gt::finish("gt-emit", writer, gt::Exit::kDone);
}

// Reads from the config what the backward computes again. Returns kDone, or the
// status after an error was reported.
gt::Exit read_config(const gt::Arguments& args, Options& options,
                     gt::emit::EmitJob& job) {
  const char* from_environment = std::getenv("GT_CONFIG");
  if (!args.has("--config") && from_environment != nullptr) {
    options.config = from_environment;
  }
  if (options.config.empty()) return gt::Exit::kDone;
  constexpr size_t kEnough = (size_t{1} << 20) + 1;  // more is refused
  std::string text;
  if (const int error = gt::read_whole(options.config, text, kEnough)) {
    gt::say("gt-emit: cannot read " + options.config + ": " +
            std::strerror(error) + "\n");
    return gt::Exit::kUsage;
  }
  std::string_view culprit;
  auto region = gt::shard::read_regions(text, options.config, &culprit);
  if (!region.ok()) {
    gt::say(gt::format_error("gt-emit", {}, region.error(), culprit));
    return gt::Exit::kRejected;
  }
  job.session.region = region.value();
  options.clients.set_region(std::move(region.value()));
  return gt::Exit::kDone;
}

// Gives up after an error was reported. A client of another gt-emit writes
// results, which have no marks; everything else writes a stream, which must be
// ended.
int give_up(const gt::Arguments& args) {
  if (!gt::ClientOptions::visits(args)) {
    gt::write_empty_stream(gt::Exit::kUsage);
  }
  return static_cast<int>(gt::Exit::kUsage);
}

int usage(const gt::Arguments& args, const std::string& message) {
  gt::usage_error("gt-emit", message);
  return give_up(args);
}

int serve(const gt::Arguments& args, Options& options) {
  gt::Exit status{};
  const std::string wrong = options.clients.serve(status);
  return wrong.empty() ? static_cast<int>(status) : usage(args, wrong);
}

int visit(const gt::Arguments& args, Options& options, gt::emit::EmitJob& job) {
  const bool names_input = !args.first_of({"FILE", "-e", "--repeat"}).empty();
  // If only files are copied, standard input is not read.
  const bool has_program = names_input || !options.clients.carries_files();
  if (!has_program) job.inputs = {{gt::emit::EmitInput::Kind::kText, "", 1}};
  gt::Exit status{};
  const std::string wrong = options.clients.visit(job, has_program, status);
  return wrong.empty() ? static_cast<int>(status) : usage(args, wrong);
}

}  // namespace

int main(int argc, char** argv) {
  const gt::ProcessGuard guard;
  gt::Arguments args("gt-emit", "Check a gt program and write it as a stream.",
                     kFooter);
  Options options;
  gt::emit::EmitJob job;
  args.files("FILE", options.files, "programs, '-' for standard input");
  args.pairs("--repeat", options.repeats, "N FILE",
             "feed FILE N times, '-' for standard input");
  args.list("-e", options.lines, "LINE", "a line of program");
  args.text("--ops", options.ops,
            "describe the ops: list, an op's name, json, mdoc, or words")
      .type("WHAT")
      .defaults_to("list");
  args.flag("--tape", job.session.tape,
            "print the history of each grad in place of the stream");
  args.flag("--fail-fast", job.session.fail_fast,
            "stop at the first rejected line");
  args.number<int64_t>("--seed", job.session.seed, INT64_MIN, INT64_MAX,
                       "first seed for lines that give none (0)");
  args.number<size_t>("--history", job.session.history, 0, SIZE_MAX,
                      "lines of history to keep (1000000)");
  args.text("-c,--config", options.config,
            "what the backward computes again: recompute: of signals "
            "(GT_CONFIG)")
      .type("YAML");
  const gt::Option at =
      args.flag("--at", job.at_stdin, "write #at= for standard input too");
  args.flag("--no-at", options.no_at, "write no #at=").excludes(at);
  args.flag("--no-replay", options.no_replay,
            "rewrite every round of a loop anew");
  options.clients.add_to(args);
  int status = 0;
  if (!args.parse(argc, argv, status)) {
    return status == 0 ? 0 : give_up(args);
  }
  if (args.has("--ops")) return describe(options.ops);
  if (std::string wrong = options.clients.wrong_combination(args);
      !wrong.empty()) {
    return usage(args, wrong);
  }
  const bool visits = gt::ClientOptions::visits(args);
  if (gt::ClientOptions::serves(args) || visits) gt::talk_aside();
  if (args.has("--config") && visits) {
    return usage(args, "-c: with --to, the config of the gt-emit -l counts");
  }
  if (args.has("--config") && options.config.empty()) {
    return usage(args, "-c: '' is no file");
  }
  if (!visits) {
    const gt::Exit read = read_config(args, options, job);
    if (read != gt::Exit::kDone) {
      gt::write_empty_stream(read);
      return static_cast<int>(read);
    }
  }
  if (gt::ClientOptions::serves(args)) return serve(args, options);
  job.session.at = !options.no_at;
  job.replay = !options.no_replay;
  if (!collect_inputs(args, options, job)) return give_up(args);
  if (visits) return visit(args, options, job);
  gt::Writer writer(STDOUT_FILENO);
  const gt::Exit done = gt::emit::emit(job, writer, gt::say);
  return gt::finish("gt-emit", writer, done);
}
