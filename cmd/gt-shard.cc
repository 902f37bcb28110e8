// gt-shard: reads a stream and a config, and writes a placed stream.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "arguments.h"
#include "base/io.h"
#include "base/message.h"
#include "program.h"
#include "shard/shard.h"

namespace {

constexpr const char* kFooter =
    R"(Reads FILE... in order ('-' or none: standard input), a stream, and writes it so
that each line runs on the ranks of a mesh, as the config says.
Exit status: 0 done; 2 usage or local I/O; 3 a config or a line was rejected;
4 the stream was cut short. See gt-shard(1), gt-config(5).

Examples:
  gt-emit model.gt | gt-shard -c tp2.yaml | gt-work
  gt-emit model.gt | gt-shard -c tp2.yaml | gt-route -n 2
  gt-emit model.gt | gt-shard -c tp2.yaml --explain > /dev/null)";

struct Options {
  std::string config;
  int64_t workers = 0;
  bool plan = false;
};

// With --plan the output is no stream, and needs no end.
int give_up(const Options& options, gt::Exit status) {
  if (!options.plan) gt::write_empty_stream(status);
  return static_cast<int>(status);
}

void add_options(gt::Arguments& args, Options& options,
                 gt::shard::ShardJob& job) {
  args.files("FILE", job.files, "streams, '-' for standard input");
  args.text("-c,--config", options.config,
            "what runs where, and how tensors are cut (GT_CONFIG)")
      .type("YAML");
  args.number<int64_t>("-n,--ranks", options.workers, 1, 65536,
                       "ranks, where the config does not say how many");
  args.flag("--explain", job.explain,
            "say of each line what was chosen, and what it would have cost");
  args.flag("--summary", job.summary,
            "say at the end what the stream is expected to cost");
  args.flag("--plan", options.plan,
            "read one whole step, or a form of it from each FILE, and write a "
            "config for -n ranks in place of the stream; -c may say all but "
            "signals: and tensors:");
}

// Reads the config's file, if there is one. Returns 0, or errno.
int read_config(const std::string& file, std::string& text) {
  // The parser reports a config that is too long.
  constexpr size_t kEnough = (size_t{1} << 20) + 1;
  return file.empty() ? 0 : gt::read_whole(file, text, kEnough);
}

int plan(const gt::shard::ShardJob& job, const gt::shard::Config& config,
         int64_t workers) {
  const int64_t ranks = config.has_mesh() ? config.mesh().size() : workers;
  if (ranks == 0) {
    gt::say(
        "gt-shard: --plan needs -n, the number of ranks, or a config with a "
        "mesh:\n");
    return static_cast<int>(gt::Exit::kUsage);
  }
  gt::Writer writer(STDOUT_FILENO);
  const gt::Exit done =
      gt::shard::plan_config(job, config, ranks, writer, gt::say);
  return gt::finish("gt-shard", writer, done);
}

}  // namespace

int main(int argc, char** argv) {
  const gt::ProcessGuard guard;
  gt::Arguments args(
      "gt-shard", "Rewrite a stream to run on the ranks of a mesh.", kFooter);
  Options options;
  gt::shard::ShardJob job;
  job.tell = gt::tell;
  add_options(args, options, job);
  int status = 0;
  if (!args.parse(argc, argv, status)) {
    if (status != 0) gt::write_empty_stream(gt::Exit::kUsage);
    return status;
  }
  if (args.has("--config") && options.config.empty()) {
    if (!options.plan) gt::write_empty_stream(gt::Exit::kUsage);
    return gt::usage_error("gt-shard", "-c: '' is no file");
  }
  const char* from_environment = std::getenv("GT_CONFIG");
  if (options.config.empty() && from_environment != nullptr) {
    options.config = from_environment;
  }
  if (options.config.empty() && !options.plan) {
    gt::tell(
        "gt-shard: no config is given, by -c or GT_CONFIG, so the stream "
        "passes as it comes\n");
  }
  std::string text;
  if (const int error = read_config(options.config, text); error != 0) {
    gt::say("gt-shard: cannot read " + options.config + ": " +
            std::strerror(error) + "\n");
    return give_up(options, gt::Exit::kUsage);
  }
  std::string_view culprit;
  const auto config =
      gt::shard::Config::parse(text, options.config, options.workers, &culprit);
  if (!config.ok()) {
    gt::say(gt::format_error("gt-shard", {}, config.error(), culprit));
    return give_up(options, gt::Exit::kRejected);
  }
  if (options.plan) return plan(job, config.value(), options.workers);
  gt::Writer writer(STDOUT_FILENO);
  const gt::Exit done = gt::shard::shard(job, config.value(), writer, gt::say);
  return gt::finish("gt-shard", writer, done);
}
