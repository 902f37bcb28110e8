// Where a program runs, and the scopes that its lines stand in.
#pragma once

#include <cstdlib>
#include <string>

#include <gt/basic.h>

namespace gt::inline v1 {

// A program of its own, beside that of the process. It ends when it is closed.
class Session {
 public:
  // As GT_CONNECT: "", "-", "tcp://HOST:PORT", see libgt(3).
  explicit Session(const std::string& where, At at = At::here())
      : session_(gt_open(where.c_str())) {
    if (session_ == nullptr) detail::fail(at);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (session_ != nullptr) gt_close(session_, nullptr);
  }
  // Waits for all results; the status that the pipeline ended with.
  int close(At at = At::here()) {
    int status = 0;
    gt_session* const open = raw(at);
    session_ = nullptr;
    detail::check(gt_close(open, &status), at);
    return status;
  }
  gt_session* raw(At at = At::here()) const {
    if (session_ == nullptr) {
      gt_set_error(GT_LOST, "the session is closed");
      detail::fail(at);
    }
    return session_;
  }

 private:
  gt_session* session_;
};

class Use;

namespace detail {

// Read and written by the compiler's atomics: <atomic> is a large header.
inline gt_session* process_session = nullptr;
inline thread_local Use* innermost_use = nullptr;

}  // namespace detail

// While it lives, this thread makes tensors in that session. It must end in the
// thread that made it.
class Use {
 public:
  explicit Use(const Session& session, At at = At::here())
      : session_(session.raw(at)), outer_(detail::innermost_use) {
    detail::innermost_use = this;
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() {
    Use** at = &detail::innermost_use;
    while (*at != nullptr && *at != this) at = &(*at)->outer_;
    if (*at != nullptr) *at = outer_;
  }
  gt_session* session() const { return session_; }

 private:
  gt_session* session_;
  Use* outer_;
};

// The session that tensors without operands are made in: that of the innermost
// Use, else what connect() opened, else that of GT_CONNECT.
inline gt_session* current_session(At at = At::here()) {
  if (detail::innermost_use != nullptr) {
    return detail::innermost_use->session();
  }
  gt_session* session =
      __atomic_load_n(&detail::process_session, __ATOMIC_ACQUIRE);
  if (session == nullptr) session = gt_session_default();
  if (session == nullptr) detail::fail(at);
  return session;
}

// The process's session, instead of what GT_CONNECT says; before its first
// tensor.
inline void connect(const std::string& where, At at = At::here()) {
  gt_session* session = gt_open(where.c_str());
  if (session == nullptr) detail::fail(at);
  __atomic_store_n(&detail::process_session, session, __ATOMIC_RELEASE);
}
// So many workers, one on each GPU; before the first tensor.
inline void gpu_workers(int count) {
  ::setenv("GT_WORKERS", std::to_string(count).c_str(), 1);
  ::setenv("GT_BACKEND", "cuda", 1);
}
// So many workers, on processors.
inline void cpu_workers(int count) {
  ::setenv("GT_WORKERS", std::to_string(count).c_str(), 1);
}

// Waits until all that was written has run and been printed.
inline void sync(At at = At::here()) {
  detail::check(gt_sync(current_session(at)), at);
}
// Ends the process's program, and returns its status.
inline int close(At at = At::here()) {
  int status = 0;
  detail::check(gt_close(current_session(at), &status), at);
  return status;
}
// Writes the stream to a file, too, from now on; "" ends that.
inline void log(const char* path, At at = At::here()) {
  detail::check(gt_log_to(current_session(at), path), at);
}
// A line as it stands: a mesh, a comment.
inline void line(const std::string& text, At at = At::here()) {
  detail::check(gt_line(current_session(at), text.c_str()), at);
}

// From here on random ops without a seed draw what they draw in a new program
// under gt-emit --seed.
inline void manual_seed(int64_t seed, At at = At::here()) {
  line("_eseed = tensor i64[] " + std::to_string(seed), at);
}

// ---- scopes: the notes of the lines that a thread writes while they live ----

class Note {
 public:
  explicit Note(const std::string& key, const std::string& value = "",
                At at = At::here())
      : number_(gt_note_begin(key.c_str(), value.c_str())) {
    if (number_ < 0) detail::fail(at);
  }
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;
  ~Note() { gt_note_end(number_); }

 private:
  int number_;
};

// #signal=NAME, by which a config places lines. Scopes within scopes make
// "outer/inner".
struct Signal : Note {
  explicit Signal(const std::string& name, At at = At::here())
      : Note("signal", name, at) {}
};
// #mb=I: lines of one microbatch.
struct Microbatch : Note {
  explicit Microbatch(int i, At at = At::here())
      : Note("mb", std::to_string(i), at) {}
};
// #compile: lines worth compiling together.
struct Compile : Note {
  explicit Compile(At at = At::here()) : Note("compile", "", at) {}
};
// #recompute: what is made is computed again in the backward pass, not kept.
struct Recompute : Note {
  explicit Recompute(At at = At::here()) : Note("recompute", "", at) {}
};

// What is made while it lives has no history.
class NoGrad {
 public:
  NoGrad() { gt_no_grad(1); }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
  ~NoGrad() { gt_no_grad(-1); }
};

}  // namespace gt::inline v1
