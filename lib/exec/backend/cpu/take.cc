// take, embedding and their gradients: a tensor whose rows an index names is
// seen as [lead,rows,trail], and what was picked from it as [lead,picks,trail].
#include <algorithm>
#include <atomic>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/view.h"
#include "exec/memory/part_runs.h"
#include "ops/shape_rules.h"

namespace gt::exec::cpu {
namespace {

// True for take and its gradient: negative numbers count from the end, and
// there may be an axis.
bool is_take(const Call& call) {
  return call.op->name == "take" || call.op->name == "take_grad";
}

class Picks {
 public:
  // `table` is the tensor with the rows.
  Picks(const Call& call, const Context& context, const Shape& table)
      : count_(call.type(1).elements()),
        wraps_(is_take(call)),
        index_(call.type(1), Dtype::kI64, *context.loops) {
    const bool has_axis = wraps_ && call.has_key("axis");
    if (call.op->name == "take" && !has_axis && table.size() != 1) {
      rows_ = {0, table.elements(), table.elements()};  // x as a list
      return;
    }
    const int64_t at = has_axis ? one_axis(call, 0, table.size()).value() : 0;
    const auto axis = static_cast<size_t>(at);
    rows_ = window_of(call, axis);
    for (size_t d = 0; d < table.size(); ++d) {
      if (d != axis) (d < axis ? lead_ : trail_) *= table[d];
    }
  }

  int64_t count() const { return count_; }
  int64_t lead() const { return lead_; }
  int64_t trail() const { return trail_; }
  int64_t rows() const { return rows_.size; }

  // The picks as one run of the kernel is given them.
  class Run;

 private:
  int64_t count_;
  bool wraps_;
  Converted index_;
  int64_t lead_ = 1, trail_ = 1;
  Window rows_;
};

class Picks::Run {
 public:
  Run(Picks& picks, const void* index)
      : picks_(picks),
        numbers_(static_cast<const int64_t*>(picks.index_.get(index))) {}

  // Calls use(i, row) for the picks [begin, end) and the rows here that they
  // name; -1 if a row is elsewhere. Stops where one names no row.
  template <typename Use>
  void each(int64_t begin, int64_t end, Use use) {
    constexpr int64_t kSome = 256;
    int64_t row[kSome];
    const int64_t* numbers = numbers_;
    const Window rows = picks_.rows_;
    const bool wraps = picks_.wraps_;
    for (int64_t i = begin; i < end; i += kSome) {
      const int64_t n = std::min(kSome, end - i);
      uint64_t wrong = 0;
      for (int64_t k = 0; k < n; ++k) {
        const int64_t named = named_by(numbers[i + k], rows, wraps);
        wrong |= rows.beyond(named);
        row[k] = named - rows.start;
      }
      if (wrong >> 63 != 0) {
        is_wrong_ = true;
        return;
      }
      if (rows.size < rows.whole) {
        for (int64_t k = 0; k < n; ++k) {
          if (row[k] < 0 || row[k] >= rows.size) row[k] = -1;
        }
      }
      for (int64_t k = 0; k < n; ++k) use(i + k, row[k]);
    }
  }

  // An error if a pick names no row: that of the first. Without any [lead],
  // nothing else has looked at the picks.
  Status status() {
    const int64_t n = picks_.count_;
    if (picks_.lead_ == 0) each(0, n, [](int64_t, int64_t) {});
    if (!is_wrong_) return ok_status();
    const Window& rows = picks_.rows_;
    const auto names = [&](int64_t i) {
      return rows.names(named_by(i, rows, picks_.wraps_));
    };
    return out_of_range(*std::find_if_not(numbers_, numbers_ + n, names), rows);
  }

 private:
  static int64_t named_by(int64_t i, const Window& rows, bool wraps) {
    return wraps && i < 0 ? i + rows.whole : i;
  }

