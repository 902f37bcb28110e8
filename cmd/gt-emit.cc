// gt-emit: gt source in, a checked stream out.
#include <pwd.h>
#include <unistd.h>

#include <map>

#include "emit/emitter.h"
#include "links.h"
#include "ops/catalog.h"
#include "program.h"
#include "serve/server.h"
#include "serve/visit.h"

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
  // Of -l, for many clients.
  gt::ListenOptions listen{"-l", "gt-emit"};
  gt::serve::ServerOptions server;
  std::vector<std::string> shares;
  std::string memory;
  // Of --to, for one of them.
  gt::ConnectOptions to{"--to", "--server-key", "gt-emit", "gt-emit"};
  std::string user;
  std::string key;
  bool insecure = false;
  double silence = 1.5;
};

// Inputs in the order of the command line.
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
      // The order names it once for each of its two values.
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
  // -e lines are one program, so that a message can name the line.
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

void add_link_options(CLI::App& app, Options& options) {
  app.add_option("-l", options.listen.endpoint,
                 "serve clients at this endpoint, as tcp://127.0.0.1:5550 or "
                 "ipc:///tmp/gt; needs --back")
      ->type_name("ENDPOINT");
  app.add_option("--back", options.server.back,
                 "with -l: the FIFO into which the last stage writes results")
      ->type_name("FILE");
  app.add_option(
         "--share", options.shares,
         "with -l: the user's part of the workers, against 1 of others; "
         "may be repeated")
      ->type_name("USER=N")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--files", options.server.desk.files,
                 "with -l: each user loads and saves below DIR/USER (nothing)")
      ->type_name("DIR");
  app.add_option("--quota", options.memory,
                 "with -l: bytes that the values of a client may take");
  gt::add_number<uint64_t>(app, "--quota-names",
                           options.server.desk.quota.names, 1, SIZE_MAX,
                           "with -l: names that a client may hold (1000000)");
  gt::add_number<size_t>(app, "--clients", options.server.most, 1, 65536,
                         "with -l: how many may be there at once (256)");
  app.add_option("--to", options.to.endpoint,
                 "have the program run by the gt-emit -l there, and write its "
                 "results")
      ->type_name("ENDPOINT")
      ->envname("GT_CONNECT");
  app.add_option("--user", options.user,
                 "with --to: who this is (the user's name)")
      ->type_name("NAME");
  app.add_option("--key", options.key,
                 "with -l and --to: the secret key of this gt-emit, see "
                 "gt-key(1); connections are then encrypted")
      ->type_name("FILE");
  app.add_option("--allow", options.listen.allow,
                 "with -l and --key: public keys of those who may come, one a "
                 "line")
      ->type_name("FILE");
  app.add_option("--server-key", options.to.open_key,
                 "with --to and --key: the public key of who listens there")
      ->type_name("FILE");
  app.add_flag("--insecure", options.insecure,
               "with -l and --to: without keys, take whoever is there");
  gt::add_number<double>(app, "--silence", options.silence, 1, 1e6,
                         "with -l and --to: seconds after which a peer that "
                         "says nothing is lost, 1 or more (1.5)")
      ->type_name("SECONDS")
      ->envname("GT_SILENCE");
  app.add_flag("-v", options.server.verbose, "with -l: say who comes and goes")
      ->envname("GT_VERBOSE");
}

int usage(const std::string& message) {
  gt::say("gt-emit: " + message + "; try gt-emit --help\n");
  gt::write_empty_stream(gt::Exit::kUsage);
  return static_cast<int>(gt::Exit::kUsage);
}

// What is wrong with options of which one needs or excludes another, or "".
std::string wrong_combination(const CLI::App& app) {
  const bool listens = app.count("-l") > 0;
  const bool visits = app.count("--to") > 0;
  const auto given = [&app](const char* name) { return app.count(name) > 0; };
  if (listens && visits) return "-l serves and --to is served; give one";
  for (const char* name : {"--back", "--share", "--files", "--quota",
                           "--quota-names", "--clients", "--allow"}) {
    if (given(name) && !listens) return std::string(name) + " needs -l";
  }
  for (const char* name : {"--user", "--server-key"}) {
    if (given(name) && !visits) return std::string(name) + " needs --to";
  }
  for (const char* name : {"--key", "--insecure"}) {
    if (given(name) && !listens && !visits) {
      return std::string(name) + " needs -l or --to";
    }
  }
  if (listens && !given("--back")) {
    return "-l needs --back, the FIFO of the results";
  }
  for (const char* name : {"FILE", "--repeat", "-e", "--tape", "--seed",
                           "--fail-fast", "--at", "--no-at"}) {
    if (listens && given(name)) {
      return std::string(name) +
             " is for one program; with -l they come from clients";
    }
  }
  if (visits && given("--tape")) return "--tape is told here, without --to";
  return "";
}

