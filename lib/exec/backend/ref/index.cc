// Ops that read or write where a tensor of indices says. An index must name a
// row of the whole tensor; if part= puts that row elsewhere, it reads 0 and
// writes nothing.
#include <cstring>
#include <vector>

#include "exec/backend/element.h"
#include "exec/backend/ref/ref.h"
#include "exec/backend/view.h"
#include "exec/memory/part_runs.h"

namespace gt::exec::ref {
namespace {

// Sums that are rounded once, after everything has been added.
class Totals {
 public:
  explicit Totals(const Type& type)
      : type_(type),
        real_(is_float(type.dtype) ? static_cast<size_t>(type.elements()) : 0),
        integer_(static_cast<size_t>(type.elements()) - real_.size()) {}

  void add(int64_t i, Dtype dtype, const void* data, int64_t j) {
    if (real_.empty()) {
      int64_t& sum = integer_[static_cast<size_t>(i)];
      sum = wrap_add(sum, load_int(dtype, data, j));
    } else {
      real_[static_cast<size_t>(i)] += load_real(dtype, data, j);
    }
  }
  void store(void* out) const {
    for (size_t i = 0; i < real_.size(); ++i) {
      store_real(type_.dtype, out, static_cast<int64_t>(i), real_[i]);
    }
    for (size_t i = 0; i < integer_.size(); ++i) {
      store_int(type_.dtype, out, static_cast<int64_t>(i), integer_[i]);
    }
  }

 private:
  Type type_;
  std::vector<double> real_;
  std::vector<int64_t> integer_;
};

// gather: y[i,j] = x[index[i,j],j] along axis 0, and so on.
// scatter_add: y = x, then y[index[i,j],j] += src[i,j].
class Indexed : public Kernel {
 public:
  explicit Indexed(const Call& call)
      : x_(call.type(0)),
        index_(call.type(1)),
        axis_(single_axis(call, 0)),
        rows_(window_of(call, axis_)),
        step_(strides_of(x_.shape)[axis_]) {
    if (x_.shape.empty()) step_ = 1;
  }

 protected:
  // Calls use(i, at, from) for each element i of the index: it reads or writes
  // element `at` of x, or none if `at` is -1, because the row is elsewhere.
  // `from` is the element of a tensor of shape `other` at the same position.
  template <typename Use>
  Status each(const void* index, const Shape& other, const Use& use) const {
    Strides rest = strides_of(x_.shape);
    rest[axis_] = 0;
    Walk<2> walk(index_.shape, {rest, strides_of(other)});
    const int64_t n = index_.elements();
    for (int64_t i = 0; i < n; ++i, walk.next()) {
      const int64_t row = load_int(index_.dtype, index, i);
      if (!rows_.names(row)) return out_of_range(row, rows_);
      const bool here = rows_.holds(row);
      use(i, here ? walk[0] + (row - rows_.start) * step_ : -1, walk[1]);
    }
    return ok_status();
  }

  const Type x_, index_;
  const size_t axis_;
  const Window rows_;
  int64_t step_;
};

class Gather final : public Indexed {
 public:
  using Indexed::Indexed;
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const size_t size = size_of(x_.dtype);
    const auto* from = static_cast<const char*>(in[0]);
    auto* to = static_cast<char*>(out[0]);
    return each(in[1], index_.shape, [&](int64_t i, int64_t at, int64_t) {
      char* y = to + i * static_cast<int64_t>(size);
      if (at < 0) {
        std::memset(y, 0, size);
      } else {
        std::memcpy(y, from + at * static_cast<int64_t>(size), size);
      }
    });
  }
};

class ScatterAdd final : public Indexed {
 public:
  explicit ScatterAdd(const Call& call)
      : Indexed(call), src_(call.type(2)), to_(call.results[0]) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    Totals totals(to_);
    for (int64_t i = 0; i < x_.elements(); ++i) {
      totals.add(i, x_.dtype, in[0], i);
    }
    const Status s =
        each(in[1], src_.shape, [&](int64_t, int64_t at, int64_t from) {
          if (at >= 0) totals.add(at, src_.dtype, in[2], from);
        });
    if (s.ok()) totals.store(out[0]);
    return s;
  }

 private:
  Type src_, to_;
};

// scatter: y = x, then y[index[i,j],j] = src[i,j], in row-major order.
class Scatter final : public Indexed {
 public:
  using Indexed::Indexed;
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto size = static_cast<int64_t>(size_of(x_.dtype));
    const auto* from = static_cast<const char*>(in[2]);
    auto* to = static_cast<char*>(out[0]);
    if (x_.elements() > 0) std::memcpy(to, in[0], x_.bytes());
    return each(in[1], index_.shape, [&](int64_t i, int64_t at, int64_t) {
      if (at < 0) return;
      std::memcpy(to + at * size, from + i * size, static_cast<size_t>(size));
    });
  }
};

// embedding: y[..,d] = table[ids[..],d].
class Embedding final : public Kernel {
 public:
  explicit Embedding(const Call& call)
      : table_(call.type(0)), ids_(call.type(1)), rows_(window_of(call, 0)) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const int64_t bytes =
        table_.shape[1] * static_cast<int64_t>(size_of(table_.dtype));
    for (int64_t i = 0; i < ids_.elements(); ++i) {
      const int64_t row = load_int(ids_.dtype, in[1], i);
      if (!rows_.names(row)) return out_of_range(row, rows_);
      char* y = static_cast<char*>(out[0]) + i * bytes;
      if (rows_.holds(row)) {
        const auto* table = static_cast<const char*>(in[0]);
        std::memcpy(y, table + (row - rows_.start) * bytes,
                    static_cast<size_t>(bytes));
      } else {
        std::memset(y, 0, static_cast<size_t>(bytes));
      }
    }
    return ok_status();
  }

 private:
  Type table_, ids_;
  Window rows_;
};

// embedding_grad: dtable = 0, then dtable[ids[..],d] += dy[..,d].
class EmbeddingGrad final : public Kernel {
 public:
  explicit EmbeddingGrad(const Call& call)
      : dy_(call.type(0)),
        ids_(call.type(1)),
        to_(call.results[0]),
        rows_(window_of(call, 0)) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const int64_t width = to_.shape.back();
    Totals totals(to_);
    for (int64_t i = 0; i < ids_.elements(); ++i) {
      const int64_t row = load_int(ids_.dtype, in[1], i);
      if (!rows_.names(row)) return out_of_range(row, rows_);
      const int64_t at = (row - rows_.start) * width;
      for (int64_t j = 0; rows_.holds(row) && j < width; ++j) {
        totals.add(at + j, dy_.dtype, in[0], i * width + j);
      }
    }
    totals.store(out[0]);
    return ok_status();
  }

 private:
  Type dy_, ids_, to_;
  Window rows_;
};

constexpr KernelRow kIndexKernels[] = {
    {"gather", make<Gather>},
    {"scatter_add", make<ScatterAdd>},
    {"scatter", make<Scatter>},
    {"embedding", make<Embedding>},
    {"embedding_grad", make<EmbeddingGrad>},
};

}  // namespace

std::span<const KernelRow> index_kernels() { return kIndexKernels; }

}  // namespace gt::exec::ref
