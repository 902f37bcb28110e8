// gt-check: reads a stream, writes the same stream with its types, and reports
// findings on standard error.
#include <unistd.h>

#include "check/filter.h"
#include "program.h"

namespace {

constexpr const char* kFooter =
    R"(Reads FILE... in order ('-' or none: standard input) and writes the stream with
the inferred #type= and #spec= on every line. Findings go to standard error.
Exit status: 0 clean; 1 findings; 2 usage or local I/O; 3 a line that cannot be
read; 4 the stream was cut short; the largest of these and of the stages before.
See gt-check(1), gt-stream(5).

Examples:
  gt-emit model.gt | gt-shard -c tp2.yaml | gt-check | gt-route -n 2
  gt-check -q placed.gt && echo clean)";

}  // namespace

int main(int argc, char** argv) {
  const gt::ProcessGuard guard;
  CLI::App app{"Check the types of a sharded stream, without a cluster.",
               "gt-check"};
  gt::check::CheckJob job;
  bool global = false;
  app.footer(kFooter);
  app.add_option("FILE", job.files, "streams, '-' for standard input");
  app.add_flag("-q", job.quiet, "write no stream");
  CLI::Option* local = app.add_flag(
      "-l", job.options.local, "local mode: each line runs on what a rank has");
  app.add_flag("-g", global, "global mode, which follows shards (default)")
      ->excludes(local);
  app.add_flag("-p", job.options.permissive,
               "permissive: operands are skipped on axes that they lack");
  app.add_option("--local", job.options.local_axes,
                 "axes that are local inside global mode, the outermost")
      ->type_name("AXIS,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(local);
  app.add_flag("--explicit-partial", job.options.explicit_partial,
               "contracting a sharded dimension needs #partial=");
  app.add_flag("-t", job.trace,
               "say of each line what it reads and gives, on standard error");
  app.add_flag("--memory", job.memory,
               "say at the end what each rank holds at most, and what copies "
               "carry between ranks");
  int status = 0;
  if (!gt::parse_options(app, argc, argv, status)) {
    if (status != 0) gt::write_empty_stream(gt::Exit::kUsage);
    return status;
  }
  gt::Writer out(STDOUT_FILENO);
  const gt::Exit done = gt::check::check(job, out, gt::say);
  return gt::finish("gt-check", out, done);
}
