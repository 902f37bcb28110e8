// libnccl.so.2 of the fake device: ranks are processes, and values that they
// send are files in a shared folder, whose path is the unique id. As with the
// library itself, a group is given to its stream after the call, a send is done
// when it has been received, and two ranks must not have one GPU. Each rank
// writes its part of a split at once and reads the others' when all are
// written; the new communicator comes some time after the parent is done with
// it.
//
//   GT_FAKE_NCCL_HOME=D    where folders are made (/tmp)
//   GT_FAKE_NCCL_HANG=R:K  the K-th group or split of the process that is rank
//                          R of the whole never ends
//   GT_FAKE_NCCL_DIE=R:K   rank R is killed in its K-th group or split
//   GT_FAKE_NCCL_REPORT=F  at its end a rank adds a line to the file: how many
//                          groups it had, how many bytes it sent, and how
//                          many sums it got; of a split's, "split 1, rank ..."
#include <nccl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/backend/element.h"
#include "machine.h"

namespace fs = std::filesystem;

namespace {

struct Operation {
  bool is_send = false;
  uint64_t data = 0;
  size_t bytes = 0;
  int peer = 0;
  std::string file;
  std::shared_ptr<std::vector<char>> into;  // to receive, not data
  bool is_begun = false, is_done = false;
};

// What a rank adds up once it has the others' values: from the last rank to the
// first, which is not the order of gt's own sums.
struct Sum {
  gt::Dtype dtype = gt::Dtype::kF32;
  uint64_t data = 0, result = 0;
  size_t count = 0;
  int rank = 0;
  std::vector<std::shared_ptr<std::vector<char>>> others;  // null for its own
};

struct Group {
  std::vector<Operation> operations;
  std::vector<Sum> sums;
  void* stream = nullptr;
  int number = 0;
};

// A split of a rank that is not done yet.
struct Split {
  int number = 0;  // counted with groups
  int color = 0;
  ncclComm_t* child = nullptr;
  int late = 0;  // so often more it is asked in vain
};

struct Comm {
  std::string home;
  std::string name;  // only a split has one
  int who = 0;       // its rank in the whole
  int rank = 0, ranks = 0;
  bool is_joined = false, is_aborted = false;
  std::vector<uint64_t> sent, received;  // by peer
  int groups = 0, sums = 0;
  uint64_t bytes = 0;
  int late = 0;  // so often more it is asked in vain
  std::shared_ptr<Group> waiting;
  int splits = 0;
  std::optional<Split> split;
  std::atomic<int> given = 0;  // groups that are not done
};

// How many groups and splits this process has begun.
int& begun() {
  static int count = 0;
  return count;
}

struct Open {  // the group of this thread
  int depth = 0;
  std::shared_ptr<Comm>* comm = nullptr;
  std::shared_ptr<Group> group;
};
thread_local Open open_group;

std::shared_ptr<Comm>& of(ncclComm_t comm) {
  return *reinterpret_cast<std::shared_ptr<Comm>*>(comm);
}

// Whether a variable "R:K" means this group.
bool is_meant(const char* variable, const Comm& comm, int number) {
  const char* text = std::getenv(variable);
  return text != nullptr &&
         text == std::to_string(comm.who) + ":" + std::to_string(number);
}

void put(const std::string& path, const void* data, size_t bytes) {
  const std::string part = path + ".part";
  std::ofstream(part, std::ios::binary)
      .write(static_cast<const char*>(data), static_cast<long>(bytes));
  fs::rename(part, path);
}

void send(Operation& op) {
  if (!op.is_begun) put(op.file, gt_fake_at(op.data, op.bytes), op.bytes);
  op.is_begun = true;
  op.is_done = !fs::exists(op.file);
}

void receive(Operation& op) {
  std::error_code none;
  const auto size = fs::file_size(op.file, none);
  if (none) return;
  if (size != op.bytes) gt::fake::wrong("a rank sends more or less", op.data);
  char* to = op.into != nullptr
                 ? op.into->data()
                 : static_cast<char*>(gt_fake_at(op.data, op.bytes));
  std::ifstream(op.file, std::ios::binary)
      .read(to, static_cast<long>(op.bytes));
  if (op.into == nullptr) gt_fake_check(op.data);
  fs::remove(op.file);
  op.is_done = true;
}

void add_up(const Sum& sum) {
  using gt::exec::load_real;
  const size_t bytes = sum.count * static_cast<size_t>(size_of(sum.dtype));
  const void* own = gt_fake_at(sum.data, bytes);
  void* result = gt_fake_at(sum.result, bytes);
  for (int64_t i = 0; i < static_cast<int64_t>(sum.count); ++i) {
    double all = 0;
    for (size_t r = sum.others.size(); r-- > 0;) {
      const auto& other = sum.others[r];
      all += load_real(sum.dtype, other == nullptr ? own : other->data(), i);
      gt::exec::store_real(sum.dtype, result, i, all);
      all = load_real(sum.dtype, result, i);  // it is rounded
    }
  }
  gt_fake_check(sum.result);
}

// Goes on with the group as far as it can without waiting; whether it is done.
bool progress(const Comm& comm, Group& group) {
  if (comm.is_aborted) return true;
  if (is_meant("GT_FAKE_NCCL_HANG", comm, group.number)) return false;
  if (is_meant("GT_FAKE_NCCL_DIE", comm, group.number)) {
    (void)std::raise(SIGKILL);
  }
  bool is_done = true;
  for (Operation& op : group.operations) {
    if (!op.is_done) op.is_send ? send(op) : receive(op);
    is_done &= op.is_done;
  }
  if (is_done) {
    for (const Sum& sum : group.sums) add_up(sum);
  }
  return is_done;
}

// What a stream keeps of a group.
struct Job {
  std::shared_ptr<Comm> comm;
  std::shared_ptr<Group> group;
};

void give(const std::shared_ptr<Comm>& comm) {
  ++comm->given;
  gt_fake_await(
      comm->waiting->stream,
      [](void* data) {
        auto* job = static_cast<Job*>(data);
        if (!progress(*job->comm, *job->group)) return false;
        --job->comm->given;
        delete job;
        return true;
      },
      new Job{comm, comm->waiting});
  comm->waiting = nullptr;
}

// Whether all ranks are there; an error if two of them have one GPU.
ncclResult_t look_around(Comm& comm) {
  std::vector<std::string> devices;
  for (int r = 0; r < comm.ranks; ++r) {
    std::ifstream in(comm.home + "/here-" + std::to_string(r));
    std::string device;
    if (!(in >> device)) return ncclInProgress;
    for (const std::string& other : devices) {
      if (other == device) return ncclInvalidUsage;
    }
    devices.push_back(device);
  }
  comm.is_joined = true;
  return ncclSuccess;
}

ncclComm_t make(std::string home, int ranks, int rank, int who) {
  auto made = std::make_shared<Comm>();
  made->home = std::move(home);
  made->rank = rank;
  made->ranks = ranks;
  made->who = who;
  made->sent.resize(static_cast<size_t>(ranks));
  made->received.resize(static_cast<size_t>(ranks));
  const std::string device = std::to_string(gt_fake_device());
  put(made->home + "/here-" + std::to_string(rank), device.data(),
      device.size());
  gt_fake_count(0, 1);
  return reinterpret_cast<ncclComm_t>(
      new std::shared_ptr<Comm>(std::move(made)));
}

std::string split_file(const Comm& comm, int rank) {
  return comm.home + "/split-" + std::to_string(comm.splits) + "-" +
         std::to_string(rank);
}

// Goes on with the split as far as it can without waiting; whether it is done
// and its child is there.
bool look_at_split(Comm& comm) {
  Split& split = *comm.split;
  if (is_meant("GT_FAKE_NCCL_HANG", comm, split.number)) return false;
  if (is_meant("GT_FAKE_NCCL_DIE", comm, split.number)) {
    (void)std::raise(SIGKILL);
  }
  int ranks = 0;
  int rank = 0;
  for (int r = 0; r < comm.ranks; ++r) {
    std::ifstream in(split_file(comm, r));
    int color = 0;
    if (!(in >> color)) return false;
    if (color != split.color) continue;
    if (r == comm.rank) rank = ranks;
    ++ranks;
  }
  if (split.child == nullptr) {
    comm.split.reset();
  } else if (split.late-- == 0) {
    const std::string home = comm.home + "." + std::to_string(comm.splits) +
                             "." + std::to_string(split.color);
    std::error_code is_there;
    fs::create_directory(home, is_there);
    *split.child = make(home, ranks, rank, comm.who);
    of(*split.child)->name = "split " + std::to_string(comm.splits) + ", ";
    comm.split.reset();
  }
  return true;
}

void end(ncclComm_t comm) {
  Comm& c = *of(comm);
  c.is_aborted = true;
  put(c.home + "/gone-" + std::to_string(c.rank), "", 0);
  int gone = 0;
  for (int r = 0; r < c.ranks; ++r) {
    gone += fs::exists(c.home + "/gone-" + std::to_string(r)) ? 1 : 0;
  }
  std::error_code ignored;
  if (gone == c.ranks) fs::remove_all(c.home, ignored);
  const char* file = std::getenv("GT_FAKE_NCCL_REPORT");
  if (std::FILE* out = file == nullptr ? nullptr : std::fopen(file, "a")) {
    (void)std::fprintf(out, "%srank %d of %d: %d groups, %llu bytes, %d sums\n",
                       c.name.c_str(), c.rank, c.ranks, c.groups,
                       static_cast<unsigned long long>(c.bytes), c.sums);
    (void)std::fclose(out);
  }
  delete &of(comm);
  gt_fake_count(0, -1);
}

ncclResult_t add(Operation op, ncclComm_t comm, cudaStream_t stream) {
  if (gt_fake_fails()) return ncclInternalError;
  if (open_group.depth == 0) gt::fake::wrong("a move outside of a group");
  const std::shared_ptr<Comm>& c = of(comm);
  if (!c->is_joined || op.peer < 0 || op.peer >= c->ranks ||
      op.peer == c->rank || op.bytes == 0) {
    return ncclInvalidArgument;
  }
  auto& counts = op.is_send ? c->sent : c->received;
  const int from = op.is_send ? c->rank : op.peer;
  const int to = op.is_send ? op.peer : c->rank;
  op.file = c->home + "/" + std::to_string(from) + "-" + std::to_string(to) +
            "-" + std::to_string(counts[static_cast<size_t>(op.peer)]++);
  open_group.comm = &of(comm);
  open_group.group->stream = stream;
  open_group.group->operations.push_back(std::move(op));
  return ncclSuccess;
}

ncclResult_t move(bool is_send, const void* data, size_t count,
                  ncclDataType_t type, int peer, ncclComm_t comm,
                  cudaStream_t stream) {
  if (type != ncclInt8) return ncclInvalidArgument;
  Operation op;
  op.is_send = is_send;
  op.data = reinterpret_cast<uint64_t>(data);
  op.bytes = count;
  op.peer = peer;
  return add(std::move(op), comm, stream);
}

ncclResult_t reduce(const void* data, void* result, size_t count,
                    ncclDataType_t type, ncclRedOp_t op, int root,
                    ncclComm_t comm, cudaStream_t stream) {
  static const std::map<ncclDataType_t, gt::Dtype> kFloats = {
      {ncclFloat16, gt::Dtype::kF16},
      {ncclBfloat16, gt::Dtype::kBf16},
      {ncclFloat32, gt::Dtype::kF32},
      {ncclFloat64, gt::Dtype::kF64}};
  const Comm& c = *of(comm);
  const auto dtype = kFloats.find(type);
  if (dtype == kFloats.end() || op != ncclSum || count == 0 || data == result ||
      root >= c.ranks) {
    return ncclInvalidArgument;
  }
  Sum sum{dtype->second,
          reinterpret_cast<uint64_t>(data),
          reinterpret_cast<uint64_t>(result),
          count,
          c.rank,
          {}};
  const size_t bytes = count * static_cast<size_t>(size_of(sum.dtype));
  const bool is_mine = root < 0 || root == c.rank;
  for (int r = 0; r < c.ranks; ++r) {
    sum.others.push_back(nullptr);
    if (r == c.rank) continue;
    ncclResult_t added = ncclSuccess;
    if (root < 0 || root == r) {
      added = add({true, sum.data, bytes, r, {}, nullptr, false, false}, comm,
                  stream);
    }
    if (added == ncclSuccess && is_mine) {
      sum.others.back() = std::make_shared<std::vector<char>>(bytes);
      added = add({false, 0, bytes, r, {}, sum.others.back(), false, false},
                  comm, stream);
    }
    if (added != ncclSuccess) return added;
  }
  if (is_mine) open_group.group->sums.push_back(std::move(sum));
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return gt_fake_fails() ? ncclInternalError : ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclInvalidUsage ? "invalid usage"
                                    : "the fake device was told to fail";
}
const char* ncclGetLastError(ncclComm_t /*comm*/) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (gt_fake_fails()) return ncclInternalError;
  const char* home = std::getenv("GT_FAKE_NCCL_HOME");
  std::string path =
      std::string(home == nullptr ? "/tmp" : home) + "/gt-fake-nccl.XXXXXX";
  if (path.size() >= sizeof id->internal || ::mkdtemp(path.data()) == nullptr) {
    return ncclSystemError;
  }
  std::memset(id->internal, 0, sizeof id->internal);
  std::memcpy(id->internal, path.data(), path.size());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks,
                                    ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (gt_fake_fails()) return ncclInternalError;
  if (config->blocking != 0) gt::fake::wrong("a communicator that blocks");
  *comm = make(id.internal, ranks, rank, rank);
  return ncclInProgress;
}
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                           ncclComm_t* child, ncclConfig_t* config) {
  if (gt_fake_fails()) return ncclInternalError;
  Comm& c = *of(comm);
  if (!c.is_joined || c.waiting != nullptr || c.given > 0 || c.split) {
    gt::fake::wrong("a split beside something else");
  }
  const bool is_none = color == NCCL_SPLIT_NOCOLOR;
  if (key != c.rank || config != nullptr || (color < 0 && !is_none)) {
    return ncclInvalidArgument;
  }
  *child = nullptr;
  ++c.splits;
  c.split = Split{++begun(), color, is_none ? nullptr : child, c.rank % 3};
  const std::string text = std::to_string(color);
  put(split_file(c, c.rank), text.data(), text.size());
  return ncclInProgress;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  if (gt_fake_fails()) return ncclInternalError;
  const std::shared_ptr<Comm>& c = of(comm);
  *state = c->is_joined ? ncclSuccess : look_around(*c);
  if (c->split && !look_at_split(*c)) *state = ncclInProgress;
  if (c->waiting == nullptr) return ncclSuccess;
  if (c->late-- > 0) {
    *state = ncclInProgress;
  } else {
    give(c);
  }
  return ncclSuccess;
}
ncclResult_t ncclCommFinalize(ncclComm_t /*comm*/) {
  return gt_fake_fails() ? ncclInternalError : ncclInProgress;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  end(comm);
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  end(comm);
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  if (gt_fake_fails()) return ncclInternalError;
  if (open_group.depth++ == 0) open_group.group = std::make_shared<Group>();
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (open_group.depth == 0) gt::fake::wrong("a group ends that is not open");
  if (--open_group.depth > 0) return ncclSuccess;
  const Open ended = std::exchange(open_group, {});
  if (gt_fake_fails()) return ncclInternalError;
  if (ended.comm == nullptr) return ncclSuccess;
  Comm& comm = **ended.comm;
  if (comm.waiting != nullptr) gt::fake::wrong("a group before another began");
  comm.waiting = ended.group;
  if (comm.split) gt::fake::wrong("a group beside a split");
  ++comm.groups;
  comm.waiting->number = ++begun();
  for (const Operation& op : ended.group->operations) {
    if (op.is_send) comm.bytes += op.bytes;
  }
  comm.sums += static_cast<int>(ended.group->sums.size());
  comm.late = comm.groups % 3;
  return ncclInProgress;
}
ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  return move(true, data, count, type, peer, comm, stream);
}
ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return move(false, data, count, type, peer, comm, stream);
}
ncclResult_t ncclAllReduce(const void* data, void* result, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return reduce(data, result, count, type, op, -1, comm, stream);
}
ncclResult_t ncclReduce(const void* data, void* result, size_t count,
                        ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return reduce(data, result, count, type, op, root, comm, stream);
}
ncclResult_t ncclReduceScatter(const void* data, void* result, size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  const auto* from = static_cast<const char*>(data);
  const size_t step = type == ncclFloat64 ? 8 : type == ncclFloat32 ? 4 : 2;
  for (int r = 0; r < of(comm)->ranks; ++r) {
    const ncclResult_t s =
        reduce(from, result, count, type, op, r, comm, stream);
    if (s != ncclSuccess) return s;
    from += count * step;
  }
  return ncclSuccess;
}

}  // extern "C"
