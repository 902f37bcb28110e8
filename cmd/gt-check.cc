// gt-check: reads a stream, writes the same stream with its types, and reports
// findings on standard error.
#include <unistd.h>

#include "arguments.h"
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
  gt::Arguments args("gt-check",
                     "Check the types of a sharded stream, without a cluster.",
                     kFooter);
  gt::check::CheckJob job;
  bool global = false;
  args.files("FILE", job.files, "streams, '-' for standard input");
  args.flag("-q", job.quiet, "write no stream");
  const gt::Option local = args.flag(
      "-l", job.options.local, "local mode: each line runs on what a rank has");
  args.flag("-g", global, "global mode, which follows shards (default)")
      .excludes(local);
  args.flag("-p", job.options.permissive,
            "permissive: operands are skipped on axes that they lack");
  args.list("--local", job.options.local_axes, "AXIS,...",
            "axes that are local inside global mode, the outermost", ',')
      .excludes(local);
  args.flag("--explicit-partial", job.options.explicit_partial,
            "contracting a sharded dimension needs #partial=");
  args.flag("-t", job.trace,
            "say of each line what it reads and gives, on standard error");
  args.flag("--memory", job.memory,
            "say at the end what each rank holds at most, and what copies "
            "carry between ranks");
  int status = 0;
  if (!args.parse(argc, argv, status)) {
    if (status != 0) gt::write_empty_stream(gt::Exit::kUsage);
    return status;
  }
  gt::Writer out(STDOUT_FILENO);
  const gt::Exit done = gt::check::check(job, out, gt::say);
  return gt::finish("gt-check", out, done);
}
