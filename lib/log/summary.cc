#include "log/summary.h"

#include <algorithm>
#include <tuple>

#include "base/units.h"
#include "log/table.h"

namespace gt::log {
namespace {

std::string whole(double value) { return decimal(value, 0); }

}  // namespace

void Summary::take(const Input& input) {
  Total one{1, 0, 0, 0, 0};
  if (input.form() == Input::Form::kTrace) {
    const TraceRow& row = input.trace_row();
    if (row.queue == "gpu") take_gpu(row);
    if (selection_ != nullptr &&
        !selection_->matches(subject_of(input, line_, signal_))) {
      return;
    }
    timed_ = true;
    one.bytes = static_cast<double>(row.bytes);
    one.flops = row.flops;
    one.nanoseconds = static_cast<double>(row.end - row.start);
    if (!row.worker.empty()) {
      add_to(workers_, std::string(row.worker) + " " + std::string(row.op),
             one);
    }
    if (row.signal == "-") return add(row.op, "", one);
    return add(row.op,
               row.signal.starts_with('"') ? unquote(row.signal) : row.signal,
               one);
  }
  const Priced& priced = typing_.take(input.text());
  if (selection_ != nullptr &&
      !selection_->matches(subject_of(input, line_, signal_))) {
    return;
  }
  one.untyped = priced.typed ? 0 : 1;
  one.bytes = priced.bytes;
  one.flops = priced.flops;
  add(priced.op, priced.signal, one);
}

void Summary::take_gpu(const TraceRow& row) {
  auto it = gpus_.find(row.worker);
  if (it == gpus_.end()) {
    it = gpus_.try_emplace(std::string(row.worker), Gpu{0, row.start, 0, 0})
             .first;
  }
  Gpu& gpu = it->second;
  ++gpu.lines;
  gpu.first = std::min(gpu.first, row.start);
  gpu.last = std::max(gpu.last, row.end);
  gpu.busy += static_cast<double>(row.end - row.start);
}

void Summary::add(std::string_view op, std::string_view signal,
                  const Total& one) {
  add_to(ops_, op.empty() ? "(none)" : op, one);
  add_to(signals_, signal.empty() ? "-" : signal, one);
  all_.lines += one.lines;
  all_.untyped += one.untyped;
  all_.bytes += one.bytes;
  all_.flops += one.flops;
  all_.nanoseconds += one.nanoseconds;
}

void Summary::add_to(Totals& totals, std::string_view name, const Total& one) {
  auto it = totals.find(name);
  if (it == totals.end()) {
    // Malformed input may have any number of ops.
    if (totals.size() >= kMaxRows) name = "(others)";
    it = totals.try_emplace(std::string(name)).first;
  }
  Total& total = it->second;
  total.lines += one.lines;
  total.untyped += one.untyped;
  total.bytes += one.bytes;
  total.flops += one.flops;
  total.nanoseconds += one.nanoseconds;
}

Summary::Rows Summary::sorted(const Totals& totals) const {
  Rows rows(totals.begin(), totals.end());
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    const auto key = [](const auto& row) {
      const Total& t = row.second;
      return std::tuple(-t.nanoseconds, -t.flops, -t.bytes,
                        -static_cast<double>(t.lines), row.first);
    };
    return key(a) < key(b);
  });
  return rows;
}

void Summary::append_table(std::string& out, const char* what,
                           const Totals& totals, bool with_total) const {
  std::vector<Cells> table = {{what, "lines", "bytes", "flops"}};
  if (timed_) {
    table[0].insert(table[0].end(), {"time", "share", "flops/s"});
    if (peak_ > 0) table[0].push_back("of peak");
  }
  if (all_.untyped > 0) table[0].push_back("untyped");
  Rows rows = sorted(totals);
  if (with_total) rows.emplace_back("total", all_);
  for (const auto& [name, total] : rows) {
    Cells cells = {cell(name), std::to_string(total.lines),
                   bytes_text(total.bytes), count_text(total.flops)};
    if (timed_) {
      const double share =
          100 * total.nanoseconds / std::max(all_.nanoseconds, 1.0);
      cells.push_back(time_text(total.nanoseconds));
      cells.push_back(decimal(share, 1) + " %");
      const bool has_rate = total.flops != 0 && total.nanoseconds != 0;
      const double rate = has_rate ? total.flops / total.nanoseconds * 1e9 : 0;
      cells.push_back(has_rate ? count_text(rate) : "-");
      if (peak_ > 0) {
        cells.push_back(has_rate ? decimal(100 * rate / peak_, 1) + " %" : "-");
      }
    }
    if (all_.untyped > 0) {
      cells.push_back(total.untyped == 0 ? "-" : std::to_string(total.untyped));
    }
    table.push_back(std::move(cells));
  }
  append_columns(out, table);
}

void Summary::append_gpus(std::string& out) const {
  std::vector<Cells> table = {{"gpu", "lines", "time", "busy", "idle"}};
  for (const auto& [worker, gpu] : gpus_) {
    const double time = gpu.busy + gpu.idle();
    table.push_back(
        {worker.empty() ? "-" : cell(worker), std::to_string(gpu.lines),
         time_text(time), time_text(gpu.busy),
         decimal(100 * gpu.idle() / std::max(time, 1.0), 1) + " %"});
  }
  append_columns(out, table);
}

std::string Summary::text() const {
  std::string out;
  append_table(out, "op", ops_, true);
  const bool noted = signals_.size() > 1 || !signals_.contains("-");
  if (noted && all_.lines > 0) {
    out += '\n';
    append_table(out, "signal", signals_, false);
  }
  if (!workers_.empty()) {
    out += '\n';
    append_table(out, "worker, op", workers_, false);
  }
  if (!gpus_.empty()) {
    out += '\n';
    append_gpus(out);
  }
  if (all_.untyped > 0) {
    out += "\nuntyped: " + std::to_string(all_.untyped) +
           (all_.untyped == 1 ? " line" : " lines") +
           " whose sizes do not follow from the text; gt-emit completes it\n";
  }
  return out;
}

std::string Summary::tsv() const {
  std::string out = "by\tname\tlines\tuntyped\tbytes\tflops\tnanoseconds\n";
  const auto append = [&](const char* what, const Totals& totals) {
    for (const auto& [name, total] : sorted(totals)) {
      out += std::string(what) + "\t" + cell(name) + "\t" +
             std::to_string(total.lines) + "\t" +
             std::to_string(total.untyped) + "\t" + whole(total.bytes) + "\t" +
             whole(total.flops) + "\t" +
             (timed_ ? whole(total.nanoseconds) : "-") + "\n";
    }
  };
  append("op", ops_);
  append("signal", signals_);
  append("worker-op", workers_);
  for (const auto& [worker, gpu] : gpus_) {
    out += "gpu-idle\t" + (worker.empty() ? "-" : cell(worker)) + "\t" +
           std::to_string(gpu.lines) + "\t0\t0\t0\t" + whole(gpu.idle()) + "\n";
  }
  return out;
}

}  // namespace gt::log
