// The fake GPU: streams whose work is done late, and in any order that events
// allow, as $GT_FAKE_SEED says. One lock guards it all, and callers that wait
// do the work.
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
//   GT_FAKE_BUSY=1     it does nothing until somebody waits for it, so that it
//   is
//                      found busy as long as it has been given anything
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
  uint64_t recorded = 0;  // how often it was recorded
  uint64_t done = 0;      // how often a stream reached it
  bool has_time = false;
  uint64_t time = 0;  // when it was reached last, by Machine::clock()
};

struct Kernel;  // defined in kernels.cc

struct Work {
  std::function<void()> run;  // of a graph, for each launch
  // The event that must have been reached so often, or null.
  Event* event = nullptr;
  uint64_t reached = 0;
  bool is_kernel = false;
  uint64_t takes = 0;  // ns, on a stream that keeps time
  // Used instead of run: tries to do the work, with other processes, and says
  // whether it is done.
  std::function<bool()> attempt = {};
  // In a graph: the kernel that is copied for each launch.
  std::shared_ptr<const Kernel> kernel = {};
};

// What a stream has captured, or what an executable graph does.
struct Graph {
  std::vector<Work> nodes;
  int running = 0;  // launches that are not done
};

struct Stream {
  std::deque<Work> work;
  std::unique_ptr<Graph> captured;  // if it captures
  uint64_t busy_until = 0;          // by clock(), if streams keep time
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
  int descriptions = 0;  // handles, communicators and so on
  int device = 0;        // the one that was chosen
  uint64_t launches = 0;
  uint64_t graph_launches = 0;
  uint64_t graphs_made = 0;
  uint64_t graphs_updated = 0;

  bool is_lost = false;
  bool is_late = false;  // queries say that no event is reached
  // Counts a kernel, and says whether it is the one that fails.
  bool loses() { return ++kernels_ == lose_; }
  // Counts a call, and says whether it is one that fails.
  bool fails();
  // The GPU's own clock in nanoseconds, which is not that of the host.
  static uint64_t clock();
  // A choice of two, by the seed.
  bool tosses() { return random_() % 2 == 0; }
  // Makes a kernel no faster than it was told to be.
  void pace() const;
  bool keeps_time() const { return speed_.bytes != 0; }
  // How long such work takes on a stream that keeps time, else 0.
  uint64_t cost(uint64_t bytes, double flops) const;
  // How long a copy from or to the host takes.
  uint64_t cost_to_host(uint64_t bytes) const { return cost(50 * bytes, 0); }
  void give(Stream* stream, Work work);
  void do_some();             // does some of the work that is ready
  void wait(Stream* stream);  // does everything of the stream
  void wait(Event* event);    // does what comes before the event
  void finish();              // does everything of all streams
  // Counts a copy if its address belongs to another process.
  void note_copy(uint64_t to, size_t bytes);
  // Does work until `until` holds or nothing is left.
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
  bool is_busy_ = false;
  uint64_t pace_ = 0;
  struct Speed {
    double bytes = 0, flops = 0;  // per nanosecond
  } speed_;
  bool fail_all_ = false;
};

}  // namespace gt::fake

// The other libraries of the fake device call these functions of the driver's.
extern "C" {
bool gt_fake_fails();
// Does later what the function says, in the order of the stream (a CUstream),
// and more than once if it is captured. `drop` ends the data. On a stream that
// keeps time, the bytes that it reads and writes and its flops say how long it
// takes.
void gt_fake_give(void* stream, void (*run)(void*), void* data,
                  void (*drop)(void*), uint64_t bytes, double flops);
// That function calls it to get the bytes at an address.
void* gt_fake_at(uint64_t address, size_t bytes);
void gt_fake_check(uint64_t address);
// The same for work of several processes: the function says whether it is done,
// and is called again until it is.
void gt_fake_await(void* stream, bool (*attempt)(void*), void* data);
int gt_fake_device();
void gt_fake_count(int programs, int descriptions);
}
