// Files of tensors: their types, loading and saving, checkpoints, and batches
// of rows.
#pragma once

#include <cinttypes>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gt/gt.h>

namespace gt::inline v1 {

// Returns the type of a tensor in the file "f.npy" or "f.safetensors:NAME": the
// type that was last saved there, else that of the file. On a cluster it is
// known only of files that this session has saved, sent or fetched.
inline Type stored_type(const std::string& path, At at = At::here()) {
  int64_t sizes[8];
  gt_type type{};
  detail::check(gt_stored_type(current_session(at), path.c_str(), &type, sizes),
                at);
  return {Shape(sizes, sizes + type.rank), Dtype(type.dtype)};
}

// Copy files to and from a cluster, which has files of its own: load and save
// mean those. send() stores a file of this process there, and must come before
// the file is loaded; fetch() waits for all saves, and copies a file to here.
// Both keep the path, which must be relative and have no "..". Where the
// program runs on this machine, they do nothing.
inline void send(const std::string& path, At at = At::here()) {
  detail::check(gt_send_file(current_session(at), path.c_str()), at);
}
inline void fetch(const std::string& path, At at = At::here()) {
  detail::check(gt_fetch_file(current_session(at), path.c_str()), at);
}

// Loads `rows` rows of a tensor in a file, from row `first` on, which is a
// number or a scalar tensor. The workers read these rows, and no others; this
// process reads none.
inline Tensor load_rows(const std::string& path, const Input& first,
                        int64_t rows, At at = At::here()) {
  Type type = stored_type(path, at);
  if (type.shape.empty()) {
    gt_set_error(GT_WRONG, "load_rows: %s holds a scalar", path.c_str());
    detail::fail(at);
  }
  type.shape[0] = rows;
  return load(path, type, first, at);
}

// Writes a line that saves the tensor at "f.npy" or "f.safetensors:NAME". Does
// not wait; a later load of that path sees the tensor.
inline void save(const Tensor& x, const std::string& path, At at = At::here()) {
  detail::Call call("save", at);
  call.add(x);
  call.add_text(GT_STRING, path);
  call.bind(nullptr, 0);
}

// Returns a copy of the count from which random ops without a seed draw, i64[],
// which a run that is to go on saves with its states. There is one after
// manual_seed().
inline Tensor rng_state(At at = At::here()) {
  detail::Call call("cast", at);  // whose result has a type that is known
  call.add_text(GT_TEXT, "_eseed");
  call.add(i64);
  return call.run();
}
// Random ops without a seed go on from such a count.
inline void set_rng_state(const Tensor& state, At at = At::here()) {
  line("_eseed = copy " + state.name(), at);
}

// Tensors with the names under which they are stored.
using StateDict = std::vector<std::pair<std::string, Tensor>>;

namespace detail {

// Not inlined: the code that grows a vector is large.
[[gnu::noinline]] inline void append(StateDict& to, const std::string& name,
                                     const Tensor& tensor) {
  to.emplace_back(name, tensor);
}

}  // namespace detail

namespace detail {

// Returns a and b with a character between them, such as "mlp.w".
[[gnu::noinline]] inline std::string joined(const std::string& a, char between,
                                            const std::string& b) {
  std::string out = a;
  out += between;
  out += b;
  return out;
}

// Throws unless the path is that of a safetensors file: at another one each
// tensor would be a file of its own.
[[gnu::noinline]] inline void need_states_path(const std::string& path, At at) {
  if (path.ends_with(".safetensors")) return;
  gt_set_error(GT_WRONG,
               "a state is kept in a safetensors file, whose path ends with "
               ".safetensors; got \"%s\"",
               path.c_str());
  fail(at);
}

}  // namespace detail

// Writes lines that save the tensors in a safetensors file, each under its
// name. Does not wait. The file is written as a whole, or not at all.
inline void save(const StateDict& state, const std::string& path,
                 At at = At::here()) {
  detail::need_states_path(path, at);
  gt_session* session = nullptr;
  std::vector<gt_value*> values;
  std::vector<const char*> names;
  for (const auto& [name, tensor] : state) {
    values.push_back(tensor.raw());
    names.push_back(name.c_str());
    if (session == nullptr) session = gt_session_of(tensor.raw());
  }
  if (session == nullptr) session = current_session(at);
  detail::check(gt_save(session, path.c_str(), values.data(), names.data(),
                        values.size(), at),
                at);
}
// Writes lines that bind the tensors again to those of the file, each found by
// its name. The types must be the same.
inline void load(const StateDict& state, const std::string& path,
                 At at = At::here()) {
  detail::need_states_path(path, at);
  for (const auto& [name, tensor] : state) {
    detail::Call call("load", at);
    const std::string place = detail::joined(path, ':', name);
    const Type type = tensor.type(at);
    call.add_text(GT_STRING, place);
    call.add(type);
    gt_value* const into[] = {tensor.raw()};
    call.bind(into, 1);
  }
}
// Returns the entries of several dictionaries: joined({model.state_dict(),
// optimizer.state_dict()}).
inline StateDict joined(std::initializer_list<StateDict> parts) {
  StateDict out;
  for (const StateDict& part : parts) {
    for (const auto& [name, x] : part) detail::append(out, name, x);
  }
  return out;
}

struct BatchesOptions {
  int64_t first = 0;  // the first row of the file that is used
  // The number of rows used; 0: all from `first` to the end.
  int64_t rows = 0;
  // The register that counts rows is called NAME.row.
  std::string name = "batch";
};
// Goes through .npy files of equal length in batches of neighbouring rows, over
// and over. A batch is one line for each file, `x = load "x.npy" f32[100,64]
// batch.row`, and the same text each time: the row is a register, which the
// stream itself increases. Rows at the end that do not fill a batch are left
// out.
class Batches {
 public:
  Batches(std::vector<std::string> paths, int64_t size,
          const BatchesOptions& options = {}, At at = At::here())
      : paths_(std::move(paths)), first_(options.first) {
    int64_t rows = options.rows;
    for (const std::string& path : paths_) {
      Type type = stored_type(path, at);
      if (type.shape.empty()) {
        gt_set_error(GT_WRONG, "Batches: %s holds a scalar, which has no rows",
                     path.c_str());
        detail::fail(at);
      }
      const int64_t there = type.shape[0] - first_;
      if (first_ < 0 || there <= 0) {
        gt_set_error(GT_WRONG,
                     "Batches: %s has %" PRId64 " rows, and no row %" PRId64,
                     path.c_str(), type.shape[0], first_);
        detail::fail(at);
      }
      if (rows == 0) rows = there;
      if (there < rows) {
        gt_set_error(GT_WRONG,
                     "Batches: %s has %" PRId64 " rows from row %" PRId64
                     " on, not %" PRId64,
                     path.c_str(), there, first_, rows);
        detail::fail(at);
      }
      type.shape[0] = size;
      types_.push_back(std::move(type));
    }
    if (size < 1 || rows < size) {
      gt_set_error(GT_WRONG,
                   "Batches: there is no batch of %" PRId64 " rows in %" PRId64,
                   size, rows < 0 ? 0 : rows);
      detail::fail(at);
    }
    size_ = size;
    steps_ = rows / size;
    row_name_ = options.name;
    row_name_ += ".row";
    const int64_t zero = 0;
    row_ = from_blob(&zero, i64(), row_name_, at);
  }

  // Returns the number of batches in one round through the files.
  int64_t steps() const { return steps_; }
  // Returns the next batch: a tensor of each file.
  std::vector<Tensor> next(At at = At::here()) {
    std::vector<Tensor> out;
    {
      const Signal signal("batch");
      const Tensor row = first_ == 0 ? row_ : add(row_, first_, at);
      for (size_t i = 0; i < paths_.size(); ++i) {
        out.push_back(gt::load(paths_[i], types_[i], row, at));
      }
    }
    row_.add_(size_, at);
    row_.mod_(steps_ * size_, at);
    return out;
  }
  // Returns the position in the files, to be saved with a checkpoint.
  StateDict state_dict() const {
    StateDict out;
    detail::append(out, row_name_, row_);
    return out;
  }

 private:
  std::vector<std::string> paths_;
  std::vector<Type> types_;
  int64_t first_;
  int64_t size_ = 0;
  int64_t steps_ = 0;
  std::string row_name_;
  Tensor row_;
};

}  // namespace gt::inline v1
