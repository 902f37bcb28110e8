// The fake GPU: streams whose work is done late, and in any order that events
// allow, by $GT_FAKE_SEED. All under one lock; work is done by whoever waits.
//
//   GT_FAKE_GPUS=N     how many GPUs there are (1)
//   GT_FAKE_CAPABILITY=N  their compute capability (9, which NVRTC knows)
//   GT_FAKE_SEED=N     which order (0)
//   GT_FAKE_MEMORY=N   bytes of memory
//   GT_FAKE_FAIL=K     the K-th call of the libraries fails; K+: and all behind
//   GT_FAKE_LOSE=K     the K-th kernel, as told, meets an illegal address: then
//                      nothing is done any more, and all calls say so
//   GT_FAKE_NO_IPC=1   memory cannot be shown to other processes
//   GT_FAKE_COPY_HANG=G:K  once a process that has GPU G has begun K copies to
//                      another process, queries say that no event is reached
//   GT_FAKE_COPY_DIE=G:K   it is killed when it begins the K-th of them
//   GT_FAKE_COPIES=F   at the end, a line is added to the file: how many copies
//                      to another process there were, and of how many bytes
//   GT_FAKE_PACE=N     a kernel takes so many microseconds, or more
//   GT_FAKE_SPEED=B:F  streams keep time, as a GPU's: each does what it was
//                      given in order, while the host goes on. Kernels,
//                      products and copies within the GPU are not done: they
//                      take 2 us, and as long as B bytes a nanosecond need for
//                      the memory that they were given, or F f16 flops a
//                      nanosecond for a product, if that is longer; a flop of
//                      f32 or f64 counts as sixteen. Of one block, 1 MiB of
//                      memory counts at most. All else is done: copies to
//                      and from the host, which take as if a byte were 50;
//                      and NCCL, and kernels that write 64 bytes or less,
//                      which take no time
//   GT_FAKE_REPORT=F   at the end, a line is added to the file: how many calls
//                      there were, and what was not given back
//   GT_FAKE_CHOSEN=F   a line is added to the file: the number of the GPU that
//                      a process takes
//   GT_FAKE_WAITS=F    at the end, a line is added to the file: how often the
//                      host waited for a kernel, or for an event to be reached
//   GT_FAKE_LAUNCHES=F at the end, a line is added to the file: how many
//                      kernels, products and graphs were given to streams, how
//                      many of them were graphs, how many graphs were made, and
//                      how many were updated
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "memory.h"

namespace gt::fake {

struct Event {
  uint64_t recorded = 0;  // how often it was, as told
  uint64_t done = 0;      // of these, how often the stream came by
  bool has_time = false;
  uint64_t time = 0;  // when it did last, by Machine::clock()
};

struct Kernel;  // with its arguments, see kernels.cc

struct Work {
  std::function<void()> run;  // of a graph, again and again
  // Null, or the event that must have been reached so often.
  Event* event = nullptr;
  uint64_t reached = 0;
  bool is_kernel = false;
  uint64_t takes = 0;  // nanoseconds, of a stream that keeps time
  // Instead of run: tries to do it, with other processes, and says whether that
  // is done.
  std::function<bool()> attempt = {};
  // Of a graph: the kernel that is copied for each launch.
  std::shared_ptr<const Kernel> kernel = {};
};

// What a stream has captured; of an executable graph, what it does.
struct Graph {
  std::vector<Work> nodes;
  int running = 0;  // how many launches are not done
};

struct Stream {
  std::deque<Work> work;
  std::unique_ptr<Graph> captured;  // if it captures
  uint64_t busy_until = 0;          // by Machine::clock(), if streams keep time
};

class Machine {
 public:
  static Machine& instance();
  ~Machine();

  std::mutex mutex;
  Memory memory;
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Graph*> graphs;               // executable ones, too
  std::map<const char*, size_t> pinned;  // blocks of the host
  int contexts = 0;
  int modules = 0;
  int programs = 0;
  int descriptions = 0;  // of cuBLASLt, handles, and communicators
  int device = 0;        // that was chosen
  uint64_t launches = 0;
  uint64_t graph_launches = 0;
  uint64_t graphs_made = 0;
  uint64_t graphs_updated = 0;

  bool is_lost = false;
  bool is_late = false;  // no event is reached, as queries say
  // Counts a kernel; whether it is one that fails.
  bool loses() { return ++kernels_ == lose_; }
  // Counts a call; whether it is one that fails.
  bool fails();
  // The GPU's own clock, in nanoseconds: not that of the host.
  static uint64_t clock();
  // One of two, by the seed.
  bool tosses() { return random_() % 2 == 0; }
  // A kernel runs: not faster than it is told to.
  void pace() const;
  bool keeps_time() const { return speed_.bytes != 0; }
  // How long such work takes of a stream that keeps time; else 0.
  uint64_t cost(uint64_t bytes, double flops) const;
  // The same of a copy from or to the host.
  uint64_t cost_to_host(uint64_t bytes) const { return cost(50 * bytes, 0); }
  void give(Stream* stream, Work work);
  void do_some();             // of the work that is ready
  void wait(Stream* stream);  // does all that the stream has
  void wait(Event* event);    // does what comes before it
  void finish();              // does all that the streams have
  // Counts a copy to an address, if that is another process's.
  void note_copy(uint64_t to, size_t bytes);
  // Does work until there is none that `until` waits for.
  void drive(const std::function<bool()>& until);
  void note_device(int number);
  bool is_pinned(const void* data, size_t bytes) const;

 private:
  Machine();
  enum class Found : uint8_t { kWork, kNone, kOthersWork };
  Found do_one();
  Found do_due();
  bool is_reached(const Work& work) const;

  std::mt19937 random_;
  uint64_t calls_ = 0;
  uint64_t waits_ = 0;
  uint64_t kernels_ = 0;
  uint64_t copies_ = 0;
  uint64_t copied_bytes_ = 0;
  uint64_t fail_from_ = 0;
  uint64_t lose_ = 0;
  uint64_t pace_ = 0;
  struct Speed {
    double bytes = 0, flops = 0;  // a nanosecond
  } speed_;
  bool fail_all_ = false;
};

}  // namespace gt::fake

// What the other libraries call of the one of the driver.
extern "C" {
bool gt_fake_fails();
// Does what the function says, later, in the order of the stream (a CUstream);
// more than once if it is captured. `drop` ends the data. By the bytes that it
// reads and writes, and its flops, it takes its time of a stream that keeps it.
void gt_fake_give(void* stream, void (*run)(void*), void* data,
                  void (*drop)(void*), uint64_t bytes, double flops);
// To be called by that function: the bytes at an address.
void* gt_fake_at(uint64_t address, size_t bytes);
void gt_fake_check(uint64_t address);
// The same, of what other processes take part in: it says whether it is done,
// and is asked again until it is.
void gt_fake_await(void* stream, bool (*attempt)(void*), void* data);
int gt_fake_device();
void gt_fake_count(int programs, int descriptions);
}