// The name of the user whose process this is, or its number.
std::string user_name() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr ? "u" + std::to_string(::getuid()) : entry->pw_name;
}

std::string read_shares(Options& options) {
  for (const std::string& text : options.shares) {
    const size_t equal = text.find('=');
    double share = 0;
    if (equal == 0 || equal == std::string::npos ||
        !gt::read_number(text.substr(equal + 1), share) || share < 0.001 ||
        share > 1000) {
      return "--share: '" + text +
             "' is not USER=N with a number from 0.001 to 1000";
    }
    options.server.desk.shares[text.substr(0, equal)] = share;
  }
  return "";
}

int serve(Options& options) {
  options.listen.key = options.key;
  options.listen.insecure = options.insecure;
  std::string wrong = options.listen.read();
  if (wrong.empty()) wrong = read_shares(options);
  size_t bytes = SIZE_MAX;
  if (wrong.empty() && !options.memory.empty() &&
      (!gt::parse_size(options.memory, bytes) || bytes == 0)) {
    wrong =
        "--quota: '" + options.memory + "' is not a size such as 512M or 2G";
  }
  if (!wrong.empty()) return usage(wrong);
  options.server.desk.quota.bytes = bytes;
  options.server.endpoint = options.listen.endpoint;
  options.server.keys = options.listen.keys;
  options.server.admits = options.listen.admits;
  options.server.allow = options.listen.allow;
  options.server.anyone = options.insecure;
  options.server.silence = static_cast<int64_t>(options.silence * 1000);
  return static_cast<int>(gt::serve::run_server(options.server, gt::say));
}

int visit(Options& options, const gt::emit::EmitJob& job) {
  options.to.key = options.key;
  options.to.insecure = options.insecure;
  const std::string wrong = options.to.read();
  if (!wrong.empty()) {
    gt::say("gt-emit: " + wrong + "; try gt-emit --help\n");
    return static_cast<int>(gt::Exit::kUsage);
  }
  gt::serve::VisitOptions visit;
  visit.endpoint = options.to.endpoint;
  visit.keys = options.to.keys;
  visit.server_key = options.to.other_key;
  visit.anyone = options.insecure;
  visit.silence = static_cast<int64_t>(options.silence * 1000);
  visit.user = options.user.empty() ? user_name() : options.user;
  return static_cast<int>(gt::serve::run_visit(job, visit, gt::say));
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
  app.add_option("-e", options.lines, "a line of program")
      ->type_name("LINE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
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
  app.add_flag("--at", job.at_stdin, "write #at= for standard input too");
  app.add_flag("--no-at", options.no_at, "write no #at=");
  app.add_flag("--no-replay", options.no_replay,
               "rewrite every round of a loop anew");
  add_link_options(app, options);
  int status = 0;
  if (!gt::parse_options(app, argc, argv, status)) {
    if (status != 0) gt::write_empty_stream(gt::Exit::kUsage);
    return status;
  }
  if (app.count("--ops") > 0) return describe(options.ops);
  if (std::string wrong = wrong_combination(app); !wrong.empty()) {
    return usage(wrong);
  }
  if (app.count("-l") > 0) return serve(options);
  job.session.at = !options.no_at;
  job.replay = !options.no_replay;
  if (!collect_inputs(app, options, job)) {
    gt::write_empty_stream(gt::Exit::kUsage);
    return static_cast<int>(gt::Exit::kUsage);
  }
  if (!options.to.endpoint.empty()) return visit(options, job);
  gt::Writer writer(STDOUT_FILENO);
  const gt::Exit done = gt::emit::emit(job, writer, gt::say);
  return gt::finish("gt-emit", writer, done);
}