  const Picks& picks_;
  const int64_t* numbers_;
  std::atomic<bool> is_wrong_ = false;
};

// y[l,i,t] = x[l,index[i],t]. T has the size of an element.
template <typename T>
class Take final : public Kernel {
 public:
  Take(const Call& call, const Context& context)
      : picks_(call, context, call.type(0).shape), threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    Picks::Run picks(picks_, in[1]);
    const int64_t n = picks_.count();
    const int64_t trail = picks_.trail();
    const auto size = static_cast<int64_t>(sizeof(T));
    const int64_t least = kWorthAThread / (trail * size + 8);
    for (int64_t l = 0; l < picks_.lead(); ++l) {
      const T* x = static_cast<const T*>(in[0]) + l * picks_.rows() * trail;
      T* y = static_cast<T*>(out[0]) + l * n * trail;
      in_parallel(threads_, n, least, [&](int64_t begin, int64_t end) {
        if (trail == 1) {
          picks.each(begin, end, [=](int64_t i, int64_t row) {
            y[i] = row < 0 ? T{0} : x[row];
          });
          return;
        }
        picks.each(begin, end, [=](int64_t i, int64_t row) {
          if (row < 0) {
            std::fill_n(y + i * trail, trail, T{0});
          } else {
            std::copy_n(x + row * trail, trail, y + i * trail);
          }
        });
      });
    }
    return picks.status();
  }

 private:
  Picks picks_;
  int threads_;
};

// z = 0, then z[l,index[i],t] += g[l,i,t], in the order of the index. Threads
// divide the columns, so that the order is the same for any number of threads.
template <typename T>
class TakeGrad final : public Kernel {
 public:
  TakeGrad(const Call& call, const Context& context)
      : add_(loops_for<T>(context).add_to),
        picks_(call, context, call.results[0].shape),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    Picks::Run picks(picks_, in[1]);
    const auto* g = static_cast<const T*>(in[0]);
    auto* z = static_cast<T*>(out[0]);
    const int64_t n = picks_.count();
    const int64_t trail = picks_.trail();
    const int64_t table = picks_.rows() * trail;
    const auto size = static_cast<int64_t>(sizeof(T));
    in_parallel(threads_, picks_.lead() * table, kWorthAThread / size,
                [=](int64_t begin, int64_t end) {
                  std::fill(z + begin, z + end, T{0});
                });
    if (picks_.lead() != 1) {
      each_in_parallel(threads_, picks_.lead(), 8 * n * trail, [&](int64_t l) {
        add(picks, g + l * n * trail, z + l * table, 0, trail);
      });
    } else {
      const int64_t least = kWorthAThread / (8 * std::max<int64_t>(n, 1));
      in_parallel(
          threads_, trail, std::max<int64_t>(least, 64),
          [&](int64_t begin, int64_t end) { add(picks, g, z, begin, end); });
    }
    return picks.status();
  }

 private:
  void add(Picks::Run& picks, const T* g, T* z, int64_t begin, int64_t end) {
    const int64_t trail = picks_.trail();
    if (trail == 1) {
      picks.each(0, picks_.count(), [=](int64_t i, int64_t row) {
        if (row >= 0) z[row] += g[i];
      });
      return;
    }
    picks.each(0, picks_.count(), [=, this](int64_t i, int64_t row) {
      if (row < 0) return;
      add_(z + row * trail + begin, g + i * trail + begin, end - begin);
    });
  }

  void (*add_)(T*, const T*, int64_t);
  Picks picks_;
  int threads_;
};

// A shape= without part= speaks of a tensor that is not cut yet; that is left
// to the expansion.
bool is_uncut(const Call& call) {
  return call.has_key("shape") && !call.has_key("part");
}

std::unique_ptr<Kernel> cpu_take(const Call& call, const Context& context) {
  if (is_take(call) && is_uncut(call)) return nullptr;
  return make_by_size<Take>(call, context);
}

std::unique_ptr<Kernel> cpu_take_grad(const Call& call,
                                      const Context& context) {
  if (call.type(0).dtype != call.results[0].dtype) return nullptr;
  if (is_take(call) && is_uncut(call)) return nullptr;
  return make_float<TakeGrad>(call, context);
}

constexpr KernelRow kTakeKernels[] = {
    {"take", cpu_take},
    {"take_grad", cpu_take_grad},
    {"embedding", cpu_take},
    {"embedding_grad", cpu_take_grad},
};

}  // namespace

std::span<const KernelRow> take_kernels() { return kTakeKernels; }

}  // namespace gt::exec::cpu
