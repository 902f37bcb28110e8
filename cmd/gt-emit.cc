// gt-emit: reads gt source, and writes a checked stream.
#include <unistd.h>

#include <map>

#include "clients.h"
#include "emit/emitter.h"
#include "ops/catalog.h"
#include "program.h"

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
  bool no_at = false;
  bool no_replay = false;
  gt::ClientOptions clients;
};

// Collects the inputs in the order of the command line.
bool collect_inputs(CLI::App& app, const Options& options,
                    gt::emit::EmitJob& job) {
  std::map<std::string, size_t> next;
  for (const CLI::Option* option : app.parse_order()) {
    const std::string name = option->get_name();
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

// Gives up after an error was reported. A client of another gt-emit writes
// results, which have no marks; everything else writes a stream, which must be
// ended.
int give_up(const CLI::App& app) {
  if (!gt::ClientOptions::visits(app)) {
    gt::write_empty_stream(gt::Exit::kUsage);
  }
  return static_cast<int>(gt::Exit::kUsage);
}

int usage(const CLI::App& app, const std::string& message) {
  gt::usage_error("gt-emit", message);
  return give_up(app);
}

int serve(const CLI::App& app, Options& options) {
  gt::Exit status{};
  const std::string wrong = options.clients.serve(status);
  return wrong.empty() ? static_cast<int>(status) : usage(app, wrong);
}

int visit(const CLI::App& app, Options& options, gt::emit::EmitJob& job) {
  const bool names_input =
      app.count("FILE") + app.count("-e") + app.count("--repeat") > 0;
  // If only files are copied, standard input is not read.
  const bool has_program = names_input || !options.clients.carries_files();
  if (!has_program) job.inputs = {{gt::emit::EmitInput::Kind::kText, "", 1}};
  gt::Exit status{};
  const std::string wrong = options.clients.visit(job, has_program, status);
  return wrong.empty() ? static_cast<int>(status) : usage(app, wrong);
}

}  // namespace

int main(int argc, char** argv) {
  const gt::ProcessGuard guard;
  CLI::App app{"Check a gt program and write it as a stream.", "gt-emit"};
  Options options;
  gt::emit::EmitJob job;
  app.footer(kFooter);
  app.add_option("FILE", options.files, "programs, '-' for standard input");
  app.add_option("--repeat", options.repeats,
                 "feed FILE N times, '-' for standard input")
      ->type_name("N FILE")
      ->type_size(2)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  gt::add_list(app, "-e", options.lines, "LINE", "a line of program");
  app.add_option("--ops", options.ops,
                 "describe the ops: list, an op's name, json, mdoc, or words")
      ->type_name("WHAT")
      ->expected(0, 1)
      ->default_str("list");
  app.add_flag("--tape", job.session.tape,
               "print the history of each grad in place of the stream");
  app.add_flag("--fail-fast", job.session.fail_fast,
               "stop at the first rejected line");
  gt::add_number<int64_t>(app, "--seed", job.session.seed, INT64_MIN, INT64_MAX,
                          "first seed for lines that give none (0)");
  gt::add_number<size_t>(app, "--history", job.session.history, 0, SIZE_MAX,
                         "lines of history to keep (1000000)");
  CLI::Option* at =
      app.add_flag("--at", job.at_stdin, "write #at= for standard input too");
  app.add_flag("--no-at", options.no_at, "write no #at=")->excludes(at);
  app.add_flag("--no-replay", options.no_replay,
               "rewrite every round of a loop anew");
  options.clients.add_to(app);
  int status = 0;
  if (!gt::parse_options(app, argc, argv, status)) {
    return status == 0 ? 0 : give_up(app);
  }
  if (app.count("--ops") > 0) return describe(options.ops);
  if (std::string wrong = options.clients.wrong_combination(app);
      !wrong.empty()) {
    return usage(app, wrong);
  }
  if (gt::ClientOptions::serves(app)) return serve(app, options);
  job.session.at = !options.no_at;
  job.replay = !options.no_replay;
  if (!collect_inputs(app, options, job)) return give_up(app);
  if (gt::ClientOptions::visits(app)) return visit(app, options, job);
  gt::Writer writer(STDOUT_FILENO);
  const gt::Exit done = gt::emit::emit(job, writer, gt::say);
  return gt::finish("gt-emit", writer, done);
}
