// Takes any bytes as a stream, a log, a trace or results: gt-log passes them on
// unchanged, its filters pass all of what they have passed once, and every
// report comes to an end.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "log/filter.h"
#include "log/report.h"
#include "log/tee.h"
#include "memory_file.h"
#include "target.h"

namespace {

void say(std::string_view /*message*/) {}

std::string filtered(const gt::log::Selection& selection,
                     std::string_view text) {
  const MemoryFile in(text);
  const MemoryFile out;
  gt::Writer writer(out.fd());
  gt::log::filter({in.path()}, selection, writer, say);
  writer.flush();
  return out.text();
}

void check_tee(const MemoryFile& in, std::string_view text) {
  const MemoryFile out;
  const MemoryFile log;
  gt::log::Tee tee(out.fd(), log.fd(), "log", say);
  tee.run({in.path()});
  if (out.text() != text) std::abort();
}

}  // namespace

GT_FUZZ_TARGET(log) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const MemoryFile in(text);
  if (size % 16 == 0) check_tee(in, text);  // it starts a thread

  gt::log::SelectOptions select;
  select.ops = {"a*,matmul,*d"};
  select.ranks = {"0,2"};
  select.invert = size % 2 == 0;
  const gt::log::Selection selection = gt::log::Selection::make(select).value();
  const std::string once = filtered(selection, text);
  if (filtered(selection, once) != once) std::abort();

  gt::log::ReportOptions options;
  options.plot.names = "l,x";
  options.plot.as_text = size % 2 == 0;
  options.plot.look.ascii = size % 3 == 0;
  options.plot.look.log_scale = size % 5 == 0;
  for (int kind = 1;
       kind <= static_cast<int>(gt::log::ReportOptions::Kind::kPlot); ++kind) {
    options.kind = static_cast<gt::log::ReportOptions::Kind>(kind);
    const MemoryFile out;
    gt::Writer writer(out.fd());
    gt::log::report({in.path()}, options, size % 7 == 0 ? &selection : nullptr,
                    writer, say);
  }
  return 0;
}
