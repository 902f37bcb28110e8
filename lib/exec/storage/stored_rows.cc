#include "exec/storage/stored_rows.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/io.h"
#include "exec/backend/view.h"
#include "exec/memory/part_runs.h"

namespace gt::exec {
namespace {

constexpr size_t kReadChunk = size_t{1} << 20;  // bytes read at a time

// Reads a block's bytes in the order that they have in the file. Runs that lie
// near each other are read together, with the bytes between them.
class BlockReader {
 public:
  // `block` and `part` must be in the file's order, the slowest varying
  // dimension first.
  BlockReader(int fd, const StoredTensor& stored, const Shape& block,
              const Part& part)
      : fd_(fd),
        data_offset_(stored.data_offset),
        item_(static_cast<int64_t>(size_of(stored.type.dtype))),
        runs_(block, part),
        elements_(block.elements()) {}

  // Returns the most elements to read at a time through a buffer.
  int64_t at_once() const { return static_cast<int64_t>(kReadChunk) / item_; }
  int64_t elements() const { return elements_; }

  // Reads elements [first, last) of the block.
  Status read(int64_t first, int64_t last, char* out) {
    Status s = ok_status();
    group_.clear();
    const auto add = [&](int64_t i, int64_t g, int64_t n) {
      if (!s.ok()) return;
      if (!group_.empty() && !belongs(g, n)) s = flush(first, out);
      group_.push_back({i, g, n});
      wanted_ += n;
    };
    runs_.each(first, last, add);
    if (s.ok() && !group_.empty()) s = flush(first, out);
    return s;
  }

 private:
  struct Run {
    // Places in the block and in the file, in elements.
    int64_t at, from, count;
  };

  // True if a run can be read together with the group: at least an eighth of
  // the bytes read must be wanted.
  bool belongs(int64_t from, int64_t count) const {
    const int64_t span = from + count - group_[0].from;
    return span <= at_once() && span / 8 <= wanted_ + count;
  }

  Status flush(int64_t first, char* out) {
    const Run begin = group_.front();
    const Run end = group_.back();
    const int64_t span = end.from + end.count - begin.from;
    const auto bytes = static_cast<size_t>(span * item_);
    char* to = out + (begin.at - first) * item_;
    if (group_.size() > 1) {
      between_.resize(bytes);
      to = between_.data();
    }
    const Status s = read_at(
        fd_, data_offset_ + static_cast<size_t>(begin.from * item_), to, bytes);
    if (!s.ok()) return s;
    for (size_t i = 0; group_.size() > 1 && i < group_.size(); ++i) {
      const Run& run = group_[i];
      std::memcpy(out + (run.at - first) * item_,
                  to + (run.from - begin.from) * item_,
                  static_cast<size_t>(run.count * item_));
    }
    group_.clear();
    wanted_ = 0;
    return s;
  }

  int fd_;
  size_t data_offset_;
  int64_t item_;
  PartRuns runs_;
  int64_t elements_;
  std::vector<Run> group_;
  int64_t wanted_ = 0;  // elements of the group
  std::vector<char> between_;
};

Shape reversed(const Shape& shape) {
  Shape out;
  for (size_t d = shape.size(); d > 0; --d) out.push_back(shape[d - 1]);
  return out;
}

// Reads from a Fortran-ordered file, in which the first dimension varies
// fastest: the block is read in the file's order, a chunk at a time, and each
// element is put in its place.
Status read_fortran(int fd, const StoredTensor& stored, const Type& type,
                    const Part& part, char* out) {
  const Shape block = reversed(type.shape);
  BlockReader reader(fd, stored, block,
                     {reversed(part.start), reversed(part.whole)});
  const Strides row_major = strides_of(type.shape);
  Strides strides{};
  for (size_t d = 0; d < block.size(); ++d) {
    strides[d] = row_major[block.size() - 1 - d];
  }
  Walk<1> walk(block, {strides});
  const size_t item = size_of(type.dtype);
  std::vector<char> chunk;
  for (int64_t first = 0; first < reader.elements();
       first += reader.at_once()) {
    const int64_t last = std::min(first + reader.at_once(), reader.elements());
    chunk.resize(static_cast<size_t>(last - first) * item);
    const Status s = reader.read(first, last, chunk.data());
    if (!s.ok()) return s;
    for (int64_t i = first; i < last; ++i, walk.next()) {
      std::memcpy(out + static_cast<size_t>(walk[0]) * item,
                  chunk.data() + static_cast<size_t>(i - first) * item, item);
    }
  }
  return ok_status();
}

void swap_bytes(char* data, size_t bytes, size_t item) {
  for (size_t at = 0; at < bytes; at += item) {
    std::reverse(data + at, data + at + item);
  }
}

// Error: the file does not have the stated type's rows from `row` on.
Status check_rows(const StoredTensor& stored, const Type& type, int64_t row) {
  const Type& file = stored.type;
  const Error differs{"holds " + to_string(file) + ", not " + to_string(type)};
  if (file.dtype != type.dtype) {
    return Error{differs.message + "; load it as " +
                 std::string(to_string(file.dtype)) + " and cast"};
  }
  if (file.shape.size() != type.shape.size()) return differs;
  for (size_t d = 1; d < file.shape.size(); ++d) {
    if (file.shape[d] != type.shape[d]) return differs;
  }
  const int64_t have = file.shape.empty() ? 1 : file.shape[0];
  const int64_t want = type.shape.empty() ? 1 : type.shape[0];
  if (row < 0) {
    return Error{"has no row " + std::to_string(row)};
  }
  if (want > have || row > have - want) {
    return Error{"has " + std::to_string(have) + " rows, not " +
                 std::to_string(want) + " from row " + std::to_string(row) +
                 " on"};
  }
  return ok_status();
}

}  // namespace

Status read_block(int fd, const StoredTensor& stored, const Type& type,
                  int64_t row, Part part, void* out) {
  Status s = check_rows(stored, {type.dtype, part.whole}, row);
  if (!s.ok()) return s;
  const size_t bytes = type.bytes();
  if (bytes == 0) return ok_status();
  if (!type.shape.empty()) {
    part.start[0] += row;
    part.whole[0] = stored.type.shape[0];
  }
  auto* to = static_cast<char*>(out);
  if (stored.fortran_order && type.shape.size() > 1) {
    s = read_fortran(fd, stored, type, part, to);
  } else {
    BlockReader reader(fd, stored, type.shape, part);
    s = reader.read(0, reader.elements(), to);
  }
  if (!s.ok()) return s;
  if (stored.big_endian) swap_bytes(to, bytes, size_of(type.dtype));
  if (type.dtype == Dtype::kBool) {
    for (size_t i = 0; i < bytes; ++i) to[i] = to[i] != 0 ? 1 : 0;
  }
  return ok_status();
}

}  // namespace gt::exec
